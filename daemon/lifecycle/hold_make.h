/* hold_make.h - from a verdict to a hold, its words and its actions; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_HOLD_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_HOLD_MAKE_H

#include "daemon/lifecycle/hold.h"
#include "daemon/lifecycle/world.h"

/* The hold of a held verdict, complete but for `since` where the package isn't stored. Borrows from the verdict and the world. */
int hold_make(struct world *world, const struct verdict *verdict, struct lifecycle_hold *ret) MUST_USE;
/* A copy that outlives the world. */
int hold_copy(struct arena *arena, const struct lifecycle_hold *hold, struct lifecycle_hold *ret) MUST_USE;

/* What the store keeps: everything but `since` and the revisions, which are read with it. */
int hold_store_json(struct arena *arena, const struct lifecycle_hold *hold, struct str *ret_json) MUST_USE;
int hold_read_json(struct arena *arena, struct str json, struct lifecycle_hold *ret) MUST_USE;
/* What decided it: no times, no prose (2.2). */
int hold_fingerprint(struct arena *arena, const struct lifecycle_hold *hold, struct str *ret) MUST_USE;

/* The operator's state; `hold` NULL: it isn't held. */
int hold_state(struct world *world, const struct verdict *verdict, const struct lifecycle_hold *hold,
	struct lifecycle_state *ret) MUST_USE;

/* The attempt that used a one-time approval up; unchanged: none. 0 or -errno. */
int hold_attempt(struct world *world, const struct store_grant *grant, int64_t *ret) MUST_USE;

/* What goes into actions beside the verdict. */
struct action_context {
	struct str task;
	int64_t plan_revision;
	enum store_task_status task_status;
	bool has_dependents;   /* unfinished ones */
	bool is_self_approval; /* the actor may not approve for this package */
};

/* The actions of a held package, in the order of 2.6. */
int hold_actions(struct world *world, const struct verdict *verdict, const struct lifecycle_hold *hold,
	const struct action_context *context, struct lifecycle_action_list *ret) MUST_USE;

#endif
