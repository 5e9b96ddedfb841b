/* api.h - what the routes of chapter 4.2 have in common: their context, who asks, and the table of all of them.
 *
 * Each resource has a file api_*.c with its handlers and its own table of rows. Handlers read through lifecycle's views and
 * write through its calls (api_call.h); they decide nothing. What an answer looks like is in render*.c. A route that
 * isn't in a table doesn't exist: no action and no link names it (api_has_route).
 */
#ifndef ADMITD_DAEMON_HTTP_API_H
#define ADMITD_DAEMON_HTTP_API_H

#include <stdatomic.h>

#include "daemon/audit/audit_keeper.h"
#include "daemon/http/auth.h"
#include "daemon/http/events.h"
#include "daemon/http/handoff_wait.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/metrics.h"
#include "daemon/http/request.h"
#include "daemon/http/router.h"
#include "daemon/http/webhooks.h"
#include "daemon/jobs.h"
#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"
#include "reader/packet.h"

struct daemon_tools;
struct prober_client;
struct sandbox;
struct tls;

/* The server's config.ctx. Made by main.c; everything in it outlives the server. */
struct api {
	struct lifecycle *lifecycle;
	const char *version;
	struct idempotency idempotency;
	struct handoff_wait waits;
	struct jobs *jobs; /* for long work */
	struct packet_limits packet_limits;
	_Atomic(struct audit_keeper *) audit;
	struct events events;
	struct webhooks webhooks;
	struct prober_client *prober;  /* NULL: none */
	const struct sandbox *sandbox; /* NULL: nothing was given up */
	struct tls *tls;               /* NULL: plain */
	struct daemon_tools *mcp;      /* api_mcp.c's; set by api_mcp_start() */
	struct metrics metrics;
	atomic_uint notes; /* of uses of tokens, that wait to be written */
};

/* All tables, for http_config; `*ret_count` of them. */
const struct http_routes *api_tables(size_t *ret_count);

/* A line for each route, columns apart by a tab: method, pattern, `body` or `body?` or `-`, and who may: `none` (no token is needed),
 * `any` or roles, and `run` where a run's own token will do.
 */
void api_write_routes(struct buf *out);

/* The server's config.on_answer. */
void api_note_answer(void *ctx, const struct http_request *request, unsigned status, uint64_t duration_ms);

/* Whether a table has a row of this method and pattern. */
bool api_has_route(enum http_method method, const char *pattern);
/* The row of GET with this pattern, a literal of ours that has one. */
const struct http_route *api_find_get(const char *pattern);

/* The server's look-up of tokens: a person's or service's, or a run's. `ctx` is the api. */
int api_find_token(
	void *ctx, struct arena *arena, const unsigned char hash[AUTH_HASH_SIZE], struct auth_token *ret_token);

/* Who asks, as the lifecycle wants it; everything borrows from the request. */
struct store_actor api_actor(const struct http_request *request);
struct lifecycle_scope api_scope(const struct http_request *request);
struct lifecycle_reader api_reader(struct api *api, struct http_request *request);
/* The projects that the token may see, as the store's filters take them: absent for all. 0 or -ENOMEM. */
int api_scope_json(struct http_request *request, struct str *ret_json) MUST_USE;

/* A literal or another text that ends in NUL, as a str; absent for NULL. */
struct str api_text(const char *text);

/* The tables, one of each resource. */
extern const struct http_routes api_audit_routes, api_backup_routes;
extern const struct http_routes api_agent_config_routes, api_metrics_routes, api_stats_routes;
extern const struct http_routes api_service_routes, api_catalog_routes, api_projects_routes, api_servers_routes,
	api_health_routes, api_tasks_routes, api_packages_routes, api_surfaces_routes, api_runs_routes,
	api_grants_routes, api_decisions_routes, api_rejudge_routes, api_events_routes, api_recovery_routes,
	api_tokens_routes, api_openapi_routes, api_console_routes, api_mcp_routes;

#define API_ROUTES(rows)                                 \
	{                                                \
		(rows), sizeof(rows) / sizeof((rows)[0]) \
	}

#endif
