#include "mcp/windows.h"

#include <string.h>

#define ID "\"type\":\"string\",\"minLength\":1,\"maxLength\":160"

static const struct mcp_tool windows[MCP_WINDOWS] = {
	[MCP_WINDOW_RECOVERY] =
		{
			.name = "recovery_list",
			.title = "What waits for a person",
			.description = "Lists what is held, failed or silent and waits for a person, oldest first: "
				       "each item says in words "
				       "why it waits and which action frees it, and how many packages that would open. "
				       "Use it when work doesn't start "
				       "and you want to know what for. Items of one cause share it. Nothing is "
				       "changed; a person takes the actions.",
			.input_schema = "{\"type\":\"object\",\"properties\":{"
					"\"project\":{" ID ",\"description\":\"Only of this project.\"},"
					"\"task\":{" ID ",\"description\":\"Only of this task.\"},"
					"\"kind\":{\"type\":\"string\",\"description\":\"Only of this "
					"kind.\",\"enum\":[\"package_held\","
					"\"plan_waits_for_approval\",\"plan_sent_back\",\"package_failed\",\"run_"
					"silent\",\"project_without_root\"]},"
					"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500,\"description\":"
					"\"Items on a page; 50.\"},"
					"\"cursor\":{\"type\":\"string\",\"maxLength\":64,\"description\":\"What "
					"stands behind cursor= in next of the page "
					"before.\"}},"
					"\"additionalProperties\":false}",
			.output_schema = "{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\",\"items\":"
					 "{\"type\":\"object\"}},"
					 "\"counts\":{\"type\":\"object\"},\"asOfEvent\":{\"type\":\"string\"}},"
					 "\"required\":[\"items\",\"counts\","
					 "\"asOfEvent\"]}",
		},
	[MCP_WINDOW_PREVIEW] =
		{
			.name = "admission_preview",
			.title = "What would become of a plan",
			.description = "Judges every package of a plan as approval and handoff would judge it now, and "
				       "says for each whether it "
				       "is allowed, allowed with a warning, or blocked, why, and what frees it. Give "
				       "the id of a stored task, or a plan "
				       "that isn't stored: {project, title, packages: [{label, agent, dependsOn, "
				       "document}]}. It approves and grants "
				       "nothing. Use it before a plan is handed in, and again after each change of it.",
			.input_schema = "{\"type\":\"object\",\"properties\":{"
					"\"task\":{" ID ",\"description\":\"A stored task; or give plan.\"},"
					"\"plan\":{\"type\":\"object\",\"description\":\"A plan as it would be handed "
					"in, or {project, document} for one "
					"package; or give task.\"}},"
					"\"additionalProperties\":false}",
			.output_schema = "{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"string\","
					 "\"enum\":[\"allowed\",\"warning\","
					 "\"blocked\"]},\"counts\":{\"type\":\"object\"},\"catalogDigest\":{\"type\":"
					 "\"string\"},\"packages\":{\"type\":"
					 "\"array\",\"items\":{\"type\":\"object\"}}},\"required\":[\"status\","
					 "\"counts\",\"packages\"]}",
		},
	[MCP_WINDOW_EXPLAIN] =
		{
			.name = "admission_explain",
			.title = "How a capability is read",
			.description = "Says of one capability, as a plan would write it, its canonical form, which "
				       "tool server owns it, its class, "
				       "how it is delivered, which rule decided that, and the closest known name where "
				       "it is unknown. Use it to "
				       "find out why a requirement is blocked, or how to spell one.",
			.input_schema = "{\"type\":\"object\",\"properties\":{"
					"\"capability\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":240,"
					"\"description\":\"For example "
					"filesystem.project.read.\"},"
					"\"mcpId\":{" ID
					",\"description\":\"Read it as a requirement of this tool server would.\"}},"
					"\"required\":[\"capability\"],\"additionalProperties\":false}",
			.output_schema = "{\"type\":\"object\",\"properties\":{\"requested\":{\"type\":\"string\"},"
					 "\"class\":{\"type\":\"string\"},"
					 "\"because\":{\"type\":\"string\"}},\"required\":[\"class\",\"because\"]}",
		},
	[MCP_WINDOW_STATUS] =
		{
			.name = "admission_status",
			.title = "Where a task or package stands",
			.description = "Says where a stored task stands, with all its packages, or one package with "
				       "its last decision: status, "
				       "what holds it and since when, attempts left, and which actions a person may "
				       "take. Give either task or "
				       "package. Use it to follow work that was handed in.",
			.input_schema =
				"{\"type\":\"object\",\"properties\":{"
				"\"task\":{" ID ",\"description\":\"The task's id; or give package.\"},"
				"\"package\":{" ID ",\"description\":\"The package's id, pkg_…; or give task.\"}},"
				"\"additionalProperties\":false}",
			.output_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"status\":"
					 "{\"type\":\"string\"}},"
					 "\"required\":[\"id\",\"status\"]}",
		},
};

void mcp_windows_fill(struct mcp_tool ret_tools[static MCP_WINDOWS], mcp_tool_fn *run)
{
	for (size_t i = 0; i < MCP_WINDOWS; i++) {
		ret_tools[i] = windows[i];
		ret_tools[i].run = run;
		ret_tools[i].is_quick = i != MCP_WINDOW_PREVIEW; /* which may ask tool servers how they are */
	}
}

enum mcp_window mcp_window_find(const char *name)
{
	for (size_t i = 0; i < MCP_WINDOWS; i++)
		if (strcmp(windows[i].name, name) == 0)
			return (enum mcp_window)i;
	return MCP_WINDOWS;
}
