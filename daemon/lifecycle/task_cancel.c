#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "policy/cleanup.h"

enum {
	CANCELLED_FROM = 1 << STORE_TASK_PROPOSED | 1 << STORE_TASK_APPROVED | 1 << STORE_TASK_FAILED |
		1 << STORE_TASK_CHANGES_REQUESTED,
};

static int run_cancel(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(task_moving_drop) struct task_moving moving = {.move = (struct lifecycle_task_move *)call};
	int r = move_open_task(tx, &moving, CANCELLED_FROM);

	if (r == 0)
		r = move_cancel_task(&moving.world, &moving.task, &moving.packages, moving.reason);
	return r != 0 ? r : move_answer_task(&moving, STORE_PACKAGE_CANCELLED);
}

int lifecycle_cancel_task(struct lifecycle *lifecycle, struct lifecycle_task_move *call)
{
	return call_write(lifecycle, &call->call, run_cancel);
}
