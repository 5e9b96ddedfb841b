#include "policy/admission_reason.h"

#include <errno.h>
#include <string.h>

#include "policy/redact.h"
#include "policy/text.h"

/* A reason names at least one capability, however long it is, and at most three in so many bytes; the rest is counted. So it stays
 * a sentence.
 */
enum { NAMED_CAPABILITIES = 3, NAMES_SIZE = 240 };

typedef bool concerns(const struct evaluation *evaluation, const struct capability *capability);

static bool is_unknown(const struct evaluation *evaluation, const struct capability *capability)
{
	(void)evaluation;
	return capability->class == CLASS_UNKNOWN;
}

static bool is_prohibited(const struct evaluation *evaluation, const struct capability *capability)
{
	(void)evaluation;
	return capability->is_prohibited;
}

static bool is_deferred(const struct evaluation *evaluation, const struct capability *capability)
{
	(void)evaluation;
	return capability->class == CLASS_DEFERRED_LIVE_MCP;
}

static bool is_bounded(const struct evaluation *evaluation, const struct capability *capability)
{
	(void)evaluation;
	return capability->class == CLASS_BOUNDED_READ_ONLY;
}

static bool is_uncovered(const struct evaluation *evaluation, const struct capability *capability)
{
	bool usable = grant_state_is_usable(&evaluation->grant);

	return capability->class == CLASS_BOUNDED_READ_ONLY &&
		!(usable && grant_state_covers(&evaluation->grant, capability->known));
}

static bool is_any(const struct evaluation *evaluation, const struct capability *capability)
{
	(void)evaluation;
	(void)capability;
	return true;
}

/* "a, b, c and 4 more". */
static struct str list(struct arena *arena, const struct evaluation *evaluation, concerns *wanted)
{
	const struct requirement *requirement = evaluation->requirement;
	struct str text = STR("");
	size_t named = 0;
	size_t more = 0;
	size_t size = 0;

	for (size_t i = 0; i < requirement->capability_count && text.bytes; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (!wanted(evaluation, capability) || requirement_repeats_capability(requirement, i))
			continue;
		size += capability->canonical.len;
		if (named == NAMED_CAPABILITIES || (named && size > NAMES_SIZE)) {
			more++;
			continue;
		}
		text = arena_printf(arena, "%s%s%s", text.bytes, named ? ", " : "", capability->canonical.bytes);
		named++;
	}
	return more && text.bytes ? arena_printf(arena, "%s and %zu more", text.bytes, more) : text;
}

static const char *fault_text(enum requirement_fault fault)
{
	static const char *const texts[] = {
		[REQUIREMENT_SOUND] = "the stored grant contradicts itself",
		[REQUIREMENT_NOT_AN_OBJECT] = "the requirement is not an object",
		[REQUIREMENT_BAD_KEY] = "the requirementKey is not a key of at most 160 characters without white space",
		[REQUIREMENT_BAD_CAPABILITIES] = "a capability field is not an array of safe text",
		[REQUIREMENT_TOO_MANY_CAPABILITIES] = "the requirement asks for more than 30 capabilities",
		[REQUIREMENT_BAD_PROHIBITION] =
			"a prohibition is not a capability that the requirement's own MCP knows",
		[REQUIREMENT_BAD_MCP_ID] = "the mcpId is not an identity",
		[REQUIREMENT_BAD_LEVEL] = "the requirement level is neither required nor optional",
		[REQUIREMENT_BAD_FALLBACK] =
			"the fallback has none of the actions block, ask_user, continue_without_mcp",
		[REQUIREMENT_BAD_AGENT] = "the agent is missing, not an identity, or named in two ways that differ",
		[REQUIREMENT_BAD_ASSIGNMENT] = "the assignment is missing, or its type or targetId is not valid",
		[REQUIREMENT_BAD_SOURCE_INDEX] = "the sourceRequirementIndex is missing or not a whole number from 0",
		[REQUIREMENT_BAD_ENVELOPE] = "the earlier record that belongs to it is malformed",
		[REQUIREMENT_BAD_DECISION_ID] = "the earlier record's decisionId is not an identity",
		[REQUIREMENT_TWO_POLICIES] = "two requirements share this key",
		[REQUIREMENT_TWO_ENVELOPES] = "two earlier records share this key",
		[REQUIREMENT_ENVELOPE_DISAGREES] = "the earlier record disagrees on MCP, agent or index",
		[REQUIREMENT_LEGACY] = "an earlier record has no requirement; nothing is assumed of it",
	};

	return texts[fault];
}

static const char *goes_on(const struct evaluation *evaluation)
{
	return evaluation->status == ADMISSION_WARNING ? "; the package goes on without it" : "";
}

static struct str reason_grant(struct arena *arena, const struct evaluation *evaluation)
{
	const struct grant_state *grant = &evaluation->grant;
	struct str names = list(arena, evaluation, is_uncovered);
	const char *words = "needs an operator's grant for this project's context";

	if (!names.bytes)
		return names;
	if (grant->phase == GRANT_PHASE_DENIED)
		words = "was denied by an operator; approve it or revise the plan";
	else if (grant->phase == GRANT_PHASE_APPROVED && grant->consumed)
		words = "was approved once, and an earlier run used that; approve again";
	else if (grant->phase == GRANT_PHASE_APPROVED)
		words = "is not covered by the approval; approve it too";
	else if (grant->reason == REVOCATION_PROJECT_GRANT_REMOVED)
		words = "lost the project's grant, which was removed; approve again";
	else if (grant->reason == REVOCATION_PROJECT_GRANT_NARROWED)
		words = "is no longer covered by the project's grant, which was narrowed; approve again";
	else if (grant->reason == REVOCATION_PROJECT_ROOT_REPOINT)
		words = "was decided for another project folder; approve again";
	else if (grant->reason == REVOCATION_GRANT_EXPIRED)
		words = "was approved until a time that has passed; approve again";
	else if (grant->reason == REVOCATION_PACKAGE_GRANT_REMOVED)
		words = "had an approval that was taken back; approve again";
	return arena_printf(arena, "%s %s%s", names.bytes, words, goes_on(evaluation));
}

static struct str reason_health(struct arena *arena, const struct evaluation *evaluation)
{
	const struct catalog_mcp *mcp = evaluation->requirement->mcp;
	const struct health_row *health = &evaluation->health;
	const char *state = health_status_name(health->status);
	struct str names = list(arena, evaluation, is_bounded);
	struct str remedy;

	if (!names.bytes)
		return names;
	if (!health->observed)
		state = "unknown";
	else if (health->install_state != HEALTH_INSTALLED)
		state = "missing";
	else if (!health->enabled)
		state = "disabled";
	remedy = catalog_find_remediation(mcp, (struct str){state, strlen(state)});
	if (remedy.len == 0)
		remedy = STR("install or fix it");
	return arena_printf(arena, "%s waits for the %s server, which is not ready (%s); %s%s", names.bytes,
		mcp->id.bytes, state, remedy.bytes, goes_on(evaluation));
}

static struct str reason_names(
	struct arena *arena, const struct evaluation *evaluation, concerns *wanted, const char *words)
{
	struct str names = list(arena, evaluation, wanted);

	return names.bytes ? arena_printf(arena, "%s %s%s", names.bytes, words, goes_on(evaluation)) : names;
}

static struct str reason_rest(struct arena *arena, const struct evaluation *evaluation)
{
	struct str names = list(arena, evaluation, is_any);

	if (!names.bytes)
		return names;
	if (evaluation->requirement->capability_count == 0)
		return STR("no capability is asked for; it is text for the prompt and grants nothing");
	return arena_printf(arena, "%s is planning context only: text for the prompt that grants nothing", names.bytes);
}

static struct str word_row(struct arena *arena, const struct evaluation *evaluation)
{
	const struct requirement *requirement = evaluation->requirement;

	switch (evaluation->row) {
	case ROW_0_MALFORMED:
		return arena_printf(arena, "%s; revise the plan", fault_text(requirement->fault));
	case ROW_1_MCP_UNKNOWN:
		return arena_printf(arena, "the MCP %.*s is not in the catalog; ask for one that is",
			(int)requirement->mcp_id.len, requirement->mcp_id.bytes);
	case ROW_2_CAPABILITY_UNKNOWN:
		return reason_names(arena, evaluation, is_unknown, "is not known to the catalog; revise the plan");
	case ROW_3_PROHIBITED:
		return reason_names(arena, evaluation, is_prohibited,
			"is prohibited by a requirement of this package; revise the plan");
	case ROW_4_DEFERRED:
		return reason_names(arena, evaluation, is_deferred,
			evaluation->status == ADMISSION_WARNING
				? "is a live operation"
				: "is a live operation, which agents are not given yet; revise the plan");
	case ROW_5A_GRANT_MISSING:
		return reason_grant(arena, evaluation);
	case ROW_5B_UNHEALTHY:
	case ROW_6B_UNHEALTHY:
		return reason_health(arena, evaluation);
	case ROW_5C_ADMITTED:
		return reason_names(arena, evaluation, is_bounded, "is granted as a read-only packet");
	case ROW_6A_NOT_MATERIALISED:
		return reason_names(arena, evaluation, is_bounded,
			evaluation->status == ADMISSION_WARNING ? "has no text for the prompt"
								: "has no text for the prompt; revise the plan");
	case ROW_6C_MATERIALISED:
		return reason_names(arena, evaluation, is_bounded, "reaches the agent as text in its prompt");
	case ROW_7_EMPTY:
		return STR("the requirement asks for nothing, and there is no text for the prompt; revise the plan");
	case ROW_8_REST:
	default:
		return reason_rest(arena, evaluation);
	}
}

/* 1.10's cap, between code points: only a catalog with very long words comes near it. */
static struct str capped(struct str reason)
{
	size_t at = 0;

	if (reason.len <= REDACT_REASON)
		return reason;
	for (size_t length = 0; at < reason.len && length < REDACT_REASON; length++)
		(void)text_next(reason, &at);
	reason.len = at;
	return reason;
}

int admission_reason_evaluation(struct arena *arena, const struct evaluation *evaluation, struct str *ret_reason)
{
	*ret_reason = capped(word_row(arena, evaluation));
	return ret_reason->bytes ? 0 : -ENOMEM;
}

static const char *subtask_words(const struct subtask_decision *decision, const struct evaluation *bound)
{
	const struct subtask_row *row = decision->row;

	if (decision->status == ADMISSION_ALLOWED)
		return "is admitted through its requirement";
	if (row->is_prohibited)
		return "is prohibited by a requirement of this package; revise the plan";
	if (row->class == CLASS_UNKNOWN)
		return "is not known to the catalog; revise the plan";
	if (row->class == CLASS_DEFERRED_LIVE_MCP)
		return "is a live operation, which agents are not given yet; revise the plan";
	if (!bound)
		return "is not bound to exactly one requirement of the same agent; revise the plan";
	if (decision->recovery == RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT)
		return bound->row == ROW_5B_UNHEALTHY ? "waits for the server of its requirement"
						      : "waits for the grant of its requirement";
	return "has no admitted text for the prompt in its requirement; revise the plan";
}

int admission_reason_subtask(struct arena *arena, const struct subtask_decision *decision,
	const struct evaluation *bound, struct str *ret_reason)
{
	const struct subtask_row *row = decision->row;

	if (row->is_malformed)
		*ret_reason = arena_printf(arena, "a subtask is malformed: %s; revise the plan", row->fault);
	else
		*ret_reason = arena_printf(arena, "%s %s", row->capability.bytes, subtask_words(decision, bound));
	return ret_reason->bytes ? 0 : -ENOMEM;
}
