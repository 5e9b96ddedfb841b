#include "daemon/store/sql.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool sql_is_data_fault(int rc)
{
	int primary = rc & 0xff;

	return primary == SQLITE_CONSTRAINT || primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
}

bool sql_is_sync_failure(int rc)
{
	return rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC;
}

static int constraint_result(int rc)
{
	switch (rc) {
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_ROWID:
		return STORE_CONFLICT;
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return STORE_ABSENT;
	default:
		return -EINVAL;
	}
}

int sql_result(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CONSTRAINT:
		return constraint_result(rc);
	case SQLITE_TOOBIG:
		return -EMSGSIZE;
	case SQLITE_MISMATCH:
		return -EINVAL;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_INTERRUPT:
		return -EINTR;
	default:
		return -EIO;
	}
}

static int configure(sqlite3 *db, unsigned busy_timeout_ms)
{
	static const int switches[][2] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		{SQLITE_DBCONFIG_DQS_DDL, 0},
		{SQLITE_DBCONFIG_DQS_DML, 0},
		{SQLITE_DBCONFIG_ENABLE_FKEY, 1},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 1},
		{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
	};
	int rc = sqlite3_extended_result_codes(db, 1);

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(switches) / sizeof(switches[0]); i++)
		rc = sqlite3_db_config(db, switches[i][0], switches[i][1], NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_busy_timeout(db, busy_timeout_ms > INT_MAX ? INT_MAX : (int)busy_timeout_ms);
	return rc;
}

int sql_open(struct sql_connection *connection, const char *path, int flags, unsigned busy_timeout_ms)
{
	int rc;

	*connection = (struct sql_connection){0};
	rc = sqlite3_open_v2(path, &connection->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
	if (rc == SQLITE_OK)
		rc = configure(connection->db, busy_timeout_ms);
	/* REPLACE would delete without firing the append-only triggers; temporary files have no place in the sandbox. */
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(
			connection->db, "PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		sql_close(connection);
	return sql_result(rc);
}

void sql_close(struct sql_connection *connection)
{
	for (size_t i = 0; i < connection->cached_size; i++) {
		sqlite3_finalize(connection->cached[i].stmt);
		free(connection->cached[i].text);
	}
	free(connection->cached);
	CHECK(sqlite3_close(connection->db) == SQLITE_OK);
	*connection = (struct sql_connection){0};
}

/* FNV-1a: the texts are ours, nobody can choose them. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}

/* The slot of this text, or the empty one where it belongs. */
static struct sql_cached *slot_of(const struct sql_connection *connection, uint64_t hash, const char *text)
{
	size_t mask = connection->cached_size - 1;
	size_t at = (size_t)hash & mask;

	for (;; at = (at + 1) & mask) {
		struct sql_cached *slot = &connection->cached[at];

		if (!slot->text || (slot->hash == hash && strcmp(slot->text, text) == 0))
			return slot;
	}
}

static bool grow(struct sql_connection *connection)
{
	struct sql_connection old = *connection;
	size_t size = old.cached_size ? old.cached_size * 2 : 64;
	struct sql_cached *cached = calloc(size, sizeof(*cached));

	if (!cached)
		return false;
	connection->cached = cached;
	connection->cached_size = size;
	for (size_t i = 0; i < old.cached_size; i++)
		if (old.cached[i].text)
			*slot_of(connection, old.cached[i].hash, old.cached[i].text) = old.cached[i];
	free(old.cached);
	return true;
}

static int prepare(struct sql_connection *connection, const char *text, sqlite3_stmt **ret_stmt)
{
	uint64_t hash = hash_of(text);
	CLEANUP(free_drop) char *copy = NULL;
	struct sql_cached *slot;
	int rc;

	if (connection->cached_count * 2 >= connection->cached_size && !grow(connection))
		return SQLITE_NOMEM;
	slot = slot_of(connection, hash, text);
	if (!slot->text) {
		copy = strdup(text);
		if (!copy)
			return SQLITE_NOMEM;
		rc = sqlite3_prepare_v3(connection->db, text, -1, SQLITE_PREPARE_PERSISTENT, &slot->stmt, NULL);
		if (rc != SQLITE_OK)
			return rc;
		*slot = (struct sql_cached){hash, TAKE(copy), slot->stmt};
		connection->cached_count++;
	}
	*ret_stmt = slot->stmt;
	CHECK(!sqlite3_stmt_busy(*ret_stmt));
	return SQLITE_OK;
}

int sql_exec(struct sql_connection *connection, const char *text)
{
	sqlite3_stmt *stmt;
	int rc = prepare(connection, text, &stmt);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(stmt);
	(void)sqlite3_reset(stmt);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* A rollback that fails has rolled back all the same (SQLite, "Response To Errors Within A Transaction"). */
void sql_roll_back(struct sql_connection *connection)
{
	if (!sqlite3_get_autocommit(connection->db))
		(void)sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
}

int sql_scalar(struct sql_connection *connection, const char *text, int64_t *ret)
{
	sqlite3_stmt *stmt;
	int rc = prepare(connection, text, &stmt);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_reset(stmt);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Keeps the first error, and the first that breaks the transaction in the transaction. */
static int keep(struct sql *query, int rc)
{
	int result = sql_result(rc);

	if (!sql_is_data_fault(rc) && query->tx->failure == 0)
		query->tx->failure = result;
	if (sql_is_sync_failure(rc))
		query->tx->has_sync_failed = true;
	if (query->error == 0)
		query->error = result;
	return query->error;
}

struct sql sql_begin(struct store_tx *tx, const char *text)
{
	struct sql query = {.tx = tx, .error = tx->failure};
	int rc;

	if (query.error)
		return query;
	rc = prepare(tx->connection, text, &query.stmt);
	if (rc != SQLITE_OK)
		(void)keep(&query, rc);
	return query;
}

struct sql sql_begin_write(struct store_tx *tx, const char *text)
{
	CHECK(tx->can_write);
	return sql_begin(tx, text);
}

void sql_end(struct sql *query)
{
	if (!query->stmt)
		return;
	(void)sqlite3_reset(query->stmt);
	(void)sqlite3_clear_bindings(query->stmt);
	query->stmt = NULL;
}

static void after_bind(struct sql *query, int rc)
{
	if (rc != SQLITE_OK)
		(void)keep(query, rc);
}

void sql_bind_str(struct sql *query, struct str value)
{
	query->bound++;
	if (query->error == 0 && value.bytes)
		after_bind(query,
			sqlite3_bind_text64(
				query->stmt, query->bound, value.bytes, value.len, SQLITE_STATIC, SQLITE_UTF8));
}

void sql_bind_actor(struct sql *query, const struct store_actor *actor)
{
	sql_bind_str(query, actor->token);
	sql_bind_str(query, actor->principal);
}

void sql_bind_int(struct sql *query, int64_t value)
{
	query->bound++;
	if (query->error == 0)
		after_bind(query, sqlite3_bind_int64(query->stmt, query->bound, value));
}

void sql_bind_time(struct sql *query, int64_t value)
{
	if (value == 0)
		query->bound++;
	else
		sql_bind_int(query, value);
}

void sql_bind_blob(struct sql *query, const void *bytes, size_t len)
{
	query->bound++;
	if (query->error == 0)
		after_bind(query, sqlite3_bind_blob64(query->stmt, query->bound, bytes, len, SQLITE_STATIC));
}

void sql_bind_blob_if(struct sql *query, bool is_there, const void *bytes, size_t len)
{
	if (is_there)
		sql_bind_blob(query, bytes, len);
	else
		query->bound++;
}

void sql_bind_word(struct sql *query, const char *const *words, size_t count, size_t value)
{
	CHECK(value < count);
	sql_bind_str(query, words[value] ? (struct str){words[value], strlen(words[value])} : (struct str){0});
}

int sql_next(struct sql *query)
{
	int rc;

	if (query->error)
		return query->error;
	query->column = 0;
	rc = sqlite3_step(query->stmt);
	if (rc == SQLITE_ROW)
		return SQL_ROW;
	return rc == SQLITE_DONE ? 0 : keep(query, rc);
}

struct str sql_str(struct sql *query)
{
	int column = query->column++;
	struct str text = {0};

	if (sqlite3_column_type(query->stmt, column) == SQLITE_NULL)
		return text;
	text.bytes = (const char *)sqlite3_column_text(query->stmt, column);
	text.len = (size_t)sqlite3_column_bytes(query->stmt, column);
	if (!text.bytes) {
		(void)keep(query, SQLITE_NOMEM);
		return text;
	}
	text.bytes = arena_copy(query->tx->arena, text.bytes, text.len);
	if (!text.bytes && query->error == 0)
		query->error = -ENOMEM;
	return text;
}

void sql_actor(struct sql *query, struct store_actor *ret)
{
	ret->token = sql_str(query);
	ret->principal = sql_str(query);
}

int64_t sql_int(struct sql *query)
{
	return sqlite3_column_int64(query->stmt, query->column++);
}

void sql_blob(struct sql *query, void *ret, size_t len)
{
	int column = query->column++;
	const void *bytes = sqlite3_column_blob(query->stmt, column);

	if (!bytes || (size_t)sqlite3_column_bytes(query->stmt, column) != len) {
		(void)keep(query, SQLITE_CORRUPT);
		return;
	}
	memcpy(ret, bytes, len);
}

bool sql_blob_if(struct sql *query, void *ret, size_t len)
{
	if (sqlite3_column_type(query->stmt, query->column) == SQLITE_NULL) {
		query->column++;
		return false;
	}
	sql_blob(query, ret, len);
	return true;
}

size_t sql_word(struct sql *query, const char *const *words, size_t count)
{
	int column = query->column++;
	const char *text = (const char *)sqlite3_column_text(query->stmt, column);

	if (!text)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (words[i] && strcmp(words[i], text) == 0)
			return i;
	(void)keep(query, SQLITE_CORRUPT);
	return 0;
}

int sql_run(struct sql *query)
{
	int r = sql_next(query);

	CHECK(r != SQL_ROW);
	return r;
}

int sql_run_on_row(struct sql *query)
{
	int r = sql_run(query);

	if (r)
		return r;
	return sqlite3_changes64(query->tx->connection->db) == 0 ? STORE_ABSENT : 0;
}

int sql_one(struct sql *query, void (*read)(struct sql *query, void *row), void *row)
{
	int r = sql_next(query);

	if (r != SQL_ROW)
		return r ? r : STORE_ABSENT;
	read(query, row);
	return query->error;
}

static int more_room(struct sql *query, size_t size, struct sql_rows *rows, size_t *room)
{
	size_t bigger = *room ? *room * 2 : 8;
	void *items = arena_array(query->tx->arena, bigger, size);

	if (!items)
		return -ENOMEM;
	if (rows->count)
		memcpy(items, rows->items, rows->count * size);
	rows->items = items;
	*room = bigger;
	return 0;
}

int sql_all(struct sql *query, void (*read)(struct sql *query, void *row), size_t size, struct sql_rows *ret)
{
	struct sql_rows rows = {0};
	size_t room = 0;
	int r;

	while ((r = sql_next(query)) == SQL_ROW) {
		if (rows.count == room)
			r = more_room(query, size, &rows, &room);
		if (r < 0)
			return r;
		read(query, (unsigned char *)rows.items + rows.count++ * size);
		if (query->error)
			return query->error;
	}
	if (r == 0)
		*ret = rows;
	return r;
}

int64_t sql_last_sequence(struct store_tx *tx)
{
	return sqlite3_last_insert_rowid(tx->connection->db);
}
