#include "daemon/lifecycle/due.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/store/grant.h"
#include "policy/cleanup.h"

enum { DUE_ARENA_BYTES = 256 * 1024 * 1024, DUE_PAGE = 500 };

static int append_all(struct world *world)
{
	struct store_due_list list = {0};
	int r = call_store_result(store_due_list(world->tx, world->project.id, world->call->now, DUE_PAGE, &list));

	for (size_t i = 0; r == 0 && i < list.count; i++) {
		list.items[i].at = world->call->now;
		r = store_due_append(world->tx, &list.items[i]);
		/* The very end was written before: a row that was reported again ends at the same time. */
		r = r == STORE_CONFLICT ? 0 : call_store_result(r);
	}
	return r;
}

/* By the daemon itself, whoever's call made it look. */
static int write_project(struct store_tx *tx, struct lifecycle *lifecycle, int64_t now, struct str project)
{
	struct lifecycle_call call = {.lifecycle = lifecycle, .now = now};
	CLEANUP(world_close) struct world world = {0};
	int r = world_open(tx, &call, project, &world);

	if (r == 0)
		r = append_all(&world);
	if (r == 0)
		r = world_reread(&world);
	return r != 0 ? r : reconcile_project(&world, &(struct reconcile_scope){0}, NULL);
}

int due_write(struct store_tx *tx, struct lifecycle *lifecycle, int64_t now)
{
	int r = 0;

	while (r == 0) {
		struct store_due next = {0};

		r = store_due_next(tx, &next);
		if (r == STORE_ABSENT || (r == 0 && next.due_at > now))
			return 0;
		r = r != 0 ? call_store_result(r) : write_project(tx, lifecycle, now, next.project);
	}
	return r;
}

int due_is_waiting(struct store_tx *tx, int64_t now, bool *ret)
{
	struct store_due next = {0};
	int r = store_due_next(tx, &next);

	*ret = r == 0 && next.due_at <= now;
	return r == STORE_ABSENT ? 0 : call_store_result(r);
}

/* call.c has written it before it comes here. */
static int run_nothing(struct store_tx *tx, struct lifecycle_call *call)
{
	(void)tx;
	(void)call;
	return 0;
}

int due_catch_up(struct lifecycle *lifecycle)
{
	struct arena arena;
	struct lifecycle_call call = {.arena = &arena};
	int r = 0;

	arena_init(&arena, DUE_ARENA_BYTES);
	r = call_write(lifecycle, &call, run_nothing);
	arena_release(&arena);
	return r;
}
