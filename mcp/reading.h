/* reading.h - the tools that read a root, in the MCP table: path_inventory and repo_search of reader/tools.h (chapters 5.2, 5.3, 5.5).
 *
 * Whoever serves them says which root a call is about and what of it was granted. Constants and pure of any front; any thread.
 */
#ifndef ADMITD_MCP_READING_H
#define ADMITD_MCP_READING_H

#include "mcp/tool.h"
#include "reader/tools.h"

enum { MCP_READING_TOOLS = TOOLS_COUNT };

/* What may be done with a root; a set. Zero: nothing. */
enum mcp_right {
	MCP_MAY_LIST = 1,   /* filesystem.project.list: what is there */
	MCP_MAY_SEARCH = 2, /* filesystem.project.search */
	MCP_MAY_READ = 4,   /* filesystem.project.read: contents, and the names on the way to them */
	MCP_MAY_ALL = MCP_MAY_LIST | MCP_MAY_SEARCH | MCP_MAY_READ,
};

/* The right of a capability, by its canonical name; 0: it is none of a project's files. */
unsigned mcp_right_find(const char *capability);

/* Fills those that the rights allow, each answered by `run`; returns how many. */
size_t mcp_reading_fill(struct mcp_tool ret_tools[static MCP_READING_TOOLS], unsigned rights, mcp_tool_fn *run);

/* Answers a call of one of them on this root. As an mcp_tool_fn does; what the rights don't allow is refused: "not_granted". */
int mcp_reading_run(const struct mcp_tool_call *call, const struct contained_root *root, unsigned rights,
	struct buf *ret_answer, struct mcp_refusal *ret_refusal) MUST_USE;

#endif
