/* record.h - the digest of the rows that an event names: what binds the ledger to the log (chapter 2.8). daemon/store only.
 *
 * A decision by its digests (its id is the digest of its inputs, checked apart), a package by what never changes of it, a
 * grant, token, run, due record, epoch or trim whole. Whoever changes such a row in the file would have to change the log too.
 *
 * Digest: SHA-256 over "admitd/record/1" with its NUL, and for each kind of row that the event names, in the order of the
 * table in record.c: its place in the table (1 byte), then each row: 'r', and its columns as a byte for the type
 * (SQLite's), a 4-byte big-endian length and the bytes (integers in decimal). Numbers in the table are never reused.
 */
#ifndef ADMITD_DAEMON_STORE_RECORD_H
#define ADMITD_DAEMON_STORE_RECORD_H

#include "daemon/store/event.h"

/* Of what `row` names, as it is stored now. *ret_has false: it names nothing. 0 or -errno. */
int record_digest(struct store_tx *tx, const struct store_event *row, unsigned char ret_digest[STORE_HASH_BYTES],
	bool *ret_has) MUST_USE;

struct sql;

/* Of all rows of a query whose values are bound, each as above. */
int record_digest_rows(struct sql *query, unsigned char ret_digest[STORE_HASH_BYTES]) MUST_USE;

#endif
