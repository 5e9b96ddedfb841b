#include "daemon/lifecycle/due.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/store/grant.h"
#include "policy/cleanup.h"

enum {
	DUE_ARENA_BYTES = 256 * 1024 * 1024,
	LOOK_ARENA_BYTES = 1024 * 1024,
	DUE_PAGE = 500,
	PROJECT_PAGE = 100,
};

/* ---- one project */

static int append_page(struct world *world, bool *ret_is_last)
{
	struct store_due_list list = {0};
	int r = call_store_result(store_due_list(world->tx, world->project.id, world->call->now, DUE_PAGE, &list));

	*ret_is_last = list.count < DUE_PAGE;
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		list.items[i].at = world->call->now;
		r = store_due_append(world->tx, &list.items[i]);
		/* The very end was written before: a row that was reported again ends at the same time. */
		r = r == STORE_CONFLICT ? 0 : call_store_result(r);
	}
	return r;
}

int due_write(struct store_tx *tx, struct lifecycle *lifecycle, int64_t now, struct str project)
{
	/* By the daemon itself, whoever's call made it look. */
	struct lifecycle_call call = {.lifecycle = lifecycle, .now = now};
	CLEANUP(world_close) struct world world = {0};
	bool is_waiting = false;
	bool is_last = false;
	int r = due_is_waiting(tx, project, now, &is_waiting);

	if (r != 0 || !is_waiting)
		return r;
	r = world_open(tx, &call, project, &world);
	while (r == 0 && !is_last)
		r = append_page(&world, &is_last);
	if (r == 0)
		r = world_reread(&world);
	return r != 0 ? r : reconcile_project(&world, &(struct reconcile_scope){0}, NULL);
}

int due_is_waiting(struct store_tx *tx, struct str project, int64_t now, bool *ret)
{
	struct store_due_list list = {0};
	int r = call_store_result(store_due_list(tx, project, now, 1, &list));

	*ret = r == 0 && list.count > 0;
	return r;
}

struct catching_up {
	struct lifecycle_call call;
	struct str project;
};

static int run_catch_up(struct store_tx *tx, struct lifecycle_call *call)
{
	const struct catching_up *catching = (const struct catching_up *)call;

	return due_write(tx, call->lifecycle, call->now, catching->project);
}

int due_catch_up(struct lifecycle *lifecycle, struct str project)
{
	struct arena arena;
	struct catching_up catching = {.call.arena = &arena, .project = project};
	int r = 0;

	arena_init(&arena, DUE_ARENA_BYTES);
	r = call_write(lifecycle, &catching.call, run_catch_up);
	arena_release(&arena);
	return r;
}

/* ---- all of them */

struct looking {
	int64_t now;
	struct str after;
	struct store_due_list list; /* projects */
};

static int read_projects(struct store_tx *tx, void *arg)
{
	struct looking *looking = arg;

	return store_due_list_projects(tx, looking->after, looking->now, PROJECT_PAGE, &looking->list);
}

/* 0, or what the store as a whole refused with. */
static int catch_up_page(struct lifecycle *lifecycle, const struct store_due_list *page)
{
	for (size_t i = 0; i < page->count; i++) {
		int r = due_catch_up(lifecycle, page->items[i].project);

		if (r > 0)
			return r;
		if (r < 0)
			upkeep_fault(lifecycle, UPKEEP_DUE, page->items[i].project, r);
	}
	return 0;
}

static int catch_up_until(struct lifecycle *lifecycle, int64_t now)
{
	struct looking looking = {.now = now};
	struct arena arena;
	int r = 0;

	arena_init(&arena, LOOK_ARENA_BYTES);
	do {
		r = call_store_result(store_read(lifecycle->store, &arena, read_projects, &looking));
		if (r == 0)
			r = catch_up_page(lifecycle, &looking.list);
		if (looking.list.count > 0)
			looking.after = looking.list.items[looking.list.count - 1].project;
	} while (r == 0 && looking.list.count == PROJECT_PAGE);
	arena_release(&arena);
	return r;
}

struct next_due {
	int64_t after;
	struct store_due due;
};

static int read_next(struct store_tx *tx, void *arg)
{
	struct next_due *next = arg;

	return store_due_next(tx, next->after, &next->due);
}

static int find_next(struct lifecycle *lifecycle, int64_t now, int64_t *ret_next)
{
	struct next_due next = {.after = now};
	struct arena arena;
	int r = 0;

	arena_init(&arena, LOOK_ARENA_BYTES);
	r = store_read(lifecycle->store, &arena, read_next, &next);
	arena_release(&arena);
	*ret_next = r == 0 ? next.due.due_at : INT64_MAX;
	return r == STORE_ABSENT ? 0 : call_store_result(r);
}

int due_catch_up_all(struct lifecycle *lifecycle, int64_t *ret_next)
{
	int64_t now = lifecycle_now(lifecycle);
	int r = catch_up_until(lifecycle, now);

	*ret_next = INT64_MAX;
	return r != 0 ? r : find_next(lifecycle, now, ret_next);
}
