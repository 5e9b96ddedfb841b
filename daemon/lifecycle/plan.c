#include "daemon/lifecycle/plan.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/lifecycle_inner.h"
#include "daemon/lifecycle/name_check.h"
#include "daemon/lifecycle/outcome.h"
#include "daemon/lifecycle/package_end.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { CONTRIBUTORS_CEILING = 1024 * 1024 };

struct putting {
	struct lifecycle_plan_put *put;
	struct world world;
	bool is_new;
	struct store_task task;
	enum store_task_status status_before;
	struct store_package_list before;  /* unsuperseded packages of the task */
	struct str *ids;                   /* by position in the plan */
	const struct store_package **kept; /* by position: the completed package that this one is */
};

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

static void putting_drop(struct putting *putting)
{
	world_close(&putting->world);
}

/* ---- may it be put */

static int check_precondition(const struct putting *putting)
{
	struct lifecycle_plan_put *put = putting->put;
	int64_t revision = putting->is_new ? 0 : putting->task.plan_revision;

	if (lifecycle_condition_holds(&put->condition, !putting->is_new, revision))
		return 0;
	return refusal_of_condition(
		&put->call, revision, &putting->task.submitted_by, putting->task.submitted_at, (struct str){0});
}

static int check_status(const struct putting *putting)
{
	struct lifecycle_refusal *refusal = &putting->put->call.refusal;
	const char *word = store_task_status_text(putting->task.status);

	if (putting->is_new || putting->task.status == STORE_TASK_PROPOSED ||
		putting->task.status == STORE_TASK_CHANGES_REQUESTED)
		return 0;
	refusal->status = (struct str){word, strlen(word)};
	refusal->actor = putting->task.status_by;
	refusal->at = putting->task.status_at;
	refusal->reason = putting->task.status_reason;
	return LIFECYCLE_TASK_STATUS;
}

static int open_task(struct store_tx *tx, struct putting *putting)
{
	struct lifecycle_plan_put *put = putting->put;
	int r = store_task_find(tx, put->task, &putting->task);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	putting->is_new = r == STORE_ABSENT;
	if (!putting->is_new && !str_equal(putting->task.project, put->plan->project))
		return LIFECYCLE_TASK_EXISTS;
	r = world_open(tx, &put->call, put->plan->project, &putting->world);
	return r != 0 ? r : refusal_of_archived(&putting->world);
}

/* ---- what stays, what goes */

static const struct store_package *find_completed(const struct putting *putting, const struct plan_package *package)
{
	for (size_t i = 0; !package->redo && i < putting->before.count; i++) {
		const struct store_package *row = &putting->before.items[i];

		if (row->end == STORE_PACKAGE_COMPLETED && str_equal(row->label, package->label) &&
			str_equal(row->document_digest, package->document_digest))
			return row;
	}
	return NULL;
}

static bool is_kept(const struct putting *putting, const struct store_package *row)
{
	for (size_t i = 0; i < putting->put->plan->package_count; i++)
		if (putting->kept[i] == row)
			return true;
	return false;
}

static int supersede_rest(struct putting *putting)
{
	struct lifecycle_plan_put *put = putting->put;
	struct str *ids = ARENA_ARRAY(putting->world.arena, putting->before.count, struct str);

	if (ids == NULL)
		return -ENOMEM;
	put->superseded = ids;
	for (size_t i = 0; i < putting->before.count; i++) {
		struct store_package *row = &putting->before.items[i];
		int r = is_kept(putting, row)
			? 0
			: package_end(&putting->world, row, STORE_PACKAGE_SUPERSEDED, (struct str){0});

		if (r != 0)
			return r;
		if (row->end == STORE_PACKAGE_SUPERSEDED)
			ids[put->superseded_count++] = row->id;
	}
	return 0;
}

/* ---- the task */

static void add_name(struct json_out *out, const struct str *seen, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(seen[i], name))
			return;
	if (name.bytes != NULL)
		json_out_str(out, name);
}

/* Who submitted this revision, and those whose packages it carries over (4.1). */
static int name_contributors(struct putting *putting)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct world *world = &putting->world;
	size_t count = putting->put->plan->package_count;
	struct str *seen = ARENA_ARRAY(world->arena, count + 1, struct str);
	struct json_out out;
	size_t at = 1;

	buf_init(&buf, CONTRIBUTORS_CEILING);
	if (seen == NULL)
		return -ENOMEM;
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	seen[0] = world->call->actor.principal;
	add_name(&out, NULL, 0, seen[0]);
	for (size_t i = 0; i < count; i++) {
		if (putting->kept[i] == NULL)
			continue;
		seen[at] = putting->kept[i]->submitted_by.principal;
		add_name(&out, seen, at, seen[at]);
		at++;
	}
	json_out_end_array(&out);
	putting->task.contributors_json = arena_str(world->arena, buf_str(&buf));
	return buf_error(&buf) != 0 || putting->task.contributors_json.bytes == NULL ? -ENOMEM : 0;
}

static int fill_task(struct putting *putting)
{
	struct world *world = &putting->world;
	struct store_task *task = &putting->task;
	const struct plan *plan = putting->put->plan;

	if (putting->is_new)
		*task = (struct store_task){
			.id = putting->put->task, .project = plan->project, .created_at = world->call->now};
	putting->status_before = task->status;
	task->plan_revision++;
	task->plan_digest = plan->digest;
	task->status = STORE_TASK_PROPOSED;
	task->submitted_by = task->status_by = world->call->actor;
	task->submitted_at = task->status_at = world->call->now;
	task->status_reason = (struct str){0};
	task->approved_revision = task->approved_at = 0;
	task->approved_by = (struct store_actor){0};
	task->approval_reason = task->approval_json = (struct str){0};
	return redact_copy(world->arena, plan->title, REDACT_FIELD, &task->title);
}

static int write_task(struct putting *putting)
{
	struct world *world = &putting->world;
	int r = fill_task(putting);

	if (r == 0)
		r = name_contributors(putting);
	if (r == 0)
		r = call_store_result(putting->is_new ? store_task_insert(world->tx, &putting->task)
						      : store_task_update(world->tx, &putting->task));
	if (r == 0)
		r = event_log_task_status(
			world, &putting->task, !putting->is_new, putting->status_before, (struct str){0});
	return r;
}

/* ---- its packages */

static int write_overlays(struct putting *putting, const struct plan_package *package, struct str id)
{
	for (size_t i = 0; i < package->overlay_count; i++) {
		const struct plan_overlay *overlay = &package->overlays[i];
		struct store_overlay row = {
			.package = id,
			.requirement_key = overlay->requirement_key,
			.text = overlay->text,
			.digest = {overlay->digest, strlen(overlay->digest)},
		};
		int r = call_store_result(store_overlay_insert(putting->world.tx, &row));

		if (r != 0)
			return r;
	}
	return 0;
}

static int carry_over(struct putting *putting, size_t position)
{
	struct store_package row = *putting->kept[position];
	int r = 0;

	putting->ids[position] = row.id;
	row.plan_revision = putting->task.plan_revision;
	row.position = (int64_t)position;
	r = call_store_result(store_package_update(putting->world.tx, &row));
	/* What it depended on was said by the plan before. */
	return r != 0 ? r : call_store_result(store_dependency_clear(putting->world.tx, row.id));
}

static int write_package(struct putting *putting, size_t position)
{
	struct world *world = &putting->world;
	const struct plan_package *package = &putting->put->plan->packages[position];
	struct store_package row = {
		.id = store_id_new(world->arena, "pkg_"),
		.task = putting->task.id,
		.plan_revision = putting->task.plan_revision,
		.position = (int64_t)position,
		.label = package->label,
		.agent = package->agent,
		.document_digest = package->document_digest,
		.submitted_by = world->call->actor,
		.created_at = world->call->now,
		.attempt_limit = RUN_ATTEMPT_LIMIT,
	};
	int r = 0;

	if (putting->kept[position] != NULL)
		return carry_over(putting, position);
	if (row.id.bytes == NULL)
		return -ENOMEM;
	putting->ids[position] = row.id;
	r = call_store_result(store_package_insert(world->tx, &row, package->document_bytes));
	return r != 0 ? r : write_overlays(putting, package, row.id);
}

static int write_edges(struct putting *putting, size_t position)
{
	const struct plan_package *package = &putting->put->plan->packages[position];

	for (size_t i = 0; i < package->depends_on_count; i++) {
		struct store_dependency edge = {
			.package = putting->ids[position], .depends_on = putting->ids[package->depends_on[i]]};
		int r = call_store_result(store_dependency_insert(putting->world.tx, &edge));

		if (r != 0)
			return r;
	}
	return 0;
}

static int write_packages(struct putting *putting)
{
	size_t count = putting->put->plan->package_count;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = write_package(putting, i);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = write_edges(putting, i);
	return r;
}

static int match_completed(struct putting *putting)
{
	const struct plan *plan = putting->put->plan;
	struct arena *arena = putting->world.arena;
	int r = 0;

	putting->ids = ARENA_ARRAY(arena, plan->package_count, struct str);
	putting->kept = arena_array(arena, plan->package_count, sizeof(struct store_package *));
	if (putting->ids == NULL || putting->kept == NULL)
		return -ENOMEM;
	if (!putting->is_new)
		r = call_store_result(
			store_package_list_of_task(putting->world.tx, putting->task.id, false, &putting->before));
	for (size_t i = 0; r == 0 && i < plan->package_count; i++)
		putting->kept[i] = find_completed(putting, &plan->packages[i]);
	return r;
}

static int replace(struct putting *putting)
{
	int r = match_completed(putting);

	if (r == 0)
		r = supersede_rest(putting);
	if (r == 0)
		r = write_task(putting);
	if (r == 0)
		r = write_packages(putting);
	if (r == 0)
		r = reconcile_project(&putting->world, &(struct reconcile_scope){.task = putting->task.id}, NULL);
	putting->put->effect = putting->is_new ? LIFECYCLE_PLAN_CREATED : LIFECYCLE_PLAN_REPLACED;
	return r;
}

static int run_put(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_plan_put *put = (struct lifecycle_plan_put *)call;
	CLEANUP(putting_drop) struct putting putting = {.put = put};
	int r = 0;

	put->effect = LIFECYCLE_PLAN_UNCHANGED;
	put->superseded = NULL;
	put->superseded_count = 0;
	if (!lifecycle_scope_has(&call->scope, put->plan->project))
		return LIFECYCLE_NOT_FOUND;
	r = open_task(tx, &putting);
	if (r == 0)
		r = check_precondition(&putting);
	if (r != 0)
		return r;
	if (putting.is_new || !str_equal(putting.task.plan_digest, put->plan->digest)) {
		r = check_status(&putting);
		if (r == 0)
			r = replace(&putting);
	}
	return r != 0 ? r : view_make_task(tx, putting.world.catalog, put->task, &put->view);
}

static int refuse_id(struct lifecycle_plan_put *put)
{
	struct fault_list faults = {.arena = put->call.arena};

	fault_list_add(
		&faults, "a task's id is 1 to 64 lower-case letters, digits, dots, underscores or hyphens", "%s", "");
	return fault_list_result(&faults, &put->call.refusal);
}

static int give_document(void *arg, json_t **ret_document)
{
	const struct plan_package *package = arg;

	*ret_document = json_incref((json_t *)(uintptr_t)package->document);
	return 0;
}

/* Compiles what was parsed for the request, so that the writer finds it in the cache. */
static int compile_packages(struct lifecycle *lifecycle, const struct plan *plan, struct arena *arena)
{
	const struct catalog *catalog = lifecycle_catalog(lifecycle, arena);
	int r = catalog != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < plan->package_count; i++) {
		struct plan_package package = plan->packages[i];
		struct cached_package *taken = NULL;

		r = package_cache_take(
			lifecycle->cache, catalog, package.document_digest, give_document, &package, &taken);
		if (r == 0)
			package_cache_give(lifecycle->cache, taken);
	}
	return r;
}

int lifecycle_plan_put(struct lifecycle *lifecycle, struct lifecycle_plan_put *call)
{
	int r = 0;

	if (!name_check_id(call->task))
		return refuse_id(call);
	r = compile_packages(lifecycle, call->plan, call->call.arena);
	return r != 0 ? r : call_write(lifecycle, &call->call, run_put);
}
