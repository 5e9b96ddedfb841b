/* audit_verify.h - the check of the log (chapter 2.8): against itself, what it names, its signed checkpoints, and the exported ones.
 *
 * What it finds, in this order: checkpoints that are missing, or weren't signed by a key that is believed; exported ones that
 * the store doesn't bear out (a tail that was cut, a log that was written anew); the first row of the log that was changed,
 * removed, moved or added; rows of the ledger and other records that were changed, or that nothing vouches for. It works in
 * short snapshots and may run beside a daemon's writer. Prints nothing.
 */
#ifndef ADMITD_DAEMON_AUDIT_AUDIT_VERIFY_H
#define ADMITD_DAEMON_AUDIT_AUDIT_VERIFY_H

#include "daemon/audit/audit_line.h"
#include "policy/buf.h"

enum { AUDIT_FAULTS_MAX = 32, AUDIT_FAULT_TEXT = 200 };

enum audit_fault_kind {
	AUDIT_ROW_CHANGED = 0,    /* or moved, or added, or everything before it */
	AUDIT_ROW_MISSING,        /* removed */
	AUDIT_TAIL_CUT,           /* a checkpoint vouches for rows that aren't there */
	AUDIT_LOG_REWRITTEN,      /* the chain is whole but not the one that a checkpoint vouches for */
	AUDIT_CHECKPOINT_FORGED,  /* changed, or signed by a key that isn't believed */
	AUDIT_CHECKPOINT_MISSING, /* removed, or its signature was */
	AUDIT_RECORD_CHANGED,     /* what a row names was changed or removed */
	AUDIT_RECORD_UNNAMED,     /* nothing in the log vouches for it, or it isn't what its digest says */
	AUDIT_EXPORT_DAMAGED,     /* a line of the exported checkpoints isn't one */
	AUDIT_FAULT_KIND_COUNT
};

const char *audit_fault_kind_text(enum audit_fault_kind kind);

struct audit_fault {
	enum audit_fault_kind kind;
	int64_t sequence; /* the row; 0: of none */
	char text[AUDIT_FAULT_TEXT];
};

/* What came out. Sound: fault_count is 0. */
struct audit_verdict {
	char store_id[2 * AUDIT_STORE_ID_BYTES + 1];
	int64_t first; /* sequence of the first row that is there */
	struct store_chain head;
	uint64_t rows;
	uint64_t records;
	uint64_t checkpoints;
	uint64_t signed_checkpoints;
	uint64_t exported_checkpoints;
	int64_t sealed; /* sequence of the last checkpoint; rows behind it are vouched for by nothing but the chain */
	int64_t sealed_at;
	bool is_signed;  /* the last checkpoint is, by a key that is believed */
	bool has_key;    /* some key is believed: without one signatures couldn't be checked */
	bool has_export; /* exported checkpoints were compared */
	bool is_cancelled;
	struct audit_fault faults[AUDIT_FAULTS_MAX];
	size_t fault_count; /* at most AUDIT_FAULTS_MAX; it stops there */
};

struct audit_verify {
	struct store *store;
	const struct audit_trust *trust;
	const char *exported; /* file of exported checkpoints; NULL: none */
	/* Called between snapshots; false stops. May be NULL. */
	bool (*progress)(void *arg, const struct audit_verdict *so_far);
	void *arg;
};

/* Runs the whole check. 0, whatever was found; -errno: it couldn't be run. */
int audit_verify_store(const struct audit_verify *verify, struct audit_verdict *ret) MUST_USE;

/* Checks exported lines (audit_line.h) alone: rows, and the checkpoints among them. -errno as above. */
int audit_verify_lines(const char *path, const struct audit_trust *trust, struct audit_verdict *ret) MUST_USE;

/* The verdict as JSON members: ok, counts, head, faults, and `warnings`, sentences about what could not be checked. */
void audit_verdict_write(const struct audit_verdict *verdict, struct json_out *out);

/* For the files of this room. */
void audit_verdict_add(struct audit_verdict *verdict, enum audit_fault_kind kind, int64_t sequence, const char *format,
	...) __attribute__((format(printf, 4, 5)));

#endif
