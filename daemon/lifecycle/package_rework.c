#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/package_end.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/store/run.h"
#include "policy/cleanup.h"

int package_rework_has_run(struct world *world, const struct store_package *row, bool *ret)
{
	struct store_run_filter filter = {.claimed_by_token = world->call->actor.token};
	struct store_package_list dependents = {0};
	int r = filter.claimed_by_token.bytes != NULL ? package_end_all_dependents(world, row, &dependents) : 0;

	*ret = false;
	for (size_t i = 0; r == 0 && !*ret && i < dependents.count; i++) {
		struct store_run_list runs = {0};

		filter.package = dependents.items[i].id;
		r = call_store_result(store_run_list(world->tx, &filter, 0, 1, &runs));
		*ret = r == 0 && runs.count > 0;
	}
	return r;
}

/* Its result is what the executor of a dependent found wanting. */
static int check_executor(struct package_moving *moving)
{
	bool has_run = false;
	int r = package_rework_has_run(&moving->world, &moving->row, &has_run);

	return r == 0 && !has_run ? LIFECYCLE_NOT_EXECUTOR : r;
}

static int check(struct package_moving *moving)
{
	struct lifecycle_call *call = &moving->move->call;
	int r = moving->move->is_operator ? 0 : check_executor(moving);

	if (r == 0 && moving->task.status != STORE_TASK_APPROVED)
		r = move_refuse_task(call, &moving->task);
	if (r == 0 && moving->row.end != STORE_PACKAGE_COMPLETED)
		r = refusal_of_package(moving->world.tx, call, &moving->row, LIFECYCLE_PACKAGE_STATUS);
	return r != 0 ? r : move_find_along(moving, STORE_PACKAGE_COMPLETED);
}

/* The attempt that completed it is used, and one more may follow. */
static int take_up(struct package_moving *moving, struct store_package *row)
{
	row->attempts++;
	row->attempt_limit++;
	return package_end_undo(&moving->world, row);
}

static int take_up_all(struct package_moving *moving)
{
	int r = take_up(moving, &moving->row);

	for (size_t i = 0; r == 0 && i < moving->along.count; i++)
		r = take_up(moving, &moving->along.items[i]);
	return r;
}

static int tell_all(struct package_moving *moving)
{
	struct world *world = &moving->world;
	int r = package_end_tell_again(world, moving->row.id, STORE_PACKAGE_COMPLETED, moving->reason);

	for (size_t i = 0; r == 0 && i < moving->along.count; i++)
		r = package_end_tell_again(world, moving->along.items[i].id, STORE_PACKAGE_COMPLETED, moving->reason);
	return r;
}

/* Those that were ready and wait again. `before`: dependents as they were. */
static int tell_waiting(struct package_moving *moving, const struct store_package_list *before)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < before->count; i++) {
		struct store_package row = {0};

		if (package_status_of(&before->items[i]) != PACKAGE_READY)
			continue;
		r = call_store_result(store_package_find(moving->world.tx, before->items[i].id, &row));
		if (r == 0)
			r = event_log_package_status(
				&moving->world, &row, PACKAGE_READY, package_status_of(&row), (struct str){0});
	}
	return r;
}

static int run_rework(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(package_moving_drop)
	struct package_moving moving = {.move = (struct lifecycle_package_move *)call};
	struct store_package_list unfinished = {0};
	int r = move_open_package(tx, &moving);

	if (r == 0)
		r = check(&moving);
	if (r == 0)
		r = package_end_dependents(&moving.world, &moving.row, STORE_PACKAGE_UNFINISHED, &unfinished);
	if (r == 0)
		r = take_up_all(&moving);
	if (r == 0)
		r = tell_all(&moving);
	if (r == 0)
		r = tell_waiting(&moving, &unfinished);
	return r != 0 ? r : move_answer_package(&moving);
}

int lifecycle_rework(struct lifecycle *lifecycle, struct lifecycle_package_move *call)
{
	return call_write(lifecycle, &call->call, run_rework);
}
