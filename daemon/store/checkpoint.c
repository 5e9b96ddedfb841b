/* Copying the log into the file, off the writer's way (chapter 3.2: PASSIVE over 1000 frames by a thread, over 4000 by the
 * writer between batches). A sync that fails here breaks the store like one of a commit: a later try could succeed
 * without the data having reached the disk, and the log would be given up.
 */
#include <errno.h>

#include "daemon/store/store_private.h"

enum { THREAD_ABOVE = 1000, WRITER_ABOVE = 4000 };

static void checkpoint(struct store *store, sqlite3 *db)
{
	int rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

	if (sql_is_sync_failure(rc))
		store_break(store);
	(void)pthread_mutex_lock(&store->lock);
	store->stats.checkpoints += rc == SQLITE_OK;
	(void)pthread_mutex_unlock(&store->lock);
}

static bool wait_for_wish(struct store *store)
{
	bool is_closing;

	(void)pthread_mutex_lock(&store->lock);
	while (!store->is_checkpoint_wanted && !store->is_closing)
		(void)pthread_cond_wait(&store->checkpoint_wake, &store->lock);
	store->is_checkpoint_wanted = false;
	is_closing = store->is_closing;
	(void)pthread_mutex_unlock(&store->lock);
	return !is_closing;
}

static void *checkpoint_main(void *arg)
{
	struct store *store = arg;

	while (wait_for_wish(store))
		if (!store_is_broken(store))
			checkpoint(store, store->checkpointer.db);
	return NULL;
}

void checkpoint_after_commit(struct store *store)
{
	uint64_t frames;

	(void)pthread_mutex_lock(&store->lock);
	frames = store->stats.wal_frames;
	if (frames > THREAD_ABOVE && frames <= WRITER_ABOVE) {
		store->is_checkpoint_wanted = true;
		(void)pthread_cond_signal(&store->checkpoint_wake);
	}
	(void)pthread_mutex_unlock(&store->lock);
	if (frames > WRITER_ABOVE)
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
