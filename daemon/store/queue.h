/* queue.h - what waits for a person, oldest first, over all entities (chapter 2.6).
 *
 * See store.h for results, values and ownership. Six lists in one order: (since, kind, sequence). Each page is read anew, so
 * nothing is stored for it. Of a hold its arm is looked at, the one word that leads to another item. What a row means, and what may be done, is lifecycle's business.
 */
#ifndef ADMITD_DAEMON_STORE_QUEUE_H
#define ADMITD_DAEMON_STORE_QUEUE_H

#include "daemon/store/store.h"

enum store_queue_kind {
	STORE_QUEUE_PACKAGE_HELD,   /* unfinished, not running, of a proposed or approved task; since: of the hold */
	STORE_QUEUE_PLAN_WAITS,     /* proposed; since: this plan was submitted */
	STORE_QUEUE_PLAN_SENT_BACK, /* since: it was sent back */
	STORE_QUEUE_PACKAGE_FAILED, /* of an approved or failed task; since: it failed */
	STORE_QUEUE_RUN_SILENT,     /* since: its lease was last renewed */
	STORE_QUEUE_PROJECT_WITHOUT_ROOT, /* a package waits for its root; since: the first of them waits */
	STORE_QUEUE_KIND_COUNT
};

/* A set of kinds is the sum of these. */
#define STORE_QUEUE_BIT(kind) (1u << (kind))
enum { STORE_QUEUE_ALL = (1 << STORE_QUEUE_KIND_COUNT) - 1 };

struct store_queue_filter {
	struct str projects_json; /* absent = all; each of the others: absent = any */
	struct str project;
	struct str task;      /* projects without a root are of no task */
	int64_t silent_until; /* a lease that ends by then is silent */
	int64_t lease_ms;     /* a full term of a lease */
};

struct store_queue_row {
	enum store_queue_kind kind;
	int64_t sequence;
	int64_t since;
	struct str project;
	struct str task;    /* absent where it doesn't apply */
	struct str package; /* the same */
	struct str run;     /* the same */
};

struct store_queue_list {
	struct store_queue_row *items;
	size_t count;
};

/* Where a page begins: behind this row. All zero: at the start. */
struct store_queue_cursor {
	int64_t since;
	int64_t sequence;
	enum store_queue_kind kind;
	bool is_set;
};

/* The rows of a set of kinds behind the cursor (NULL: from the start). */
int store_queue_list(struct store_tx *tx, const struct store_queue_filter *filter, unsigned kinds,
	const struct store_queue_cursor *after, size_t limit, struct store_queue_list *ret) MUST_USE;

struct store_queue_counts {
	int64_t kinds[STORE_QUEUE_KIND_COUNT];
	int64_t ready;              /* packages that any executor may claim */
	int64_t ready_oldest_since; /* 0: none */
};

int store_queue_count(
	struct store_tx *tx, const struct store_queue_filter *filter, struct store_queue_counts *ret) MUST_USE;

#endif
