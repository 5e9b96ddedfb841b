#include "daemon/lifecycle/report.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

/* How far a checker's clock may be ahead of ours. */
enum { CLOCK_SKEW_MS = 60000 };

static struct str literal(const char *text)
{
	return (struct str){text, strlen(text)};
}

static int check(struct lifecycle_report *report, bool is_own, int64_t checked_at)
{
	struct lifecycle_call *call = &report->call;
	struct fault_list faults = {.arena = call->arena};

	if (is_own)
		fault_list_add(&faults, "is seen by the daemon itself", "/mcpId");
	if (!report->row.observed)
		fault_list_add(&faults, "isn't a health row", "%s", "");
	else if (checked_at == 0 || checked_at > call->now + CLOCK_SKEW_MS)
		fault_list_add(&faults, "must be a time that has come", "/checkedAt");
	if (report->valid_seconds < 0 || report->valid_seconds > REPORT_VALID_SECONDS_LIMIT)
		fault_list_add(&faults, "must be from 1 to 604800", "/validSeconds");
	return fault_list_result(&faults, &call->refusal);
}

/* Built in, or reached by a spec: then nobody's word counts but the daemon's own look. */
static bool is_seen_here(const struct world *world, struct str mcp_id)
{
	const struct store_server *server = world_server(world, mcp_id);

	return str_is(mcp_id, LIFECYCLE_BUILTIN_MCP) || (server != NULL && server->kind == STORE_SERVER_SPEC);
}

static int write(struct world *world, struct lifecycle_report *report, int64_t checked_at)
{
	struct store_health row = {
		.project = world->project.id,
		.mcp_id = report->mcp_id,
		.install_state = literal(health_install_state_name(report->row.install_state)),
		.status = literal(health_status_name(report->row.status)),
		.enabled = report->row.enabled,
		.checked_at = checked_at,
		.source = STORE_HEALTH_REPORTED,
		.valid_seconds = report->valid_seconds,
		.root_revision = 0,
	};
	struct store_health before = {0};
	int r = redact_copy(world->arena, report->row.error, REDACT_FIELD, &row.error);

	if (r == 0)
		r = reconcile_health(world, &row);
	if (r == STORE_STALE) {
		r = store_health_find(world->tx, row.project, row.mcp_id, &before);
		report->call.refusal.at = before.checked_at;
		return r == 0 ? LIFECYCLE_STALE_OBSERVATION : call_store_result(r);
	}
	if (r == 0 && row.valid_seconds > 0)
		world->call->due_at = row.checked_at + row.valid_seconds * 1000;
	if (r == 0)
		r = call_store_result(store_health_find(world->tx, row.project, row.mcp_id, &report->health));
	return r;
}

static int run_report(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_report *report = (struct lifecycle_report *)call;
	CLEANUP(world_close) struct world world = {0};
	int64_t checked_at = 0;
	int r = lifecycle_scope_has(&call->scope, report->project) ? world_open(tx, call, report->project, &world)
								   : LIFECYCLE_NOT_FOUND;

	if (r == 0 && catalog_find_mcp(world.catalog, report->mcp_id) == NULL)
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = refusal_of_archived(&world);
	if (r != 0)
		return r;
	if (!time_text_read(report->row.checked_at, &checked_at))
		checked_at = 0;
	r = check(report, is_seen_here(&world, report->mcp_id), checked_at);
	return r != 0 ? r : write(&world, report, checked_at);
}

int lifecycle_report_health(struct lifecycle *lifecycle, struct lifecycle_report *call)
{
	return call_write(lifecycle, &call->call, run_report);
}
