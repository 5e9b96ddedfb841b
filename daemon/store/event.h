/* event.h - the log: every change, chained row by row (chapters 2.1, 2.8).
 *
 * See store.h for results, values and ownership.
 *
 * Chain. hash = SHA-256(domain tag ‖ store id (16 bytes) ‖ hash before (32 bytes; zeros for the first) ‖ sequence (8 bytes,
 * big-endian) ‖ fields), the fields in the order of the struct from `type` to `decision`: texts as a 4-byte
 * big-endian length and their bytes, an absent one as the length 0xffffffff; `at` as 8 bytes big-endian. The
 * domain tag is "admitd/event/1" with its NUL. Last comes the digest of the records that the event names (record.h), 32 bytes behind
 * their length, absent like a text: so the log vouches for the ledger, the decisions, runs, tokens and due records too. The
 * writer assigns sequence and hash; sequences have no gaps.
 */
#ifndef ADMITD_DAEMON_STORE_EVENT_H
#define ADMITD_DAEMON_STORE_EVENT_H

#include "daemon/store/store.h"

enum { STORE_HASH_BYTES = 32 };

enum store_surface {
	STORE_SURFACE_NONE,
	STORE_SURFACE_PREVIEW,
	STORE_SURFACE_APPROVAL,
	STORE_SURFACE_HANDOFF,
	STORE_SURFACE_COUNT
};

/* The wire word; absent for NONE. */
struct str store_surface_text(enum store_surface surface);

struct store_event {
	int64_t sequence; /* from 1 */
	struct str type;  /* 2.1's words: task.status, grant.recorded, … */
	struct str subject_kind;
	struct str subject_id;
	struct str project; /* absent: of no project */
	struct str task;
	struct str package;
	struct store_actor actor;
	int64_t at;
	struct str payload_json;
	enum store_surface surface;
	struct str decision; /* with a surface, or a hold */
	bool has_record;     /* the writer's: it names records, and `record` is their digest */
	unsigned char record[STORE_HASH_BYTES];
	unsigned char hash[STORE_HASH_BYTES];
};

struct store_event_list {
	struct store_event *items;
	size_t count;
};

/* Appends and leaves sequence, record and hash in row; what it names is written before. STORE_ABSENT: its decision, project, task or package isn't stored. */
int store_event_append(struct store_tx *tx, struct store_event *row) MUST_USE;
/* The last sequence, 0 when the log is empty. */
int store_event_head(struct store_tx *tx, int64_t *ret_sequence) MUST_USE;
/* The last event of a package on a surface. STORE_ABSENT: none. */
int store_event_find_last(
	struct store_tx *tx, struct str package, enum store_surface surface, struct store_event *ret) MUST_USE;

struct store_event_list;

/* What was seen of a tool server, a row each time that it changed, newest first. */
int store_event_list_of_server(struct store_tx *tx, struct str project, struct str mcp_id, size_t limit,
	struct store_event_list *ret) MUST_USE;

struct store_event_filter {
	struct str
		projects_json; /* absent = all; with one, events of no project are left out. The others: absent = any */
	struct str project;
	struct str task;
	struct str package;
	struct str type;
	struct str decision;  /* its id */
	struct str principal; /* of the actor */
	int64_t since;        /* ms, inclusive; 0: no bound */
	int64_t until;        /* ms, exclusive; 0: no bound */
	bool newest_first;
};

/* Oldest first above sequence `from`, or, newest_first, below it; 0 = from the end that comes first. */
int store_event_list(struct store_tx *tx, const struct store_event_filter *filter, int64_t from, size_t limit,
	struct store_event_list *ret) MUST_USE;

/* What happened to a package, oldest first above `from`: its own events, and of what it depended on the ones that moved it: its plan's status,
 * the project's grants and the end of the packages that it waited for, since `since`.
 */
struct store_event_story {
	struct str package;
	struct str task;
	struct str project;
	int64_t since; /* ms */
};
int store_event_list_story(struct store_tx *tx, const struct store_event_story *story, int64_t from, size_t limit,
	struct store_event_list *ret) MUST_USE;

/* How many packages the change that `event` tells of held and freed at once: the hold.* events of its transaction, which follow it. */
struct store_event_effects {
	int64_t held;
	int64_t freed;
};
int store_event_count_effects(
	struct store_tx *tx, const struct store_event *event, struct store_event_effects *ret) MUST_USE;

/* How far a check of the chain has come; all zero = from the first row. */
struct store_chain {
	int64_t sequence;
	unsigned char hash[STORE_HASH_BYTES];
	bool is_at_end; /* the last call came to the head of the log */
};

/* Checks at most `limit` rows behind *chain and moves it, and says where the records that a row names aren't what they were.
 * STORE_CHAIN_BROKEN: chain->sequence is the first row that doesn't fit (or is missing). STORE_RECORD_CHANGED: the chain has moved over
 * chain->sequence, whose row is sound, but what it names was changed or removed. Short snapshots: a job calls it until is_at_end.
 */
int store_event_verify(struct store_tx *tx, struct store_chain *chain, size_t limit) MUST_USE;
/* One row, not stored, behind *chain: 0 and moved, or STORE_CHAIN_BROKEN. `store_id` is 16 bytes. For exported logs. Any thread. */
int store_event_follow(
	const unsigned char *store_id, struct store_chain *chain, const struct store_event *row) MUST_USE;

#endif
