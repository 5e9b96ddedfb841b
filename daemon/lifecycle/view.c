#include "daemon/lifecycle/view.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/package_actions.h"
#include "daemon/lifecycle/project_actions.h"
#include "daemon/lifecycle/recovery_make.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"

enum { TASK_ACTIONS = 4 };

/* One read: its transaction is the reader's arena. */
struct viewing {
	const struct lifecycle_reader *reader;
	struct str id;
	void *ret;
};

static int view(
	const struct lifecycle_reader *reader, int (*run)(struct store_tx *tx, void *arg), struct str id, void *ret)
{
	struct viewing viewing = {.reader = reader, .id = id, .ret = ret};
	int r = store_read(reader->lifecycle->store, reader->arena, run, &viewing);

	/* `run` gives results of ours; below zero, and what a busy store says, comes from the store. */
	return r < 0 ? call_store_result(r) : r;
}

/* ---- actions of a task */

static int add_action(const struct lifecycle_reader *reader, struct lifecycle_task *task, enum action_id id,
	enum lifecycle_target target, unsigned roles)
{
	struct lifecycle_action *action = &task->actions.items[task->actions.count++];

	CHECK(task->actions.count <= TASK_ACTIONS);
	*action = (struct lifecycle_action){
		.id = id,
		.target = target,
		.target_id = task->row.id,
		.body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1},
		.takes_reason = true,
		.roles = roles,
	};
	if (id != ACTION_CANCEL_TASK)
		action->body.plan_revision = task->row.plan_revision;
	return words_action_label(reader->arena, id, ARM_NONE, task->row.project, &action->label);
}

int view_make_task_actions(struct store_tx *tx, const struct lifecycle_reader *reader, struct lifecycle_task *task)
{
	struct lifecycle_call call = {.actor = reader->actor};
	struct world world = {.call = &call, .tx = tx, .arena = reader->arena};
	bool is_own = false;
	int r = judged_is_contributor(&world, &task->row, &is_own);

	task->actions.count = 0;
	task->actions.items = ARENA_ARRAY(reader->arena, TASK_ACTIONS, struct lifecycle_action);
	if (task->actions.items == NULL)
		return -ENOMEM;
	if (r == 0 && task->row.status == STORE_TASK_PROPOSED && !task->is_blocked) {
		r = add_action(reader, task, ACTION_APPROVE_PLAN, LIFECYCLE_TARGET_TASK_APPROVAL, LIFECYCLE_APPROVER);
		task->actions.items[0].is_self_approval = is_own && !reader->lifecycle->allow_self_approval;
	}
	if (r == 0 &&
		(task->row.status == STORE_TASK_PROPOSED || task->row.status == STORE_TASK_APPROVED ||
			task->row.status == STORE_TASK_FAILED || task->row.status == STORE_TASK_REJECTED))
		r = add_action(reader, task, ACTION_REQUEST_CHANGES, LIFECYCLE_TARGET_TASK_CHANGES,
			LIFECYCLE_APPROVER | LIFECYCLE_OPERATOR);
	if (r == 0 && task->row.status == STORE_TASK_PROPOSED)
		r = add_action(reader, task, ACTION_REJECT, LIFECYCLE_TARGET_TASK_REJECTION, LIFECYCLE_APPROVER);
	if (r == 0 &&
		(task->row.status == STORE_TASK_FAILED || task->row.status == STORE_TASK_CHANGES_REQUESTED ||
			task->row.status == STORE_TASK_APPROVED))
		r = add_action(
			reader, task, ACTION_CANCEL_TASK, LIFECYCLE_TARGET_TASK_CANCELLATION, LIFECYCLE_OPERATOR);
	return r;
}

/* ---- packages, judged once more: by L2 what comes out is what is stored */

/* Packages of one task. */
struct package_viewing {
	struct lifecycle_call call;
	struct world world;
	struct store_task task;
	struct store_package_list packages;
	struct store_dependency_list edges;
	struct judged_context context;
};

static void package_viewing_drop(struct package_viewing *viewing)
{
	world_close(&viewing->world);
}

static int open_viewing(struct store_tx *tx, const struct lifecycle_reader *reader, struct str project, struct str task,
	struct package_viewing *ret)
{
	int r = 0;

	ret->call = (struct lifecycle_call){
		.lifecycle = reader->lifecycle, .actor = reader->actor, .now = lifecycle_now(reader->lifecycle)};
	ret->context =
		(struct judged_context){.task = &ret->task, .packages = &ret->packages, .dependencies = &ret->edges};
	r = world_open(tx, &ret->call, project, &ret->world);
	if (r == 0)
		r = call_store_result(store_task_find(tx, task, &ret->task));
	if (r == 0)
		r = call_store_result(store_package_list_of_task(tx, task, false, &ret->packages));
	return r != 0 ? r : call_store_result(store_dependency_list(tx, task, &ret->edges));
}

/* What it depends on is in its own plan, or stayed from one before. */
static int name_before(struct package_viewing *viewing, struct lifecycle_package *package)
{
	struct lifecycle_before *before =
		ARENA_ARRAY(viewing->world.arena, package->depends_on_count, struct lifecycle_before);

	if (before == NULL)
		return -ENOMEM;
	package->title = viewing->task.title;
	package->before = before;
	for (size_t i = 0; i < package->depends_on_count; i++) {
		struct store_package row = {0};
		int r = call_store_result(store_package_find(viewing->world.tx, package->depends_on[i], &row));

		if (r != 0)
			return r;
		before[i] = (struct lifecycle_before){row.id, row.label, package_status_of(&row)};
	}
	return 0;
}

static int judge_package(
	struct package_viewing *viewing, struct lifecycle_package *package, struct lifecycle_judged *ret_judged)
{
	struct subject subject = {0};
	struct verdict verdict = {0};
	int r = subject_of_row(&viewing->world, &package->row, &subject);

	if (r == 0)
		r = world_judge(&viewing->world, &subject, &verdict);
	if (r == 0)
		r = judged_make(&viewing->world, &verdict, &viewing->context, ret_judged);
	package->has_state = r == 0;
	package->state = ret_judged->state;
	return r;
}

/* Its state, if it waits to be claimed, and what may be done with it. */
static int say_package(struct package_viewing *viewing, struct lifecycle_package *package)
{
	struct lifecycle_judged judged = {0};
	int r = 0;

	if (package->row.end == STORE_PACKAGE_UNFINISHED && package->status != PACKAGE_RUNNING)
		r = judge_package(viewing, package, &judged);
	package->is_unreadable = r == -EUCLEAN;
	if (package->is_unreadable) {
		judged = (struct lifecycle_judged){0};
		r = 0;
	}
	return r != 0 ? r
		      : package_actions(
				&viewing->world, &package->row, &viewing->context, &judged.actions, &package->actions);
}

static int run_package(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	const struct lifecycle_reader *reader = viewing->reader;
	struct lifecycle_package *package = viewing->ret;
	CLEANUP(package_viewing_drop) struct package_viewing work = {0};
	const struct catalog *catalog = lifecycle_catalog(reader->lifecycle, store_tx_arena(tx));
	int r = catalog != NULL ? view_make_package(tx, catalog, viewing->id, package) : -ENOMEM;

	if (r == 0 && !lifecycle_scope_has(&reader->scope, package->row.project))
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = open_viewing(tx, reader, package->row.project, package->row.task, &work);
	if (r == 0)
		r = name_before(&work, package);
	if (r == 0)
		r = say_package(&work, package);
	package->has_opens = package->is_held && !package->is_unreadable && package->hold.kind == HOLD_NEEDS_GRANT &&
		package->hold.arm != ARM_NO_ROOT;
	return r == 0 && package->has_opens ? recovery_opens_of(tx, reader, &package->row, &package->opens) : r;
}

int lifecycle_view_package(const struct lifecycle_reader *reader, struct str id, struct lifecycle_package *ret)
{
	return view(reader, run_package, id, ret);
}

static int run_task(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	const struct lifecycle_reader *reader = viewing->reader;
	struct lifecycle_task *task = viewing->ret;
	CLEANUP(package_viewing_drop) struct package_viewing work = {0};
	const struct catalog *catalog = lifecycle_catalog(reader->lifecycle, store_tx_arena(tx));
	int r = catalog != NULL ? view_make_task(tx, catalog, viewing->id, task) : -ENOMEM;

	if (r == 0 && !lifecycle_scope_has(&reader->scope, task->row.project))
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = open_viewing(tx, reader, task->row.project, task->row.id, &work);
	for (size_t i = 0; r == 0 && i < task->package_count; i++)
		r = say_package(&work, &task->packages[i]);
	return r != 0 ? r : view_make_task_actions(tx, reader, task);
}

int lifecycle_view_task(const struct lifecycle_reader *reader, struct str id, struct lifecycle_task *ret)
{
	return view(reader, run_task, id, ret);
}

/* ---- the rest */

static int run_run(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	struct lifecycle_run *run = viewing->ret;
	int r = view_make_run(tx, viewing->id, run);

	return r == 0 && !lifecycle_scope_has(&viewing->reader->scope, run->row.project) ? LIFECYCLE_NOT_FOUND : r;
}

int lifecycle_view_run(const struct lifecycle_reader *reader, struct str id, struct lifecycle_run *ret)
{
	return view(reader, run_run, id, ret);
}

static int run_token(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	int r = store_run_find_by_token_hash(tx, viewing->id, viewing->ret);

	return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
}

int lifecycle_find_run_token(
	struct lifecycle *lifecycle, struct arena *arena, const unsigned char hash[32], struct store_run *ret)
{
	const struct lifecycle_reader reader = {.lifecycle = lifecycle, .arena = arena};
	char hex[2 * RUN_TOKEN_BYTES + 1];

	sodium_bin2hex(hex, sizeof(hex), hash, RUN_TOKEN_BYTES);
	return view(&reader, run_token, (struct str){hex, sizeof(hex) - 1}, ret);
}

static int run_project_parts(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	int r = 0;

	if (!lifecycle_scope_has(&viewing->reader->scope, viewing->id))
		return LIFECYCLE_NOT_FOUND;
	r = view_make_project(tx, viewing->id, viewing->ret);
	return r != 0 ? r : project_actions_of_servers(viewing->reader->arena, viewing->ret);
}

static int run_project(struct store_tx *tx, void *arg)
{
	const struct viewing *viewing = arg;
	int r = run_project_parts(tx, arg);

	return r != 0 ? r : project_actions(tx, viewing->reader, viewing->ret);
}

int lifecycle_view_project(const struct lifecycle_reader *reader, struct str id, struct lifecycle_project *ret)
{
	return view(reader, run_project, id, ret);
}

int lifecycle_view_project_parts(const struct lifecycle_reader *reader, struct str id, struct lifecycle_project *ret)
{
	return view(reader, run_project_parts, id, ret);
}

static int run_grant(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	struct store_grant *grant = viewing->ret;
	int r = store_grant_find(tx, viewing->id, grant);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&viewing->reader->scope, grant->project)))
		return LIFECYCLE_NOT_FOUND;
	return call_store_result(r);
}

int lifecycle_view_grant(const struct lifecycle_reader *reader, struct str id, struct store_grant *ret)
{
	return view(reader, run_grant, id, ret);
}
