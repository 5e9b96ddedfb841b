/* mcp.h - the Model Context Protocol without a transport: one message in, one answer out (chapter 5.5).
 *
 * Two eras at once. In the older one a client opens with `initialize` and is served by what was agreed on then (2025-11-25, 2025-06-18,
 * 2025-03-26, 2024-11-05); in the stateless one (2026-07-28) each request says in its `_meta` what it is. Which of them a message belongs to
 * is told by the message alone, so both may come over one connection. Nothing is remembered here: a front keeps whether a session was
 * opened, and says so with each message.
 *
 * A front (stdio.h; HTTP's is in daemon/http) gives every message to mcp_take() and, where that says 0, to mcp_run(), on any thread it
 * likes. What is written is one JSON-RPC object without a line feed in it.
 *
 * Codes: -32700 no JSON; -32600 no request, or before `initialize`; -32601 unknown method; -32602 wrong types, unknown tool; -32603 an
 * error of ours; -32001 unknown session; -32020 a header and the body differ; -32021 the client lacks a capability; -32022 unknown version.
 * What a tool refuses is a result with `isError`, whose content is {code, message}.
 */
#ifndef ADMITD_MCP_MCP_H
#define ADMITD_MCP_MCP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "mcp/tool.h"
#include "policy/arena.h"
#include "policy/buf.h"

enum {
	MCP_MESSAGE_BYTES_MAX = 4 * 1024 * 1024, /* of a message that comes */
	MCP_NOT_JSON = -32700,
	MCP_NO_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_BAD_PARAMS = -32602,
	MCP_INTERNAL = -32603,
	MCP_NO_SESSION = -32001,
	MCP_HEADER_MISMATCH = -32020,
	MCP_LACKS_CAPABILITY = -32021,
	MCP_NO_VERSION = -32022,
};

/* A server: who it says it is, and its tools. Immutable, shared by threads. */
struct mcp;

struct mcp_config {
	const char *version;      /* of the program */
	const char *instructions; /* under MCP_TEXT_MAX bytes */
	const struct mcp_tool *const *tools;
	size_t tool_count;
	bool is_for_all; /* every client gets the same list: caches may share it */
};

/* 0 and *ret, owned by the caller; -ENOMEM. A table that isn't well-formed is a mistake of ours. What `config` points to must outlive it. */
int mcp_new(const struct mcp_config *config, struct mcp **ret) MUST_USE;
/* NULL is fine. */
void mcp_free(struct mcp *mcp);
void mcp_drop(struct mcp **mcp);

const struct mcp_tool *mcp_tool_find(const struct mcp *mcp, const char *name);
size_t mcp_tool_count(const struct mcp *mcp);

/* What a front knows of the session that a message of the older era belongs to. */
enum mcp_session {
	MCP_SESSION_NONE = 0, /* none was opened, or none is named */
	MCP_SESSION_OPEN,
	MCP_SESSION_UNKNOWN, /* one is named that isn't open (HTTP) */
};

/* One message as it came. */
struct mcp_message {
	struct str text;
	enum mcp_session session;
	bool has_headers; /* HTTP: what follows is to be held against the body, absent where it wasn't sent */
	struct str version_header;
	struct str method_header;
	struct str name_header;
};

/* A call of a tool between mcp_take() and its answer. Zeroed, or released by mcp_call_release(). */
struct mcp_call {
	json_t *root;
	const json_t *id;
	bool is_modern;
	const struct mcp_tool *tool;
	const json_t *arguments;
	json_t *no_arguments; /* stands in where none were sent */
	unsigned status;      /* of HTTP, for this answer: 200, 202, 400, 404 */
	bool opens_session;   /* it was an `initialize` that is answered */
};

enum mcp_result {
	MCP_ANSWERED = 1, /* the answer is written */
	MCP_SILENT,       /* a notification, or an answer to nothing: there is none */
};

/* Takes up one message. 0: a tool is to be run; MCP_ANSWERED; MCP_SILENT; or -ENOMEM. `answer` is empty, and its error the caller's to look at.
 * *ret_call is to be released in every case.
 */
int mcp_take(const struct mcp *mcp, const struct mcp_message *message, struct mcp_call *ret_call,
	struct buf *answer) MUST_USE;
/* Runs the tool of a call and writes its answer. 0; or -errno where none could be written. */
int mcp_run(const struct mcp *mcp, struct mcp_call *call, void *context, struct buf *answer) MUST_USE;
void mcp_call_release(struct mcp_call *call);

/* Writes an error outside of any request: `id` NULL is null. */
void mcp_write_error(struct buf *answer, const json_t *id, int code, const char *message);

#endif
