/* api_mcp.h - the MCP tools of the daemon: its read-only windows, and the reading tools on a project's root (chapter 5.5).
 *
 * A window is a GET route asked from within, by the same token: the table names patterns, and they are looked up among the rows of GET
 * alone, so it has no way to say anything that writes. The one exception, preview, has a file of its own (mcp_preview.c) that sees no
 * other operation; mcp_project.c sees the view of a project. tests/mcp/test_readonly.py looks at what these files link.
 */
#ifndef ADMITD_DAEMON_HTTP_API_MCP_H
#define ADMITD_DAEMON_HTTP_API_MCP_H

#include "daemon/http/api.h"
#include "daemon/http/mcp_front.h"

/* Makes the tools, and a pool of their own: long work elsewhere holds no agent up. 0 or -errno. */
int api_mcp_start(struct api *api) MUST_USE;
/* Drops what waits and ends what runs; what comes later is refused. */
void api_mcp_quiesce(struct api *api);
void api_mcp_stop(struct api *api);

/* What a problem document of ours says, as a refusal; its `code` is the code. */
int api_mcp_refuse(const struct http_reply *problem, struct mcp_refusal *ret_refusal);

/* admission_preview. As an mcp_tool_fn; `call->context` is a struct mcp_front_context whose ctx is the api. */
int mcp_preview_run(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal) MUST_USE;

#endif
