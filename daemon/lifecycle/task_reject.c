#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/package_end.h"
#include "policy/cleanup.h"

static int run_reject(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(task_moving_drop) struct task_moving moving = {.move = (struct lifecycle_task_move *)call};
	int r = move_open_task(tx, &moving, 1u << STORE_TASK_PROPOSED);

	for (size_t i = 0; r == 0 && i < moving.packages.count; i++)
		r = package_end_hold(&moving.world, &moving.packages.items[i]);
	if (r == 0)
		r = move_write_task(&moving.world, &moving.task, STORE_TASK_REJECTED, moving.reason);
	return r != 0 ? r : move_answer_task(&moving, STORE_PACKAGE_END_COUNT);
}

int lifecycle_reject(struct lifecycle *lifecycle, struct lifecycle_task_move *call)
{
	return call_write(lifecycle, &call->call, run_reject);
}
