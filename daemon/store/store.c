#include "daemon/store/store.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/store/migrate.h"
#include "daemon/store/store_private.h"

static struct store_config with_defaults(const struct store_config *given)
{
	struct store_config config = *given;

	if (config.queue_limit == 0)
		config.queue_limit = 1024;
	if (config.batch_limit == 0)
		config.batch_limit = 256;
	if (config.readers == 0)
		config.readers = 4;
	if (config.busy_timeout_ms == 0)
		config.busy_timeout_ms = 5000;
	return config;
}

bool store_is_broken(struct store *store)
{
	bool is_broken;

	(void)pthread_mutex_lock(&store->lock);
	is_broken = store->stats.broken;
	(void)pthread_mutex_unlock(&store->lock);
	return is_broken;
}

void store_break(struct store *store)
{
	bool was_broken;

	(void)pthread_mutex_lock(&store->lock);
	was_broken = store->stats.broken;
	store->stats.broken = true;
	(void)pthread_mutex_unlock(&store->lock);
	if (!was_broken && store->config.on_broken)
		store->config.on_broken(store->config.arg);
}

/* SQLite's code of a step of opening, as store_open answers it. */
static int open_result(int rc)
{
	int r = sql_result(rc);

	return r == -EUCLEAN ? STORE_NOT_A_DATABASE : r;
}

/* A version that only the log knows is seen here, before anything was written; sql_open keeps the log on close. */
static int check_version(struct sql_connection *connection)
{
	int64_t application = 0;
	int64_t version = 0;
	int rc = sql_scalar(connection, "PRAGMA application_id", &application);

	if (rc == SQLITE_OK)
		rc = sql_scalar(connection, "PRAGMA user_version", &version);
	if (rc != SQLITE_OK)
		return open_result(rc);
	if (application != FOLDER_APPLICATION_ID)
		return STORE_FOREIGN;
	return version < 0 || version > migrate_latest() ? STORE_NEWER : 0;
}

/* The application id first, while the file has no log: so it is never without. */
static int make_ours(struct store *store)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "PRAGMA application_id = %d", FOLDER_APPLICATION_ID);
	return open_result(sqlite3_exec(store->writer.db, text, NULL, NULL, NULL));
}

static int set_ceiling(struct store *store)
{
	char text[64];

	if (store->config.max_pages == 0)
		return 0;
	(void)snprintf(text, sizeof(text), "PRAGMA max_page_count = %llu", (unsigned long long)store->config.max_pages);
	return open_result(sqlite3_exec(store->writer.db, text, NULL, NULL, NULL));
}

static int note_mode(void *arg, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(bool *)arg = values[0] && strcmp(values[0], "wal") == 0;
	return 0;
}

/* A file system that can't hold the log's shared memory leaves another mode, without an error. */
static int use_log(struct store *store)
{
	bool is_wal = false;
	int rc = sqlite3_exec(store->writer.db, "PRAGMA journal_mode = WAL", note_mode, &is_wal, NULL);

	if (rc == SQLITE_OK && !is_wal)
		return -ENOTSUP;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(
			store->writer.db, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0", NULL, NULL, NULL);
	return open_result(rc);
}

/* The log is brought into the file: after a sync that failed, what the log says may be in memory only, and the copy
 * is synced for good. */
static int settle_log(struct store *store)
{
	int rc = sqlite3_wal_checkpoint_v2(store->writer.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

	/* A foreign reader may hold the log; then it is copied as far as that reader allows, and later. */
	return (rc & 0xff) == SQLITE_BUSY ? 0 : open_result(rc);
}

static int make_identity(struct store *store)
{
	struct store_tx tx = {.connection = &store->writer, .can_write = true};
	CLEANUP(sql_end)
	struct sql query =
		sql_begin_write(&tx, "INSERT INTO meta (one, store_id) VALUES (1, ?) ON CONFLICT (one) DO NOTHING");

	randombytes_buf(store->id, sizeof(store->id));
	sql_bind_blob(&query, store->id, sizeof(store->id));
	return sql_run(&query);
}

static void read_identity(struct sql *query, void *row)
{
	sql_blob(query, row, STORE_ID_BYTES);
}

static void read_head(struct sql *query, void *row)
{
	struct store_chain *head = row;

	head->sequence = sql_int(query);
	sql_blob(query, head->hash, sizeof(head->hash));
}

static int load_facts(struct store *store, struct sql_connection *connection)
{
	struct store_tx tx = {.connection = connection};
	CLEANUP(sql_end) struct sql identity = sql_begin(&tx, "SELECT store_id FROM meta");
	CLEANUP(sql_end)
	struct sql head = sql_begin(&tx, "SELECT sequence, hash FROM events ORDER BY sequence DESC LIMIT 1");
	int r = sql_one(&identity, read_identity, store->id);

	if (r)
		return r == STORE_ABSENT ? STORE_NOT_A_DATABASE : r;
	(void)sodium_bin2hex(store->identity, sizeof(store->identity), store->id, sizeof(store->id));
	r = sql_one(&head, read_head, &store->head);
	return r == STORE_ABSENT ? 0 : r;
}

static int open_writer(struct store *store)
{
	int r = sql_open(&store->writer, store->folder.database, SQLITE_OPEN_READWRITE, store->config.busy_timeout_ms);

	if (r == 0 && store->folder.is_new)
		r = make_ours(store);
	if (r == 0)
		r = check_version(&store->writer);
	if (r == 0)
		r = use_log(store);
	if (r == 0)
		r = settle_log(store);
	if (r == 0)
		r = migrate_apply(&store->writer);
	if (r == 0)
		r = set_ceiling(store);
	if (r == 0)
		r = make_identity(store);
	return r ? r : load_facts(store, &store->writer);
}

static struct store *new_store(const struct store_config *config)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->config = with_defaults(config);
	store->folder.lock_fd = -1;
	CHECK(pthread_mutex_init(&store->lock, NULL) == 0);
	CHECK(pthread_mutex_init(&store->reader_lock, NULL) == 0);
	CHECK(pthread_cond_init(&store->wake, NULL) == 0);
	CHECK(pthread_cond_init(&store->checkpoint_wake, NULL) == 0);
	CHECK(pthread_cond_init(&store->reader_wake, NULL) == 0);
	return store;
}

int store_open(const struct store_config *config, struct store **ret_store)
{
	CLEANUP(store_drop) struct store *store = NULL;
	int r;

	if (sodium_init() < 0)
		return -EIO;
	store = new_store(config);
	if (!store)
		return -ENOMEM;
	r = folder_open(config->state_folder, &store->folder);
	if (r == 0)
		r = open_writer(store);
	if (r == 0)
		r = reader_open_all(store);
	if (r == 0)
		r = checkpoint_start(store);
	if (r == 0)
		r = writer_start(store);
	if (r == 0)
		*ret_store = TAKE(store);
	return r == -EUCLEAN ? STORE_NOT_A_DATABASE : r;
}

int store_open_file(const char *path, struct store **ret_store)
{
	const struct store_config config = {.readers = 1};
	CLEANUP(store_drop) struct store *store = NULL;
	int r;

	if (sodium_init() < 0)
		return -EIO;
	store = new_store(&config);
	if (!store)
		return -ENOMEM;
	if (access(path, R_OK) < 0)
		return -errno;
	store->folder.database = strdup(path);
	if (!store->folder.database)
		return -ENOMEM;
	r = reader_open_all(store);
	if (r == 0)
		r = check_version(&store->readers[0].connection);
	if (r == 0)
		r = load_facts(store, &store->readers[0].connection);
	if (r == 0)
		*ret_store = TAKE(store);
	return r == -EUCLEAN ? STORE_NOT_A_DATABASE : r;
}

struct inspecting {
	bool is_thorough;
	struct store_chain *head;
};

static void read_text(struct sql *query, void *row)
{
	*(struct str *)row = sql_str(query);
}

static int run_inspect(struct store_tx *tx, void *arg)
{
	const struct inspecting *inspecting = arg;
	CLEANUP(sql_end)
	struct sql head = sql_begin(tx, "SELECT sequence, hash FROM events ORDER BY sequence DESC LIMIT 1");
	CLEANUP(sql_end) struct sql check = {0};
	struct str verdict = {0};
	int r = sql_one(&head, read_head, inspecting->head);

	if ((r && r != STORE_ABSENT) || !inspecting->is_thorough)
		return r == STORE_ABSENT ? 0 : r;
	check = sql_begin(tx, "PRAGMA integrity_check(1)");
	r = sql_one(&check, read_text, &verdict);
	return r == 0 && !str_is(verdict, "ok") ? -EUCLEAN : r;
}

int store_inspect(struct store *store, bool is_thorough, struct store_chain *ret_head)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = 64 * 1024};
	struct inspecting inspecting = {is_thorough, ret_head};
	int r = store_read(store, &arena, run_inspect, &inspecting);

	return r == -EUCLEAN ? STORE_NOT_A_DATABASE : r;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	(void)pthread_mutex_lock(&store->lock);
	store->is_closing = true;
	(void)pthread_mutex_unlock(&store->lock);
	writer_stop(store);
	checkpoint_stop(store);
	reader_close_all(store);
	/* Copying the log into the file is writing, so not for a store that is broken, or wasn't opened. */
	if (store->has_writer_thread && !store->stats.broken)
		(void)sqlite3_db_config(store->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	sql_close(&store->writer);
	folder_close(&store->folder);
	(void)pthread_mutex_destroy(&store->lock);
	(void)pthread_mutex_destroy(&store->reader_lock);
	(void)pthread_cond_destroy(&store->wake);
	(void)pthread_cond_destroy(&store->checkpoint_wake);
	(void)pthread_cond_destroy(&store->reader_wake);
	free(store);
}

void store_drop(struct store **store)
{
	store_close(*store);
	*store = NULL;
}

struct str store_identity(const struct store *store)
{
	return (struct str){store->identity, sizeof(store->identity) - 1};
}

void store_stats_read(struct store *store, struct store_stats *ret)
{
	(void)pthread_mutex_lock(&store->lock);
	*ret = store->stats;
	(void)pthread_mutex_unlock(&store->lock);
}

struct arena *store_tx_arena(struct store_tx *tx)
{
	return tx->arena;
}

struct str store_id_new(struct arena *arena, const char *prefix)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	enum { RANDOM_BYTES = 16, DIGITS = 26 };
	unsigned char random[RANDOM_BYTES + 1] = {0};
	char text[DIGITS];

	randombytes_buf(random, RANDOM_BYTES);
	for (unsigned i = 0; i < DIGITS; i++) {
		unsigned bit = i * 5;
		unsigned pair = (unsigned)random[bit / 8] << 8 | random[bit / 8 + 1];

		text[i] = digits[pair >> (11 - bit % 8) & 31];
	}
	return arena_printf(arena, "%s%.*s", prefix, DIGITS, text);
}
