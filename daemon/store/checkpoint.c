/* Copying the log into the file, off the writer's way (chapter 3.2: PASSIVE over 1000 frames by a thread, over 4000 by the
 * writer between batches). A sync that fails here breaks the store like one of a commit: a later try could succeed
 * without the data having reached the disk, and the log would be given up.
 */
#include <errno.h>

#include "daemon/store/store_private.h"

enum { THREAD_ABOVE = 1000, WRITER_ABOVE = 4000 };

static void checkpoint(struct store *store, sqlite3 *db)
{
	int frames = 0;
	int copied = 0;
	int rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);

	if (sql_is_sync_failure(rc))
		store_break(store);
	(void)pthread_mutex_lock(&store->lock);
	store->stats.checkpoints += rc == SQLITE_OK;
	store->copied_frames = rc == SQLITE_OK && copied == frames && frames > 0 ? (uint64_t)frames : 0;
	store->checkpoint = CHECKPOINT_NONE;
	store->stats.is_copying = false;
	(void)pthread_mutex_unlock(&store->lock);
}

/* False at the end. */
static bool take_wish(struct store *store)
{
	bool is_closing;

	(void)pthread_mutex_lock(&store->lock);
	while (store->checkpoint != CHECKPOINT_WANTED && !store->is_closing)
		(void)pthread_cond_wait(&store->checkpoint_wake, &store->lock);
	is_closing = store->is_closing;
	if (!is_closing)
		store->checkpoint = CHECKPOINT_RUNNING;
	(void)pthread_mutex_unlock(&store->lock);
	return !is_closing;
}

static void *checkpoint_main(void *arg)
{
	struct store *store = arg;

	while (take_wish(store) && !store_is_broken(store))
		checkpoint(store, store->checkpointer.db);
	return NULL;
}

/* Under the lock, after a commit: whether the log is to be copied, and whether the writer does it (*ret_is_own).
 *
 * A log of which all is copied is left alone: a commit would begin it anew, and SQLite before 3.51.3 forgets that commit, and those
 * after it, if a copying begins at the same moment (sqlite.org/wal.html, "The WAL-Reset Bug"). So one copying at a time, and only
 * begun while something is left: until it is done the log can't begin anew. A log that has begun anew and grown to the very same
 * length waits for one more commit.
 */
static bool want(struct store *store, bool *ret_is_own)
{
	uint64_t frames = store->stats.wal_frames;

	*ret_is_own = frames > WRITER_ABOVE;
	return frames > THREAD_ABOVE && frames != store->copied_frames && store->checkpoint != CHECKPOINT_RUNNING;
}

void checkpoint_after_commit(struct store *store)
{
	bool is_own;
	bool is_wanted;

	(void)pthread_mutex_lock(&store->lock);
	is_wanted = want(store, &is_own);
	if (is_wanted) {
		store->checkpoint = is_own ? CHECKPOINT_RUNNING : CHECKPOINT_WANTED;
		store->stats.is_copying = true;
		(void)pthread_cond_signal(&store->checkpoint_wake);
	}
	(void)pthread_mutex_unlock(&store->lock);
	if (is_wanted && is_own)
		checkpoint(store, store->writer.db);
}

int checkpoint_start(struct store *store)
{
	int r = sql_open(
		&store->checkpointer, store->folder.database, SQLITE_OPEN_READWRITE, store->config.busy_timeout_ms);

	if (r == 0)
		r = sql_result(sqlite3_exec(store->checkpointer.db,
			"PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0", NULL, NULL, NULL));
	if (r == 0)
		r = -pthread_create(&store->checkpoint_thread, NULL, checkpoint_main, store);
	store->has_checkpoint_thread = r == 0;
	return r;
}

void checkpoint_stop(struct store *store)
{
	if (store->has_checkpoint_thread) {
		(void)pthread_mutex_lock(&store->lock);
		(void)pthread_cond_signal(&store->checkpoint_wake);
		(void)pthread_mutex_unlock(&store->lock);
		CHECK(pthread_join(store->checkpoint_thread, NULL) == 0);
	}
	sql_close(&store->checkpointer);
}
