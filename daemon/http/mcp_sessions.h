/* mcp_sessions.h - sessions of MCP's older era over HTTP: which ids were given out and not taken back (chapter 5.5).
 *
 * A session holds nothing but that: every tool reads, and every request carries its own token. It belongs to the token that opened it.
 * There are at most MCP_SESSIONS; a new one takes the place of the one that was unused for longest, whose client is then told to
 * initialize anew. Any thread.
 */
#ifndef ADMITD_DAEMON_HTTP_MCP_SESSIONS_H
#define ADMITD_DAEMON_HTTP_MCP_SESSIONS_H

#include <pthread.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/check.h"

enum { MCP_SESSIONS = 1024, MCP_SESSION_ID_SIZE = 33, MCP_SESSION_TOKEN_SIZE = 65 };

struct mcp_sessions {
	pthread_mutex_t lock;
	uint64_t uses;
	struct mcp_sessions_entry {
		char id[MCP_SESSION_ID_SIZE]; /* "": free */
		char token[MCP_SESSION_TOKEN_SIZE];
		uint64_t used; /* by `uses`; the smallest is the oldest */
	} * entries;
};

/* 0 or -ENOMEM. */
int mcp_sessions_init(struct mcp_sessions *sessions) MUST_USE;
/* Zeroed is fine. */
void mcp_sessions_release(struct mcp_sessions *sessions);

/* A new id, 128 random bits in hexadecimal, for the token of that id. */
void mcp_sessions_open(struct mcp_sessions *sessions, struct str token, char ret_id[static MCP_SESSION_ID_SIZE]);
/* Whether it is open and the token's; that it was used is noted. */
bool mcp_sessions_has(struct mcp_sessions *sessions, struct str token, struct str id);
/* Ends it. False: it wasn't open. */
bool mcp_sessions_end(struct mcp_sessions *sessions, struct str token, struct str id);

#endif
