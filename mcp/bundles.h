/* bundles.h - the tools on knowledge bundles, in the MCP table: the four of reader/bundle_tools.h (chapters 5.4, 5.5).
 *
 * Whoever serves them says where bundles are looked for. They are of the right to read. Any thread.
 */
#ifndef ADMITD_MCP_BUNDLES_H
#define ADMITD_MCP_BUNDLES_H

#include "mcp/tool.h"
#include "reader/bundle_tools.h"

/* Fills all four, of one bundle or of roots, each answered by `run`. */
void mcp_bundles_fill(struct mcp_tool ret_tools[static BUNDLE_TOOLS], bool is_bundle, mcp_tool_fn *run);

/* Whether a tool's name is one of theirs. */
bool mcp_bundles_has(const char *name);

/* Answers a call of one of them. As an mcp_tool_fn does. */
int mcp_bundles_run(const struct mcp_tool_call *call, const struct bundle_service *service, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal) MUST_USE;

#endif
