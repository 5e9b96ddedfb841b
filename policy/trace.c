#include "policy/trace.h"

#include "policy/trace_parts.h"

/* ---- the rows, each by its own predicate */

typedef bool met_fn(const struct evaluation *evaluation);

static bool is_broken(const struct evaluation *evaluation)
{
	return evaluation->requirement->fault != REQUIREMENT_SOUND || evaluation->grant.is_incoherent;
}

static bool has_no_mcp(const struct evaluation *evaluation)
{
	return evaluation->requirement->mcp == NULL;
}

bool trace_is_of(const struct evaluation *evaluation, const struct capability *capability, enum trace_sort sort)
{
	switch (sort) {
	case TRACE_UNKNOWN:
		return capability->class == CLASS_UNKNOWN;
	case TRACE_PROHIBITED:
		return capability->is_prohibited;
	case TRACE_DEFERRED:
		return capability->class == CLASS_DEFERRED_LIVE_MCP;
	case TRACE_BOUNDED:
		return capability->class == CLASS_BOUNDED_READ_ONLY;
	case TRACE_UNCOVERED:
		return capability->class == CLASS_BOUNDED_READ_ONLY &&
			!grant_state_covers(&evaluation->grant, capability->known);
	}
	return false;
}

static bool any(const struct evaluation *evaluation, enum trace_sort sort)
{
	for (size_t i = 0; i < evaluation->requirement->capability_count; i++) {
		if (trace_is_of(evaluation, &evaluation->requirement->capabilities[i], sort))
			return true;
	}
	return false;
}

static bool asks_unknown(const struct evaluation *evaluation)
{
	return any(evaluation, TRACE_UNKNOWN);
}

static bool asks_prohibited(const struct evaluation *evaluation)
{
	return any(evaluation, TRACE_PROHIBITED);
}

static bool asks_deferred(const struct evaluation *evaluation)
{
	return any(evaluation, TRACE_DEFERRED);
}

bool trace_reads_packets(const struct evaluation *evaluation)
{
	return any(evaluation, TRACE_BOUNDED) &&
		capability_delivery(evaluation->requirement->mcp) == DELIVERY_BOUNDED_CONTEXT_PACKET;
}

static bool reads_prompt(const struct evaluation *evaluation)
{
	return any(evaluation, TRACE_BOUNDED) && !trace_reads_packets(evaluation);
}

static bool is_down(const struct evaluation *evaluation)
{
	const struct catalog_mcp *mcp = evaluation->requirement->mcp;

	return mcp && mcp->health_gated && !health_row_is_healthy(&evaluation->health);
}

static bool is_granted(const struct evaluation *evaluation)
{
	return grant_state_is_usable(&evaluation->grant) && !any(evaluation, TRACE_UNCOVERED);
}

static bool lacks_grant(const struct evaluation *evaluation)
{
	return trace_reads_packets(evaluation) && !is_granted(evaluation);
}

static bool is_granted_but_down(const struct evaluation *evaluation)
{
	return trace_reads_packets(evaluation) && is_granted(evaluation) && is_down(evaluation);
}

static bool is_admitted(const struct evaluation *evaluation)
{
	return trace_reads_packets(evaluation) && is_granted(evaluation) && !is_down(evaluation);
}

static bool lacks_prompt(const struct evaluation *evaluation)
{
	return reads_prompt(evaluation) && !evaluation->materialised;
}

static bool has_prompt_but_down(const struct evaluation *evaluation)
{
	return reads_prompt(evaluation) && evaluation->materialised && is_down(evaluation);
}

static bool has_prompt(const struct evaluation *evaluation)
{
	return reads_prompt(evaluation) && evaluation->materialised && !is_down(evaluation);
}

static bool is_empty(const struct evaluation *evaluation)
{
	return evaluation->requirement->capability_count == 0 && !evaluation->materialised &&
		!evaluation->requirement->can_proceed;
}

static bool always(const struct evaluation *evaluation)
{
	(void)evaluation;
	return true;
}

/* `asks` is the question of a row for people, and `met_answer` what was answered where the row is met. */
static const struct {
	const char *name;
	const char *when;
	const char *asks;
	bool met_answer;
	met_fn *met;
	met_fn *applies; /* NULL: always */
} table[] = {
	[ROW_0_MALFORMED] = {"0", "it can't be read, or what is known of it contradicts itself",
		"well formed, joined, coherent?", false, is_broken, NULL},
	[ROW_1_MCP_UNKNOWN] = {"1", "its tool server isn't in the catalog", "tool server known?", false, has_no_mcp,
		NULL},
	[ROW_2_CAPABILITY_UNKNOWN] = {"2", "it asks for something that the catalog doesn't know",
		"every capability known?", false, asks_unknown, NULL},
	[ROW_3_PROHIBITED] = {"3", "it asks for something that the package prohibits", "prohibited in the package?",
		true, asks_prohibited, NULL},
	[ROW_4_DEFERRED] = {"4", "it asks for a live tool, which agents aren't given yet", "a live tool?", true,
		asks_deferred, NULL},
	[ROW_5A_GRANT_MISSING] = {"5a", "it reads project files, and access doesn't cover them",
		"approved, unused, covering?", false, lacks_grant, trace_reads_packets},
	[ROW_5B_UNHEALTHY] = {"5b", "it reads project files that access covers, and the server isn't healthy",
		"server healthy?", false, is_granted_but_down, trace_reads_packets},
	[ROW_5C_ADMITTED] = {"5c", "it reads project files, and access covers them", "server healthy?", true,
		is_admitted, trace_reads_packets},
	[ROW_6A_NOT_MATERIALISED] = {"6a", "it reads what reaches an agent as text only, and its prompt has none",
		"text in the prompt?", false, lacks_prompt, reads_prompt},
	[ROW_6B_UNHEALTHY] = {"6b", "its text is in the prompt, and the server isn't healthy", "server healthy?", false,
		has_prompt_but_down, reads_prompt},
	[ROW_6C_MATERIALISED] = {"6c", "its text is in the prompt", "server healthy?", true, has_prompt, reads_prompt},
	[ROW_7_EMPTY] = {"7", "it asks for nothing, and must not be left out", "something asked for, or left out?",
		false, is_empty, NULL},
	[ROW_8_REST] = {"8", "what it asks for reaches the agent as text only", "text only?", true, always, NULL},
};

const char *trace_row_name(enum table_row row)
{
	return table[row].name;
}

const char *trace_row_when(enum table_row row)
{
	return table[row].when;
}

const char *trace_row_asks(enum table_row row)
{
	return table[row].asks;
}

const char *trace_row_answer(const struct evaluation *evaluation, enum table_row row)
{
	bool is_met = table[row].met(evaluation);

	if (!is_met && table[row].applies != NULL && !table[row].applies(evaluation))
		return "doesn't apply";
	return is_met == table[row].met_answer ? "yes" : "no";
}

bool trace_row_is_met(const struct evaluation *evaluation, enum table_row row)
{
	return table[row].met(evaluation);
}

enum table_row trace_row(const struct evaluation *evaluation)
{
	enum table_row row = ROW_0_MALFORMED;

	while (!table[row].met(evaluation))
		row++;
	return row;
}
