#include "daemon/lifecycle/rejudge.h"

#include <errno.h>
#include <time.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/upkeep.h"
#include "policy/cleanup.h"

enum {
	PROJECT_PAGE = 100,
	PACKAGE_PAGE = 500, /* 2.4: in one transaction */
	REJUDGE_ARENA_BYTES = 256 * 1024 * 1024,
};

/* ---- one transaction */

struct rejudge_call {
	struct lifecycle_call call;
	struct str project;
	int64_t after; /* package sequence */

	int64_t last; /* out: where to go on; 0: this was the last page */
};

static int rejudge_row(struct world *world, struct store_package *row)
{
	enum reconcile_change change = RECONCILE_SAME;
	struct subject subject = {0};
	struct verdict verdict = {0};
	int r = 0;

	if (str_equal(row->judged_catalog, world->catalog->digest))
		return 0;
	r = subject_of_row(world, row, &subject);
	if (r == 0)
		r = world_judge(world, &subject, &verdict);
	return r != 0 ? r : reconcile_apply(world, row, &verdict, &change);
}

static int run_page(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(world_close) struct world world = {0};
	struct rejudge_call *rejudging = (struct rejudge_call *)call; /* its first member */
	struct store_package_list page = {0};
	int r = world_open(tx, call, rejudging->project, &world);

	if (r == 0)
		r = world_read_grants(&world);
	if (r == 0)
		r = call_store_result(
			store_package_list_to_reconcile(tx, rejudging->project, rejudging->after, PACKAGE_PAGE, &page));
	for (size_t i = 0; r == 0 && i < page.count; i++)
		r = rejudge_row(&world, &page.items[i]);
	rejudging->last = page.count == PACKAGE_PAGE ? page.items[page.count - 1].sequence : 0;
	return r;
}

/* ---- all of them */

static bool is_ending(struct lifecycle *lifecycle)
{
	struct rejudge_worker *worker = &lifecycle->rejudge;
	bool ending = false;

	pthread_mutex_lock(&worker->lock);
	ending = worker->is_ending;
	pthread_mutex_unlock(&worker->lock);
	return ending;
}

static int rejudge_project(struct lifecycle *lifecycle, struct str project)
{
	struct arena arena;
	struct rejudge_call call = {.call.arena = &arena, .project = project};
	int r = 0;

	arena_init(&arena, REJUDGE_ARENA_BYTES);
	do {
		call.after = call.last;
		call.call = (struct lifecycle_call){.arena = &arena};
		r = call_write(lifecycle, &call.call, run_page);
		arena_reset(&arena);
	} while (r == 0 && call.last > 0 && !is_ending(lifecycle));
	arena_release(&arena);
	return r;
}

struct project_page {
	struct lifecycle *lifecycle;
	struct str after;
	struct store_project_list list; /* only those in which something is to be judged */
	bool is_last;
};

static int read_page(struct store_tx *tx, void *arg)
{
	struct project_page *page = arg;
	struct store_project_list *list = &page->list;
	const struct catalog *catalog = lifecycle_catalog(page->lifecycle, store_tx_arena(tx));
	size_t kept = 0;
	int r = catalog != NULL ? store_project_list(tx, (struct str){0}, page->after, PROJECT_PAGE, list) : -ENOMEM;

	if (r != 0)
		return r;
	page->is_last = list->count < PROJECT_PAGE;
	if (list->count > 0)
		page->after = list->items[list->count - 1].id;
	for (size_t i = 0; r == 0 && i < list->count; i++) {
		bool has_older = false;

		r = store_package_has_older(tx, list->items[i].id, catalog->digest, &has_older);
		if (has_older)
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
	return r;
}

/* One that can't be judged holds up no other. What the store as a whole refuses ends it: 0 or that; *first is the first fault. */
static int rejudge_page(struct lifecycle *lifecycle, const struct store_project_list *list, int *first)
{
	for (size_t i = 0; i < list->count && !is_ending(lifecycle); i++) {
		int r = rejudge_project(lifecycle, list->items[i].id);

		if (r > 0)
			return r;
		if (r < 0)
			upkeep_fault(lifecycle, UPKEEP_REJUDGE, list->items[i].id, r);
		if (*first == 0)
			*first = r;
	}
	return 0;
}

int rejudge_all(struct lifecycle *lifecycle)
{
	struct arena arena;
	struct project_page page = {.lifecycle = lifecycle};
	int first = 0;
	int r = 0;

	arena_init(&arena, REJUDGE_ARENA_BYTES);
	do {
		r = call_store_result(store_read(lifecycle->store, &arena, read_page, &page));
		if (r == 0)
			r = rejudge_page(lifecycle, &page.list, &first);
	} while (r == 0 && !page.is_last && !is_ending(lifecycle));
	arena_release(&arena);
	return r != 0 ? r : first;
}

/* ---- the thread */

/* Under the lock. */
static void wait_a_little(struct rejudge_worker *worker, int64_t wait_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += wait_ms / 1000;
	if (!worker->is_ending)
		(void)pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
}

static void *rejudge_main(void *arg)
{
	struct lifecycle *lifecycle = arg;
	struct rejudge_worker *worker = &lifecycle->rejudge;

	unsigned failures = 0;

	pthread_mutex_lock(&worker->lock);
	while (!worker->is_ending) {
		int r = 0;

		if (!worker->is_wanted) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		worker->is_wanted = false;
		pthread_mutex_unlock(&worker->lock);
		upkeep_begin(lifecycle, UPKEEP_REJUDGE);
		r = rejudge_all(lifecycle);
		r = upkeep_end(lifecycle, UPKEEP_REJUDGE, r);
		failures = r != 0 ? failures + 1 : 0;
		pthread_mutex_lock(&worker->lock);
		if (r != 0) {
			worker->is_wanted = true;
			wait_a_little(worker, upkeep_again_ms(r, failures));
		}
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

int rejudge_start(struct lifecycle *lifecycle)
{
	struct rejudge_worker *worker = &lifecycle->rejudge;
	int r = 0;

	worker->is_wanted = true;
	r = -pthread_create(&worker->thread, NULL, rejudge_main, lifecycle);
	worker->is_running = r == 0;
	return r;
}

void rejudge_wake(struct lifecycle *lifecycle)
{
	struct rejudge_worker *worker = &lifecycle->rejudge;

	pthread_mutex_lock(&worker->lock);
	worker->is_wanted = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

void rejudge_stop(struct lifecycle *lifecycle)
{
	struct rejudge_worker *worker = &lifecycle->rejudge;

	pthread_mutex_lock(&worker->lock);
	worker->is_ending = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	if (worker->is_running)
		(void)pthread_join(worker->thread, NULL);
	worker->is_running = false;
}
