#include "daemon/lifecycle/judged.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/lifecycle/call.h"
#include "daemon/store/decision.h"
#include "daemon/store/event.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"

enum { RESULT_CEILING = 64 * 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

int judged_is_contributor(struct world *world, const struct store_task *task, bool *ret)
{
	CLEANUP(json_drop)
	json_t *array = json_loadb(task->contributors_json.bytes, task->contributors_json.len, 0, NULL);
	struct str principal = world->call->actor.principal;
	size_t index = 0;
	json_t *item = NULL;

	*ret = false;
	if (!json_is_array(array))
		return -EUCLEAN;
	json_array_foreach(array, index, item)
	{
		struct str name = {json_string_value(item), json_string_length(item)};

		if (principal.bytes != NULL && str_equal(name, principal))
			*ret = true;
	}
	return 0;
}

/* ---- pieces of the result */

typedef void write_fn(const struct admission *admission, struct json_out *out);

static void write_result(const struct admission *admission, struct json_out *out)
{
	admission_write(admission, false, out);
}

static int render(struct world *world, const struct verdict *verdict, write_fn *write, struct str *ret)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	int r = 0;

	buf_init(&buf, RESULT_CEILING);
	json_out_init(&out, &buf);
	write(&verdict->admission, &out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	*ret = arena_str(world->arena, buf_str(&buf));
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static int render_all(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	struct lifecycle_judged *judged)
{
	int r = render(world, verdict, admission_write_aggregate, &judged->aggregate);

	if (r == 0)
		r = render(world, verdict, admission_write_primary, &judged->primary);
	if (r == 0 && context->has_result)
		r = render(world, verdict, write_result, &judged->result);
	return r;
}

/* The first block's reason, else the first warning's, in the order of 1.9: requirements before subtasks. */
static void name_reason(const struct admission *admission, struct lifecycle_judged *judged)
{
	judged->reason = STR("");
	if (admission->package->whole_fault != NULL)
		judged->reason = STR("the document can't be read as a package");
	for (size_t i = 0; judged->reason.len == 0 && i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].status != admission->status || admission->status == ADMISSION_ALLOWED)
			continue;
		judged->reason = admission->evaluations[i].reason;
		judged->recovery = admission->evaluations[i].recovery;
	}
	for (size_t i = 0; judged->reason.len == 0 && i < admission->subtask_count; i++) {
		if (admission->subtasks[i].status != admission->status || admission->status == ADMISSION_ALLOWED)
			continue;
		judged->reason = admission->subtasks[i].reason;
		judged->recovery = admission->subtasks[i].recovery;
	}
}

/* ---- compared with the surface before */

static int write_diff(struct world *world, struct str before, struct str after, struct str *ret)
{
	CLEANUP(json_drop) json_t *old = json_loadb(before.bytes, before.len, JSON_ALLOW_NUL, NULL);
	CLEANUP(json_drop) json_t *now = json_loadb(after.bytes, after.len, JSON_ALLOW_NUL, NULL);
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	int r = 0;

	buf_init(&buf, RESULT_CEILING);
	if (old == NULL || now == NULL)
		return -EUCLEAN;
	json_out_init(&out, &buf);
	decision_inputs_diff(old, now, &out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	*ret = arena_str(world->arena, buf_str(&buf));
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static int compare(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	struct lifecycle_judged *judged)
{
	const struct store_package *row = verdict->subject.row;
	struct store_decision before = {0};
	int r = 0;

	judged->changed_inputs = STR("[]");
	if (row != NULL && context->surface == STORE_SURFACE_APPROVAL) {
		judged->compared_surface = STORE_SURFACE_PREVIEW;
		judged->compared_decision = row->preview_decision;
	} else if (row != NULL && context->surface == STORE_SURFACE_HANDOFF) {
		judged->compared_surface = STORE_SURFACE_APPROVAL;
		judged->compared_decision = row->approval_decision;
	}
	if (judged->compared_decision.bytes == NULL) {
		judged->compared_surface = STORE_SURFACE_NONE;
		return 0;
	}
	if (str_equal(judged->compared_decision, verdict->decision_id))
		return 0;
	r = store_decision_find(world->tx, judged->compared_decision, &before);
	if (r != 0)
		return r == STORE_ABSENT ? 0 : call_store_result(r);
	return write_diff(world, before.inputs_json, verdict->inputs_json, &judged->changed_inputs);
}

/* ---- actions */

static const struct store_package *find_package(const struct store_package_list *packages, struct str id)
{
	for (size_t i = 0; i < packages->count; i++)
		if (str_equal(packages->items[i].id, id))
			return &packages->items[i];
	return NULL;
}

bool judged_has_dependents(const struct judged_context *context, struct str package)
{
	for (size_t i = 0; context->dependencies != NULL && i < context->dependencies->count; i++) {
		const struct store_dependency *edge = &context->dependencies->items[i];
		const struct store_package *dependent =
			str_equal(edge->depends_on, package) ? find_package(context->packages, edge->package) : NULL;

		if (dependent != NULL && dependent->end == STORE_PACKAGE_UNFINISHED)
			return true;
	}
	return false;
}

static int make_actions(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	struct lifecycle_judged *judged)
{
	struct action_context actions = {0};
	int r = 0;

	if (!verdict->is_held || verdict->subject.row == NULL || context->task == NULL)
		return 0;
	r = judged_is_contributor(world, context->task, &actions.is_self_approval);
	actions.is_self_approval = actions.is_self_approval && !world->lifecycle->allow_self_approval;
	actions.task = context->task->id;
	actions.plan_revision = context->task->plan_revision;
	actions.task_status = context->task->status;
	actions.has_dependents = judged_has_dependents(context, verdict->subject.row->id);
	return r != 0 ? r : hold_actions(world, verdict, &judged->hold, &actions, &judged->actions);
}

/* What still points into a compiled package is copied: it may leave the cache when the world is closed. */
static int copy_out(struct world *world, struct lifecycle_judged *judged)
{
	int r = judged->is_held ? hold_copy(world->arena, &judged->hold, &judged->hold) : 0;

	judged->label = arena_str(world->arena, judged->label);
	judged->agent = arena_str(world->arena, judged->agent);
	judged->reason = arena_str(world->arena, judged->reason);
	for (size_t i = 0; i < judged->actions.count; i++)
		judged->actions.items[i].mcp_id = arena_str(world->arena, judged->actions.items[i].mcp_id);
	return r == 0 && world->arena->failed ? -ENOMEM : r;
}

int judged_make(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	struct lifecycle_judged *ret)
{
	const struct admission *admission = &verdict->admission;
	int r = 0;

	*ret = (struct lifecycle_judged){
		.id = verdict->subject.row != NULL ? verdict->subject.row->id : (struct str){0},
		.label = verdict->subject.label,
		.agent = verdict->subject.agent,
		.decision_id = verdict->decision_id,
		.status = admission->status,
		.is_held = verdict->is_held,
		.retryable = verdict->is_held && verdict->origin.retryable,
		.has_primary = admission->status == ADMISSION_BLOCKED,
		.primary_mode = admission->primary_mode,
		.primary_recovery = admission->primary_recovery,
	};
	name_reason(admission, ret);
	r = render_all(world, verdict, context, ret);
	if (r == 0 && ret->is_held)
		r = hold_make(world, verdict, &ret->hold);
	if (r == 0)
		r = hold_state(world, verdict, ret->is_held ? &ret->hold : NULL, &ret->state);
	if (r == 0)
		r = compare(world, verdict, context, ret);
	if (r == 0)
		r = make_actions(world, verdict, context, ret);
	return r != 0 ? r : copy_out(world, ret);
}

/* ---- over all of them */

static int compare_rows(const void *a, const void *b)
{
	const struct health_row *const *first = a;
	const struct health_row *const *second = b;

	return str_compare((*first)->mcp_id, (*second)->mcp_id);
}

static bool has_server(const struct health_row *const *rows, size_t count, struct str mcp_id)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(rows[i]->mcp_id, mcp_id))
			return true;
	return false;
}

/* One row for each server that was looked up, unobserved ones too. */
static size_t collect_rows(const struct verdict *verdicts, size_t count, size_t limit, const struct health_row **rows)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct admission *admission = &verdicts[i].admission;

		for (size_t k = 0; found < limit && k < admission->evaluation_count; k++) {
			const struct evaluation *evaluation = &admission->evaluations[k];

			if (evaluation->requirement->mcp != NULL && evaluation->requirement->looks_up &&
				!has_server(rows, found, evaluation->health.mcp_id))
				rows[found++] = &evaluation->health;
		}
	}
	return found;
}

int judged_health(struct world *world, const struct verdict *verdicts, size_t count, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	size_t limit = world->catalog->mcp_count;
	const struct health_row **rows = arena_array(world->arena, limit, sizeof(struct health_row *));
	size_t found = 0;
	int r = 0;

	buf_init(&buf, RESULT_CEILING);
	if (rows == NULL)
		return -ENOMEM;
	found = collect_rows(verdicts, count, limit, rows);
	if (found > 1)
		qsort(rows, found, sizeof(struct health_row *), compare_rows);
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < found; i++)
		health_row_write(rows[i], false, &out);
	json_out_end_array(&out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	*ret_json = arena_str(world->arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

int judged_fold(struct world *world, const struct verdict *verdicts, struct lifecycle_judgement *judgement)
{
	judgement->status = ADMISSION_ALLOWED;
	for (size_t i = 0; i < judgement->package_count; i++) {
		enum admission_status status = judgement->packages[i].status;

		judgement->counts[status]++;
		if (status < judgement->status)
			judgement->status = status;
	}
	judgement->root_revision = world->project.root_revision;
	judgement->catalog_digest = world->catalog->digest;
	return judged_health(world, verdicts, judgement->package_count, &judgement->health);
}

/* ---- the record */

struct str judged_event_type(enum store_surface surface)
{
	if (surface == STORE_SURFACE_PREVIEW)
		return STR("surface.preview");
	return surface == STORE_SURFACE_APPROVAL ? STR("surface.approval") : STR("surface.handoff");
}

int judged_payload(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	const struct lifecycle_judged *judged, struct buf *ret_payload)
{
	struct json_out out;
	struct str health = {0};
	int r = judged_health(world, verdict, 1, &health);

	if (r != 0)
		return r;
	json_out_init(&out, ret_payload);
	json_out_begin_object(&out);
	json_out_member_text(&out, "status", admission_status_name(judged->status));
	if (context->task != NULL)
		json_out_member_revision(&out, "planRevision", context->task->plan_revision);
	json_out_member_str(&out, "label", judged->label);
	json_out_member_str(&out, "comparedWith", judged->compared_decision);
	json_out_member_raw(&out, "changedInputs", judged->changed_inputs);
	json_out_member_raw(&out, "health", health);
	json_out_end_object(&out);
	return buf_error(ret_payload);
}

int judged_record(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	const struct lifecycle_judged *judged)
{
	CLEANUP(buf_drop) struct buf payload = {0};
	const struct store_package *row = verdict->subject.row;
	struct store_event event = {
		.type = judged_event_type(context->surface),
		.subject_kind = STR("package"),
		.subject_id = row->id,
		.project = world->project.id,
		.task = row->task,
		.package = row->id,
		.actor = world->call->actor,
		.at = world->call->now,
		.surface = context->surface,
		.decision = verdict->decision_id,
	};
	int r = 0;

	buf_init(&payload, RESULT_CEILING);
	r = judged_payload(world, verdict, context, judged, &payload);
	event.payload_json = buf_str(&payload);
	return r != 0 ? r : call_store_result(store_event_append(world->tx, &event));
}
