/* migrate.h - the migrations in the binary, and bringing a store up to them (chapter 3.1 "migrations"). daemon/store only.
 *
 * Each runs in a transaction of its own together with its row in `migrations` and user_version, so a stop in between leaves
 * whole steps. A store that was made by a migration with another text is refused.
 */
#ifndef ADMITD_DAEMON_STORE_MIGRATE_H
#define ADMITD_DAEMON_STORE_MIGRATE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/check.h"

struct sql_connection;

struct migration {
	int64_t number; /* from 1, without gaps */
	const char *name;
	const char *digest; /* SHA-256 of text, hexadecimal */
	const char *text;
	size_t len;
};

/* Generated from migrations/ when the tree is built. */
extern const struct migration migrations[];
extern const size_t migration_count;

/* Brings the store to the last migration. 0, STORE_NEWER, STORE_MIGRATION_DIFFERS, STORE_NOT_A_DATABASE or -errno. */
int migrate_apply(struct sql_connection *connection) MUST_USE;

/* The number of the last migration in the binary: what user_version becomes. */
int64_t migrate_latest(void);

#endif
