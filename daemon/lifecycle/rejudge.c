#include "daemon/lifecycle/rejudge.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/reconcile.h"
#include "policy/cleanup.h"

enum { REJUDGE_PAGE = 100, REJUDGE_ARENA_BYTES = 256 * 1024 * 1024 };

struct project_page {
	struct str after;
	struct store_project_list list;
};

static int read_page(struct store_tx *tx, void *arg)
{
	struct project_page *page = arg;

	return call_store_result(store_project_list(tx, (struct str){0}, page->after, REJUDGE_PAGE, &page->list));
}

struct rejudge_call {
	struct lifecycle_call call;
	struct str project;
};

static int run_project(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(world_close) struct world world = {0};
	int r = world_open(tx, call, ((struct rejudge_call *)call)->project, &world);

	return r != 0 ? r : reconcile_project(&world, &(struct reconcile_scope){0}, NULL);
}

static int rejudge_page(struct lifecycle *lifecycle, const struct project_page *page)
{
	for (size_t i = 0; i < page->list.count; i++) {
		struct arena arena;
		struct rejudge_call call = {.call.arena = &arena, .project = page->list.items[i].id};
		int r = 0;

		arena_init(&arena, REJUDGE_ARENA_BYTES);
		r = call_write(lifecycle, &call.call, run_project);
		arena_release(&arena);
		if (r != 0)
			return r;
	}
	return 0;
}

int rejudge_all(struct lifecycle *lifecycle)
{
	struct arena arena;
	struct project_page page = {0};
	int r = 0;

	arena_init(&arena, REJUDGE_ARENA_BYTES);
	do {
		r = call_store_result(store_read(lifecycle->store, &arena, read_page, &page));
		if (r == 0)
			r = rejudge_page(lifecycle, &page);
		if (page.list.count > 0)
			page.after = page.list.items[page.list.count - 1].id;
	} while (r == 0 && page.list.count == REJUDGE_PAGE);
	arena_release(&arena);
	return r;
}
