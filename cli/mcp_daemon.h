/* mcp_daemon.h - the daemon's windows for `admitctl mcp`: one connection that is made before anything is given up, and never again.
 *
 * A call of a window is passed on to the daemon's own /mcp, and what that answers is the answer. When the connection is gone, every
 * window says so. One thread.
 */
#ifndef ADMITD_CLI_MCP_DAEMON_H
#define ADMITD_CLI_MCP_DAEMON_H

#include "cli/cli.h"
#include "mcp/tool.h"

struct mcp_daemon {
	struct client *client; /* owned; NULL: no daemon */
	bool is_gone;
};

/* Connects and looks whether the token is good. 0, or an exit code after saying why. */
int mcp_daemon_open(struct mcp_daemon *daemon, struct cli *cli) MUST_USE;
/* For CLEANUP(). */
void mcp_daemon_close(struct mcp_daemon *daemon);

/* The daemon closes a connection that says nothing for a minute: to be called more often than that. */
enum { MCP_DAEMON_STAY_MS = 15 * 1000 };
void mcp_daemon_stay(struct mcp_daemon *daemon);

/* What a window answers; as an mcp_tool_fn does. */
int mcp_daemon_call(struct mcp_daemon *daemon, const struct mcp_tool_call *call, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal) MUST_USE;

#endif
