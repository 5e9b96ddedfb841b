/* decision.h - decisions: engine inputs and result, immutable, known by the digest of the inputs (chapter 2.1).
 *
 * See store.h for results, values and ownership.
 */
#ifndef ADMITD_DAEMON_STORE_DECISION_H
#define ADMITD_DAEMON_STORE_DECISION_H

#include "daemon/store/store.h"

struct store_decision {
	int64_t sequence;
	struct str id;          /* sha256:… of inputs_json */
	struct str inputs_json; /* canonical */
	struct str result_json; /* without checkedAt and error texts */
	struct str result_digest;
	struct str catalog_digest;
	struct str package_digest; /* of the document judged */
	int64_t engine_revision;
	int64_t created_at;
};

struct store_decision_list {
	struct store_decision *items;
	size_t count;
};

/* Inserts, or compares: 0 when the same id is there with the same result digest (nothing is written); STORE_CONFLICT when it is there
 * with another one: an alarm (2.1). STORE_ABSENT: its catalog isn't stored.
 */
int store_decision_put(struct store_tx *tx, const struct store_decision *row) MUST_USE;
/* STORE_ABSENT. */
int store_decision_find(struct store_tx *tx, struct str id, struct store_decision *ret) MUST_USE;

struct store_decision_filter {
	struct str projects_json; /* each: absent = any; a decision belongs to the projects whose events name it */
	struct str project;
	struct str package;
};

/* Newest first, below sequence `before` (0: from the newest). Without inputs_json and result_json. */
int store_decision_list(struct store_tx *tx, const struct store_decision_filter *filter, int64_t before, size_t limit,
	struct store_decision_list *ret) MUST_USE;
/* The newest sequence; 0: there is none. */
int store_decision_last(struct store_tx *tx, int64_t *ret_sequence) MUST_USE;

/* A walk through what was decided, in pieces (chapter 2.7). */
struct store_decision_period {
	struct str projects_json; /* each: absent = any; of the events that name it */
	struct str project;
	int64_t from; /* an event of then or later; 0: any */
	int64_t to;   /* and not after it; 0: any */
};

/* Those above sequence `after` up to `through` that an event of the period names, oldest first, with everything. One event must fit
 * all of the period. Without any condition, all of them.
 */
int store_decision_walk(struct store_tx *tx, const struct store_decision_period *period, int64_t after, int64_t through,
	struct store_decision_list *ret) MUST_USE;

/* Whether an event of these projects (absent: any) names it: 0, or STORE_ABSENT. For who may see it (4.1). */
int store_decision_is_seen(struct store_tx *tx, struct str id, struct str projects_json) MUST_USE;

/* What it was last made for, by the events of these projects (absent: any) that name it. Absent members: of no stored package. */
struct store_decision_subject {
	struct str project;
	struct str task;
	struct str package;
	struct str label;
};
/* 0, or STORE_ABSENT. */
int store_decision_find_subject(
	struct store_tx *tx, struct str id, struct str projects_json, struct store_decision_subject *ret) MUST_USE;

#endif
