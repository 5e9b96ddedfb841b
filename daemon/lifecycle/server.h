/* server.h - how a project's tool servers are reached, and looking at one now (chapters 2.1, 4.2, 5.6, 5.7).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_SERVER_H
#define ADMITD_DAEMON_LIFECYCLE_SERVER_H

#include "agents/spec.h"
#include "daemon/lifecycle/lifecycle.h"
#include "daemon/store/health.h"
#include "daemon/store/project.h"

/* The daemon sees it itself; its kind is builtin and nothing else. */
bool lifecycle_is_builtin(struct str mcp_id);

struct lifecycle_server_put {
	struct lifecycle_call call;
	struct str project;
	struct str mcp_id;
	bool enabled;
	enum store_server_kind kind;
	struct lifecycle_condition condition;
	struct str spec_json; /* with STORE_SERVER_SPEC: what lifecycle_server_keep() made */

	bool created; /* out */
	struct store_server server;
	bool has_health;
	struct store_health health;
};

/* A spec, read by the strict door, in the form it is kept in: credentials sealed, or left out where the daemon has no key. In an arena of
 * the caller's that outlives the call. 0 or -ENOMEM. */
int lifecycle_server_keep(struct lifecycle *lifecycle, struct arena *arena, struct str project, const struct spec *spec,
	struct str *ret_json) MUST_USE;

/* Inserts or replaces; a server with a spec is asked first, and its health is written with it. NOT_FOUND (the project),
 * PROJECT_ARCHIVED, PRECONDITION_FAILED, INVALID_DOCUMENT (the id; a kind that this server can't be of; too many servers). */
int lifecycle_server_put(struct lifecycle *lifecycle, struct lifecycle_server_put *call) MUST_USE;

struct lifecycle_server_delete {
	struct lifecycle_call call;
	struct str project;
	struct str mcp_id;
	struct lifecycle_condition condition;
};

/* What was known of it goes with it. NOT_FOUND (the project, or the server), PROJECT_ARCHIVED, PRECONDITION_FAILED. */
int lifecycle_server_delete(struct lifecycle *lifecycle, struct lifecycle_server_delete *call) MUST_USE;

struct lifecycle_server_check {
	struct lifecycle_call call;
	struct str project;
	struct str mcp_id;

	bool was_asked; /* out; false: only an outside checker can say, and what it said last is told */
	bool has_health;
	struct store_health health;
	int64_t next_retry_at; /* 0: it isn't asked again by itself */
};

/* Asks it now, whatever is known, and reconciles. NOT_FOUND: the project, or a server that neither it nor the catalog has. */
int lifecycle_server_check(struct lifecycle *lifecycle, struct lifecycle_server_check *call) MUST_USE;

#endif
