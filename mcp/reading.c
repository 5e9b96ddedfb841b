#include "mcp/reading.h"

#include <string.h>

static const struct {
	const char *capability;
	unsigned right;
} rights_table[] = {
	{"filesystem.project.list", MCP_MAY_LIST},
	{"filesystem.project.search", MCP_MAY_SEARCH},
	{"filesystem.project.read", MCP_MAY_READ},
};

/* One of these opens a tool; by the table's order in reader/tools.c. */
static const struct {
	const char *name;
	unsigned rights;
} wanted[MCP_READING_TOOLS] = {
	{"path_inventory", MCP_MAY_LIST | MCP_MAY_READ},
	{"repo_search", MCP_MAY_SEARCH},
};

unsigned mcp_right_find(const char *capability)
{
	for (size_t i = 0; i < sizeof(rights_table) / sizeof(rights_table[0]); i++)
		if (strcmp(rights_table[i].capability, capability) == 0)
			return rights_table[i].right;
	return 0;
}

static unsigned rights_of(const char *name)
{
	for (size_t i = 0; i < MCP_READING_TOOLS; i++)
		if (strcmp(wanted[i].name, name) == 0)
			return wanted[i].rights;
	return 0;
}

size_t mcp_reading_fill(struct mcp_tool ret_tools[static MCP_READING_TOOLS], unsigned rights, mcp_tool_fn *run)
{
	size_t count = 0;

	for (size_t i = 0; i < TOOLS_COUNT; i++) {
		const struct tools_tool *tool = &tools_table[i];

		if ((rights_of(tool->name) & rights) == 0)
			continue;
		ret_tools[count++] = (struct mcp_tool){
			.name = tool->name,
			.title = tool->title,
			.description = tool->description,
			.input_schema = tool->input_schema,
			.output_schema = tool->output_schema,
			.run = run,
		};
	}
	return count;
}

static const struct tools_tool *find_tool(const char *name)
{
	for (size_t i = 0; i < TOOLS_COUNT; i++)
		if (strcmp(tools_table[i].name, name) == 0)
			return &tools_table[i];
	return NULL;
}

/* To list says what is there; what is in it takes the right to read. */
static bool is_granted(const struct mcp_tool_call *call, unsigned rights)
{
	bool wants_contents = json_is_true(json_object_get(call->arguments, "contents"));

	return (rights_of(call->tool->name) & rights) != 0 && (!wants_contents || (rights & MCP_MAY_READ) != 0);
}

int mcp_reading_run(const struct mcp_tool_call *call, const struct contained_root *root, unsigned rights,
	struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	const struct tools_scope scope = {.root = root};
	const struct tools_tool *tool = find_tool(call->tool->name);
	struct tools_refusal refusal = {0};
	int r;

	CHECK(tool != NULL);
	if (!is_granted(call, rights)) {
		mcp_refuse(ret_refusal, "not_granted", "This was not granted: %s",
			(rights_of(tool->name) & rights) != 0 ? "contents" : tool->name);
		return MCP_TOOL_REFUSED;
	}
	r = tool->run(&scope, call->arguments, ret_answer, &refusal);
	if (r != TOOLS_REFUSED)
		return r;
	mcp_refuse(ret_refusal, refusal.code, "%s", refusal.message);
	return MCP_TOOL_REFUSED;
}
