/* A copy of the whole store while it is written to (chapter 3.2 "Writes"): SQLite's backup on the writer's own connection, a piece
 * between batches. Pages that a batch changes behind the copy are written to the copy too, so it never starts again, and
 * what it shows is the store at its last piece.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/store_private.h"

enum { PIECE_PAGES = 64 };

static const char copy_suffix[] = ".backup";

struct backup {
	char *path;
	sqlite3 *copy;
	sqlite3_backup *pages;
	bool is_done;
	int result;
	pthread_cond_t wake;
};

static void backup_end(struct store *store, int result)
{
	struct backup *backup = store->backup;

	(void)sqlite3_backup_finish(backup->pages);
	backup->pages = NULL;
	(void)sqlite3_close(backup->copy);
	backup->copy = NULL;
	(void)pthread_mutex_lock(&store->lock);
	store->backup = NULL;
	backup->result = result;
	backup->is_done = true;
	(void)pthread_cond_signal(&backup->wake);
	(void)pthread_mutex_unlock(&store->lock);
}

/* The copy needs no journal: a half one is thrown away. */
static int begin(struct store *store, struct backup *backup)
{
	int rc = sqlite3_open_v2(backup->path, &backup->copy,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(backup->copy,
			"PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL,
			NULL, NULL);
	if (rc != SQLITE_OK)
		return rc;
	backup->pages = sqlite3_backup_init(backup->copy, "main", store->writer.db, "main");
	return backup->pages ? SQLITE_OK : sqlite3_errcode(backup->copy);
}

/* The source is in WAL mode and the copy says so too; without its log it is a plain file. */
static int finish(struct backup *backup)
{
	int rc = sqlite3_backup_finish(backup->pages);

	backup->pages = NULL;
	return rc == SQLITE_OK ? sqlite3_exec(backup->copy, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) : rc;
}

void backup_step(struct store *store)
{
	struct backup *backup;
	int rc = SQLITE_OK;

	(void)pthread_mutex_lock(&store->lock);
	backup = store->backup;
	(void)pthread_mutex_unlock(&store->lock);
	if (!backup)
		return;
	if (store_is_broken(store)) {
		backup_end(store, STORE_NOT_STORED);
		return;
	}
	if (!backup->pages)
		rc = begin(store, backup);
	if (rc == SQLITE_OK)
		rc = sqlite3_backup_step(backup->pages, PIECE_PAGES);
	if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return;
	if (rc == SQLITE_DONE)
		rc = finish(backup);
	backup_end(store, sql_result(rc));
}

void backup_stop(struct store *store)
{
	if (store->backup)
		backup_end(store, STORE_SHUTTING_DOWN);
}

/* 0, or why it isn't taken up. */
static int hand_over(struct store *store, struct backup *backup)
{
	if (store->is_closing)
		return STORE_SHUTTING_DOWN;
	if (store->stats.broken)
		return STORE_NOT_STORED;
	if (store->backup)
		return STORE_CONFLICT;
	if (unlink(backup->path) < 0 && errno != ENOENT)
		return -errno;
	store->backup = backup;
	(void)pthread_cond_signal(&store->wake);
	while (!backup->is_done)
		(void)pthread_cond_wait(&backup->wake, &store->lock);
	return backup->result;
}

static int open_copy(const char *path, int *ret_fd, int64_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat facts;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &facts) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	*ret_fd = fd;
	*ret_bytes = facts.st_size;
	return 0;
}

int store_backup(struct store *store, int *ret_fd, int64_t *ret_bytes)
{
	struct backup backup = {.wake = PTHREAD_COND_INITIALIZER};
	CLEANUP(free_drop) char *path = NULL;
	int r;

	if (asprintf(&path, "%s%s", store->folder.database, copy_suffix) < 0) {
		path = NULL; /* asprintf leaves it undefined */
		return -ENOMEM;
	}
	backup.path = path;
	(void)pthread_mutex_lock(&store->lock);
	r = hand_over(store, &backup);
	(void)pthread_mutex_unlock(&store->lock);
	(void)pthread_cond_destroy(&backup.wake);
	if (r == 0)
		r = open_copy(path, ret_fd, ret_bytes);
	/* From here on it lives as long as the descriptor. */
	if (r != STORE_CONFLICT)
		(void)unlink(path);
	return r;
}
