#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"

void render_compared(const struct lifecycle_judged *judged, struct json_out *out)
{
	json_out_key(out, "comparedWith");
	if (judged->compared_surface == STORE_SURFACE_NONE) {
		json_out_null(out);
	} else {
		json_out_begin_object(out);
		json_out_member_str(out, "surface", store_surface_text(judged->compared_surface));
		json_out_member_str(out, "decisionId", judged->compared_decision);
		json_out_end_object(out);
	}
	json_out_member_raw(out, "changedInputs", judged->changed_inputs);
}

void render_primary(const struct lifecycle_judged *judged, struct json_out *out)
{
	if (!judged->has_primary)
		return;
	json_out_member_text(out, "primaryMode", admission_mode_name(judged->primary_mode));
	if (judged->primary_recovery != RECOVERY_NONE)
		json_out_member_text(out, "primaryRecoveryAction", recovery_action_name(judged->primary_recovery));
}

static void write_actions(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out)
{
	json_out_key(out, "actions");
	actions_write(&judged->actions, token, api_has_route, out);
}

void render_previewed(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "label", judged->label);
	json_out_member_str(out, "decisionId", judged->decision_id);
	render_compared(judged, out);
	render_state(&judged->state, out);
	json_out_member_text(out, "status", admission_status_name(judged->status));
	json_out_member_bool(out, "retryable", judged->retryable);
	render_primary(judged, out);
	write_actions(judged, token, out);
	json_out_member_raw(out, "result", judged->result);
	json_out_end_object(out);
}

/* Where the hold comes from (2.2). */
static void write_origin(const struct lifecycle_judged *judged, struct json_out *out)
{
	const struct lifecycle_hold *hold = &judged->hold;

	json_out_key(out, "origin");
	if (!judged->is_held) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "requirementKey", hold->requirement_key);
	if (hold->subtask_id.bytes != NULL)
		json_out_member_str(out, "subtaskId", hold->subtask_id);
	json_out_member_str(out, "mcpId", hold->mcp_id);
	json_out_member_str(out, "agent", hold->agent);
	json_out_member_text(out, "mode", admission_mode_name(hold->mode));
	json_out_member_text(out, "recoveryAction", recovery_action_name(hold->recovery));
	if (hold->arm != ARM_NONE)
		json_out_member_text(out, "arm", hold_arm_name(hold->arm));
	json_out_end_object(out);
}

void render_blocked(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "label", judged->label);
	json_out_member_str(out, "decisionId", judged->decision_id);
	render_compared(judged, out);
	json_out_member_str(out, "reason", judged->reason);
	render_primary(judged, out);
	json_out_member_bool(out, "retryable", judged->retryable);
	json_out_member_raw(out, "primaryDecision", judged->primary);
	write_origin(judged, out);
	render_state(&judged->state, out);
	write_actions(judged, token, out);
	json_out_member_raw(out, "aggregate", judged->aggregate);
	json_out_end_object(out);
}

void render_warning(const struct lifecycle_judged *judged, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "label", judged->label);
	json_out_member_str(out, "decisionId", judged->decision_id);
	json_out_member_str(out, "reason", judged->reason);
	json_out_end_object(out);
}

void render_held(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out)
{
	json_out_member_text(out, "surface", "handoff");
	json_out_member_str(out, "packageId", judged->id);
	json_out_member_str(out, "decisionId", judged->decision_id);
	render_compared(judged, out);
	render_primary(judged, out);
	json_out_member_bool(out, "retryable", judged->retryable);
	json_out_key(out, "hold");
	lifecycle_hold_write(&judged->hold, out);
	render_state(&judged->state, out);
	write_actions(judged, token, out);
	json_out_member_raw(out, "aggregate", judged->aggregate);
}

static void write_counts(const struct lifecycle_judgement *judgement, struct json_out *out)
{
	json_out_key(out, "counts");
	json_out_begin_object(out);
	json_out_member_int(out, "allowed", (int64_t)judgement->counts[ADMISSION_ALLOWED]);
	json_out_member_int(out, "warning", (int64_t)judgement->counts[ADMISSION_WARNING]);
	json_out_member_int(out, "blocked", (int64_t)judgement->counts[ADMISSION_BLOCKED]);
	json_out_end_object(out);
}

void render_preview(const struct lifecycle_preview *preview, const struct auth_token *token, struct json_out *out)
{
	const struct lifecycle_judgement *judgement = &preview->judgement;

	json_out_begin_object(out);
	json_out_member_text(out, "surface", "preview");
	json_out_member_str(out, "task", preview->task);
	if (preview->plan_revision > 0)
		json_out_member_revision(out, "planRevision", preview->plan_revision);
	else
		json_out_member_null(out, "planRevision");
	json_out_member_text(out, "status", admission_status_name(judgement->status));
	write_counts(judgement, out);
	json_out_member_str(out, "catalogDigest", judgement->catalog_digest);
	json_out_member_raw(out, "health", judgement->health);
	json_out_key(out, "packages");
	json_out_begin_array(out);
	for (size_t i = 0; i < judgement->package_count; i++)
		render_previewed(&judgement->packages[i], token, out);
	json_out_end_array(out);
	json_out_end_object(out);
}
