/* audit.h - what vouches for the log: checkpoints, epochs, trims, and the check of what the log can't see by itself (chapter 2.8).
 *
 * See store.h for results, values and ownership; event.h for the chain. Signing and exporting are lifecycle's: here a
 * signature is 64 bytes that belong to a row.
 *
 * Invariants
 *  A1 Checkpoints are numbered from 1 without gaps, their sequences rise, epochs don't fall. None is changed or removed.
 *  A2 Rows of the log are removed by store_audit_trim alone, from the first on, up to a checkpoint, each trim one segment
 *     between two checkpoints. What the removed rows named stays bound: audit_bound keeps their digests, the
 *     trim's digest is over those, and a row of the log names the trim.
 */
#ifndef ADMITD_DAEMON_STORE_AUDIT_H
#define ADMITD_DAEMON_STORE_AUDIT_H

#include "daemon/store/event.h"

enum { STORE_SIGNATURE_BYTES = 64 };

struct store_checkpoint {
	int64_t number;
	int64_t epoch;    /* 1, and one more with each restore */
	int64_t sequence; /* the last row it vouches for */
	unsigned char hash[STORE_HASH_BYTES];
	int64_t at;
	struct str key_id; /* absent: unsigned */
	unsigned char signature[STORE_SIGNATURE_BYTES];
};

struct store_checkpoint_list {
	struct store_checkpoint *items;
	size_t count;
};

/* The one that the head of the log would get now, without time and signature. STORE_ABSENT: the head has one, or there is no row. */
int store_checkpoint_draft(struct store_tx *tx, struct store_checkpoint *ret) MUST_USE;
/* Stores a draft of the same transaction. */
int store_checkpoint_append(struct store_tx *tx, const struct store_checkpoint *row) MUST_USE;
/* The last; STORE_ABSENT. */
int store_checkpoint_last(struct store_tx *tx, struct store_checkpoint *ret) MUST_USE;
/* In order, above `number`. */
int store_checkpoint_list(
	struct store_tx *tx, int64_t number, size_t limit, struct store_checkpoint_list *ret) MUST_USE;

struct store_epoch {
	int64_t epoch;               /* store_epoch_open's */
	struct store_chain from;     /* the backup's head */
	struct store_chain replaced; /* the head that was given up; sequence 0: none is known */
	int64_t at;
};

struct store_epoch_list {
	struct store_epoch *items;
	size_t count;
};

/* Opens the next one at the head of the log and leaves epoch and `from` in row; its event is the caller's. */
int store_epoch_open(struct store_tx *tx, struct store_epoch *row) MUST_USE;
/* What a restore makes of what its backup held: no token opens anything, a person's or a run's, and no remembered answer is given
 * again. *ret_tokens: how many were alive. */
int store_epoch_disarm(struct store_tx *tx, int64_t at, int64_t *ret_tokens) MUST_USE;
/* All of them, in order; the first has no row. */
int store_epoch_list(struct store_tx *tx, struct store_epoch_list *ret) MUST_USE;

/* Where the chain begins: zero, or the last trim's checkpoint. STORE_CHAIN_BROKEN: the trims don't fit each other or A1's rows. */
int store_audit_anchor(struct store_tx *tx, struct store_chain *ret) MUST_USE;

struct store_segment {
	int64_t after; /* the checkpoint before; 0: the first */
	int64_t through;
	unsigned char hash[STORE_HASH_BYTES]; /* of the last row */
	struct store_checkpoint checkpoint;   /* at `through` */
};

/* The first segment that is kept whole, if its checkpoint was made before `before` and another one follows it. STORE_ABSENT. */
int store_audit_oldest(struct store_tx *tx, int64_t before, struct store_segment *ret) MUST_USE;
/* Deletes its rows, for good, and tells of it (`audit.trimmed`). STORE_STALE: it isn't the first. The caller has exported it. */
int store_audit_trim(struct store_tx *tx, const struct store_segment *segment, int64_t at) MUST_USE;

/* What store_audit_check looks at, in turn; each row of them must be named by the log, or be what its digest says. */
enum store_audit_part {
	STORE_AUDIT_GRANTS,
	STORE_AUDIT_TOKENS,
	STORE_AUDIT_RUNS,
	STORE_AUDIT_DUE_RECORDS,
	STORE_AUDIT_CATALOG_EPOCHS,
	STORE_AUDIT_EPOCHS,
	STORE_AUDIT_TRIMS, /* with what they left of the rows that went */
	STORE_AUDIT_DECISIONS,
	STORE_AUDIT_CATALOGS,
	STORE_AUDIT_DOCUMENTS,
	STORE_AUDIT_PART_COUNT
};

/* How far it has come; all zero = the beginning. */
struct store_audit_walk {
	enum store_audit_part part; /* STORE_AUDIT_PART_COUNT: done */
	int64_t after;              /* rowid in the part */
	uint64_t seen;
};

/* Checks at most `limit` rows of one part. STORE_RECORD_CHANGED: the row that *ret_id names is not what it was, or nothing vouches for
 * it; *ret_sequence is the row of the log that names it, 0 if none. The walk has moved over it, so that the check may go on.
 * Short snapshots: a job calls it until the part is STORE_AUDIT_PART_COUNT.
 */
int store_audit_check(struct store_tx *tx, struct store_audit_walk *walk, size_t limit, struct str *ret_id,
	int64_t *ret_sequence) MUST_USE;

/* The name of a part: "grant", "token", … */
const char *store_audit_part_text(enum store_audit_part part);

#endif
