/* mcp_project.h - the reading tools over HTTP: the same as on standard input, on the root of a project that the call names (chapters 5.2 to 5.5).
 *
 * Each takes one argument more, `project`. The root is opened for the call and is the directory that the project was given, or nothing.
 * Of the lifecycle this sees the view of a project alone.
 */
#ifndef ADMITD_DAEMON_HTTP_MCP_PROJECT_H
#define ADMITD_DAEMON_HTTP_MCP_PROJECT_H

#include "mcp/bundles.h"
#include "mcp/reading.h"

enum { MCP_PROJECT_TOOLS = MCP_READING_TOOLS + BUNDLE_TOOLS };

struct mcp_project {
	struct mcp_tool tools[MCP_PROJECT_TOOLS];
	char *schemas[MCP_PROJECT_TOOLS]; /* owned */
};

/* Fills the tools, whose context is a struct mcp_front_context with the api as its ctx. 0 or -ENOMEM. */
int mcp_project_init(struct mcp_project *project) MUST_USE;
/* Zeroed is fine. */
void mcp_project_release(struct mcp_project *project);

#endif
