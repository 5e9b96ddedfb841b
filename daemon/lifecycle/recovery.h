/* recovery.h - the recovery queue: what a person may act on, oldest first (chapter 2.6). Reads only, on one snapshot.
 *
 * An item's actions are complete: sent unchanged they are valid, or the world has changed and the queue says what is now.
 * Items that one deed frees carry the same cause. What an approval would open is judged, not guessed: by the engine, as if
 * the approval were there.
 *
 * One damaged record takes nobody else's item away: its own says so (is_unreadable).
 *
 * Causes and what is opened look at the RECOVERY_LOOK longest held packages of a project; a page may have fewer items than its
 * limit when they are large.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECOVERY_H
#define ADMITD_DAEMON_LIFECYCLE_RECOVERY_H

#include "daemon/lifecycle/view.h"
#include "daemon/store/queue.h"

enum {
	RECOVERY_LOOK = 1000,
	RECOVERY_MISSED = 2, /* renewals, before a run counts as silent */
};

/* What several items wait for together. */
struct lifecycle_cause {
	struct str key; /* the same for all of them, and no others */
	struct str headline;
	struct lifecycle_action_list actions; /* what frees them all */
	struct str does;                      /* what the first of them does to them */
	size_t count;                         /* of packages */
};

/* A package that holds its plan up. */
struct lifecycle_blocking {
	struct str package;
	struct str label;
	struct str decision_id;
	struct lifecycle_state state;
	enum hold_arm arm;
};

/* Members that don't apply are absent, 0 or NULL. */
struct lifecycle_recovery_item {
	enum store_queue_kind kind;
	struct str id; /* of the item: "hold:pkg_…"; the same as long as it waits */
	struct str project;
	struct str task;
	struct str title; /* of the task */
	struct str package;
	struct str label;
	struct str agent;
	struct str run;
	size_t package_count; /* of a plan that waits: its live packages */
	int64_t plan_revision;
	int64_t since;
	struct str reason;        /* of failed packages, silent runs, plans sent back */
	struct store_actor actor; /* who sent the plan back */
	bool is_unreadable;       /* its record is damaged: nothing is known of it but this, and what ends it */
	bool has_state;
	struct lifecycle_state state;
	enum hold_arm arm;
	bool is_held;
	struct lifecycle_hold hold;
	int64_t warnings;                         /* of a plan: packages that go ahead with one */
	const struct lifecycle_blocking *blocked; /* of a plan */
	size_t blocked_count;
	bool has_opens; /* of a package that an approval may free */
	struct lifecycle_opens opens;
	struct str besides;                  /* what its first action opens besides; absent: that isn't known */
	const struct lifecycle_cause *cause; /* NULL: nothing else waits for the same */
	struct lifecycle_action_list actions;
};

struct lifecycle_recovery_filter {
	struct str project; /* absent: any */
	struct str task;    /* absent: any */
	unsigned kinds;     /* STORE_QUEUE_BIT()s; counts are of all kinds all the same */
};

struct lifecycle_recovery {
	struct lifecycle_recovery_item *items;
	size_t count;
	bool has_more;
	struct store_queue_cursor next; /* with has_more */
	struct store_queue_counts counts;
	int64_t as_of_event;
};

/* The wire word: `package_held`, … */
const char *lifecycle_recovery_kind_name(enum store_queue_kind kind);
/* False: no such word. */
bool lifecycle_recovery_kind_find(struct str word, enum store_queue_kind *ret);

/* Sets what makes a run silent in a filter, at this moment. */
void recovery_set_silence(const struct lifecycle *lifecycle, int64_t now, struct store_queue_filter *ret);

/* 0, LIFECYCLE_NOT_STORED (the store is busy), or -errno. `after` may be NULL. */
int lifecycle_recovery_read(const struct lifecycle_reader *reader, const struct lifecycle_recovery_filter *filter,
	const struct store_queue_cursor *after, size_t limit, struct lifecycle_recovery *ret) MUST_USE;

#endif
