#include "daemon/lifecycle/outcome.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/run_end.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"

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

/* The run is over: the same word again is fine, another isn't; what the daemon ended is lost. */
static int judge_ended(struct lifecycle_outcome *outcome, const struct store_run *run)
{
	if (run->outcome == outcome->outcome)
		return 0;
	return run_end_refuse(&outcome->call, run,
		run->outcome == STORE_RUN_EXPIRED || run->outcome == STORE_RUN_CANCELLED ? LIFECYCLE_RUN_ENDED
											 : LIFECYCLE_OUTCOME_CONFLICT);
}

static int end(struct store_tx *tx, struct lifecycle_outcome *outcome, struct store_run *run)
{
	CLEANUP(world_close) struct world world = {0};
	int r = world_open(tx, &outcome->call, run->project, &world);

	return r != 0 ? r : run_end_settle(&world, run, outcome->outcome, outcome->summary);
}

static int answer(struct store_tx *tx, struct lifecycle_outcome *outcome, const struct store_run *run)
{
	const struct catalog *catalog = lifecycle_catalog(outcome->call.lifecycle, store_tx_arena(tx));
	int r = catalog != NULL ? view_make_run(tx, run->id, &outcome->run_view) : -ENOMEM;

	if (r == 0)
		r = view_make_package(tx, catalog, run->package, &outcome->view);
	return r != 0 ? r : call_store_result(store_task_find(tx, run->task, &outcome->task));
}

static int run_outcome(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_outcome *outcome = (struct lifecycle_outcome *)call;
	struct store_run run = {0};
	int r = run_end_find(tx, call, outcome->run, outcome->has_run_token, &run);

	if (r == 0)
		r = run.outcome == STORE_RUN_LIVE ? end(tx, outcome, &run) : judge_ended(outcome, &run);
	return r != 0 ? r : answer(tx, outcome, &run);
}

int lifecycle_report_outcome(struct lifecycle *lifecycle, struct lifecycle_outcome *call)
{
	return call_write(lifecycle, &call->call, run_outcome);
}
