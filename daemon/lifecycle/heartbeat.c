#include "daemon/lifecycle/heartbeat.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/run_end.h"
#include "daemon/lifecycle/view_make.h"

/* A sign of life is no event: the log would be full of them. */
static int run_renew(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_heartbeat *heartbeat = (struct lifecycle_heartbeat *)call;
	struct store_run run = {0};
	int r = run_end_find(tx, call, heartbeat->run, heartbeat->has_run_token, &run);

	if (r == 0 && run.outcome != STORE_RUN_LIVE)
		return run_end_refuse(call, &run, LIFECYCLE_RUN_ENDED);
	if (r == 0)
		r = call_store_result(store_run_renew(tx, run.id, call->now + call->lifecycle->lease_ms));
	if (r == 0)
		r = view_make_run(tx, run.id, &heartbeat->run_view);
	call->lease_run = run.id;
	call->lease_renewals = run.renewals + 1;
	return r;
}

int lifecycle_renew(struct lifecycle *lifecycle, struct lifecycle_heartbeat *call)
{
	return call_write(lifecycle, &call->call, run_renew);
}
