/* surface.h - the three surfaces: preview, approval, handoff (chapter 2.3).
 *
 * All three refresh health older than max_age, outside any transaction, evaluate on what one transaction sees, and start again when
 * what the health was taken for has changed meanwhile: LIFECYCLE_INPUTS_CHANGED after three times.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_SURFACE_H
#define ADMITD_DAEMON_LIFECYCLE_SURFACE_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/plan.h"
#include "daemon/lifecycle/run_config.h"
#include "daemon/lifecycle/view.h"
#include "policy/admission.h"

/* One package, judged on a surface. */
struct lifecycle_judged {
	struct str id; /* absent: not stored */
	struct str label;
	struct str agent;
	struct str decision_id;
	enum admission_status status;
	bool retryable;       /* the hold's */
	struct str result;    /* 1.11, full form; a JSON value */
	struct str aggregate; /* its `aggregate` */
	struct str primary;   /* `primaryDecision`; "null" when nothing blocks */
	bool has_primary;     /* primary_mode and primary_recovery mean something */
	enum admission_mode primary_mode;
	enum recovery_action primary_recovery;
	struct str reason;             /* the first block's, else the first warning's, else "" */
	enum recovery_action recovery; /* of that reason; RECOVERY_NONE: none */
	bool is_held;
	struct lifecycle_hold
		hold; /* `origin` is made of it: requirement_key, mcp_id, agent, mode, recovery, arm, subtask_id */
	struct lifecycle_state state;
	enum store_surface compared_surface; /* `comparedWith`; NONE = null */
	struct str compared_decision;
	struct str changed_inputs; /* a JSON array */
	struct lifecycle_action_list actions;
};

struct lifecycle_judgement {
	enum admission_status status; /* over all packages */
	size_t counts[3];             /* by enum admission_status */
	struct str health;            /* a JSON array: health as the engine was given it, by MCP id */
	struct lifecycle_judged *packages;
	size_t package_count;
	int64_t root_revision;
	struct str catalog_digest;
};

struct lifecycle_preview {
	struct lifecycle_call call;
	struct str task;         /* a stored one, or absent and */
	const struct plan *plan; /* this one */

	int64_t plan_revision; /* out; 0: not stored */
	struct str project;
	struct lifecycle_judgement judgement;

	/* the lifecycle's own */
	struct preview_entry *entry;
};

/* NOT_FOUND, QUEUE_FULL (so many records of previews wait that no more fit). What it records is queued after the answer and on disk
 * within a second. `done` may be called before this returns.
 */
int lifecycle_preview(struct lifecycle *lifecycle, struct lifecycle_preview *call) MUST_USE;

struct lifecycle_approval {
	struct lifecycle_call call;
	struct str task;
	int64_t plan_revision;
	int64_t root_revision; /* what the caller saw; -1: not said */
	struct str reason;     /* absent: none */

	bool already_approved; /* out */
	struct str project;
	struct store_actor approved_by;
	int64_t approved_at;
	struct str answer; /* the whole answer of an approval (examples/5), a JSON object; DONE only */
	struct lifecycle_judgement judgement; /* ADMISSION_BLOCKED and a first DONE */
};

/* NOT_FOUND, PROJECT_ARCHIVED, PLAN_REVISION_CONFLICT, TASK_STATUS, SELF_APPROVAL, ROOT_CHANGED, INPUTS_CHANGED, and ADMISSION_BLOCKED: then
 * decisions and events are written and nothing else is changed.
 */
int lifecycle_approve(struct lifecycle *lifecycle, struct lifecycle_approval *call) MUST_USE;

struct lifecycle_read_scope {
	struct str requirement_key;
	const struct str *capabilities; /* canonical */
	size_t capability_count;
};

struct lifecycle_handoff {
	struct lifecycle_call call;
	struct str package; /* this one, or */
	struct str task;    /* the next of this one, or the next of all tasks: */
	struct str project; /* absent: of any in the scope */
	struct str agent;   /* absent: for any */
	struct str worker;  /* absent: none named */
	bool wants_config;  /* what the run's agent may have, too */

	/* out: DONE, and for one package ADMISSION_BLOCKED (judged only) */
	struct lifecycle_judged judged;
	struct str health; /* as in a judgement */
	struct lifecycle_run run;
	struct str run_token;
	struct lifecycle_package view;
	struct str overlays; /* `promptOverlays`, a JSON object */
	const struct str *subtasks;
	size_t subtask_count;
	const struct lifecycle_read_scope *read_scope;
	size_t read_scope_count;
	struct lifecycle_run_config config; /* where it is wanted */
};

/* NOT_FOUND, TASK_STATUS, PACKAGE_STATUS, INPUTS_CHANGED, NOTHING_READY (of a next), and ADMISSION_BLOCKED (of one package): then decision,
 * event and hold are written. Of a next, blocked ones get their hold and are passed over.
 */
int lifecycle_handoff(struct lifecycle *lifecycle, struct lifecycle_handoff *call) MUST_USE;

#endif
