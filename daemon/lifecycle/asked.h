/* asked.h - health that was asked for one call, outside its transaction (chapter 2.3); not for other rooms.
 *
 * Inside a transaction a call notes which roots and tool servers it must know of (asked_want, asked_want_server); between
 * transactions it asks them, all servers at once (asked_ask); inside the next one it finds what was seen, if root and server are
 * still the ones it was seen for.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_ASKED_H
#define ADMITD_DAEMON_LIFECYCLE_ASKED_H

#include "daemon/health/prober_client.h"
#include "daemon/lifecycle/lifecycle_inner.h"
#include "daemon/store/health.h"
#include "daemon/store/project.h"
#include "policy/health_row.h"

/* One for each project of which anything was noted. */
struct asked_root {
	char *project;
	char *path; /* NULL: no root */
	uint64_t device, inode;
	int64_t root_revision;
	bool is_wanted; /* the root itself, and not only a server of the project */
	bool is_asked;
	enum health_status status; /* from here on once it is asked */
	const char *error;
	int64_t checked_at;
	struct asked_root *next;
};

struct asked_server {
	char *project;
	char *mcp_id;
	char *spec_json; /* kept form */
	bool enabled;
	int64_t server_revision;
	bool is_asked;
	enum health_install_state install_state; /* from here on once it is asked */
	enum health_status status;
	char error[PROBER_ERROR_SIZE]; /* "": none */
	int64_t checked_at;
	struct asked_server *next;
};

struct lifecycle_asked {
	struct asked_root *first;
	struct asked_server *servers;
};

/* Asks for this root before the next try. 0 or -ENOMEM. */
int asked_want(struct lifecycle_call *call, const struct store_project *project) MUST_USE;
/* The same for a server with a spec. */
int asked_want_server(struct lifecycle_call *call, const struct store_server *server) MUST_USE;
/* The first of all that was noted; NULL: nothing. */
const struct asked_root *asked_first(const struct lifecycle_call *call);
/* What was noted for the project, asked or not; NULL: nothing. */
const struct asked_root *asked_find(const struct lifecycle_call *call, struct str project);
struct asked_server *asked_find_server(const struct lifecycle_call *call, struct str project, struct str mcp_id);
/* Asks what is wanted; a `prepare`. 0. */
int asked_ask(struct lifecycle_call *call) MUST_USE;
void asked_free(struct lifecycle_asked *asked);

/* What was seen, as a row of the store; borrows from `root` and `project`, or from `server`. */
struct store_health asked_row(const struct asked_root *root, const struct store_project *project);
struct store_health asked_server_row(const struct asked_server *server);

#endif
