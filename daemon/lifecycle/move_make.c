#include "daemon/lifecycle/move_make.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/package_end.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/redact.h"

/* ---- refusals */

int move_refuse_task(struct lifecycle_call *call, const struct store_task *task)
{
	const char *word = store_task_status_text(task->status);

	call->refusal.status = (struct str){word, strlen(word)};
	call->refusal.actor = task->status_by;
	call->refusal.at = task->status_at;
	call->refusal.reason = task->status_reason;
	return LIFECYCLE_TASK_STATUS;
}

/* ---- a task */

void task_moving_drop(struct task_moving *moving)
{
	world_close(&moving->world);
}

static int check_revision(struct task_moving *moving)
{
	struct lifecycle_task_move *move = moving->move;
	const struct store_task *task = &moving->task;

	if (move->plan_revision < 0 || move->plan_revision == task->plan_revision)
		return 0;
	move->call.refusal.revision = task->plan_revision;
	move->call.refusal.actor = task->submitted_by;
	move->call.refusal.at = task->submitted_at;
	return LIFECYCLE_PLAN_REVISION_CONFLICT;
}

int move_open_task(struct store_tx *tx, struct task_moving *moving, unsigned from)
{
	struct lifecycle_task_move *move = moving->move;
	int r = store_task_find(tx, move->task, &moving->task);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&move->call.scope, moving->task.project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	r = world_open(tx, &move->call, moving->task.project, &moving->world);
	if (r == 0)
		r = refusal_of_archived(&moving->world);
	if (r == 0)
		r = check_revision(moving);
	if (r == 0 && (from & 1u << moving->task.status) == 0)
		r = move_refuse_task(&move->call, &moving->task);
	if (r == 0)
		r = redact_copy(moving->world.arena, move->reason, REDACT_REASON, &moving->reason);
	return r != 0 ? r : call_store_result(store_package_list_of_task(tx, move->task, false, &moving->packages));
}

int move_write_task(struct world *world, struct store_task *task, enum store_task_status status, struct str reason)
{
	enum store_task_status before = task->status;
	int r = 0;

	task->status = status;
	task->status_by = world->call->actor;
	task->status_at = world->call->now;
	task->status_reason = reason;
	r = call_store_result(store_task_update(world->tx, task));
	return r != 0 ? r : event_log_task_status(world, task, true, before, reason);
}

int move_answer_task(struct task_moving *moving, enum store_package_end end)
{
	struct lifecycle_task_move *move = moving->move;
	struct str *ids = ARENA_ARRAY(moving->world.arena, moving->packages.count, struct str);

	if (ids == NULL)
		return -ENOMEM;
	move->ended = ids;
	move->ended_count = 0;
	for (size_t i = 0; i < moving->packages.count; i++)
		if (moving->packages.items[i].end == end && moving->packages.items[i].ended_at == move->call.now)
			ids[move->ended_count++] = moving->packages.items[i].id;
	return view_make_task(moving->world.tx, moving->world.catalog, move->task, &move->view);
}

int move_cancel_task(
	struct world *world, struct store_task *task, struct store_package_list *packages, struct str reason)
{
	for (size_t i = 0; i < packages->count; i++) {
		struct store_package *row = &packages->items[i];
		int r = row->end == STORE_PACKAGE_UNFINISHED ? package_end(world, row, STORE_PACKAGE_CANCELLED, reason)
							     : 0;

		if (r != 0)
			return r;
	}
	return move_write_task(world, task, STORE_TASK_CANCELLED, reason);
}

/* ---- a package */

void package_moving_drop(struct package_moving *moving)
{
	world_close(&moving->world);
}

int move_open_package(struct store_tx *tx, struct package_moving *moving)
{
	struct lifecycle_package_move *move = moving->move;
	int r = store_package_find(tx, move->package, &moving->row);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&move->call.scope, moving->row.project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	r = call_store_result(store_task_find(tx, moving->row.task, &moving->task));
	if (r == 0)
		r = world_open(tx, &move->call, moving->row.project, &moving->world);
	if (r == 0)
		r = refusal_of_archived(&moving->world);
	return r != 0 ? r : redact_copy(moving->world.arena, move->reason, REDACT_REASON, &moving->reason);
}

int move_find_along(struct package_moving *moving, enum store_package_end end)
{
	struct lifecycle_package_move *move = moving->move;
	struct str *ids = NULL;
	int r = package_end_dependents(&moving->world, &moving->row, end, &moving->along);

	if (r != 0)
		return r;
	ids = ARENA_ARRAY(moving->world.arena, moving->along.count, struct str);
	if (ids == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < moving->along.count; i++)
		ids[i] = moving->along.items[i].id;
	move->along = ids;
	move->along_count = moving->along.count;
	if (moving->along.count == 0 || move->cascade)
		return 0;
	move->call.refusal.ids = ids;
	move->call.refusal.id_count = moving->along.count;
	return LIFECYCLE_HAS_DEPENDENTS;
}

int move_answer_package(struct package_moving *moving)
{
	struct lifecycle_package_move *move = moving->move;
	struct store_tx *tx = moving->world.tx;
	int r = view_make_package(tx, moving->world.catalog, move->package, &move->view);

	return r != 0 ? r : call_store_result(store_task_find(tx, moving->row.task, &move->task));
}
