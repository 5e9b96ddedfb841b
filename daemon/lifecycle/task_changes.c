#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/package_end.h"
#include "policy/cleanup.h"

enum {
	SENT_BACK_FROM =
		1 << STORE_TASK_PROPOSED | 1 << STORE_TASK_APPROVED | 1 << STORE_TASK_FAILED | 1 << STORE_TASK_REJECTED,
};

static int run_changes(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(task_moving_drop) struct task_moving moving = {.move = (struct lifecycle_task_move *)call};
	int r = move_open_task(tx, &moving, SENT_BACK_FROM);

	/* What failed or was cancelled is of no use to the next plan either. */
	for (size_t i = 0; r == 0 && i < moving.packages.count; i++)
		if (moving.packages.items[i].end != STORE_PACKAGE_COMPLETED)
			r = package_end(
				&moving.world, &moving.packages.items[i], STORE_PACKAGE_SUPERSEDED, moving.reason);
	if (r == 0)
		r = move_write_task(&moving.world, &moving.task, STORE_TASK_CHANGES_REQUESTED, moving.reason);
	return r != 0 ? r : move_answer_task(&moving, STORE_PACKAGE_SUPERSEDED);
}

int lifecycle_request_changes(struct lifecycle *lifecycle, struct lifecycle_task_move *call)
{
	return call_write(lifecycle, &call->call, run_changes);
}
