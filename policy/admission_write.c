#include "policy/admission.h"

#include <stdlib.h>
#include <string.h>

const char *admission_status_name(enum admission_status status)
{
	static const char *const names[] = {
		[ADMISSION_BLOCKED] = "blocked",
		[ADMISSION_WARNING] = "warning",
		[ADMISSION_ALLOWED] = "allowed",
	};

	return names[status];
}

const char *admission_mode_name(enum admission_mode mode)
{
	static const char *const names[] = {
		[MODE_BLOCKED] = "blocked",
		[MODE_UNKNOWN_LEGACY] = "unknown_legacy",
		[MODE_DEFERRED_LIVE_MCP] = "deferred_live_mcp",
		[MODE_BOUNDED_CONTEXT_REQUIRED] = "bounded_context_required",
		[MODE_BOUNDED_CONTEXT_APPROVED] = "bounded_context_approved",
		[MODE_PLANNING_ONLY] = "planning_only",
	};

	return names[mode];
}

const char *recovery_action_name(enum recovery_action action)
{
	static const char *const names[] = {
		[RECOVERY_NONE] = NULL,
		[RECOVERY_REVISE_PLAN] = "revise_plan",
		[RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT] = "approve_project_filesystem_context",
		[RECOVERY_INSTALL_OR_FIX_MCP] = "install_or_fix_mcp",
		[RECOVERY_DEFER_LIVE_MCP_FEATURE] = "defer_live_mcp_feature",
		[RECOVERY_CONTINUE_AS_PROMPT_CONTEXT] = "continue_as_prompt_context",
	};

	return names[action];
}

static void write_recovery(struct json_out *out, const char *key, enum recovery_action recovery)
{
	if (recovery != RECOVERY_NONE)
		json_out_member_text(out, key, recovery_action_name(recovery));
}

static void write_grant_state(struct json_out *out, const struct evaluation *evaluation)
{
	const struct grant_state *grant = &evaluation->grant;

	if (evaluation->row < ROW_5A_GRANT_MISSING || evaluation->row > ROW_5C_ADMITTED)
		return;
	json_out_key(out, "grantState");
	json_out_begin_object(out);
	json_out_member_text(out, "phase", grant_phase_name(grant->phase));
	if (grant->has_consumed)
		json_out_member_bool(out, "consumed", grant->consumed);
	if (grant->reason != REVOCATION_NONE)
		json_out_member_text(out, "revocationReason", revocation_reason_name(grant->reason));
	json_out_end_object(out);
}

void admission_write_decision(const struct evaluation *evaluation, struct json_out *out)
{
	const struct requirement *requirement = evaluation->requirement;

	json_out_begin_object(out);
	json_out_members(out, requirement->decision_head);
	json_out_member_text(out, "mode", admission_mode_name(evaluation->mode));
	json_out_member_text(out, "status", admission_status_name(evaluation->status));
	json_out_member_str(out, "reason", evaluation->reason);
	write_recovery(out, "recoveryAction", evaluation->recovery);
	write_grant_state(out, evaluation);
	json_out_members(out, requirement->decision_tail);
	json_out_end_object(out);
}

void admission_write_source(const struct evaluation *evaluation, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_members(out, evaluation->requirement->source_head);
	json_out_member_bool(out, "promptOverlayPresent", evaluation->materialised);
	json_out_end_object(out);
}

void admission_write_evaluations(const struct admission *admission, bool stored_form, struct json_out *out)
{
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		json_out_begin_object(out);
		json_out_key(out, "decision");
		admission_write_decision(evaluation, out);
		json_out_key(out, "source");
		admission_write_source(evaluation, out);
		json_out_key(out, "health");
		health_row_write(&evaluation->health, stored_form, out);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_subtask(const struct subtask_decision *decision, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_members(out, decision->row->head);
	json_out_member_text(out, "status", admission_status_name(decision->status));
	json_out_member_str(out, "reason", decision->reason);
	write_recovery(out, "recoveryAction", decision->recovery);
	json_out_end_object(out);
}

void admission_write_subtasks(const struct admission *admission, struct json_out *out)
{
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->subtask_count; i++)
		write_subtask(&admission->subtasks[i], out);
	json_out_end_array(out);
}

static void write_referenced(const struct health_row *row, bool stored_form, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_member_text(out, "installState", health_install_state_name(row->install_state));
	json_out_member_text(out, "status", health_status_name(row->status));
	json_out_member_bool(out, "enabled", row->enabled);
	if (!stored_form)
		json_out_member_str(out, "error", row->error);
	json_out_end_object(out);
}

/* An observed row stands for an MCP before the unobserved snapshots of requirements that look nothing up. */
static int compare_rows(const void *a, const void *b)
{
	const struct health_row *left = *(const struct health_row *const *)a;
	const struct health_row *right = *(const struct health_row *const *)b;
	int order = str_compare(left->mcp_id, right->mcp_id);

	return order ? order : (int)right->observed - (int)left->observed;
}

void admission_write_referenced_health(const struct admission *admission, bool stored_form, struct json_out *out)
{
	const struct health_row *rows[PACKAGE_ENTRY_LIMIT];
	size_t count = admission->evaluation_count;

	CHECK(count <= PACKAGE_ENTRY_LIMIT);
	for (size_t i = 0; i < count; i++)
		rows[i] = &admission->evaluations[i].health;
	if (count)
		qsort(rows, count, sizeof(rows[0]), compare_rows);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++) {
		bool is_first = i == 0 || !str_equal(rows[i]->mcp_id, rows[i - 1]->mcp_id);

		if (rows[i]->mcp_id.len && is_first)
			write_referenced(rows[i], stored_form, out);
	}
	json_out_end_array(out);
}

void admission_write_reasons(const struct admission *admission, enum admission_status status, struct json_out *out)
{
	json_out_begin_array(out);
	if (status == ADMISSION_BLOCKED && admission->package->whole_fault)
		json_out_text(out, admission->package->whole_fault);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].status == status)
			json_out_str(out, admission->evaluations[i].reason);
	}
	for (size_t i = 0; i < admission->subtask_count; i++) {
		if (admission->subtasks[i].status == status)
			json_out_str(out, admission->subtasks[i].reason);
	}
	for (size_t i = 0; status == ADMISSION_WARNING && i < admission->package->legacy_count; i++)
		json_out_text(out, "an earlier record without a requirement was left out of the decision");
	json_out_end_array(out);
}

static void write_primary_requirement(const struct evaluation *evaluation, struct json_out *out)
{
	const struct requirement *requirement = evaluation->requirement;

	json_out_member_text(out, "kind", "requirement");
	json_out_member_text(out, "mode", admission_mode_name(evaluation->mode));
	json_out_member_text(out, "recoveryAction", recovery_action_name(evaluation->recovery));
	json_out_member_str(out, "reason", evaluation->reason);
	json_out_member_str(out, "requirementKey", requirement->key);
	json_out_member_str(out, "agent", requirement->agent);
	json_out_member_str(out, "mcpId", requirement->mcp_id);
	json_out_members(out, requirement->decision_tail);
	json_out_member_str(out, "decisionId", requirement->decision_id);
	json_out_member_int(out, "sourceRequirementIndex", requirement->source_index);
}

static void write_primary_subtask(const struct admission *admission, struct json_out *out)
{
	const struct subtask_decision *decision = admission->primary_subtask;
	const struct subtask_row *row = decision->row;

	json_out_member_text(out, "kind", "subtask");
	json_out_member_text(out, "mode", admission_mode_name(admission->primary_mode));
	json_out_member_text(out, "recoveryAction", recovery_action_name(decision->recovery));
	json_out_member_str(out, "reason", decision->reason);
	json_out_member_str(out, "requirementKey", row->requirement_key);
	json_out_member_str(out, "agent", row->agent);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_key(out, "evidenceRefs"); /* a subtask gives none of its own */
	json_out_begin_array(out);
	json_out_end_array(out);
	json_out_member_str(out, "subtaskId", row->subtask_id);
	json_out_member_str(out, "capability", row->capability);
}

void admission_write_primary(const struct admission *admission, struct json_out *out)
{
	if (!admission->primary_evaluation && !admission->primary_subtask) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	if (admission->primary_evaluation)
		write_primary_requirement(admission->primary_evaluation, out);
	else
		write_primary_subtask(admission, out);
	json_out_end_object(out);
}

void admission_write_primary_members(const struct admission *admission, struct json_out *out)
{
	if (admission->status != ADMISSION_BLOCKED)
		return;
	json_out_member_text(out, "primaryMode", admission_mode_name(admission->primary_mode));
	json_out_member_text(out, "primaryRecoveryAction", recovery_action_name(admission->primary_recovery));
	if (admission->package->whole_fault)
		return;
	json_out_key(out, "primaryDecision");
	admission_write_primary(admission, out);
}

struct str admission_blocked_reason(const struct admission *admission)
{
	const char *whole = admission->package->whole_fault;

	if (admission->status != ADMISSION_BLOCKED)
		return (struct str){0};
	if (admission->primary_evaluation)
		return admission->primary_evaluation->reason;
	if (admission->primary_subtask)
		return admission->primary_subtask->reason;
	return (struct str){whole, strlen(whole)};
}

void admission_write_aggregate(const struct admission *admission, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "status", admission_status_name(admission->status));
	json_out_key(out, "blocked");
	admission_write_reasons(admission, ADMISSION_BLOCKED, out);
	json_out_key(out, "warnings");
	admission_write_reasons(admission, ADMISSION_WARNING, out);
	json_out_member_str(out, "blockedReason", admission_blocked_reason(admission));
	json_out_member_bool(out, "retryable", admission->retryable);
	admission_write_primary_members(admission, out);
	json_out_end_object(out);
}

void admission_write(const struct admission *admission, bool stored_form, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_int(out, "schemaVersion", ADMISSION_SCHEMA_VERSION);
	json_out_key(out, "evaluations");
	admission_write_evaluations(admission, stored_form, out);
	json_out_key(out, "subtaskDecisions");
	admission_write_subtasks(admission, out);
	json_out_key(out, "referencedHealth");
	admission_write_referenced_health(admission, stored_form, out);
	json_out_key(out, "aggregate");
	admission_write_aggregate(admission, out);
	json_out_end_object(out);
}
