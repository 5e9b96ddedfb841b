#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/preview_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/task_settle.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { ANSWER_CEILING = 64 * 1024 * 1024 };

/* What one try works on. */
struct approving {
	struct lifecycle_approval *approval;
	struct world world;
	struct store_task task;
	struct store_package_list packages;
	struct store_dependency_list dependencies;
	struct judged_context context;
	struct verdict *verdicts;
	struct store_package **rows; /* of the judged packages */
};

static void approving_drop(struct approving *approving)
{
	world_close(&approving->world);
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- the stored answer */

static void write_actor(struct json_out *out, const char *key, const struct store_actor *actor)
{
	json_out_key(out, key);
	json_out_begin_object(out);
	json_out_member_str(out, "token", actor->token);
	json_out_member_str(out, "principal", actor->principal);
	json_out_end_object(out);
}

static void write_compared(struct json_out *out, const struct lifecycle_judged *judged)
{
	json_out_key(out, "comparedWith");
	if (judged->compared_surface == STORE_SURFACE_NONE) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "surface", store_surface_text(judged->compared_surface));
	json_out_member_str(out, "decisionId", judged->compared_decision);
	json_out_end_object(out);
}

static void write_package(struct json_out *out, const struct lifecycle_judged *judged)
{
	json_out_begin_object(out);
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "label", judged->label);
	json_out_member_text(out, "status", admission_status_name(judged->status));
	json_out_member_str(out, "decisionId", judged->decision_id);
	write_compared(out, judged);
	json_out_member_raw(out, "changedInputs", judged->changed_inputs);
	json_out_key(out, "operatorState");
	lifecycle_state_write(&judged->state, out);
	json_out_member_bool(out, "retryable", judged->retryable);
	json_out_member_raw(out, "aggregate", judged->aggregate);
	json_out_end_object(out);
}

/* What runs without its context, and what else warns (2.3). */
static void write_warning(struct json_out *out, const struct lifecycle_judged *judged)
{
	json_out_begin_object(out);
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "label", judged->label);
	json_out_member_str(out, "decisionId", judged->decision_id);
	json_out_member_str(out, "reason", judged->reason);
	if (judged->recovery != RECOVERY_NONE)
		json_out_member_text(out, "recoveryAction", recovery_action_name(judged->recovery));
	json_out_end_object(out);
}

static void write_judgement(struct json_out *out, const struct lifecycle_judgement *judgement)
{
	json_out_member_raw(out, "health", judgement->health);
	json_out_key(out, "packages");
	json_out_begin_array(out);
	for (size_t i = 0; i < judgement->package_count; i++)
		write_package(out, &judgement->packages[i]);
	json_out_end_array(out);
	json_out_key(out, "warnings");
	json_out_begin_array(out);
	for (size_t i = 0; i < judgement->package_count; i++)
		if (judgement->packages[i].status == ADMISSION_WARNING)
			write_warning(out, &judgement->packages[i]);
	json_out_end_array(out);
}

/* `alreadyApproved` comes last, so that the stored answer can be given again with the other value. */
static const char first_time[] = ",\"alreadyApproved\":false}";
static const char again[] = ",\"alreadyApproved\":true}";

static int render_answer(struct approving *approving, const struct lifecycle_judgement *judgement)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct lifecycle_approval *approval = approving->approval;
	const struct store_task *task = &approving->task;
	struct json_out out;

	buf_init(&buf, ANSWER_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	json_out_member_text(&out, "surface", "approval");
	json_out_member_str(&out, "task", task->id);
	json_out_member_text(&out, "status", store_task_status_text(STORE_TASK_APPROVED));
	json_out_member_revision(&out, "planRevision", task->plan_revision);
	write_actor(&out, "approvedBy", &task->approved_by);
	time_text_member(&out, "approvedAt", task->approved_at);
	json_out_member_str(&out, "reason", task->approval_reason);
	write_judgement(&out, judgement);
	json_out_member_text(&out, "noUndo", "Only cancelling ends it.");
	json_out_member_bool(&out, "alreadyApproved", false);
	json_out_end_object(&out);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	approval->answer = arena_str(approving->world.arena, buf_str(&buf));
	return approval->answer.bytes != NULL ? 0 : -ENOMEM;
}

static int answer_again(struct approving *approving)
{
	struct lifecycle_approval *approval = approving->approval;
	struct str stored = approving->task.approval_json;
	size_t tail = sizeof(first_time) - 1;

	if (stored.len < tail || memcmp(stored.bytes + stored.len - tail, first_time, tail) != 0)
		return -EUCLEAN;
	approval->already_approved = true;
	approval->answer =
		arena_printf(approving->world.arena, "%.*s%s", (int)(stored.len - tail), stored.bytes, again);
	return approval->answer.bytes != NULL ? 0 : -ENOMEM;
}

/* ---- may it be approved */

static int refuse_status(const struct approving *approving)
{
	struct lifecycle_refusal *refusal = &approving->approval->call.refusal;
	const char *word = store_task_status_text(approving->task.status);

	refusal->revision = approving->task.plan_revision;
	refusal->status = (struct str){word, strlen(word)};
	refusal->actor = approving->task.status_by;
	refusal->at = approving->task.status_at;
	refusal->reason = approving->task.status_reason;
	return LIFECYCLE_TASK_STATUS;
}

static int check_revisions(const struct approving *approving)
{
	struct lifecycle_approval *approval = approving->approval;
	struct lifecycle_refusal *refusal = &approval->call.refusal;

	if (approving->task.plan_revision != approval->plan_revision) {
		refusal->revision = approving->task.plan_revision;
		refusal->actor = approving->task.submitted_by;
		refusal->at = approving->task.submitted_at;
		return LIFECYCLE_PLAN_REVISION_CONFLICT;
	}
	if (approving->task.status != STORE_TASK_PROPOSED)
		return 0;
	if (approval->root_revision >= 0 && approval->root_revision != approving->world.project.root_revision) {
		refusal->revision = approving->world.project.root_revision;
		return LIFECYCLE_ROOT_CHANGED;
	}
	return 0;
}

static bool is_approved_already(const struct store_task *task)
{
	return task->approved_at != 0 && task->approved_revision == task->plan_revision &&
		(task->status == STORE_TASK_APPROVED || task->status == STORE_TASK_COMPLETED ||
			task->status == STORE_TASK_FAILED);
}

static int check_actor(struct approving *approving)
{
	bool is_own = false;
	int r = judged_is_contributor(&approving->world, &approving->task, &is_own);

	if (r != 0 || !is_own || approving->world.lifecycle->allow_self_approval)
		return r;
	return LIFECYCLE_SELF_APPROVAL;
}

static int open_task(struct store_tx *tx, struct approving *approving)
{
	struct lifecycle_approval *approval = approving->approval;
	int r = store_task_find(tx, approval->task, &approving->task);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	if (!lifecycle_scope_has(&approval->call.scope, approving->task.project))
		return LIFECYCLE_NOT_FOUND;
	approval->project = approving->task.project;
	r = world_open(tx, &approval->call, approving->task.project, &approving->world);
	/* What was asked may change holds: before the packages are read. */
	if (r == 0 && approving->task.status == STORE_TASK_PROPOSED)
		r = reconcile_asked(&approving->world);
	if (r == 0)
		r = call_store_result(store_package_list_of_task(tx, approval->task, false, &approving->packages));
	if (r == 0)
		r = call_store_result(store_dependency_list(tx, approval->task, &approving->dependencies));
	return r;
}

/* ---- the judgement */

static int judge(struct approving *approving, struct store_package *row)
{
	struct lifecycle_judgement *judgement = &approving->approval->judgement;
	size_t at = judgement->package_count;
	struct subject subject = {0};
	int r = subject_of_row(&approving->world, row, &subject);

	if (r == 0)
		r = world_judge(&approving->world, &subject, &approving->verdicts[at]);
	if (r == 0)
		r = judged_make(
			&approving->world, &approving->verdicts[at], &approving->context, &judgement->packages[at]);
	if (r != 0)
		return r;
	approving->rows[at] = row;
	judgement->package_count++;
	return 0;
}

static int judge_all(struct approving *approving)
{
	struct lifecycle_approval *approval = approving->approval;
	struct arena *arena = approving->world.arena;
	size_t count = approving->packages.count;
	int r = count > 1 ? world_read_grants(&approving->world) : 0;

	approving->verdicts = ARENA_ARRAY(arena, count, struct verdict);
	approving->rows = arena_array(arena, count, sizeof(struct store_package *));
	approval->judgement =
		(struct lifecycle_judgement){.packages = ARENA_ARRAY(arena, count, struct lifecycle_judged)};
	if (approval->judgement.packages == NULL || approving->verdicts == NULL || approving->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		if (approving->packages.items[i].end == STORE_PACKAGE_UNFINISHED)
			r = judge(approving, &approving->packages.items[i]);
	return r != 0 ? r : judged_fold(&approving->world, approving->verdicts, &approval->judgement);
}

/* Decision, event and the mark on the package; the hold too, should it differ from what was found last. */
static int record(struct approving *approving, size_t at)
{
	struct world *world = &approving->world;
	struct store_package *row = approving->rows[at];
	enum reconcile_change change = RECONCILE_SAME;
	int r = verdict_store(world, &approving->verdicts[at]);

	if (r == 0)
		r = judged_record(world, &approving->verdicts[at], &approving->context,
			&approving->approval->judgement.packages[at]);
	if (r == 0)
		r = reconcile_apply(world, row, &approving->verdicts[at], &change);
	row->approval_decision = approving->verdicts[at].decision_id;
	return r != 0 ? r : call_store_result(store_package_update(world->tx, row));
}

static int record_all(struct approving *approving)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < approving->approval->judgement.package_count; i++)
		r = record(approving, i);
	return r;
}

/* ---- the approval */

static int tell_statuses(struct approving *approving)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < approving->approval->judgement.package_count; i++) {
		struct store_package *row = approving->rows[i];

		row->task_status = STORE_TASK_APPROVED;
		r = event_log_package_status(
			&approving->world, row, PACKAGE_DRAFT, package_status_of(row), (struct str){0});
	}
	return r;
}

static int approve(struct approving *approving)
{
	struct lifecycle_approval *approval = approving->approval;
	struct world *world = &approving->world;
	struct store_task *task = &approving->task;
	int r = redact_copy(world->arena, approval->reason, REDACT_REASON, &task->approval_reason);

	task->status = STORE_TASK_APPROVED;
	task->status_by = task->approved_by = world->call->actor;
	task->status_at = task->approved_at = world->call->now;
	task->status_reason = task->approval_reason;
	task->approved_revision = task->plan_revision;
	if (r == 0)
		r = render_answer(approving, &approval->judgement);
	task->approval_json = approval->answer;
	if (r == 0)
		r = call_store_result(store_task_update(world->tx, task));
	if (r == 0)
		r = event_log_task_status(world, task, true, STORE_TASK_PROPOSED, task->approval_reason);
	if (r == 0)
		r = tell_statuses(approving);
	/* A plan of which everything was done before is done. */
	return r != 0 ? r : task_settle(world, task);
}

static int decide(struct approving *approving)
{
	struct world *world = &approving->world;
	int r = 0;

	world->asks = true;
	r = judge_all(approving);
	if (r == 0)
		r = record_all(approving);
	if (r != 0)
		return r;
	if (approving->approval->judgement.status == ADMISSION_BLOCKED) {
		call_keep(world->call);
		return LIFECYCLE_ADMISSION_BLOCKED;
	}
	return approve(approving);
}

static int run_approval(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_approval *approval = (struct lifecycle_approval *)call;
	CLEANUP(approving_drop)
	struct approving approving = {.approval = approval, .context = {.surface = STORE_SURFACE_APPROVAL}};
	int r = 0;

	approving.context.task = &approving.task;
	approving.context.packages = &approving.packages;
	approving.context.dependencies = &approving.dependencies;
	approval->already_approved = false;
	r = open_task(tx, &approving);
	if (r == 0)
		r = check_revisions(&approving);
	if (r == 0 && is_approved_already(&approving.task))
		r = answer_again(&approving);
	else if (r == 0 && approving.task.status != STORE_TASK_PROPOSED)
		r = refuse_status(&approving);
	else if (r == 0) {
		r = refusal_of_archived(&approving.world);
		if (r == 0)
			r = check_actor(&approving);
		if (r == 0)
			r = decide(&approving);
	}
	approval->approved_by = approving.task.approved_by;
	approval->approved_at = approving.task.approved_at;
	return r;
}

int lifecycle_approve(struct lifecycle *lifecycle, struct lifecycle_approval *call)
{
	/* The approval is compared with the last preview, so that one goes first. */
	preview_log_flush(lifecycle->previews);
	return call_write(lifecycle, &call->call, run_approval);
}
