#include "daemon/lifecycle/run_expire.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/run_end.h"
#include "daemon/lifecycle/upkeep.h"
#include "policy/cleanup.h"

enum { EXPIRE_ARENA_BYTES = 64 * 1024 * 1024 };

struct expiring {
	struct lifecycle_call call;
	struct str run;
	int64_t renewals;

	struct str project; /* out, as soon as it is known */
};

static int write_due(struct world *world, const struct store_run *run)
{
	struct store_due due = {
		.kind = STORE_DUE_LEASE,
		.project = run->project,
		.subject = run->id,
		.due_at = run->lease_expires_at,
		.at = world->call->now,
	};

	return call_store_result(store_due_append(world->tx, &due));
}

static int run_expiry(struct store_tx *tx, struct lifecycle_call *call)
{
	struct expiring *expiring = (struct expiring *)call;
	CLEANUP(world_close) struct world world = {0};
	struct store_run run = {0};
	int r = store_run_find(tx, expiring->run, &run);

	if (r == STORE_ABSENT || (r == 0 && (run.outcome != STORE_RUN_LIVE || run.renewals != expiring->renewals)))
		return 0;
	expiring->project = run.project;
	r = r != 0 ? call_store_result(r) : world_open(tx, call, run.project, &world);
	if (r == 0)
		r = write_due(&world, &run);
	return r != 0 ? r : run_end_settle(&world, &run, STORE_RUN_EXPIRED, (struct str){0});
}

int run_expire(struct lifecycle *lifecycle, struct str run, int64_t renewals)
{
	struct arena arena;
	struct expiring expiring = {.call.arena = &arena, .run = run, .renewals = renewals};
	int r = 0;

	arena_init(&arena, EXPIRE_ARENA_BYTES);
	r = call_write(lifecycle, &expiring.call, run_expiry);
	if (r < 0)
		upkeep_fault(lifecycle, UPKEEP_LEASES, expiring.project, r);
	arena_release(&arena);
	return r;
}
