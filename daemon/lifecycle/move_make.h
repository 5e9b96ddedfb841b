/* move_make.h - the pieces of moves: opening, refusing, writing, answering; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_MOVE_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_MOVE_MAKE_H

#include "daemon/lifecycle/move.h"
#include "daemon/lifecycle/world.h"

/* ---- of a task */

struct task_moving {
	struct lifecycle_task_move *move;
	struct world world;
	struct store_task task;
	struct store_package_list packages; /* those that aren't superseded */
	struct str reason;                  /* fit to be kept; absent: none */
};

void task_moving_drop(struct task_moving *moving);
/* Reads all of it and checks the project, the revision, and that the task's status is one of `from` (bits 1 << status). */
int move_open_task(struct store_tx *tx, struct task_moving *moving, unsigned from) MUST_USE;
/* Sets the task's status, by the call's actor, and tells of it. */
int move_write_task(
	struct world *world, struct store_task *task, enum store_task_status status, struct str reason) MUST_USE;
/* The task as it is now, and the packages that the move ended: those with this end and this time. */
int move_answer_task(struct task_moving *moving, enum store_package_end end) MUST_USE;

/* Cancels a task with its packages; what lifecycle_cancel_task() and archiving have in common. */
int move_cancel_task(
	struct world *world, struct store_task *task, struct store_package_list *packages, struct str reason) MUST_USE;

/* Refusals: their words and record; they give the result. */
int move_refuse_task(struct lifecycle_call *call, const struct store_task *task) MUST_USE;

/* ---- of a package */

struct package_moving {
	struct lifecycle_package_move *move;
	struct world world;
	struct store_package row;
	struct store_task task;
	struct store_package_list along; /* what goes with it */
	struct str reason;
};

void package_moving_drop(struct package_moving *moving);
int move_open_package(struct store_tx *tx, struct package_moving *moving) MUST_USE;
/* Finds the dependents of this end. LIFECYCLE_HAS_DEPENDENTS without `cascade`. */
int move_find_along(struct package_moving *moving, enum store_package_end end) MUST_USE;
int move_answer_package(struct package_moving *moving) MUST_USE;

/* Whether the actor's token ever ran a package that depends on this one. 0 or -errno. */
int package_rework_has_run(struct world *world, const struct store_package *row, bool *ret) MUST_USE;

#endif
