/* plan.h - submitting a plan (PUT task; chapters 2.2 "A new plan", 4.2).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PLAN_H
#define ADMITD_DAEMON_LIFECYCLE_PLAN_H

#include <jansson.h>

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

enum {
	PLAN_PACKAGE_LIMIT = 200,
	PLAN_OVERLAY_LIMIT = 40,
	PLAN_OVERLAY_CHARACTERS = 2000,
	PLAN_FAULT_LIMIT = 200, /* faults beyond it aren't listed */
};

struct plan_overlay {
	struct str requirement_key;
	struct str text;
	char digest[72]; /* of the text */
};

struct plan_package {
	struct str label;
	struct str agent;
	const size_t *depends_on; /* indexes into the plan's packages, ascending */
	size_t depends_on_count;
	const json_t *document;    /* borrowed from the body */
	struct str document_bytes; /* canonical */
	struct str document_digest;
	const struct plan_overlay *overlays; /* by key */
	size_t overlay_count;
	bool redo; /* a completed package of this label and document isn't it */
};

/* A plan that is well formed. */
struct plan {
	struct str project;
	struct str title;
	struct str digest;
	const struct plan_package *packages;
	size_t package_count;
};

enum plan_form {
	PLAN_FORM_TASK = 0, /* the body of PUT task */
	PLAN_FORM_PREVIEW,  /* the same, or {project, document, agent?, promptOverlays?}; there title may be left out */
};

/* Reads a body. 0 and *ret_plan; LIFECYCLE_INVALID_DOCUMENT and every fault in *ret_refusal; -ENOMEM. The plan lives in `arena` (the
 * request's, not that of a call) and borrows from `body`.
 */
int plan_read(struct arena *arena, const json_t *body, enum plan_form form, struct plan *ret_plan,
	struct lifecycle_refusal *ret_refusal) MUST_USE;

enum lifecycle_plan_effect { LIFECYCLE_PLAN_UNCHANGED = 0, LIFECYCLE_PLAN_REPLACED, LIFECYCLE_PLAN_CREATED };

struct lifecycle_plan_put {
	struct lifecycle_call call;
	struct str task;
	const struct plan *plan;
	struct lifecycle_condition condition; /* its revision: the plan's */

	enum lifecycle_plan_effect effect; /* out */
	struct lifecycle_task view;
	const struct str *superseded; /* ids of packages that left the plan */
	size_t superseded_count;
};

/* INVALID_DOCUMENT (the task id), NOT_FOUND (the project), PROJECT_ARCHIVED, TASK_EXISTS, TASK_STATUS, PRECONDITION_FAILED. The same plan
 * again is DONE and unchanged, whatever the task's status.
 */
int lifecycle_plan_put(struct lifecycle *lifecycle, struct lifecycle_plan_put *call) MUST_USE;

#endif
