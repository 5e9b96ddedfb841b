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

static const struct {
	const char *name;
	const char *when;
	met_fn *met;
} table[] = {
	[ROW_0_MALFORMED] = {"0", "malformed requirement, failed join, or incoherent grant state", is_broken},
	[ROW_1_MCP_UNKNOWN] = {"1", "the MCP is not in the catalog", has_no_mcp},
	[ROW_2_CAPABILITY_UNKNOWN] = {"2", "a capability is unknown", asks_unknown},
	[ROW_3_PROHIBITED] = {"3", "a capability is prohibited in the package", asks_prohibited},
	[ROW_4_DEFERRED] = {"4", "a capability needs a live tool", asks_deferred},
	[ROW_5A_GRANT_MISSING] = {"5a", "project context is read, and no grant covers it", lacks_grant},
	[ROW_5B_UNHEALTHY] = {"5b", "covered, and the server is not healthy", is_granted_but_down},
	[ROW_5C_ADMITTED] = {"5c", "covered, and the server is healthy", is_admitted},
	[ROW_6A_NOT_MATERIALISED] = {"6a", "reads without a producer, and no prompt context", lacks_prompt},
	[ROW_6B_UNHEALTHY] = {"6b", "prompt context, and the server is not healthy", has_prompt_but_down},
	[ROW_6C_MATERIALISED] = {"6c", "prompt context, and the server is healthy", has_prompt},
	[ROW_7_EMPTY] = {"7", "no capability at all, and it must not be left out", is_empty},
	[ROW_8_REST] = {"8", "the rest: planning-only capabilities, or none", always},
};

const char *trace_row_name(enum table_row row)
{
	return table[row].name;
}

const char *trace_row_when(enum table_row row)
{
	return table[row].when;
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
