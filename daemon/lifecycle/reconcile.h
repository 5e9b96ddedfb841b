/* reconcile.h - the one reconciliation (chapter 2.4): the same state gives the same holds; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECONCILE_H
#define ADMITD_DAEMON_LIFECYCLE_RECONCILE_H

#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/package_status.h"
#include "daemon/lifecycle/world.h"

/* Which packages a change concerns. All absent: every one of the project. */
struct reconcile_scope {
	struct str package;
	struct str task;
	struct str mcp_id; /* those that ask for this server */
	bool readers_only; /* those that need a grant */
};

enum reconcile_change { RECONCILE_SAME = 0, RECONCILE_OPENED, RECONCILE_CHANGED, RECONCILE_CLEARED };

/* One package that was looked at, as it is now. */
struct reconcile_item {
	struct str package;
	struct str label;
	struct str task;
	enum store_task_status task_status;
	enum package_status status;
	enum reconcile_change change;
	bool is_held;
	struct lifecycle_state state; /* of one that is held, where wanted */
	struct reconcile_item *next;
};

struct reconcile_effect {
	struct reconcile_item *first, **last;
	size_t count;
	bool wants_state;
};

void reconcile_effect_init(struct reconcile_effect *effect, bool wants_state);

/* Judges again the unfinished packages that aren't running, of proposed, approved and failed tasks, and writes the holds that differ, with their
 * events. The world must show the change already. `effect` may be NULL. 0 or -errno.
 */
int reconcile_project(
	struct world *world, const struct reconcile_scope *scope, struct reconcile_effect *effect) MUST_USE;

/* The same for one package that was judged already: sets or clears its hold in `row` and in the store. */
int reconcile_apply(struct world *world, struct store_package *row, const struct verdict *verdict,
	enum reconcile_change *ret_change) MUST_USE;

/* Writes what was asked for this call of the project's servers, and reconciles when it differs from what was known. Reads the
 * world again where it wrote. 0 or -errno.
 */
int reconcile_asked(struct world *world) MUST_USE;
/* Writes a health row, tells of it and reconciles when anything but its time differs. 0, STORE_STALE, or -errno. */
int reconcile_health(struct world *world, const struct store_health *row) MUST_USE;

#endif
