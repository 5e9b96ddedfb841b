/* Reading units of work: a few connections, each with one snapshot at a time. */
#include <errno.h>
#include <stdlib.h>

#include "daemon/store/store_private.h"

int reader_open_all(struct store *store)
{
	store->readers = calloc(store->config.readers, sizeof(*store->readers));
	if (!store->readers)
		return -ENOMEM;
	for (unsigned i = 0; i < store->config.readers; i++) {
		struct store_reader *reader = &store->readers[i];
		int r = sql_open(&reader->connection, store->folder.database, SQLITE_OPEN_READONLY,
			store->config.busy_timeout_ms);

		if (r)
			return r;
		reader->next = store->free_readers;
		store->free_readers = reader;
	}
	return 0;
}

static struct store_reader *take(struct store *store)
{
	struct store_reader *reader;

	(void)pthread_mutex_lock(&store->reader_lock);
	while (!store->free_readers)
		(void)pthread_cond_wait(&store->reader_wake, &store->reader_lock);
	reader = store->free_readers;
	store->free_readers = reader->next;
	store->busy_readers++;
	(void)pthread_mutex_unlock(&store->reader_lock);
	return reader;
}

static void give_back(struct store *store, struct store_reader *reader)
{
	(void)pthread_mutex_lock(&store->reader_lock);
	reader->next = store->free_readers;
	store->free_readers = reader;
	store->busy_readers--;
	(void)pthread_cond_broadcast(&store->reader_wake);
	(void)pthread_mutex_unlock(&store->reader_lock);
}

static int read_on(struct store *store, struct sql_connection *connection, struct arena *arena,
	int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	struct store_tx tx = {.connection = connection, .arena = arena, .store_id = store->id};
	int r = sql_result(sql_exec(connection, "BEGIN"));

	if (r)
		return r;
	r = run(&tx, arg);
	if (tx.failure)
		r = tx.failure;
	sql_roll_back(connection);
	/* A statement that wasn't ended would keep the snapshot, and every later reader of this connection in the past. */
	CHECK(sqlite3_txn_state(connection->db, NULL) == SQLITE_TXN_NONE);
	return r;
}

int store_read(struct store *store, struct arena *arena, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	struct store_reader *reader = take(store);
	int r = read_on(store, &reader->connection, arena, run, arg);

	give_back(store, reader);
	return r;
}

void reader_close_all(struct store *store)
{
	(void)pthread_mutex_lock(&store->reader_lock);
	while (store->busy_readers)
		(void)pthread_cond_wait(&store->reader_wake, &store->reader_lock);
	(void)pthread_mutex_unlock(&store->reader_lock);
	for (unsigned i = 0; store->readers && i < store->config.readers; i++)
		sql_close(&store->readers[i].connection);
	free(store->readers);
	store->readers = NULL;
}
