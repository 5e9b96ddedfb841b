/* sql.h - statements, inside daemon/store only: a connection with its prepared statements, and one query at a time.
 *
 * A `struct sql` is a local that ends itself: CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT …"). Values are bound in
 * order, columns read in order. The first error stays in the query and comes out of sql_next, sql_run, sql_one or sql_all; an
 * error that isn't the data's stays in the transaction too, and no later statement of it runs: after a full disk there may be no
 * transaction left, and a statement outside one would be committed by itself.
 */
#ifndef ADMITD_DAEMON_STORE_SQL_H
#define ADMITD_DAEMON_STORE_SQL_H

#include <sqlite3.h>

#include "daemon/store/event.h"
#include "daemon/store/store.h"
#include "policy/cleanup.h"

struct sql_cached {
	uint64_t hash;
	char *text;
	sqlite3_stmt *stmt;
};

/* One connection; one thread at a time. All zero = closed. */
struct sql_connection {
	sqlite3 *db;
	struct sql_cached *cached;
	size_t cached_count;
	size_t cached_size;
};

struct store_tx {
	struct sql_connection *connection;
	struct arena *arena;
	struct store_chain *head;      /* of the log; writers only */
	const unsigned char *store_id; /* 16 bytes */
	bool can_write;
	bool has_sync_failed;
	int failure; /* the first error that isn't the data's */
};

/* How a SQLite result looks to our callers: 0, a store_result or -errno. */
int sql_result(int rc);
/* The data's fault: the transaction and its other statements are sound. */
bool sql_is_data_fault(int rc);
bool sql_is_sync_failure(int rc);

/* Opens with what store.h promises: no extensions, defensive, foreign keys, no double-quoted strings. `flags` are SQLite's. */
int sql_open(struct sql_connection *connection, const char *path, int flags, unsigned busy_timeout_ms) MUST_USE;
void sql_close(struct sql_connection *connection);

/* Runs a statement of ours without values, e.g. COMMIT; SQLite's extended code. */
int sql_exec(struct sql_connection *connection, const char *text) MUST_USE;
/* Ends a transaction, if there is one, without keeping anything. */
void sql_roll_back(struct sql_connection *connection);
/* One integer from a query without values; SQLite's extended code. */
int sql_scalar(struct sql_connection *connection, const char *text, int64_t *ret) MUST_USE;

struct sql {
	struct store_tx *tx;
	sqlite3_stmt *stmt;
	int error;
	int bound;
	int column;
};

enum { SQL_ROW = 100 };

/* `text` is kept prepared by the connection. */
struct sql sql_begin(struct store_tx *tx, const char *text);
/* The same for a statement that changes something: CHECKs that the transaction may. */
struct sql sql_begin_write(struct store_tx *tx, const char *text);
void sql_end(struct sql *query);

void sql_bind_str(struct sql *query, struct str value); /* absent = NULL; borrowed until sql_end */
void sql_bind_actor(struct sql *query, const struct store_actor *actor);
void sql_bind_int(struct sql *query, int64_t value);
void sql_bind_time(struct sql *query, int64_t value); /* 0 = NULL */
void sql_bind_blob(struct sql *query, const void *bytes, size_t len);
/* NULL unless `is_there`. */
void sql_bind_blob_if(struct sql *query, bool is_there, const void *bytes, size_t len);
/* The word of `value`; a missing word is NULL. */
void sql_bind_word(struct sql *query, const char *const *words, size_t count, size_t value);

/* SQL_ROW, 0 at the end, or the error. */
int sql_next(struct sql *query) MUST_USE;

struct str sql_str(struct sql *query); /* copied into the transaction's arena, with a NUL behind */
void sql_actor(struct sql *query, struct store_actor *ret);
int64_t sql_int(struct sql *query); /* NULL = 0 */
void sql_blob(struct sql *query, void *ret, size_t len);
/* The same; false when it is NULL. */
bool sql_blob_if(struct sql *query, void *ret, size_t len);
/* The index of a word; NULL = 0; a word that isn't known is an error (-EUCLEAN). */
size_t sql_word(struct sql *query, const char *const *words, size_t count);

/* Runs a statement that gives no rows. */
int sql_run(struct sql *query) MUST_USE;
/* The same; STORE_ABSENT when no row was changed. */
int sql_run_on_row(struct sql *query) MUST_USE;
/* The first row, read by `read`; STORE_ABSENT when there is none. */
int sql_one(struct sql *query, void (*read)(struct sql *query, void *row), void *row) MUST_USE;

struct sql_rows {
	void *items;
	size_t count;
};

/* All rows, each `size` bytes, in the transaction's arena. */
int sql_all(struct sql *query, void (*read)(struct sql *query, void *row), size_t size, struct sql_rows *ret) MUST_USE;

/* The rowid of the last insert. */
int64_t sql_last_sequence(struct store_tx *tx);

/* A SELECT with the conditions that a filter names. Made of literals only; values are bound. */
struct sql_select {
	char text[2048];
	size_t len;
	unsigned conditions;
	struct sql_select_value {
		struct str text; /* absent: the number */
		int64_t number;
	} values[12];
	size_t value_count;
};

void sql_select_init(struct sql_select *select, const char *text);
/* Adds a condition with one `?`, unless the value is absent. */
void sql_select_where(struct sql_select *select, const char *condition, struct str value);
void sql_select_where_int(struct sql_select *select, const char *condition, int64_t value);
/* Adds a condition without a value. */
void sql_select_where_always(struct sql_select *select, const char *condition);
/* Adds `column IN` the ids of a JSON array, unless it is absent. Lists give the column as `+column`: they walk in their own
 * order and leave out what doesn't fit, instead of sorting all that does. */
void sql_select_where_in(struct sql_select *select, const char *column, struct str json_ids);
/* Adds what ends the statement: an order, a limit. */
void sql_select_finish(struct sql_select *select, const char *text);
/* Begins it with the conditions' values bound. */
struct sql sql_select_begin(struct store_tx *tx, const struct sql_select *select);
/* Where a list that runs downwards begins: 0 = above everything. */
int64_t sql_before(int64_t before);
int64_t sql_limit(size_t limit);

#endif
