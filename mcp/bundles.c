#include "mcp/bundles.h"

#include <string.h>

void mcp_bundles_fill(struct mcp_tool ret_tools[static BUNDLE_TOOLS], bool is_bundle, mcp_tool_fn *run)
{
	const struct bundle_tool *tools = bundle_tools(is_bundle);

	for (size_t i = 0; i < BUNDLE_TOOLS; i++)
		ret_tools[i] = (struct mcp_tool){
			.name = tools[i].name,
			.title = tools[i].title,
			.description = tools[i].description,
			.input_schema = tools[i].input_schema,
			.output_schema = tools[i].output_schema,
			.run = run,
		};
}

static const struct bundle_tool *find_tool(const char *name, bool is_bundle)
{
	const struct bundle_tool *tools = bundle_tools(is_bundle);

	for (size_t i = 0; i < BUNDLE_TOOLS; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

bool mcp_bundles_has(const char *name)
{
	return find_tool(name, false) != NULL;
}

int mcp_bundles_run(const struct mcp_tool_call *call, const struct bundle_service *service, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal)
{
	const struct bundle_tool *tool = find_tool(call->tool->name, service->place.is_bundle);
	struct tools_refusal refusal = {0};
	int r;

	CHECK(tool != NULL);
	r = tool->run(service, call->arguments, ret_answer, &refusal);
	if (r != TOOLS_REFUSED)
		return r;
	mcp_refuse(ret_refusal, refusal.code, "%s", refusal.message);
	return MCP_TOOL_REFUSED;
}
