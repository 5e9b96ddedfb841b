/* parts.h - what the files of this room share, and nobody else.
 */
#ifndef ADMITD_MCP_PARTS_H
#define ADMITD_MCP_PARTS_H

#include "mcp/mcp.h"
#include "policy/json_out.h"

#define MCP_MODERN "2026-07-28"
#define MCP_META "io.modelcontextprotocol/"

struct mcp_entry {
	const struct mcp_tool *tool;
	json_t *schema; /* of its arguments */
};

struct mcp {
	struct mcp_config config;
	struct mcp_entry *entries;
};

/* ---- table.c */

const struct mcp_entry *mcp_entry_find(const struct mcp *mcp, const char *name);
/* The result of tools/list. */
void mcp_write_tools(const struct mcp *mcp, bool is_modern, struct json_out *out);
/* Members that every result of the stateless era has: it is whole, and who says it. */
void mcp_write_modern(const struct mcp *mcp, struct json_out *out);
/* How long, and by whom, a list may be kept. */
void mcp_write_caching(const struct mcp *mcp, struct json_out *out);
void mcp_write_server_info(const struct mcp *mcp, const char *key, struct json_out *out);

/* ---- era.c */

/* Begins the answer to a request: its version and id are written, `result` or `error` follows. */
struct json_out mcp_begin(struct buf *answer, const json_t *id) MUST_USE;
/* Whether a message says it is of the stateless era, in its `_meta` or in its header. */
bool mcp_claims_modern(const struct mcp_message *message, const json_t *params);
/* Checks a request of that era but for its method: `_meta`, headers, version. 0, or MCP_ANSWERED with the error written. */
int mcp_check_modern(const struct mcp_message *message, struct mcp_call *call, const char *method, const json_t *params,
	struct buf *answer) MUST_USE;
/* Newest of the older era first, ended by NULL. */
extern const char *const mcp_legacy_versions[];

/* An error of a request; `status` is HTTP's. Always MCP_ANSWERED. */
int mcp_fail(struct mcp_call *call, struct buf *answer, unsigned status, int code, const char *message);

#endif
