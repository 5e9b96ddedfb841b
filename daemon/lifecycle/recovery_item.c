#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/recovery_make.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/lifecycle/view_make.h"

enum { ACTIONS_OF_ITEM = 3 };

/* ---- actions that no other view has */

static int begin_actions(struct recovering *work, struct lifecycle_recovery_item *item, size_t limit)
{
	item->actions.count = 0;
	item->actions.items = ARENA_ARRAY(work->reader->arena, limit, struct lifecycle_action);
	return item->actions.items != NULL ? 0 : -ENOMEM;
}

static int add_action(struct recovering *work, struct lifecycle_recovery_item *item, enum action_id id,
	enum lifecycle_target target, struct str target_id, struct lifecycle_action **ret)
{
	struct lifecycle_action *action = &item->actions.items[item->actions.count++];

	*action = (struct lifecycle_action){
		.id = id,
		.target = target,
		.target_id = target_id,
		.body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1},
		.takes_reason = id != ACTION_SET_ROOT,
		.takes_root = id == ACTION_SET_ROOT,
		.roles = LIFECYCLE_OPERATOR | (id == ACTION_REQUEST_CHANGES ? (unsigned)LIFECYCLE_APPROVER : 0u),
	};
	*ret = action;
	return words_action_label(work->reader->arena, id, ARM_NONE, item->project, &action->label);
}

static int name_item(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	static const char *const prefixes[STORE_QUEUE_KIND_COUNT] = {
		[STORE_QUEUE_PACKAGE_HELD] = "hold",
		[STORE_QUEUE_PLAN_WAITS] = "approval",
		[STORE_QUEUE_PLAN_SENT_BACK] = "sent_back",
		[STORE_QUEUE_PACKAGE_FAILED] = "failed",
		[STORE_QUEUE_RUN_SILENT] = "silent",
		[STORE_QUEUE_PROJECT_WITHOUT_ROOT] = "root",
	};
	const struct str ids[STORE_QUEUE_KIND_COUNT] = {
		[STORE_QUEUE_PACKAGE_HELD] = row->package,
		[STORE_QUEUE_PLAN_WAITS] = row->task,
		[STORE_QUEUE_PLAN_SENT_BACK] = row->task,
		[STORE_QUEUE_PACKAGE_FAILED] = row->package,
		[STORE_QUEUE_RUN_SILENT] = row->run,
		[STORE_QUEUE_PROJECT_WITHOUT_ROOT] = row->project,
	};
	struct str id = ids[row->kind];

	item->id = arena_printf(work->reader->arena, "%s:%.*s", prefixes[row->kind], (int)id.len, id.bytes);
	return item->id.bytes != NULL ? 0 : -ENOMEM;
}

/* ---- a held package */

static bool is_live(const struct store_package *row)
{
	return row->end == STORE_PACKAGE_UNFINISHED;
}

static int judge(struct recovery_world *place, const struct store_package *row, const struct judged_context *context,
	struct subject *ret_subject, struct lifecycle_judged *ret)
{
	struct verdict verdict = {0};
	int r = subject_of_row(&place->world, row, ret_subject);

	if (r == 0)
		r = world_judge(&place->world, ret_subject, &verdict);
	return r == 0 ? judged_make(&place->world, &verdict, context, ret) : r;
}

static int make_held(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	struct recovery_world *place = NULL;
	struct recovery_task task = {0};
	struct lifecycle_package package = {0};
	struct lifecycle_judged judged = {0};
	struct subject subject = {0};
	int r = recovery_open_world(work, row->project, &place);

	if (r == 0)
		r = recovery_open_task(work, row->task, &task);
	if (r == 0)
		r = view_make_package(work->tx, place->world.catalog, row->package, &package);
	if (r == 0)
		r = judge(place, &package.row, &task.context, &subject, &judged);
	if (r != 0)
		return r > 0 ? -EUCLEAN : r;
	item->title = task.row.title;
	item->label = package.row.label;
	item->agent = package.row.agent;
	item->is_held = package.is_held;
	item->hold = package.hold;
	item->arm = package.hold.arm;
	item->has_state = true;
	item->state = judged.state;
	item->actions = judged.actions;
	item->has_opens = item->hold.kind == HOLD_NEEDS_GRANT && item->arm != ARM_NO_ROOT;
	if (item->has_opens)
		r = recovery_find_opens(work, place, &subject, &item->opens);
	if (item->has_opens)
		item->besides = STR("nothing");
	if (r == 0)
		r = recovery_find_cause(work, place, item);
	if (item->hold.kind == HOLD_NEEDS_SETUP && item->cause != NULL)
		item->besides = arena_printf(work->reader->arena, "%zu more", item->cause->count - 1);
	return r;
}

/* ---- a plan that waits */

static bool frees(const struct lifecycle_action *action)
{
	return action->id != ACTION_REQUEST_CHANGES && action->id != ACTION_CANCEL_PACKAGE;
}

static bool has_name(const struct str *names, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(names[i], name))
			return true;
	return false;
}

/* One deed for several packages asks for what all of them ask for. */
static int merge_capabilities(
	struct arena *arena, struct lifecycle_action_body *body, const struct lifecycle_action_body *more)
{
	struct str *names = ARENA_ARRAY(arena, body->capability_count + more->capability_count, struct str);
	size_t count = 0;

	if (names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < body->capability_count; i++)
		names[count++] = body->capabilities[i];
	for (size_t i = 0; i < more->capability_count; i++)
		if (!has_name(names, count, more->capabilities[i]))
			names[count++] = more->capabilities[i];
	body->capabilities = names;
	body->capability_count = count;
	return 0;
}

static int add_freeing(
	struct recovering *work, struct lifecycle_recovery_item *item, const struct lifecycle_action *action)
{
	for (size_t i = 0; i < item->actions.count; i++) {
		struct lifecycle_action *known = &item->actions.items[i];

		if (known->id != action->id || known->target != action->target ||
			!str_equal(known->target_id, action->target_id) || !str_equal(known->mcp_id, action->mcp_id))
			continue;
		known->is_self_approval = known->is_self_approval || action->is_self_approval;
		return merge_capabilities(work->reader->arena, &known->body, &action->body);
	}
	item->actions.items[item->actions.count++] = *action;
	return 0;
}

static int add_blocking(struct recovering *work, struct recovery_world *place, const struct store_package *row,
	const struct recovery_task *task, struct lifecycle_recovery_item *item, struct lifecycle_blocking *ret)
{
	struct lifecycle_judged judged = {0};
	struct subject subject = {0};
	int r = judge(place, row, &task->context, &subject, &judged);

	*ret = (struct lifecycle_blocking){
		.package = row->id,
		.label = row->label,
		.decision_id = judged.decision_id,
		.state = judged.state,
		.arm = judged.hold.arm,
	};
	for (size_t i = 0; r == 0 && i < judged.actions.count; i++)
		if (frees(&judged.actions.items[i]))
			r = add_freeing(work, item, &judged.actions.items[i]);
	return r;
}

static int count_warning(struct recovering *work, struct recovery_world *place, const struct store_package *row,
	struct lifecycle_recovery_item *item)
{
	struct world copy = place->world;
	struct subject subject = {0};
	struct verdict verdict = {0};
	int r = subject_of_row(&place->world, row, &subject);

	arena_reset(&work->scratch);
	copy.arena = &work->scratch;
	copy.holders = NULL;
	if (r == 0)
		r = world_judge(&copy, &subject, &verdict);
	item->warnings += r == 0 && verdict.admission.status == ADMISSION_WARNING;
	return r;
}

static int judge_plan(struct recovering *work, struct recovery_world *place, const struct recovery_task *task,
	struct lifecycle_recovery_item *item)
{
	struct lifecycle_blocking *blocked =
		ARENA_ARRAY(work->reader->arena, task->packages.count, struct lifecycle_blocking);
	int r = blocked != NULL ? 0 : -ENOMEM;

	item->blocked = blocked;
	for (size_t i = 0; r == 0 && i < task->packages.count; i++) {
		const struct store_package *row = &task->packages.items[i];

		if (!is_live(row))
			continue;
		item->package_count++;
		if (row->hold_json.bytes != NULL)
			r = add_blocking(work, place, row, task, item, &blocked[item->blocked_count++]);
		else
			r = count_warning(work, place, row, item);
	}
	return r;
}

/* What frees its packages comes behind the approval and before what ends it. */
static int join_actions(struct lifecycle_recovery_item *item, const struct lifecycle_action_list *own)
{
	struct lifecycle_action_list *all = &item->actions;
	size_t first = own->count > 0 && own->items[0].id == ACTION_APPROVE_PLAN ? 1 : 0;

	for (size_t i = all->count; first > 0 && i > 0; i--)
		all->items[i] = all->items[i - 1];
	if (first > 0)
		all->items[0] = own->items[0];
	all->count += first;
	for (size_t i = first; i < own->count; i++)
		if (own->items[i].id != ACTION_CANCEL_TASK)
			all->items[all->count++] = own->items[i];
	return 0;
}

static int make_plan(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	enum { ACTIONS_OF_PACKAGE = 5, ACTIONS_OF_TASK = 4 };
	struct recovery_world *place = NULL;
	struct recovery_task task = {0};
	struct lifecycle_task view = {0};
	int r = recovery_open_world(work, row->project, &place);

	if (r == 0)
		r = recovery_open_task(work, row->task, &task);
	if (r == 0)
		r = begin_actions(work, item, task.packages.count * ACTIONS_OF_PACKAGE + ACTIONS_OF_TASK);
	if (r == 0)
		r = judge_plan(work, place, &task, item);
	view.row = task.row;
	view.is_blocked = item->blocked_count > 0;
	item->title = task.row.title;
	item->plan_revision = task.row.plan_revision;
	item->besides = arena_printf(
		work->reader->arena, "%zu package%s", item->package_count, item->package_count == 1 ? "" : "s");
	if (item->blocked_count > 0)
		item->besides = STR("nothing yet");
	if (r == 0)
		r = view_make_task_actions(work->tx, work->reader, &view);
	if (r == 0)
		r = join_actions(item, &view.actions);
	return r;
}

/* ---- the others */

static int make_sent_back(
	struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	struct lifecycle_action *action = NULL;
	struct store_task task = {0};
	int r = call_store_result(store_task_find(work->tx, row->task, &task));

	item->title = task.title;
	item->plan_revision = task.plan_revision;
	item->reason = task.status_reason;
	item->actor = task.status_by;
	if (r == 0)
		r = begin_actions(work, item, ACTIONS_OF_ITEM);
	if (r == 0)
		r = add_action(work, item, ACTION_CANCEL_TASK, LIFECYCLE_TARGET_TASK_CANCELLATION, row->task, &action);
	return r;
}

static int make_failed(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	struct lifecycle_action *action = NULL;
	struct store_package package = {0};
	struct store_task task = {0};
	int r = call_store_result(store_package_find(work->tx, row->package, &package));

	if (r == 0)
		r = call_store_result(store_task_find(work->tx, row->task, &task));
	item->title = task.title;
	item->agent = package.agent;
	item->label = package.label;
	item->reason = arena_printf(work->reader->arena, "%lld of %lld attempts failed", (long long)package.attempts,
		(long long)package.attempt_limit);
	if (r == 0)
		r = item->reason.bytes != NULL ? begin_actions(work, item, ACTIONS_OF_ITEM) : -ENOMEM;
	if (r == 0)
		r = add_action(work, item, ACTION_RETRY, LIFECYCLE_TARGET_PACKAGE_RETRY, row->package, &action);
	if (r == 0)
		r = add_action(work, item, ACTION_REQUEST_CHANGES, LIFECYCLE_TARGET_TASK_CHANGES, row->task, &action);
	if (r == 0) {
		action->body.plan_revision = task.plan_revision;
		r = add_action(work, item, ACTION_CANCEL_TASK, LIFECYCLE_TARGET_TASK_CANCELLATION, row->task, &action);
	}
	return r;
}

static int make_silent(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	struct lifecycle_action *action = NULL;
	struct recovery_task task = {0};
	struct store_package package = {0};
	struct str age = time_text_age(work->reader->arena, work->call.now - row->since);
	int r = recovery_open_task(work, row->task, &task);

	if (r == 0)
		r = call_store_result(store_package_find(work->tx, row->package, &package));
	item->title = task.row.title;
	item->agent = package.agent;
	item->label = package.label;
	item->run = row->run;
	item->reason =
		arena_printf(work->reader->arena, "its executor has been silent for %.*s", (int)age.len, age.bytes);
	if (r == 0)
		r = item->reason.bytes != NULL ? begin_actions(work, item, ACTIONS_OF_ITEM) : -ENOMEM;
	if (r == 0)
		r = add_action(work, item, ACTION_CANCEL_PACKAGE, LIFECYCLE_TARGET_PACKAGE_CANCELLATION, row->package,
			&action);
	if (r != 0)
		return r;
	action->body.cascade = judged_has_dependents(&task.context, row->package);
	return 0;
}

static int make_rootless(
	struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	const struct words_facts facts = {.project = row->project, .root_revision_then = -1};
	struct lifecycle_action *action = NULL;
	int r = begin_actions(work, item, ACTIONS_OF_ITEM);

	item->has_state = true;
	item->arm = ARM_NO_ROOT;
	item->state.key = OPERATOR_NEEDS_PROJECT_CONTEXT;
	if (r == 0)
		r = words_state(work->reader->arena, item->state.key, item->arm, &facts, &item->state.words);
	if (r == 0)
		r = add_action(work, item, ACTION_SET_ROOT, LIFECYCLE_TARGET_PROJECT, row->project, &action);
	return r;
}

/* ---- what can't be read */

static int add_cancellation(struct recovering *work, const struct store_queue_row *row,
	const struct recovery_task *task, struct lifecycle_recovery_item *item)
{
	struct lifecycle_action *action = NULL;
	int r = 0;

	if (row->package.bytes == NULL)
		return add_action(
			work, item, ACTION_CANCEL_TASK, LIFECYCLE_TARGET_TASK_CANCELLATION, row->task, &action);
	r = add_action(work, item, ACTION_CANCEL_PACKAGE, LIFECYCLE_TARGET_PACKAGE_CANCELLATION, row->package, &action);
	action->body.cascade = judged_has_dependents(&task->context, row->package);
	return r;
}

/* A damaged record takes no other item from the queue: it is shown as what it is, with what ends it. */
static int make_unreadable(
	struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *item)
{
	struct store_package package = {0};
	struct recovery_task task = {0};
	int r = row->package.bytes == NULL ? 0
					   : call_store_result(store_package_find(work->tx, row->package, &package));

	if (r == 0 && row->task.bytes != NULL)
		r = recovery_open_task(work, row->task, &task);
	item->is_unreadable = true;
	item->reason = words_unreadable();
	item->title = task.row.title;
	item->label = package.label;
	item->agent = package.agent;
	if (r == 0)
		r = begin_actions(work, item, ACTIONS_OF_ITEM);
	return r == 0 && row->task.bytes != NULL ? add_cancellation(work, row, &task, item) : r;
}

static struct lifecycle_recovery_item begin_item(const struct store_queue_row *row)
{
	return (struct lifecycle_recovery_item){
		.kind = row->kind,
		.project = row->project,
		.task = row->task,
		.package = row->package,
		.since = row->since,
	};
}

int recovery_make_item(struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *ret)
{
	static int (*const makers[STORE_QUEUE_KIND_COUNT])(
		struct recovering *, const struct store_queue_row *, struct lifecycle_recovery_item *) = {
		[STORE_QUEUE_PACKAGE_HELD] = make_held,
		[STORE_QUEUE_PLAN_WAITS] = make_plan,
		[STORE_QUEUE_PLAN_SENT_BACK] = make_sent_back,
		[STORE_QUEUE_PACKAGE_FAILED] = make_failed,
		[STORE_QUEUE_RUN_SILENT] = make_silent,
		[STORE_QUEUE_PROJECT_WITHOUT_ROOT] = make_rootless,
	};

	int r = 0;

	*ret = begin_item(row);
	r = makers[row->kind](work, row, ret);
	if (r == -EUCLEAN) {
		*ret = begin_item(row);
		r = make_unreadable(work, row, ret);
	}
	return r == 0 ? name_item(work, row, ret) : r;
}
