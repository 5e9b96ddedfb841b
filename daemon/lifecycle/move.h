/* move.h - what people do to plans and packages beside approving them (chapter 2.2): rejecting, sending back, cancelling, retrying,
 * reworking.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_MOVE_H
#define ADMITD_DAEMON_LIFECYCLE_MOVE_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

/* ---- of a task as a whole */

struct lifecycle_task_move {
	struct lifecycle_call call;
	struct str task;
	int64_t plan_revision; /* what the caller saw; -1: not said */
	struct str reason;     /* absent: none */

	struct lifecycle_task view; /* out */
	const struct str *ended;    /* ids of the packages that it cancelled or superseded */
	size_t ended_count;
};

/* All three: NOT_FOUND, PROJECT_ARCHIVED, PLAN_REVISION_CONFLICT, and TASK_STATUS. */

/* A proposed plan is refused for good, unless it is sent back later. Its packages stay drafts and lose their holds. */
int lifecycle_reject(struct lifecycle *lifecycle, struct lifecycle_task_move *call) MUST_USE;
/* Sends a proposed, approved, failed or rejected plan back: live runs end as `cancelled`, all but the completed packages are superseded. */
int lifecycle_request_changes(struct lifecycle *lifecycle, struct lifecycle_task_move *call) MUST_USE;
/* Ends a task that isn't completed, rejected or cancelled, with its live runs and unfinished packages. */
int lifecycle_cancel_task(struct lifecycle *lifecycle, struct lifecycle_task_move *call) MUST_USE;

/* ---- of one package */

struct lifecycle_package_move {
	struct lifecycle_call call;
	struct str package;
	struct str reason; /* absent: none */
	bool cascade;      /* with what depends on it (not of a retry) */
	bool is_operator;  /* of a rework: the actor acts as an operator, not as an executor */

	struct lifecycle_package view; /* out */
	struct store_task task;
	const struct str *along; /* ids of the packages that went with it */
	size_t along_count;
};

/* All three: NOT_FOUND and PROJECT_ARCHIVED. */

/* Ends an unfinished package, and with `cascade` those that depend on it, with their live runs. PACKAGE_STATUS, TASK_STATUS (the plan was
 * rejected), HAS_DEPENDENTS.
 */
int lifecycle_cancel_package(struct lifecycle *lifecycle, struct lifecycle_package_move *call) MUST_USE;
/* Three more attempts for a failed package; a failed task is approved again. NOT_RETRYABLE, TASK_STATUS. */
int lifecycle_retry(struct lifecycle *lifecycle, struct lifecycle_package_move *call) MUST_USE;
/* A completed package of an approved task returns as a new attempt, and with `cascade` what is completed and depends on it. An executor may
 * have it when it ran something that depends on it. TASK_STATUS, PACKAGE_STATUS, HAS_DEPENDENTS, NOT_EXECUTOR.
 */
int lifecycle_rework(struct lifecycle *lifecycle, struct lifecycle_package_move *call) MUST_USE;

#endif
