#include "daemon/lifecycle/outcome.h"

#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/task_settle.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

/* What one try works on. */
struct ending {
	struct lifecycle_outcome *outcome;
	struct world world;
	struct store_run run;
	struct store_package package;
};

static void ending_drop(struct ending *ending)
{
	world_close(&ending->world);
}

bool lifecycle_outcome_find(struct str word, enum store_run_outcome *ret_outcome)
{
	static const enum store_run_outcome reported[] = {STORE_RUN_SUCCEEDED, STORE_RUN_FAILED, STORE_RUN_RELEASED};

	for (size_t i = 0; i < sizeof(reported) / sizeof(reported[0]); i++) {
		if (word.bytes != NULL && str_is(word, package_status_run_outcome(reported[i]))) {
			*ret_outcome = reported[i];
			return true;
		}
	}
	return false;
}

/* The run's token, or the token that claimed it (2.5). */
static bool may_use(const struct ending *ending)
{
	struct str token = ending->outcome->call.actor.token;

	return ending->outcome->has_run_token ||
		(token.bytes != NULL && str_equal(token, ending->run.claimed_by.token));
}

static int find_run(struct store_tx *tx, struct ending *ending)
{
	struct lifecycle_outcome *outcome = ending->outcome;
	int r = store_run_find(tx, outcome->run, &ending->run);

	if (r == STORE_ABSENT ||
		(r == 0 && !outcome->has_run_token && !lifecycle_scope_has(&outcome->call.scope, ending->run.project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	return may_use(ending) ? 0 : LIFECYCLE_FORBIDDEN;
}

/* The run is over: the same word again is fine, another isn't; what the daemon ended is lost. */
static int judge_ended(const struct ending *ending)
{
	struct lifecycle_refusal *refusal = &ending->outcome->call.refusal;
	enum store_run_outcome said = ending->run.outcome;
	const char *word = package_status_run_outcome(said);

	if (said == ending->outcome->outcome)
		return 0;
	refusal->status = (struct str){word, strlen(word)};
	refusal->actor = ending->run.ended_by;
	refusal->at = ending->run.ended_at;
	return said == STORE_RUN_EXPIRED || said == STORE_RUN_CANCELLED ? LIFECYCLE_RUN_ENDED
									: LIFECYCLE_OUTCOME_CONFLICT;
}

static int end_run(struct ending *ending)
{
	struct world *world = &ending->world;
	struct store_run *run = &ending->run;
	struct event_log event;
	int r = redact_copy(world->arena, ending->outcome->summary, REDACT_REASON, &run->summary);

	run->outcome = ending->outcome->outcome;
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
static int end_attempt(struct ending *ending)
{
	struct store_package *package = &ending->package;

	package->live_run = (struct str){0};
	if (ending->run.outcome == STORE_RUN_SUCCEEDED) {
		package->end = STORE_PACKAGE_COMPLETED;
	} else if (ending->run.outcome == STORE_RUN_FAILED) {
		package->attempts++;
		if (package->attempts >= package->attempt_limit)
			package->end = STORE_PACKAGE_FAILED;
	}
	if (package->end != STORE_PACKAGE_UNFINISHED) {
		package->ended_at = ending->world.call->now;
		package->hold_json = package->hold_fingerprint = (struct str){0};
		package->hold_since = 0;
	}
	return call_store_result(store_package_update(ending->world.tx, package));
}

/* Those that waited for this one may be ready now. */
static int tell_dependents(struct ending *ending)
{
	struct world *world = &ending->world;
	struct store_dependency_list edges = {0};
	int r = ending->package.end == STORE_PACKAGE_COMPLETED
		? call_store_result(store_dependency_list(world->tx, ending->package.task, &edges))
		: 0;

	for (size_t i = 0; r == 0 && i < edges.count; i++) {
		struct store_package row = {0};

		if (!str_equal(edges.items[i].depends_on, ending->package.id))
			continue;
		r = call_store_result(store_package_find(world->tx, edges.items[i].package, &row));
		if (r == 0 && package_status_of(&row) == PACKAGE_READY)
			r = event_log_package_status(world, &row, PACKAGE_PENDING, PACKAGE_READY, (struct str){0});
	}
	return r;
}

static int settle_package(struct ending *ending)
{
	struct world *world = &ending->world;
	int r = end_attempt(ending);

	if (r == 0)
		r = event_log_package_status(
			world, &ending->package, PACKAGE_RUNNING, package_status_of(&ending->package), ending->run.id);
	if (r == 0 && ending->package.end == STORE_PACKAGE_UNFINISHED)
		return reconcile_project(world, &(struct reconcile_scope){.package = ending->package.id}, NULL);
	return r != 0 ? r : tell_dependents(ending);
}

static int settle_task(struct ending *ending)
{
	struct store_task task = {0};
	int r = call_store_result(store_task_find(ending->world.tx, ending->package.task, &task));

	return r != 0 ? r : task_settle(&ending->world, &task);
}

static int end(struct store_tx *tx, struct ending *ending)
{
	int r = world_open(tx, &ending->outcome->call, ending->run.project, &ending->world);

	if (r == 0)
		r = call_store_result(store_package_find(tx, ending->run.package, &ending->package));
	if (r == 0)
		r = end_run(ending);
	if (r == 0)
		r = settle_package(ending);
	return r != 0 ? r : settle_task(ending);
}

static int answer(struct store_tx *tx, struct ending *ending)
{
	struct lifecycle_outcome *outcome = ending->outcome;
	const struct catalog *catalog = lifecycle_catalog(outcome->call.lifecycle);
	int r = view_make_run(tx, ending->run.id, &outcome->run_view);

	if (r == 0)
		r = view_make_package(tx, catalog, ending->run.package, &outcome->view);
	return r != 0 ? r : call_store_result(store_task_find(tx, ending->run.task, &outcome->task));
}

static int run_outcome(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(ending_drop) struct ending ending = {.outcome = (struct lifecycle_outcome *)call};
	int r = find_run(tx, &ending);

	if (r == 0)
		r = ending.run.outcome == STORE_RUN_LIVE ? end(tx, &ending) : judge_ended(&ending);
	return r != 0 ? r : answer(tx, &ending);
}

int lifecycle_report_outcome(struct lifecycle *lifecycle, struct lifecycle_outcome *call)
{
	return call_write(lifecycle, &call->call, run_outcome);
}
