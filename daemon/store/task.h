/* task.h - tasks: a plan, its revision and what people said of it (chapters 2.1, 2.2).
 *
 * See store.h for results, values and ownership. Which status may follow which is lifecycle's business.
 */
#ifndef ADMITD_DAEMON_STORE_TASK_H
#define ADMITD_DAEMON_STORE_TASK_H

#include "daemon/store/store.h"

enum store_task_status {
	STORE_TASK_PROPOSED,
	STORE_TASK_APPROVED,
	STORE_TASK_REJECTED,
	STORE_TASK_CHANGES_REQUESTED,
	STORE_TASK_COMPLETED,
	STORE_TASK_FAILED,
	STORE_TASK_CANCELLED,
	STORE_TASK_STATUS_COUNT
};

/* The wire word of a status (`changes_requested`). */
const char *store_task_status_text(enum store_task_status status);
/* STORE_ABSENT: no such word. */
int store_task_status_parse(struct str text, enum store_task_status *ret) MUST_USE;

struct store_task {
	int64_t sequence; /* order of arrival; the key of lists */
	struct str id;    /* the caller's */
	struct str project;
	struct str title;
	int64_t plan_revision;
	struct str plan_digest;
	enum store_task_status status;
	struct store_actor submitted_by; /* this revision */
	int64_t submitted_at;
	struct str contributors_json; /* principals: who submitted this revision and those whose packages it carries */
	int64_t created_at;

	/* who set the status last, when and why */
	struct store_actor status_by;
	int64_t status_at;
	struct str status_reason;

	/* the approval of this plan revision; approved_at 0 = none */
	int64_t approved_revision;
	struct store_actor approved_by;
	int64_t approved_at;
	struct str approval_reason;
	struct str approval_json; /* the stored answer: health as seen, decisions, warnings */
};

struct store_task_list {
	struct store_task *items;
	size_t count;
};

struct store_task_filter {
	struct str projects_json; /* JSON array of ids that may be seen; absent = all */
	struct str project;       /* absent = any */
	struct str submitted_by;  /* principal; absent = any */
	bool has_status;
	enum store_task_status status;
};

/* STORE_ABSENT. */
int store_task_find(struct store_tx *tx, struct str id, struct store_task *ret) MUST_USE;
/* Gives the sequence and leaves it in row. STORE_CONFLICT: the id is taken; STORE_ABSENT: no such project. */
int store_task_insert(struct store_tx *tx, struct store_task *row) MUST_USE;
/* Writes everything but id, project, sequence and created_at. STORE_ABSENT. */
int store_task_update(struct store_tx *tx, const struct store_task *row) MUST_USE;
/* Newest first, below sequence `before` (0: from the newest). Without approval_json. */
int store_task_list(struct store_tx *tx, const struct store_task_filter *filter, int64_t before, size_t limit,
	struct store_task_list *ret) MUST_USE;

#endif
