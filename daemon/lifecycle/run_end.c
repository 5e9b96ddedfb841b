#include "daemon/lifecycle/run_end.h"

#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/task_settle.h"
#include "policy/redact.h"

/* The run's token, or the token that claimed it (2.5). */
static bool may_use(const struct store_run *run, const struct lifecycle_call *call, bool has_run_token)
{
	struct str token = call->actor.token;

	return has_run_token || (token.bytes != NULL && str_equal(token, run->claimed_by.token));
}

int run_end_find(
	struct store_tx *tx, struct lifecycle_call *call, struct str id, bool has_run_token, struct store_run *ret)
{
	int r = store_run_find(tx, id, ret);

	if (r == STORE_ABSENT || (r == 0 && !has_run_token && !lifecycle_scope_has(&call->scope, ret->project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	return may_use(ret, call, has_run_token) ? 0 : LIFECYCLE_FORBIDDEN;
}

int run_end_refuse(struct lifecycle_call *call, const struct store_run *run, int result)
{
	const char *word = package_status_run_outcome(run->outcome);

	call->refusal.status = (struct str){word, strlen(word)};
	call->refusal.actor = run->ended_by;
	call->refusal.at = run->ended_at;
	return result;
}

int run_end_write(struct world *world, struct store_run *run, enum store_run_outcome outcome, struct str summary)
{
	struct event_log event;
	int r = redact_copy(world->arena, summary, REDACT_REASON, &run->summary);

	run->outcome = outcome;
	run->ended_by = world->call->actor;
	run->ended_at = world->call->now;
	if (r == 0)
		r = call_store_result(store_run_end(world->tx, run));
	if (r != 0)
		return r;
	event_log_begin(&event, world, "run.ended", "run", run->id);
	event.row.task = run->task;
	event.row.package = run->package;
	json_out_member_text(&event.out, "outcome", package_status_run_outcome(run->outcome));
	json_out_member_int(&event.out, "attempt", run->attempt);
	json_out_member_str(&event.out, "summary", run->summary);
	return event_log_end(&event);
}

/* What the outcome does to the package, before its hold is looked at. */
static int end_attempt(struct world *world, struct store_package *package, enum store_run_outcome outcome)
{
	package->live_run = (struct str){0};
	if (outcome == STORE_RUN_SUCCEEDED) {
		package->end = STORE_PACKAGE_COMPLETED;
	} else if (outcome == STORE_RUN_FAILED || outcome == STORE_RUN_EXPIRED) {
		package->attempts++;
		if (package->attempts >= package->attempt_limit)
			package->end = STORE_PACKAGE_FAILED;
	}
	if (package->end != STORE_PACKAGE_UNFINISHED) {
		package->ended_at = world->call->now;
		package->hold_json = package->hold_fingerprint = (struct str){0};
		package->hold_since = 0;
	}
	return call_store_result(store_package_update(world->tx, package));
}

/* Those that waited for this one may be ready now. */
static int tell_dependents(struct world *world, const struct store_package *package)
{
	struct store_dependency_list edges = {0};
	int r = package->end == STORE_PACKAGE_COMPLETED
		? call_store_result(store_dependency_list(world->tx, package->task, &edges))
		: 0;

	for (size_t i = 0; r == 0 && i < edges.count; i++) {
		struct store_package row = {0};

		if (!str_equal(edges.items[i].depends_on, package->id))
			continue;
		r = call_store_result(store_package_find(world->tx, edges.items[i].package, &row));
		if (r == 0 && package_status_of(&row) == PACKAGE_READY)
			r = event_log_package_status(world, &row, PACKAGE_PENDING, PACKAGE_READY, (struct str){0});
	}
	return r;
}

static int settle_package(struct world *world, const struct store_run *run, struct store_package *package)
{
	int r = end_attempt(world, package, run->outcome);

	if (r == 0)
		r = event_log_package_status(world, package, PACKAGE_RUNNING, package_status_of(package), run->id);
	if (r == 0 && package->end == STORE_PACKAGE_UNFINISHED)
		return reconcile_project(world, &(struct reconcile_scope){.package = package->id}, NULL);
	return r != 0 ? r : tell_dependents(world, package);
}

int run_end_settle(struct world *world, struct store_run *run, enum store_run_outcome outcome, struct str summary)
{
	struct store_package package = {0};
	struct store_task task = {0};
	int r = call_store_result(store_package_find(world->tx, run->package, &package));

	CHECK(outcome != STORE_RUN_CANCELLED);
	if (r == 0)
		r = run_end_write(world, run, outcome, summary);
	if (r == 0)
		r = settle_package(world, run, &package);
	if (r == 0)
		r = call_store_result(store_task_find(world->tx, package.task, &task));
	return r != 0 ? r : task_settle(world, &task);
}
