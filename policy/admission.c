#include "policy/admission.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/admission_reason.h"

/* Whether one bounded read is missing from a grant that should cover all of them. */
static bool covers_all(const struct grant_state *grant, const struct requirement *requirement)
{
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (capability->class == CLASS_BOUNDED_READ_ONLY && !grant_state_covers(grant, capability->known))
			return false;
	}
	return true;
}

/* The decision table of 1.8, first match wins. */
static enum table_row find_row(const struct evaluation *evaluation)
{
	const struct requirement *requirement = evaluation->requirement;
	bool is_down;

	if (requirement->fault != REQUIREMENT_SOUND || evaluation->grant.is_incoherent)
		return ROW_0_MALFORMED;
	if (!requirement->mcp)
		return ROW_1_MCP_UNKNOWN;
	if (requirement->has_unknown)
		return ROW_2_CAPABILITY_UNKNOWN;
	if (requirement->has_prohibited)
		return ROW_3_PROHIBITED;
	if (requirement->has_deferred)
		return ROW_4_DEFERRED;
	is_down = requirement->mcp->health_gated && !health_row_is_healthy(&evaluation->health);
	if (requirement_needs_grant(requirement)) {
		if (!grant_state_is_usable(&evaluation->grant) || !covers_all(&evaluation->grant, requirement))
			return ROW_5A_GRANT_MISSING;
		return is_down ? ROW_5B_UNHEALTHY : ROW_5C_ADMITTED;
	}
	if (requirement->has_bounded) {
		if (!evaluation->materialised)
			return ROW_6A_NOT_MATERIALISED;
		return is_down ? ROW_6B_UNHEALTHY : ROW_6C_MATERIALISED;
	}
	if (requirement->capability_count == 0 && !evaluation->materialised && !requirement->can_proceed)
		return ROW_7_EMPTY;
	return ROW_8_REST;
}

static enum admission_mode mode_of(enum table_row row, const struct requirement *requirement)
{
	switch (row) {
	case ROW_0_MALFORMED:
		return requirement->fault == REQUIREMENT_LEGACY ? MODE_UNKNOWN_LEGACY : MODE_BLOCKED;
	case ROW_4_DEFERRED:
		return MODE_DEFERRED_LIVE_MCP;
	case ROW_5A_GRANT_MISSING:
		return MODE_BOUNDED_CONTEXT_REQUIRED;
	case ROW_5B_UNHEALTHY:
	case ROW_5C_ADMITTED:
		return MODE_BOUNDED_CONTEXT_APPROVED;
	case ROW_6A_NOT_MATERIALISED:
		return requirement->can_proceed ? MODE_PLANNING_ONLY : MODE_BLOCKED;
	case ROW_6B_UNHEALTHY:
	case ROW_6C_MATERIALISED:
	case ROW_8_REST:
		return MODE_PLANNING_ONLY;
	case ROW_1_MCP_UNKNOWN:
	case ROW_2_CAPABILITY_UNKNOWN:
	case ROW_3_PROHIBITED:
	case ROW_7_EMPTY:
	default:
		return MODE_BLOCKED;
	}
}

static enum admission_status status_of(enum table_row row, const struct requirement *requirement)
{
	switch (row) {
	case ROW_5C_ADMITTED:
	case ROW_6C_MATERIALISED:
		return ADMISSION_ALLOWED;
	case ROW_8_REST:
		return ADMISSION_WARNING;
	case ROW_4_DEFERRED:
	case ROW_5A_GRANT_MISSING:
	case ROW_5B_UNHEALTHY:
	case ROW_6A_NOT_MATERIALISED:
	case ROW_6B_UNHEALTHY:
		return requirement->can_proceed ? ADMISSION_WARNING : ADMISSION_BLOCKED;
	case ROW_0_MALFORMED:
	case ROW_1_MCP_UNKNOWN:
	case ROW_2_CAPABILITY_UNKNOWN:
	case ROW_3_PROHIBITED:
	case ROW_7_EMPTY:
	default:
		return ADMISSION_BLOCKED;
	}
}

static enum recovery_action recovery_of(enum table_row row, enum admission_status status)
{
	bool warns = status == ADMISSION_WARNING;

	switch (row) {
	case ROW_5C_ADMITTED:
		return RECOVERY_NONE;
	case ROW_4_DEFERRED:
		return warns ? RECOVERY_DEFER_LIVE_MCP_FEATURE : RECOVERY_REVISE_PLAN;
	case ROW_5A_GRANT_MISSING:
		return RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT;
	case ROW_5B_UNHEALTHY:
	case ROW_6B_UNHEALTHY:
		return RECOVERY_INSTALL_OR_FIX_MCP;
	case ROW_6A_NOT_MATERIALISED:
		return warns ? RECOVERY_CONTINUE_AS_PROMPT_CONTEXT : RECOVERY_REVISE_PLAN;
	case ROW_6C_MATERIALISED:
	case ROW_8_REST:
		return RECOVERY_CONTINUE_AS_PROMPT_CONTEXT;
	case ROW_0_MALFORMED:
	case ROW_1_MCP_UNKNOWN:
	case ROW_2_CAPABILITY_UNKNOWN:
	case ROW_3_PROHIBITED:
	case ROW_7_EMPTY:
	default:
		return RECOVERY_REVISE_PLAN;
	}
}

static int by_mcp_id(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, ((const struct health_row *)element)->mcp_id);
}

static int by_prompt_key(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, *(const struct str *)element);
}

static struct health_row find_health(const struct admission_inputs *inputs, const struct requirement *requirement)
{
	const struct health_row *row = NULL;

	if (requirement->looks_up && inputs->health_count)
		row = bsearch(&requirement->mcp_id, inputs->health, inputs->health_count, sizeof(*row), by_mcp_id);
	return row ? *row : (struct health_row){.mcp_id = requirement->mcp_id};
}

static bool has_prompt(const struct admission_inputs *inputs, const struct requirement *requirement)
{
	return requirement->looks_up && inputs->prompt_count &&
		bsearch(&requirement->key, inputs->prompt, inputs->prompt_count, sizeof(*inputs->prompt),
			by_prompt_key);
}

static int evaluate(struct arena *arena, const struct requirement *requirement, const struct admission_inputs *inputs,
	struct evaluation *evaluation)
{
	evaluation->requirement = requirement;
	evaluation->grant = admission_find_grant(inputs, requirement);
	evaluation->health = find_health(inputs, requirement);
	evaluation->materialised = requirement->overlay_claimed || has_prompt(inputs, requirement);
	evaluation->row = find_row(evaluation);
	evaluation->mode = mode_of(evaluation->row, requirement);
	evaluation->status = status_of(evaluation->row, requirement);
	evaluation->recovery = recovery_of(evaluation->row, evaluation->status);
	return admission_reason_evaluation(arena, evaluation, &evaluation->reason);
}

/* Coverage of 1.9 needs no table of its own: a subtask is bound to a requirement that asks for its capability, so the
 * capability is covered exactly when that requirement was admitted.
 */
static bool is_covered(const struct subtask_row *row, const struct evaluation *bound)
{
	if (!bound)
		return false;
	return bound->row == (row->delivery == DELIVERY_BOUNDED_CONTEXT_PACKET ? ROW_5C_ADMITTED : ROW_6C_MATERIALISED);
}

static bool subtask_is_allowed(const struct subtask_row *row, const struct evaluation *bound)
{
	if (row->is_malformed || row->is_prohibited)
		return false;
	if (row->class == CLASS_PLANNING_ONLY)
		return bound != NULL;
	return row->class == CLASS_BOUNDED_READ_ONLY && is_covered(row, bound);
}

static enum recovery_action subtask_recovery(const struct subtask_row *row)
{
	bool waits_for_grant = row->class == CLASS_BOUNDED_READ_ONLY &&
		row->delivery == DELIVERY_BOUNDED_CONTEXT_PACKET && row->bound && !row->is_prohibited;

	return waits_for_grant ? RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT : RECOVERY_REVISE_PLAN;
}

static int decide_subtask(struct arena *arena, const struct admission *admission, const struct subtask_row *row,
	struct subtask_decision *decision)
{
	const struct evaluation *bound =
		row->bound ? &admission->evaluations[row->bound - admission->package->requirements] : NULL;

	decision->row = row;
	decision->status = subtask_is_allowed(row, bound) ? ADMISSION_ALLOWED : ADMISSION_BLOCKED;
	if (decision->status == ADMISSION_BLOCKED)
		decision->recovery = subtask_recovery(row);
	return admission_reason_subtask(arena, decision, bound, &decision->reason);
}

static enum admission_mode subtask_mode(const struct subtask_decision *decision)
{
	return decision->row->class == CLASS_DEFERRED_LIVE_MCP ? MODE_DEFERRED_LIVE_MCP : MODE_BLOCKED;
}

/* Whether a blocked item goes before the primary one so far; ties keep the earlier. */
static bool outranks(const struct admission *admission, enum recovery_action recovery, enum admission_mode mode)
{
	if (!admission->primary_evaluation && !admission->primary_subtask)
		return true;
	if (recovery != admission->primary_recovery)
		return recovery < admission->primary_recovery;
	return mode < admission->primary_mode;
}

static void take_primary(
	struct admission *admission, const struct evaluation *evaluation, const struct subtask_decision *subtask)
{
	enum recovery_action recovery = evaluation ? evaluation->recovery : subtask->recovery;
	enum admission_mode mode = evaluation ? evaluation->mode : subtask_mode(subtask);

	if (recovery != RECOVERY_INSTALL_OR_FIX_MCP)
		admission->retryable = false;
	admission->status = ADMISSION_BLOCKED;
	if (!outranks(admission, recovery, mode))
		return;
	admission->primary_evaluation = evaluation;
	admission->primary_subtask = subtask;
	admission->primary_recovery = recovery;
	admission->primary_mode = mode;
}

/* 1.9's aggregate: requirements before subtasks, in order. */
static void fold(struct admission *admission)
{
	admission->status = ADMISSION_ALLOWED;
	admission->retryable = true;
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		if (evaluation->status == ADMISSION_BLOCKED)
			take_primary(admission, evaluation, NULL);
		else if (evaluation->status < admission->status)
			admission->status = evaluation->status;
	}
	for (size_t i = 0; i < admission->subtask_count; i++) {
		if (admission->subtasks[i].status == ADMISSION_BLOCKED)
			take_primary(admission, NULL, &admission->subtasks[i]);
	}
	if (admission->status != ADMISSION_BLOCKED)
		admission->retryable = false;
}

int admit_work_package_mcp(struct arena *arena, const struct package *package, const struct admission_inputs *inputs,
	struct admission *ret_admission)
{
	struct admission admission = {.package = package};
	int result = 0;

	if (package->whole_fault) {
		admission.primary_recovery = RECOVERY_REVISE_PLAN;
		*ret_admission = admission;
		return 0;
	}
	admission.evaluations = ARENA_ARRAY(arena, package->requirement_count, struct evaluation);
	admission.subtasks = ARENA_ARRAY(arena, package->subtask_count, struct subtask_decision);
	if (!admission.evaluations || !admission.subtasks)
		return -ENOMEM;
	admission.evaluation_count = package->requirement_count;
	admission.subtask_count = package->subtask_count;
	for (size_t i = 0; i < package->requirement_count && !result; i++)
		result = evaluate(arena, &package->requirements[i], inputs, &admission.evaluations[i]);
	for (size_t i = 0; i < package->subtask_count && !result; i++)
		result = decide_subtask(arena, &admission, &package->subtasks[i], &admission.subtasks[i]);
	if (result)
		return result;
	fold(&admission);
	*ret_admission = admission;
	return 0;
}
