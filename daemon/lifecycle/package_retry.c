#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/outcome.h"
#include "daemon/lifecycle/package_end.h"
#include "daemon/lifecycle/refusal.h"
#include "policy/cleanup.h"

static int check(struct package_moving *moving)
{
	struct lifecycle_call *call = &moving->move->call;

	if (moving->row.end != STORE_PACKAGE_FAILED)
		return refusal_of_package(moving->world.tx, call, &moving->row, LIFECYCLE_NOT_RETRYABLE);
	if (moving->task.status != STORE_TASK_APPROVED && moving->task.status != STORE_TASK_FAILED)
		return move_refuse_task(call, &moving->task);
	return 0;
}

static int run_retry(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(package_moving_drop)
	struct package_moving moving = {.move = (struct lifecycle_package_move *)call};
	int r = move_open_package(tx, &moving);

	if (r == 0)
		r = check(&moving);
	if (r == 0 && moving.task.status == STORE_TASK_FAILED)
		r = move_write_task(&moving.world, &moving.task, STORE_TASK_APPROVED, moving.reason);
	moving.row.attempt_limit = moving.row.attempts + RUN_ATTEMPT_LIMIT;
	if (r == 0)
		r = package_end_undo(&moving.world, &moving.row);
	if (r == 0)
		r = package_end_tell_again(&moving.world, moving.row.id, STORE_PACKAGE_FAILED, moving.reason);
	return r != 0 ? r : move_answer_package(&moving);
}

int lifecycle_retry(struct lifecycle *lifecycle, struct lifecycle_package_move *call)
{
	return call_write(lifecycle, &call->call, run_retry);
}
