/* catalog.h - catalogs by digest, and which one is in force (chapters 1.3, 2.1, 2.4).
 *
 * See store.h for results, values and ownership. Each replacement is one row, an epoch.
 */
#ifndef ADMITD_DAEMON_STORE_CATALOG_H
#define ADMITD_DAEMON_STORE_CATALOG_H

#include "daemon/store/store.h"

struct store_catalog {
	struct str digest; /* sha256:… */
	struct str bytes;  /* canonical JSON */
	/* of the epoch, where it is in force */
	int64_t epoch; /* from 1; 0: it never was */
	struct store_actor actor;
	int64_t at;
};

/* Keeps the bytes; the same digest again is fine. */
int store_catalog_put(struct store_tx *tx, struct str digest, struct str bytes) MUST_USE;
/* STORE_ABSENT. The latest epoch of this digest, if it has one. */
int store_catalog_find(struct store_tx *tx, struct str digest, struct store_catalog *ret) MUST_USE;
/* The catalog in force. STORE_ABSENT: none yet. */
int store_catalog_current(struct store_tx *tx, struct store_catalog *ret) MUST_USE;
/* Opens an epoch with a stored catalog (digest, actor, at) and leaves its number in row. STORE_ABSENT: no such digest. */
int store_catalog_set_current(struct store_tx *tx, struct store_catalog *row) MUST_USE;

#endif
