#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/package_end.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/task_settle.h"
#include "policy/cleanup.h"

enum {
	CANCELLED_IN = 1 << STORE_TASK_PROPOSED | 1 << STORE_TASK_APPROVED | 1 << STORE_TASK_FAILED,
};

static int check(struct package_moving *moving)
{
	struct lifecycle_call *call = &moving->move->call;

	if (moving->row.end != STORE_PACKAGE_UNFINISHED)
		return refusal_of_package(moving->world.tx, call, &moving->row, LIFECYCLE_PACKAGE_STATUS);
	if ((CANCELLED_IN & 1 << moving->task.status) == 0)
		return move_refuse_task(call, &moving->task);
	return move_find_along(moving, STORE_PACKAGE_UNFINISHED);
}

static int run_cancel(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(package_moving_drop)
	struct package_moving moving = {.move = (struct lifecycle_package_move *)call};
	int r = move_open_package(tx, &moving);

	if (r == 0)
		r = check(&moving);
	if (r == 0)
		r = package_end(&moving.world, &moving.row, STORE_PACKAGE_CANCELLED, moving.reason);
	for (size_t i = 0; r == 0 && i < moving.along.count; i++)
		r = package_end(&moving.world, &moving.along.items[i], STORE_PACKAGE_CANCELLED, moving.reason);
	if (r == 0)
		r = task_settle(&moving.world, &moving.task);
	return r != 0 ? r : move_answer_package(&moving);
}

int lifecycle_cancel_package(struct lifecycle *lifecycle, struct lifecycle_package_move *call)
{
	return call_write(lifecycle, &call->call, run_cancel);
}
