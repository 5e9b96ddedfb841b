/* store.h - the daemon's state on disk: opening it, and units of work (chapter 3.2 "Writes", "Store interface").
 *
 * What is stored is chapter 2.1; each entity has a header of its own beside this one, with a plain struct and
 * functions that take a `struct store_tx`. This folder is the only place that knows SQLite and SQL. It may use
 * policy/ (arena, buf, check, cleanup) and nothing else of ours: it decides nothing, reads no clock and prints
 * nothing.
 *
 * Units of work. A writer is a `struct store_op`: one writer thread takes operations from a bounded queue,
 * what waits together commits together, each in its own savepoint. A reader is a function that runs on a
 * snapshot. Both get a `struct store_tx`; writing functions may only be called by writers (CHECKed).
 *
 * Invariants
 *  S1 `done` is called exactly once for every accepted operation, from the writer thread, in the order of
 *     submission, after what it says is on the disk. Refusals wait for the commit too.
 *  S2 `run` may run twice: when another operation of its batch makes SQLite roll the whole transaction back
 *     (full disk, no memory), it is run again. So it has no effect but on the transaction, its arena and
 *     members of its argument that it sets anew each time. Its arena is reset before each run.
 *  S3 `run` answering 0 keeps what it wrote; any other answer takes it back, and is handed to `done` as it is.
 *     A refusal that leaves a record (an event, a decision, a hold) therefore answers 0 and keeps its refusal
 *     in its argument.
 *  S4 A statement that failed for a reason outside the data (disk, memory, I/O) makes its operation fail,
 *     whatever `run` answers.
 *  S5 After a failed sync nothing more is written or acknowledged: the store is broken until it is opened anew.
 *
 * Errors: 0 done; negative -errno (-ENOSPC, -ENOMEM, -EIO, -EBUSY, -EROFS, -EUCLEAN for a damaged file, -EINVAL for a row
 * that breaks a CHECK or an append-only rule): of a write, nothing of it is stored; positive: enum store_result.
 *
 * Values: times are milliseconds since 1970-01-01T00:00:00Z, 0 = absent. Revisions are int64, 0 = none. An absent
 * str is NULL in the store. Members that end in `_json` are JSON texts that their maker keeps canonical;
 * the store never looks inside them. Rows that are read live in the transaction's arena; rows that are written
 * are borrowed for the call. Random ids are store_id_new's.
 */
#ifndef ADMITD_DAEMON_STORE_STORE_H
#define ADMITD_DAEMON_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/check.h"

struct store;
struct store_tx;

enum store_result {
	STORE_DONE = 0,
	STORE_ABSENT,          /* no such row, or a row that this one names isn't there */
	STORE_CONFLICT,        /* a row with this identity is there already, with other content */
	STORE_STALE,           /* the expected revision isn't the current one; or an older observation */
	STORE_QUEUE_FULL,      /* not accepted; `done` will not be called */
	STORE_SHUTTING_DOWN,   /* the same, because the store is being closed */
	STORE_NOT_STORED,      /* nothing happened: the commit failed before its sync, or the store stayed busy */
	STORE_OUTCOME_UNKNOWN, /* the sync failed: true or not is known after the next open */
	STORE_CHAIN_BROKEN,    /* store_event_verify: a row of the log was changed, removed or added */
	STORE_RECORD_CHANGED, /* store_event_verify, store_audit_…: what the log names was changed or removed, or nothing names it */
	/* of store_open only; the file is untouched */
	STORE_OPEN_ELSEWHERE,    /* another process has it open */
	STORE_NEWER,             /* written by a later version of the daemon */
	STORE_FOREIGN,           /* a SQLite database, but not ours */
	STORE_NOT_A_DATABASE,    /* something else, or damaged beyond its first page */
	STORE_MIGRATION_DIFFERS, /* it was made by a migration whose text isn't the one in this binary */
};

/* Who did something. Both absent: the daemon itself. */
struct store_actor {
	struct str token;
	struct str principal;
};

struct store_config {
	const char *state_folder; /* made with mode 0700 when it isn't there; tightened to it when it is */
	size_t queue_limit;       /* operations that may wait; 0 = 1024 */
	size_t batch_limit;       /* operations in one commit; 0 = 256 */
	unsigned readers;         /* connections for store_read; 0 = 4 */
	unsigned busy_timeout_ms; /* how long a batch waits for somebody else's write lock; 0 = 5000 */
	uint64_t max_pages;       /* ceiling of the file, in pages of 4 KiB; 0 = none */

	/* Called once, from the writer or the checkpoint thread, when a sync failed (S5): the process should stop
	 * and be started anew. After it every operation gets STORE_NOT_STORED. May be NULL. */
	void (*on_broken)(void *arg);
	/* Called from the writer thread after a commit that appended events, before the `done`s of its batch, with the
	 * last sequence: what wakes event clients. May be NULL. */
	void (*on_events)(void *arg, int64_t last_sequence);
	void *arg;
};

/* Opens or makes the store, applies missing migrations, starts the writer and checkpoint threads. Returns 0 with
 * *ret_store owned by the caller, a store_result of the last group above, or -errno.
 */
int store_open(const struct store_config *config, struct store **ret_store) MUST_USE;

/* Refuses new operations, runs the accepted ones, waits for readers, closes. NULL is fine. Not from `done`. */
void store_close(struct store *store);

/* Takes the folder that a daemon would take, for somebody who puts another store into it: *ret_fd, until it is closed.
 * STORE_OPEN_ELSEWHERE; -errno. The folder is made when it isn't there. */
int store_lock(const char *state_folder, int *ret_fd) MUST_USE;
/* The name of the database file in its folder. */
#define STORE_FILE "admitd.db"
/* The head of the log, and SQLite's own check of the whole file (`is_thorough`): STORE_NOT_A_DATABASE when it fails. */
struct store_chain;
int store_inspect(struct store *store, bool is_thorough, struct store_chain *ret_head) MUST_USE;

/* For CLEANUP(). */
void store_drop(struct store **store);

/* 128 random bits made with the store, as 32 hexadecimal digits; valid until close. Any thread. */
struct str store_identity(const struct store *store);

/* One writing unit of work. The submitter owns it and keeps it until `done`; the store doesn't touch it afterwards,
 * so `done` may free it. */
struct store_op {
	int (*run)(struct store_tx *tx, void *arg);    /* S2, S3; writer thread */
	void (*done)(struct store_op *op, int result); /* S1; short: the next batch waits for it */
	void *arg;
	struct arena *arena; /* the transaction's arena: rows that `run` reads live here until the owner resets it */

	struct store_op *next; /* the store's own from here on */
	int result;
	unsigned char state;
};

/* Hands an operation to the writer. 0: accepted; STORE_QUEUE_FULL, STORE_SHUTTING_DOWN: it isn't, and `done` will not be
 * called. `done` gets what `run` answered, or -errno (this operation failed), STORE_NOT_STORED, STORE_OUTCOME_UNKNOWN.
 * Any thread; never waits.
 */
int store_submit(struct store *store, struct store_op *op) MUST_USE;

/* The same and waits for the end, for what the daemon does by itself: a queue that is full of others' operations takes it all the
 * same. Returns what `done` would get. Not from the writer thread. */
int store_call(
	struct store *store, struct arena *arena, int (*run)(struct store_tx *tx, void *arg), void *arg) MUST_USE;

/* Runs `run` on one snapshot and returns its answer, or -errno when no snapshot could be had. Waits for a free reader.
 * Any thread but the store's own. `run` should end within a second: an old snapshot keeps the log from shrinking.
 */
int store_read(
	struct store *store, struct arena *arena, int (*run)(struct store_tx *tx, void *arg), void *arg) MUST_USE;

/* Copies the whole store, as it is at one moment between the call and its end, into a file of the state folder that nobody else can
 * open, and gives it opened for reading: *ret_fd is the caller's, *ret_bytes its length. It is a plain database file without a
 * log. The writer copies a piece between its batches, so others wait no longer than for a piece. Waits for the end; not from the
 * writer thread. STORE_CONFLICT: another one is under way; STORE_SHUTTING_DOWN; STORE_NOT_STORED: the store is broken; -errno.
 */
int store_backup(struct store *store, int *ret_fd, int64_t *ret_bytes) MUST_USE;

/* A database file that no daemon has open, or a copy of one, for reading only: nothing is migrated, made or locked. Only
 * store_read, store_identity and store_close may be called. Results as of store_open. `path` is the file.
 */
int store_open_file(const char *path, struct store **ret_store) MUST_USE;

/* The arena of this transaction: borrowed, for what `run` builds. */
struct arena *store_tx_arena(struct store_tx *tx);

/* `prefix` (`pkg_`, `grt_`, `run_`, `tok_`) and 128 random bits in lower-case base32 (26 characters). Absent when the
 * arena is full. Any thread. */
struct str store_id_new(struct arena *arena, const char *prefix) MUST_USE;

/* What the metrics show; counters since open. */
struct store_stats {
	uint64_t commits;    /* batches that were committed */
	uint64_t operations; /* operations that were answered */
	uint64_t reruns;     /* operations that ran again (S2) */
	uint64_t queued;     /* waiting now */
	uint64_t wal_frames; /* in the write-ahead log after the last commit */
	uint64_t checkpoints;
	bool is_copying; /* the log into the file, now or soon */
	bool broken;
};

/* Any thread. */
void store_stats_read(struct store *store, struct store_stats *ret);

#endif
