#include "daemon/store/migrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/store/sql.h"

int64_t migrate_latest(void)
{
	return migrations[migration_count - 1].number;
}

static int result_of(int rc)
{
	int r = sql_result(rc);

	return r == -EUCLEAN ? STORE_NOT_A_DATABASE : r;
}

/* Whether the migrations that the store went through are ours, text for text. */
static int compare_applied(struct sql_connection *connection, int64_t version)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = 256 * 1024};
	struct store_tx tx = {.connection = connection, .arena = &arena};
	CLEANUP(sql_end) struct sql query = sql_begin(&tx, "SELECT number, digest FROM migrations ORDER BY number");
	int64_t seen = 0;
	int r;

	while ((r = sql_next(&query)) == SQL_ROW) {
		int64_t number = sql_int(&query);
		struct str digest = sql_str(&query);

		if (number != ++seen || number > version || !str_is(digest, migrations[number - 1].digest))
			return STORE_MIGRATION_DIFFERS;
	}
	return r == 0 && seen != version ? STORE_MIGRATION_DIFFERS : r;
}

static int record(struct sql_connection *connection, const struct migration *migration)
{
	struct store_tx tx = {.connection = connection, .can_write = true};
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(&tx, "INSERT INTO migrations (number, name, digest) VALUES (?, ?, ?)");

	sql_bind_int(&query, migration->number);
	sql_bind_str(&query, (struct str){migration->name, strlen(migration->name)});
	sql_bind_str(&query, (struct str){migration->digest, strlen(migration->digest)});
	return sql_run(&query);
}

/* The statements of one migration, inside a transaction that is open. */
static int apply_text(struct sql_connection *connection, const struct migration *migration)
{
	char version[48];
	int rc = sqlite3_exec(connection->db,
		"CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT "
		"NOT NULL) STRICT",
		NULL, NULL, NULL);
	int r;

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(connection->db, migration->text, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return result_of(rc);
	r = record(connection, migration);
	if (r)
		return r;
	(void)snprintf(version, sizeof(version), "PRAGMA user_version = %lld", (long long)migration->number);
	return result_of(sqlite3_exec(connection->db, version, NULL, NULL, NULL));
}

static int apply_one(struct sql_connection *connection, const struct migration *migration)
{
	int r = result_of(sql_exec(connection, "BEGIN IMMEDIATE"));

	if (r)
		return r;
	r = apply_text(connection, migration);
	if (r == 0)
		r = result_of(sql_exec(connection, "COMMIT"));
	if (r)
		sql_roll_back(connection);
	return r;
}

int migrate_apply(struct sql_connection *connection)
{
	int64_t version = 0;
	int r = result_of(sql_scalar(connection, "PRAGMA user_version", &version));

	if (r)
		return r;
	if (version < 0 || version > migrate_latest())
		return STORE_NEWER;
	if (version > 0)
		r = compare_applied(connection, version);
	for (size_t i = (size_t)version; r == 0 && i < migration_count; i++)
		r = apply_one(connection, &migrations[i]);
	return r;
}
