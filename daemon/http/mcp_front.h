/* mcp_front.h - MCP over HTTP: one message a POST, one JSON answer, sessions as its era wants them (chapter 5.5).
 *
 * The server has looked at Host, Origin, token and size before; what is in the message is the protocol's (mcp/mcp.h). A tool that
 * isn't quick runs on a thread of a pool, never on the server's own. Nothing is streamed: GET is 405. Knows no tool; used by api_mcp.c and by tests.
 */
#ifndef ADMITD_DAEMON_HTTP_MCP_FRONT_H
#define ADMITD_DAEMON_HTTP_MCP_FRONT_H

#include "daemon/http/mcp_sessions.h"
#include "daemon/http/router.h"
#include "daemon/jobs.h"
#include "mcp/mcp.h"

struct mcp_front {
	struct mcp *mcp; /* owned */
	struct mcp_sessions sessions;
	struct jobs *jobs; /* outlives the front */
};

/* What the tools of a call are given as their context. */
struct mcp_front_context {
	void *ctx; /* the route's */
	struct http_request *request;
};

/* 0; or -errno. What `config` points to must outlive the front. */
int mcp_front_init(struct mcp_front *front, const struct mcp_config *config, struct jobs *jobs) MUST_USE;
/* Zeroed is fine. */
void mcp_front_release(struct mcp_front *front);

/* The handlers of POST (with HTTP_ANY_TYPE, HTTP_NEEDS_BODY and HTTP_WRITES) and DELETE. */
int mcp_front_post(struct mcp_front *front, void *ctx, struct http_request *request, struct http_reply *reply);
int mcp_front_delete(struct mcp_front *front, struct http_request *request, struct http_reply *reply);

#endif
