#include "daemon/lifecycle/view_make.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/recheck.h"

static int list_dependencies(
	struct arena *arena, const struct store_dependency_list *edges, struct lifecycle_package *package)
{
	struct str *ids = ARENA_ARRAY(arena, edges->count, struct str);

	if (ids == NULL)
		return -ENOMEM;
	package->depends_on = ids;
	for (size_t i = 0; i < edges->count; i++)
		if (str_equal(edges->items[i].package, package->row.id))
			ids[package->depends_on_count++] = edges->items[i].depends_on;
	return 0;
}

/* The facts that aren't stored with a hold: the revisions as they are now. */
static int read_revisions(struct store_tx *tx, struct lifecycle_package *package)
{
	struct lifecycle_hold_facts *facts = &package->hold.facts;
	struct store_project project = {0};
	struct store_grant grant = {0};
	int r = store_project_find(tx, package->row.project, &project);

	if (r != 0)
		return call_store_result(r);
	facts->project_revision = project.decision_revision;
	facts->root_revision = project.root_revision;
	r = store_grant_latest_of_package(tx, package->row.id, &grant);
	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	facts->package_revision = r == 0 ? grant.revision : 0;
	return 0;
}

/* What is stored with the hold is of the time it was opened; the server has been looked at since. */
static int read_last_look(struct store_tx *tx, struct lifecycle_package *package)
{
	struct lifecycle_hold *hold = &package->hold;
	struct store_health row = {0};
	int r = store_health_find(tx, package->row.project, hold->mcp_id, &row);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	if (r == 0 && !row.expired) {
		hold->facts.error = row.error;
		hold->facts.checked_at = row.checked_at;
	}
	return recheck_find(tx, package->row.project, hold->mcp_id, &hold->next_retry_at);
}

static int read_hold(struct store_tx *tx, struct lifecycle_package *package)
{
	int r = 0;

	package->is_held = package->row.hold_json.bytes != NULL && package->row.end == STORE_PACKAGE_UNFINISHED;
	if (!package->is_held)
		return 0;
	r = hold_read_json(store_tx_arena(tx), package->row.hold_json, &package->hold);
	package->hold.since = package->row.hold_since;
	if (r == 0 && package->hold.kind == HOLD_NEEDS_SETUP && package->hold.mcp_id.bytes != NULL)
		r = read_last_look(tx, package);
	return r != 0 ? r : read_revisions(tx, package);
}

/* handoff comes after approval, and that after preview. */
static void name_last_decision(struct lifecycle_package *package)
{
	const struct store_package *row = &package->row;

	if (row->handoff_decision.bytes != NULL) {
		package->last_surface = STORE_SURFACE_HANDOFF;
		package->last_decision = row->handoff_decision;
	} else if (row->approval_decision.bytes != NULL) {
		package->last_surface = STORE_SURFACE_APPROVAL;
		package->last_decision = row->approval_decision;
	} else if (row->preview_decision.bytes != NULL) {
		package->last_surface = STORE_SURFACE_PREVIEW;
		package->last_decision = row->preview_decision;
	}
}

/* As store_package_list_to_reconcile() chooses: what a run has in hand keeps what it was given, and a rejected plan has no holds. */
static bool is_rejudging(const struct store_package *row, const struct catalog *catalog)
{
	bool is_judged = row->task_status == STORE_TASK_PROPOSED || row->task_status == STORE_TASK_APPROVED ||
		row->task_status == STORE_TASK_FAILED;

	return is_judged && row->end == STORE_PACKAGE_UNFINISHED && row->live_run.bytes == NULL &&
		row->judged_catalog.bytes != NULL && !str_equal(row->judged_catalog, catalog->digest);
}

int view_make_of_row(struct store_tx *tx, const struct catalog *catalog, const struct store_package *row,
	const struct store_dependency_list *edges, struct lifecycle_package *ret)
{
	int r = 0;

	*ret = (struct lifecycle_package){
		.row = *row,
		.status = package_status_of(row),
		.attempts_left = row->attempt_limit > row->attempts ? row->attempt_limit - row->attempts : 0,
		.is_rejudging = is_rejudging(row, catalog),
	};
	name_last_decision(ret);
	r = list_dependencies(store_tx_arena(tx), edges, ret);
	return r != 0 ? r : read_hold(tx, ret);
}

int view_make_package(struct store_tx *tx, const struct catalog *catalog, struct str id, struct lifecycle_package *ret)
{
	struct store_dependency_list edges = {0};
	struct store_package row = {0};
	int r = store_package_find(tx, id, &row);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	r = call_store_result(store_dependency_list_of_package(tx, id, &edges));
	return r != 0 ? r : view_make_of_row(tx, catalog, &row, &edges, ret);
}

int view_make_task(struct store_tx *tx, const struct catalog *catalog, struct str id, struct lifecycle_task *ret)
{
	struct store_package_list packages = {0};
	struct store_dependency_list edges = {0};
	int r = store_task_find(tx, id, &ret->row);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	r = call_store_result(store_package_list_of_task(tx, id, false, &packages));
	if (r == 0)
		r = call_store_result(store_dependency_list(tx, id, &edges));
	ret->packages = ARENA_ARRAY(store_tx_arena(tx), packages.count, struct lifecycle_package);
	ret->package_count = 0;
	ret->is_blocked = false;
	if (r == 0 && ret->packages == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < packages.count; i++) {
		struct lifecycle_package *package = &ret->packages[ret->package_count++];

		r = view_make_of_row(tx, catalog, &packages.items[i], &edges, package);
		ret->is_blocked = ret->is_blocked || (package->is_held && ret->row.status == STORE_TASK_PROPOSED);
	}
	return r;
}

int view_make_run(struct store_tx *tx, struct str id, struct lifecycle_run *ret)
{
	struct store_run_grant_list grants = {0};
	struct store_package package = {0};
	int r = store_run_find(tx, id, &ret->row);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	r = call_store_result(store_package_find(tx, ret->row.package, &package));
	if (r == 0)
		r = call_store_result(store_run_grant_list(tx, id, &grants));
	ret->package_label = package.label;
	ret->grants = grants.items;
	ret->grant_count = grants.count;
	return r;
}

/* The daemon's own file server is there without anybody setting it; in its place by id. */
static int add_builtin(struct arena *arena, struct str project, struct store_server_list *servers)
{
	const struct store_server builtin = {.project = project,
		.mcp_id = STR(LIFECYCLE_BUILTIN_MCP),
		.enabled = true,
		.kind = STORE_SERVER_BUILTIN};
	struct store_server *items = ARENA_ARRAY(arena, servers->count + 1, struct store_server);
	size_t count = 0;
	size_t i = 0;

	if (items == NULL)
		return -ENOMEM;
	for (; i < servers->count && str_compare(servers->items[i].mcp_id, builtin.mcp_id) < 0; i++)
		items[count++] = servers->items[i];
	if (i == servers->count || !str_equal(servers->items[i].mcp_id, builtin.mcp_id))
		items[count++] = builtin;
	for (; i < servers->count; i++)
		items[count++] = servers->items[i];
	*servers = (struct store_server_list){items, count};
	return 0;
}

int view_make_project(struct store_tx *tx, struct str id, struct lifecycle_project *ret)
{
	int r = store_project_find(tx, id, &ret->row);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	r = call_store_result(store_health_list(tx, id, &ret->health));
	if (r == 0)
		r = call_store_result(store_server_list(tx, id, &ret->servers));
	if (r == 0)
		r = add_builtin(store_tx_arena(tx), ret->row.id, &ret->servers);
	if (r != 0)
		return r;
	r = store_grant_latest_of_project(tx, id, &ret->grant);
	ret->has_grant = r == 0;
	return r == STORE_ABSENT ? 0 : call_store_result(r);
}
