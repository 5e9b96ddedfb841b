/* windows.h - what a client is told of the daemon's read-only windows (chapter 5.5), whichever front opens them.
 *
 * The daemon answers them itself; the stdio server passes their calls on to it. Both show the same table. Constants; any thread.
 */
#ifndef ADMITD_MCP_WINDOWS_H
#define ADMITD_MCP_WINDOWS_H

#include "mcp/tool.h"

enum mcp_window {
	MCP_WINDOW_RECOVERY = 0, /* recovery_list */
	MCP_WINDOW_PREVIEW,      /* admission_preview */
	MCP_WINDOW_EXPLAIN,      /* admission_explain */
	MCP_WINDOW_STATUS,       /* admission_status */
	MCP_WINDOWS,
};

/* Fills all of them; `run` answers every one and finds by call->tool->name which is asked. */
void mcp_windows_fill(struct mcp_tool ret_tools[static MCP_WINDOWS], mcp_tool_fn *run);

/* The window of that name; MCP_WINDOWS where it is none. */
enum mcp_window mcp_window_find(const char *name);

#endif
