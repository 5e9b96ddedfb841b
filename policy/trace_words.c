/* What a decision says to people: the states of 7.4 for each requirement and subtask, and a verdict for each capability. */
#include <errno.h>
#include <string.h>

#include "policy/trace_parts.h"
#include "policy/words_evaluation.h"

/* ---- states */

static int coverage_facts(struct arena *arena, const struct evaluation *evaluation, struct words_facts *facts)
{
	const struct requirement *requirement = evaluation->requirement;
	const struct grant_state *grant = &evaluation->grant;
	struct str *names = ARENA_ARRAY(arena, requirement->capability_count + grant->covered_count, struct str);
	size_t count = 0;
	int r = 0;

	if (names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < requirement->capability_count; i++)
		if (trace_is_of(evaluation, &requirement->capabilities[i], TRACE_UNCOVERED))
			names[count++] = requirement->capabilities[i].canonical;
	r = words_phrase(arena, names, count, &facts->missing);
	count = 0;
	for (size_t i = 0; grant->phase == GRANT_PHASE_APPROVED && i < grant->covered_count; i++)
		names[count++] = grant->covered[i]->name;
	return r == 0 ? words_phrase(arena, names, count, &facts->left) : r;
}

int trace_state_of(struct arena *arena, const struct admission *admission, const struct evaluation *evaluation,
	struct trace_state *ret)
{
	struct words_facts facts = {.package = admission->package->label, .root_revision_then = -1};
	enum hold_arm arm = ARM_NONE;
	int r = words_evaluation_facts(arena, evaluation, &facts);

	ret->key = projection_operator_key(evaluation->mode, evaluation->status, evaluation->recovery);
	facts.is_project_grant = evaluation->grant.source == GRANT_SOURCE_PROJECT_LEVEL;
	if (ret->key == OPERATOR_NEEDS_PROJECT_CONTEXT) {
		arm = projection_arm(&evaluation->grant);
		facts.reason = (struct str){0}; /* of an arm it is a person's, and no part of a decision */
		if (r == 0)
			r = coverage_facts(arena, evaluation, &facts);
	}
	return r == 0 ? words_state(arena, ret->key, arm, &facts, &ret->words) : r;
}

static enum operator_key key_of_subtask(const struct subtask_decision *decision)
{
	const struct subtask_row *row = decision->row;

	if (decision->status != ADMISSION_ALLOWED)
		return row->class == CLASS_DEFERRED_LIVE_MCP && !row->is_prohibited ? OPERATOR_DEFERRED_BOUNDARY
										    : OPERATOR_PLAN_NEEDS_CHANGES;
	return row->class == CLASS_BOUNDED_READ_ONLY && row->delivery == DELIVERY_BOUNDED_CONTEXT_PACKET
		? OPERATOR_CONTEXT_APPROVED
		: OPERATOR_PLANNING_CONTEXT;
}

static const struct evaluation *bound_of(const struct admission *admission, const struct subtask_decision *decision)
{
	const struct requirement *bound = decision->row->bound;

	return bound != NULL ? &admission->evaluations[bound - admission->package->requirements] : NULL;
}

int trace_state_of_subtask(struct arena *arena, const struct admission *admission,
	const struct subtask_decision *decision, struct trace_state *ret)
{
	const struct evaluation *bound = bound_of(admission, decision);
	struct words_facts facts = {
		.package = admission->package->label,
		.capabilities = decision->row->capability,
		.reason = decision->reason,
		.root_revision_then = -1,
		.is_project_grant = bound != NULL && bound->grant.source == GRANT_SOURCE_PROJECT_LEVEL,
	};

	if (decision->status == ADMISSION_BLOCKED && bound != NULL && bound->status != ADMISSION_ALLOWED &&
		(bound->recovery == RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT ||
			bound->recovery == RECOVERY_INSTALL_OR_FIX_MCP))
		return trace_state_of(arena, admission, bound, ret);
	ret->key = key_of_subtask(decision);
	return words_state(arena, ret->key, ARM_NONE, &facts, &ret->words);
}

/* ---- capabilities */

const char *trace_class_words(enum capability_class class)
{
	switch (class) {
	case CLASS_PLANNING_ONLY:
		return "planning only";
	case CLASS_DEFERRED_LIVE_MCP:
		return "live tool";
	case CLASS_BOUNDED_READ_ONLY:
		return "read-only";
	case CLASS_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *trace_reaches(enum capability_class class, enum delivery_kind delivery)
{
	switch (class) {
	case CLASS_PLANNING_ONLY:
		return "text in its prompt";
	case CLASS_DEFERRED_LIVE_MCP:
		return "live tool";
	case CLASS_BOUNDED_READ_ONLY:
		return delivery == DELIVERY_BOUNDED_CONTEXT_PACKET ? "read-only files" : "text in its prompt";
	case CLASS_UNKNOWN:
		break;
	}
	return "nothing";
}

static bool is_packet_read(const struct evaluation *evaluation, const struct catalog_capability *known)
{
	return evaluation != NULL && known != NULL && known->class == CLASS_BOUNDED_READ_ONLY &&
		trace_reads_packets(evaluation);
}

struct str trace_coverage(
	struct arena *arena, const struct evaluation *evaluation, const struct catalog_capability *known)
{
	const struct grant_state *grant = evaluation != NULL ? &evaluation->grant : NULL;

	if (!is_packet_read(evaluation, known))
		return evaluation == NULL ? STR("none") : STR("needs none");
	if (grant_state_is_usable(grant) && grant_state_covers(grant, known))
		return grant->source == GRANT_SOURCE_PROJECT_LEVEL ? STR("access to the project")
								   : STR("an approval for this package, once");
	if (trace_grant_words(grant)[0] == '\0')
		return STR("none: the approval doesn't name it");
	return arena_printf(arena, "none: %s", trace_grant_words(grant));
}

static struct trace_verdict say(const char *sign, const char *tone, const char *headline)
{
	return (struct trace_verdict){sign, tone, {headline, strlen(headline)}};
}

static struct trace_verdict say_state(const struct trace_state *state)
{
	return (struct trace_verdict){state->words.sign, operator_key_tone(state->key), state->words.headline};
}

/* What stands in the way is not this one: another of the same requirement, or the requirement's own shape. */
static struct trace_verdict say_along(const struct evaluation *evaluation)
{
	return evaluation->status == ADMISSION_BLOCKED ? say("square, x", "red", "Blocked with its requirement")
						       : say("dashed disc", "slate", "Left out with its requirement");
}

static struct trace_verdict verdict_of_read(
	const struct evaluation *evaluation, const struct capability *capability, const struct trace_state *state)
{
	switch (evaluation->row) {
	case ROW_5A_GRANT_MISSING:
		return grant_state_is_usable(&evaluation->grant) &&
				grant_state_covers(&evaluation->grant, capability->known)
			? say_along(evaluation)
			: say_state(state);
	case ROW_5C_ADMITTED:
		return say("check", "green", "May be read");
	case ROW_6A_NOT_MATERIALISED:
		return say("lines", evaluation->status == ADMISSION_BLOCKED ? "red" : "neutral",
			"No text of it in the prompt");
	case ROW_5B_UNHEALTHY:
	case ROW_6B_UNHEALTHY:
		return say_state(state);
	case ROW_6C_MATERIALISED:
		return say("lines", "neutral", "Text only, it opens nothing");
	case ROW_0_MALFORMED:
	case ROW_1_MCP_UNKNOWN:
	case ROW_2_CAPABILITY_UNKNOWN:
	case ROW_3_PROHIBITED:
	case ROW_4_DEFERRED:
	case ROW_7_EMPTY:
	case ROW_8_REST:
		break;
	}
	return say_along(evaluation);
}

struct trace_verdict trace_verdict_of(
	const struct evaluation *evaluation, const struct capability *capability, const struct trace_state *state)
{
	if (evaluation->row == ROW_0_MALFORMED)
		return say_along(evaluation);
	if (capability->is_prohibited)
		return say("square, x", "red", "Prohibited in the package");
	switch (capability->class) {
	case CLASS_DEFERRED_LIVE_MCP:
		return evaluation->status == ADMISSION_WARNING
			? say("dashed disc", "slate", "Not offered yet, goes on without")
			: say("dashed disc", "slate", "Not offered yet");
	case CLASS_PLANNING_ONLY:
		return evaluation->row < ROW_5A_GRANT_MISSING ? say_along(evaluation)
							      : say("lines", "neutral", "Text only, it opens nothing");
	case CLASS_BOUNDED_READ_ONLY:
		return verdict_of_read(evaluation, capability, state);
	case CLASS_UNKNOWN:
		break;
	}
	return say("square, x", "red", "Not known");
}

struct trace_verdict trace_verdict_of_subtask(const struct subtask_decision *decision, const struct trace_state *state)
{
	const struct subtask_row *row = decision->row;

	if (decision->status == ADMISSION_ALLOWED)
		return state->key == OPERATOR_CONTEXT_APPROVED ? say("check", "green", "May be read")
							       : say("lines", "neutral", "Text only, it opens nothing");
	if (row->is_malformed)
		return say("square, x", "red", "Can't be read");
	if (row->is_prohibited)
		return say("square, x", "red", "Prohibited in the package");
	if (state->key == OPERATOR_NEEDS_PROJECT_CONTEXT)
		return (struct trace_verdict){
			state->words.sign, operator_key_tone(state->key), STR("Waits for the same approval")};
	if (row->class == CLASS_UNKNOWN)
		return say("square, x", "red", "Not known");
	return state->key == OPERATOR_PLAN_NEEDS_CHANGES ? say("square, x", "red", "Has no requirement that admits it")
							 : say_state(state);
}
