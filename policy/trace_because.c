/* Words for each step of the walk through 1.8's table. They name capabilities that are safe text already, and no free text. */
#include "policy/trace_parts.h"

enum { NAMED_CAPABILITIES = 4 };

static struct str literal(const char *text)
{
	struct str str = {text, 0};

	while (text[str.len])
		str.len++;
	return str;
}

/* "a, b and 3 more"; for a prohibited one, who prohibits it. */
static struct str names(
	struct arena *arena, const struct evaluation *evaluation, enum trace_sort sort, const struct str *prohibitions)
{
	const struct requirement *requirement = evaluation->requirement;
	struct str text = STR("");
	size_t named = 0;
	size_t more = 0;

	for (size_t i = 0; i < requirement->capability_count && text.bytes; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (!trace_is_of(evaluation, capability, sort) || requirement_repeats_capability(requirement, i))
			continue;
		if (named == NAMED_CAPABILITIES) {
			more++;
			continue;
		}
		text = arena_printf(arena, "%s%s%s", text.bytes, named ? ", " : "", capability->canonical.bytes);
		if (sort == TRACE_PROHIBITED && text.bytes && prohibitions[capability->known->index].bytes)
			text = arena_printf(arena, "%s (prohibited by %.*s)", text.bytes,
				(int)prohibitions[capability->known->index].len,
				prohibitions[capability->known->index].bytes);
		named++;
	}
	return more && text.bytes ? arena_printf(arena, "%s and %zu more", text.bytes, more) : text;
}

static struct str because_sort(struct arena *arena, const struct evaluation *evaluation, enum trace_sort sort,
	const struct str *prohibitions, const char *met, const char *otherwise)
{
	struct str list = names(arena, evaluation, sort, prohibitions);

	if (!list.bytes)
		return list;
	return list.len ? arena_printf(arena, "%s%s", list.bytes, met) : literal(otherwise);
}

static struct str because_broken(const struct evaluation *evaluation, bool is_met)
{
	return is_met ? evaluation->reason : STR("it is well formed, it joined, and its grant state is coherent");
}

static struct str because_mcp(struct arena *arena, const struct evaluation *evaluation, bool is_met)
{
	return arena_printf(arena, is_met ? "%.*s is not in the catalog" : "%.*s is in the catalog",
		(int)evaluation->requirement->mcp_id.len, evaluation->requirement->mcp_id.bytes);
}

const char *trace_grant_words(const struct grant_state *state)
{
	static const char *const revoked[] = {
		[REVOCATION_NONE] = "without a reason",
		[REVOCATION_PROJECT_GRANT_REMOVED] = "access removed",
		[REVOCATION_PROJECT_GRANT_NARROWED] = "access narrowed",
		[REVOCATION_PROJECT_ROOT_REPOINT] = "the project's folder changed",
		[REVOCATION_GRANT_EXPIRED] = "access has ended",
		[REVOCATION_PACKAGE_GRANT_REMOVED] = "the approval was taken back",
	};

	if (state->phase == GRANT_PHASE_REVOKED)
		return revoked[state->reason];
	if (state->phase == GRANT_PHASE_APPROVED)
		return state->consumed ? "it was approved once, and a run has used that" : "";
	return state->phase == GRANT_PHASE_DENIED ? "it was denied" : "nobody has approved it";
}

static struct str because_grant(struct arena *arena, const struct evaluation *evaluation, bool is_met)
{
	const struct grant_state *grant = &evaluation->grant;
	struct str missing;

	if (!trace_reads_packets(evaluation))
		return STR("nothing is read through a packet, so no grant is needed");
	if (!is_met)
		return arena_printf(arena, "approved, unused and covering (%s, %s)", grant_source_name(grant->source),
			grant->approval_id.bytes ? grant->approval_id.bytes : "a record without a name");
	if (grant->phase == GRANT_PHASE_REVOKED)
		return arena_printf(arena, "revoked, %s", trace_grant_words(grant));
	if (grant->phase != GRANT_PHASE_APPROVED || grant->consumed)
		return literal(trace_grant_words(grant));
	missing = names(arena, evaluation, TRACE_UNCOVERED, NULL);
	return missing.bytes ? arena_printf(arena, "approved, but not for %s", missing.bytes) : missing;
}

static struct str because_health(struct arena *arena, const struct evaluation *evaluation)
{
	const struct health_row *health = &evaluation->health;
	const char *id = evaluation->requirement->mcp_id.bytes;

	if (!evaluation->requirement->mcp->health_gated)
		return arena_printf(arena, "the health of %s does not count", id);
	if (!health->observed)
		return arena_printf(arena, "the health of %s has not been observed", id);
	return arena_printf(arena, "%s is %s, %s%s", id, health_install_state_name(health->install_state),
		health_status_name(health->status), health->enabled ? "" : ", switched off");
}

/* 5b and 5c, when 5a isn't met: it is covered, or needs no grant. */
static struct str because_packet_health(struct arena *arena, const struct evaluation *evaluation)
{
	if (!trace_reads_packets(evaluation))
		return STR("nothing is read through a packet");
	return because_health(arena, evaluation);
}

static bool reads_text(const struct evaluation *evaluation)
{
	return evaluation->requirement->has_bounded && !trace_reads_packets(evaluation);
}

static struct str because_prompt(const struct evaluation *evaluation)
{
	if (!reads_text(evaluation))
		return STR("nothing is read that has no producer");
	return literal(evaluation->materialised ? "prompt context exists" : "no prompt context exists");
}

static struct str because_prompt_health(struct arena *arena, const struct evaluation *evaluation)
{
	return reads_text(evaluation) ? because_health(arena, evaluation) : because_prompt(evaluation);
}

static struct str because_empty(const struct evaluation *evaluation)
{
	if (evaluation->requirement->capability_count > 0)
		return STR("it asks for something");
	if (evaluation->materialised)
		return STR("prompt context exists");
	return literal(evaluation->requirement->can_proceed
			? "it is optional, and the package may go on without it"
			: "it asks for nothing, has no prompt context, and must not be left out");
}

struct str trace_because(
	struct arena *arena, const struct evaluation *evaluation, enum table_row row, const struct str *prohibitions)
{
	bool is_met = trace_row_is_met(evaluation, row);

	switch (row) {
	case ROW_0_MALFORMED:
		return because_broken(evaluation, is_met);
	case ROW_1_MCP_UNKNOWN:
		return because_mcp(arena, evaluation, is_met);
	case ROW_2_CAPABILITY_UNKNOWN:
		return because_sort(arena, evaluation, TRACE_UNKNOWN, prohibitions, ": unknown to the catalog",
			"every capability is known");
	case ROW_3_PROHIBITED:
		return because_sort(
			arena, evaluation, TRACE_PROHIBITED, prohibitions, "", "nothing of it is prohibited");
	case ROW_4_DEFERRED:
		return because_sort(arena, evaluation, TRACE_DEFERRED, prohibitions,
			": a live operation, which agents aren't given yet", "none is a live operation");
	case ROW_5A_GRANT_MISSING:
		return because_grant(arena, evaluation, is_met);
	case ROW_5B_UNHEALTHY:
	case ROW_5C_ADMITTED:
		return because_packet_health(arena, evaluation);
	case ROW_6A_NOT_MATERIALISED:
		return because_prompt(evaluation);
	case ROW_6B_UNHEALTHY:
	case ROW_6C_MATERIALISED:
		return because_prompt_health(arena, evaluation);
	case ROW_7_EMPTY:
		return because_empty(evaluation);
	case ROW_8_REST:
		break;
	}
	return STR("no row before it is met");
}

const char *trace_subtask_when(const struct subtask_row *row)
{
	if (row->is_malformed)
		return "the subtask can't be read";
	if (row->is_prohibited)
		return "the package prohibits it";
	if (row->class == CLASS_UNKNOWN || row->class == CLASS_DEFERRED_LIVE_MCP)
		return "it is unknown, has no owner, or is a live tool";
	if (row->class == CLASS_PLANNING_ONLY)
		return "it is text only, and needs a requirement that it is bound to";
	return row->delivery == DELIVERY_BOUNDED_CONTEXT_PACKET
		? "it reads project files, and needs a requirement that was admitted"
		: "it reads what reaches an agent as text only, and needs a requirement that has it in the prompt";
}
