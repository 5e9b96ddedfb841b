#include "daemon/lifecycle/server.h"

#include <errno.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/recheck.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/server_seal.h"
#include "policy/cleanup.h"

/* Of a server that is asked before it has one. */
enum { NO_REVISION = -1 };

static const char *const kind_names[] = {
	[STORE_SERVER_REPORTED] = "reported",
	[STORE_SERVER_BUILTIN] = "builtin",
	[STORE_SERVER_SPEC] = "spec",
};

bool lifecycle_is_builtin(struct str mcp_id)
{
	return str_is(mcp_id, LIFECYCLE_BUILTIN_MCP);
}

int lifecycle_server_keep(struct lifecycle *lifecycle, struct arena *arena, struct str project, const struct spec *spec,
	struct str *ret_json)
{
	return server_seal_close(lifecycle, arena, project, spec, ret_json);
}

/* 0, LIFECYCLE_NOT_FOUND, LIFECYCLE_PROJECT_ARCHIVED, -errno. */
static int open_project(struct store_tx *tx, struct lifecycle_call *call, struct str project, struct world *world)
{
	int r = lifecycle_scope_has(&call->scope, project) ? world_open(tx, call, project, world) : LIFECYCLE_NOT_FOUND;

	return r != 0 ? r : refusal_of_archived(world);
}

static int tell(struct world *world, const char *what, const struct store_server *server)
{
	struct event_log event;

	event_log_begin(&event, world, "project.changed", "project", world->project.id);
	json_out_member_text(&event.out, "change", what);
	json_out_member_str(&event.out, "mcpId", server->mcp_id);
	json_out_member_text(&event.out, "kind", kind_names[server->kind]);
	json_out_member_bool(&event.out, "enabled", server->enabled);
	json_out_member_revision(&event.out, "serverRevision", server->revision);
	return event_log_end(&event);
}

static int find_health(struct world *world, struct str mcp_id, bool *ret_has, struct store_health *ret)
{
	int r = store_health_find(world->tx, world->project.id, mcp_id, ret);

	*ret_has = r == 0;
	return r == STORE_ABSENT ? 0 : call_store_result(r);
}

static int reconcile_server(struct world *world, struct str mcp_id)
{
	return reconcile_project(world, &(struct reconcile_scope){.mcp_id = mcp_id}, NULL);
}

/* The daemon's own file server is there, with revision 0, without anybody setting it. */
static int check_condition(struct lifecycle_call *call, const struct lifecycle_condition *condition,
	const struct store_server *server, struct str mcp_id)
{
	const struct store_server none = {0};
	const struct store_server *now = server != NULL ? server : &none;

	if (lifecycle_condition_holds(condition, server != NULL || lifecycle_is_builtin(mcp_id), now->revision))
		return 0;
	return refusal_of_condition(call, now->revision, &now->changed_by, now->changed_at, (struct str){0});
}

/* ---- setting one */

static int check_request(struct lifecycle_server_put *put)
{
	struct fault_list faults = {.arena = put->call.arena};
	bool is_builtin = str_is(put->mcp_id, LIFECYCLE_BUILTIN_MCP);

	if (!spec_id_is_valid(put->mcp_id))
		fault_list_add(&faults,
			"an id is 1 to 64 lower-case letters, digits, hyphens or underscores, not two of these "
			"together",
			"%s", "");
	if (is_builtin && put->kind != STORE_SERVER_BUILTIN)
		fault_list_add(&faults, "this server is the daemon's own: its kind is builtin", "/kind");
	if (!is_builtin && put->kind == STORE_SERVER_BUILTIN)
		fault_list_add(&faults, "the daemon has no such server of its own", "/kind");
	return fault_list_result(&faults, &put->call.refusal);
}

/* Asks the server as it will be reached. */
static int ask_new(struct lifecycle_call *call)
{
	const struct lifecycle_server_put *put = (const struct lifecycle_server_put *)call;
	const struct store_server row = {.project = put->project,
		.mcp_id = put->mcp_id,
		.enabled = put->enabled,
		.spec_json = put->spec_json,
		.revision = NO_REVISION};
	int r = 0;

	if (put->kind == STORE_SERVER_SPEC && asked_find_server(call, put->project, put->mcp_id) == NULL)
		r = asked_want_server(call, &row);
	return r != 0 ? r : asked_ask(call);
}

static int refuse_many(struct lifecycle_call *call)
{
	struct fault_list faults = {.arena = call->arena};

	fault_list_add(&faults, "a project has at most 64 tool servers", "%s", "");
	return fault_list_result(&faults, &call->refusal);
}

/* Its health is what was seen on the way that is stored now; what was known of another way counts no more. */
static int write_health(struct world *world, const struct lifecycle_server_put *put, bool was_spec)
{
	struct asked_server *asked = asked_find_server(world->call, put->project, put->mcp_id);
	int r = 0;

	if (put->kind != STORE_SERVER_SPEC) {
		r = was_spec ? store_health_delete(world->tx, put->project, put->mcp_id) : 0;
		return r == STORE_ABSENT ? 0 : call_store_result(r);
	}
	if (asked == NULL)
		return -EUCLEAN;
	asked->server_revision = put->server.revision;
	return reconcile_asked(world);
}

static int write_server(struct world *world, struct lifecycle_server_put *put)
{
	const struct store_server *before = world_server(world, put->mcp_id);
	bool was_spec = before != NULL && before->kind == STORE_SERVER_SPEC;
	int r = 0;

	put->created = before == NULL;
	if (put->created && world->servers.count >= SPEC_SERVERS_LIMIT)
		return refuse_many(world->call);
	put->server = (struct store_server){
		.project = world->project.id,
		.mcp_id = put->mcp_id,
		.enabled = put->enabled,
		.kind = put->kind,
		.spec_json = put->kind == STORE_SERVER_SPEC ? put->spec_json : (struct str){0},
		.changed_by = world->call->actor,
		.changed_at = world->call->now,
	};
	r = call_store_result(store_server_put(world->tx, &put->server));
	if (r == 0)
		r = world_reread(world);
	if (r == 0)
		r = tell(world, "server", &put->server);
	if (r == 0)
		r = write_health(world, put, was_spec);
	if (r == 0)
		r = world_reread(world);
	return r != 0 ? r : reconcile_server(world, put->mcp_id);
}

static int run_put(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_server_put *put = (struct lifecycle_server_put *)call;
	CLEANUP(world_close) struct world world = {0};
	int r = open_project(tx, call, put->project, &world);

	if (r == 0)
		r = check_condition(call, &put->condition, world_server(&world, put->mcp_id), put->mcp_id);
	if (r == 0)
		r = write_server(&world, put);
	return r != 0 ? r : find_health(&world, put->mcp_id, &put->has_health, &put->health);
}

int lifecycle_server_put(struct lifecycle *lifecycle, struct lifecycle_server_put *call)
{
	int r = check_request(call);

	return r != 0 ? r : call_prepare_write(lifecycle, &call->call, ask_new, run_put);
}

/* ---- taking one away */

static int run_delete(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_server_delete *request = (struct lifecycle_server_delete *)call;
	CLEANUP(world_close) struct world world = {0};
	const struct store_server *server = NULL;
	struct store_server gone = {0};
	int r = open_project(tx, call, request->project, &world);

	server = r == 0 ? world_server(&world, request->mcp_id) : NULL;
	if (r == 0 && server == NULL)
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = check_condition(call, &request->condition, server, request->mcp_id);
	if (r != 0)
		return r;
	gone = *server;
	r = call_store_result(store_server_delete(tx, request->project, request->mcp_id));
	if (r == 0)
		r = world_reread(&world);
	if (r == 0)
		r = tell(&world, "server_removed", &gone);
	return r != 0 ? r : reconcile_server(&world, request->mcp_id);
}

int lifecycle_server_delete(struct lifecycle *lifecycle, struct lifecycle_server_delete *call)
{
	return call_write(lifecycle, &call->call, run_delete);
}

/* ---- looking at one now */

/* 0: it was asked, or nobody can ask it; CALL_ASK_HEALTH. */
static int want_check(struct world *world, struct lifecycle_server_check *check)
{
	const struct store_server *server = world_server(world, check->mcp_id);
	const struct asked_server *asked = asked_find_server(world->call, check->project, check->mcp_id);
	const struct asked_root *root = asked_find(world->call, check->project);
	int r = 0;

	check->was_asked = true;
	if (str_is(check->mcp_id, LIFECYCLE_BUILTIN_MCP)) {
		if (root != NULL && root->is_asked && root->root_revision == world->project.root_revision)
			return 0;
		r = asked_want(world->call, &world->project);
		return r != 0 ? r : CALL_ASK_HEALTH;
	}
	check->was_asked = server != NULL && server->kind == STORE_SERVER_SPEC;
	if (!check->was_asked)
		return 0;
	if (asked != NULL && asked->is_asked && asked->server_revision == server->revision)
		return 0;
	r = asked_want_server(world->call, server);
	return r != 0 ? r : CALL_ASK_HEALTH;
}

static int run_check(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_server_check *check = (struct lifecycle_server_check *)call;
	CLEANUP(world_close) struct world world = {0};
	int r = open_project(tx, call, check->project, &world);

	if (r == 0 && world_server(&world, check->mcp_id) == NULL &&
		catalog_find_mcp(world.catalog, check->mcp_id) == NULL)
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = want_check(&world, check);
	if (r == 0)
		r = reconcile_asked(&world);
	if (r == 0)
		r = find_health(&world, check->mcp_id, &check->has_health, &check->health);
	return r != 0 ? r : recheck_find(tx, check->project, check->mcp_id, &check->next_retry_at);
}

int lifecycle_server_check(struct lifecycle *lifecycle, struct lifecycle_server_check *call)
{
	return call_write(lifecycle, &call->call, run_check);
}
