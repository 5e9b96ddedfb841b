#include "policy/projection.h"

enum hold_arm projection_arm(const struct grant_state *state)
{
	switch (state->phase) {
	case GRANT_PHASE_DENIED:
		return ARM_DENIED;
	case GRANT_PHASE_APPROVED:
		return state->consumed ? ARM_USED_UP : ARM_INSUFFICIENT;
	case GRANT_PHASE_REVOKED:
		break;
	case GRANT_PHASE_NONE:
	case GRANT_PHASE_PROPOSED:
	case GRANT_PHASE_NOT_ISSUED:
	default:
		return ARM_NEVER_APPROVED;
	}
	switch (state->reason) {
	case REVOCATION_PROJECT_GRANT_REMOVED:
		return ARM_REMOVED;
	case REVOCATION_PROJECT_GRANT_NARROWED:
		return ARM_NARROWED;
	case REVOCATION_PROJECT_ROOT_REPOINT:
		return ARM_ROOT_CHANGED;
	case REVOCATION_GRANT_EXPIRED:
		return ARM_EXPIRED;
	case REVOCATION_PACKAGE_GRANT_REMOVED:
		return ARM_TAKEN_BACK;
	case REVOCATION_NONE:
	default:
		return ARM_NEVER_APPROVED;
	}
}

static enum hold_kind kind_of(enum recovery_action recovery)
{
	if (recovery == RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT)
		return HOLD_NEEDS_GRANT;
	return recovery == RECOVERY_INSTALL_OR_FIX_MCP ? HOLD_NEEDS_SETUP : HOLD_NEEDS_PLAN_CHANGE;
}

static struct hold_origin requirement_origin(const struct evaluation *evaluation, bool has_root)
{
	struct hold_origin origin = {
		.kind = kind_of(evaluation->recovery),
		.evaluation = evaluation,
		.mode = evaluation->mode,
		.recovery = evaluation->recovery,
	};

	if (origin.kind == HOLD_NEEDS_GRANT)
		origin.arm = has_root ? projection_arm(&evaluation->grant) : ARM_NO_ROOT;
	return origin;
}

/* 2.2: a blocked subtask stands for the requirement that it waits for; without one it needs another plan. */
static struct hold_origin subtask_origin(
	const struct admission *admission, const struct subtask_decision *decision, bool has_root)
{
	const struct requirement *bound = decision->row->bound;
	const struct evaluation *evaluation =
		bound ? &admission->evaluations[bound - admission->package->requirements] : NULL;

	if (evaluation && evaluation->status != ADMISSION_ALLOWED &&
		kind_of(evaluation->recovery) != HOLD_NEEDS_PLAN_CHANGE)
		return requirement_origin(evaluation, has_root);
	return (struct hold_origin){
		.kind = HOLD_NEEDS_PLAN_CHANGE,
		.subtask = decision,
		.mode = decision->row->class == CLASS_DEFERRED_LIVE_MCP ? MODE_DEFERRED_LIVE_MCP : MODE_BLOCKED,
		.recovery = RECOVERY_REVISE_PLAN,
	};
}

/* 1.9's order of preference; ties keep the earlier, and requirements come before subtasks. */
static bool goes_before(const struct hold_origin *a, const struct hold_origin *b)
{
	if (a->recovery != b->recovery)
		return a->recovery < b->recovery;
	return a->mode < b->mode;
}

static void consider(struct hold_origin origin, bool *has_one, struct hold_origin *best)
{
	bool retryable = origin.recovery == RECOVERY_INSTALL_OR_FIX_MCP && (!*has_one || best->retryable);

	if (!*has_one || goes_before(&origin, best))
		*best = origin;
	best->retryable = retryable;
	*has_one = true;
}

bool projection_hold_origin(const struct admission *admission, bool has_root, struct hold_origin *ret_origin)
{
	struct hold_origin best = {.mode = MODE_BLOCKED, .recovery = RECOVERY_REVISE_PLAN};
	bool has_one = false;

	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].status == ADMISSION_BLOCKED)
			consider(requirement_origin(&admission->evaluations[i], has_root), &has_one, &best);
	}
	for (size_t i = 0; i < admission->subtask_count; i++) {
		if (admission->subtasks[i].status == ADMISSION_BLOCKED)
			consider(subtask_origin(admission, &admission->subtasks[i], has_root), &has_one, &best);
	}
	if (!has_one && admission->status != ADMISSION_BLOCKED)
		return false;
	*ret_origin = best;
	return true;
}

enum operator_key projection_operator_key(
	enum admission_mode mode, enum admission_status status, enum recovery_action recovery)
{
	if (recovery == RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT)
		return OPERATOR_NEEDS_PROJECT_CONTEXT;
	if (recovery == RECOVERY_INSTALL_OR_FIX_MCP)
		return OPERATOR_MCP_NEEDS_SETUP;
	switch (mode) {
	case MODE_BLOCKED:
		return OPERATOR_PLAN_NEEDS_CHANGES;
	case MODE_DEFERRED_LIVE_MCP:
		return OPERATOR_DEFERRED_BOUNDARY;
	case MODE_BOUNDED_CONTEXT_APPROVED:
		return status == ADMISSION_ALLOWED ? OPERATOR_CONTEXT_APPROVED : OPERATOR_MCP_NEEDS_SETUP;
	case MODE_BOUNDED_CONTEXT_REQUIRED:
		return OPERATOR_NEEDS_PROJECT_CONTEXT;
	case MODE_PLANNING_ONLY:
		return OPERATOR_PLANNING_CONTEXT;
	case MODE_UNKNOWN_LEGACY:
	default:
		return OPERATOR_RECOMPUTE;
	}
}

enum operator_key projection_package_key(
	const struct admission *admission, bool has_root, const struct evaluation **ret_evaluation)
{
	const struct evaluation *from = admission->evaluation_count ? &admission->evaluations[0] : NULL;
	struct hold_origin origin;

	if (projection_hold_origin(admission, has_root, &origin)) {
		*ret_evaluation = origin.evaluation;
		return projection_operator_key(origin.mode, ADMISSION_BLOCKED, origin.recovery);
	}
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].status == ADMISSION_WARNING) {
			from = &admission->evaluations[i];
			break;
		}
	}
	*ret_evaluation = from;
	return from ? projection_operator_key(from->mode, from->status, from->recovery) : OPERATOR_PLANNING_CONTEXT;
}

static const char *const kind_names[] = {
	[HOLD_NEEDS_PLAN_CHANGE] = "needs_plan_change",
	[HOLD_NEEDS_GRANT] = "needs_grant",
	[HOLD_NEEDS_SETUP] = "needs_setup",
};

static const char *const arm_names[] = {
	[ARM_NONE] = NULL,
	[ARM_NEVER_APPROVED] = "never_approved",
	[ARM_DENIED] = "denied",
	[ARM_USED_UP] = "used_up",
	[ARM_INSUFFICIENT] = "insufficient",
	[ARM_REMOVED] = "removed",
	[ARM_NARROWED] = "narrowed",
	[ARM_ROOT_CHANGED] = "root_changed",
	[ARM_EXPIRED] = "expired",
	[ARM_TAKEN_BACK] = "taken_back",
	[ARM_NO_ROOT] = "no_root",
};

const char *hold_kind_name(enum hold_kind kind)
{
	return kind_names[kind];
}

const char *hold_arm_name(enum hold_arm arm)
{
	return arm_names[arm];
}

bool hold_kind_find(struct str name, enum hold_kind *ret_kind)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (str_is(name, kind_names[i])) {
			*ret_kind = (enum hold_kind)i;
			return true;
		}
	}
	return false;
}

bool hold_arm_find(struct str name, enum hold_arm *ret_arm)
{
	for (size_t i = 0; i < sizeof(arm_names) / sizeof(arm_names[0]); i++) {
		if (arm_names[i] && str_is(name, arm_names[i])) {
			*ret_arm = (enum hold_arm)i;
			return true;
		}
	}
	return false;
}

static const struct {
	const char *name;
	const char *tone;
} operator_states[] = {
	[OPERATOR_RECOMPUTE] = {"recompute", "neutral"},
	[OPERATOR_PLANNING_CONTEXT] = {"planning_context", "neutral"},
	[OPERATOR_NEEDS_PROJECT_CONTEXT] = {"needs_project_context", "amber"},
	[OPERATOR_MCP_NEEDS_SETUP] = {"mcp_needs_setup", "red"},
	[OPERATOR_DEFERRED_BOUNDARY] = {"deferred_boundary", "slate"},
	[OPERATOR_CONTEXT_APPROVED] = {"context_approved", "green"},
	[OPERATOR_PLAN_NEEDS_CHANGES] = {"plan_needs_changes", "red"},
};

const char *operator_key_name(enum operator_key key)
{
	return operator_states[key].name;
}

const char *operator_key_tone(enum operator_key key)
{
	return operator_states[key].tone;
}
