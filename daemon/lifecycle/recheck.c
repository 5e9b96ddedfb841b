#include "daemon/lifecycle/recheck.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/met.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/monotonic.h"
#include "daemon/store/health_retry.h"
#include "policy/cleanup.h"

enum {
	FIRST_MS = 5 * 1000,
	LONGEST_MS = 5 * 60 * 1000,
	JITTER_PERCENT = 20,
	AT_ONCE = 64, /* as many as one project can have */
	PACKAGE_PAGE = 200,
	LOOK_MS = 4 * 1000, /* shorter than the first wait: what came meanwhile is never late */
	RECHECK_BYTES = 256 * 1024 * 1024,
};

/* The next wait, a fifth of it more or less, so that what failed together isn't asked together for ever. */
static int64_t wait_of(int64_t attempt)
{
	int64_t wait = FIRST_MS;
	uint32_t percent = randombytes_uniform(2 * JITTER_PERCENT + 1);

	for (int64_t i = 0; i < attempt && wait < LONGEST_MS; i++)
		wait *= 2;
	wait = wait * (100 - JITTER_PERCENT + (int64_t)percent) / 100;
	return wait < LONGEST_MS ? wait : LONGEST_MS;
}

/* ---- what waits */

static bool can_ask(const struct world *world, struct str mcp_id)
{
	const struct store_server *server = world_server(world, mcp_id);

	if (server != NULL && !server->enabled)
		return false;
	if (str_is(mcp_id, LIFECYCLE_BUILTIN_MCP))
		return world->has_root;
	return server != NULL && server->kind == STORE_SERVER_SPEC;
}

int recheck_find(struct store_tx *tx, struct str project, struct str mcp_id, int64_t *ret_next_at)
{
	struct store_health_retry row = {0};
	int r = store_health_retry_find(tx, project, mcp_id, &row);

	*ret_next_at = row.next_at;
	return r == STORE_ABSENT ? 0 : call_store_result(r);
}

int recheck_note(struct world *world, struct str mcp_id, int64_t *ret_next_at)
{
	struct store_health_retry row = {.project = world->project.id, .mcp_id = mcp_id};
	int r = 0;

	*ret_next_at = 0;
	if (mcp_id.bytes == NULL || !can_ask(world, mcp_id))
		return 0;
	r = recheck_find(world->tx, world->project.id, mcp_id, ret_next_at);
	if (r != 0 || *ret_next_at != 0)
		return r;
	row.next_at = world->call->now + wait_of(0);
	*ret_next_at = row.next_at;
	return call_store_result(store_health_retry_put(world->tx, &row));
}

static int waits_on_page(struct world *world, const struct store_package_list *page, struct str mcp_id, bool *ret)
{
	for (size_t i = 0; i < page->count && !*ret; i++) {
		struct lifecycle_hold hold = {0};
		int r = 0;

		if (page->items[i].hold_json.bytes == NULL)
			continue;
		r = hold_read_json(world->arena, page->items[i].hold_json, &hold);
		if (r != 0)
			return r;
		*ret = hold.kind == HOLD_NEEDS_SETUP && str_equal(hold.mcp_id, mcp_id);
	}
	return 0;
}

/* Whether a package still waits for this server. */
static int is_waited_for(struct world *world, struct str mcp_id, bool *ret)
{
	struct store_package_list page = {0};
	int64_t after = 0;
	int r = 0;

	*ret = false;
	while (r == 0 && !*ret) {
		r = call_store_result(
			store_package_list_to_reconcile(world->tx, world->project.id, after, PACKAGE_PAGE, &page));
		if (r != 0 || page.count == 0)
			return r;
		after = page.items[page.count - 1].sequence;
		r = waits_on_page(world, &page, mcp_id, ret);
	}
	return r;
}

/* ---- one turn */

/* Notes a server to be asked, or forgets it. */
static int want_one(struct store_tx *tx, struct lifecycle_call *call, const struct store_health_retry *row)
{
	CLEANUP(world_close) struct world world = {0};
	bool is_waited = false;
	int r = world_open(tx, call, row->project, &world);

	if (r == 0)
		r = is_waited_for(&world, row->mcp_id, &is_waited);
	if (r != 0)
		return r;
	if (!is_waited || !can_ask(&world, row->mcp_id))
		return call_store_result(store_health_retry_delete(tx, row->project, row->mcp_id));
	if (str_is(row->mcp_id, LIFECYCLE_BUILTIN_MCP))
		return asked_want(call, &world.project);
	return asked_want_server(call, world_server(&world, row->mcp_id));
}

static const struct store_health *find_row(const struct world *world, struct str mcp_id)
{
	for (size_t i = 0; i < world->health.count; i++)
		if (str_equal(world->health.items[i].mcp_id, mcp_id))
			return &world->health.items[i];
	return NULL;
}

/* Well, or asked again later. */
static int settle_one(struct store_tx *tx, struct world *world, struct str mcp_id)
{
	const struct store_health *row = find_row(world, mcp_id);
	struct store_health_retry retry = {0};
	bool is_well = row != NULL && row->enabled && str_is(row->status, health_status_name(HEALTH_HEALTHY));
	int r = store_health_retry_find(tx, world->project.id, mcp_id, &retry);

	if (r != 0)
		return r == STORE_ABSENT ? 0 : call_store_result(r);
	if (is_well)
		return call_store_result(store_health_retry_delete(tx, world->project.id, mcp_id));
	retry.attempt++;
	retry.next_at = world->call->now + wait_of(retry.attempt);
	return call_store_result(store_health_retry_put(tx, &retry));
}

/* Writes what was seen of one project. */
static int settle_project(struct store_tx *tx, struct lifecycle_call *call, const struct asked_root *root)
{
	CLEANUP(world_close) struct world world = {0};
	struct str project = {root->project, strlen(root->project)};
	int r = world_open(tx, call, project, &world);

	if (r == 0)
		r = reconcile_asked(&world);
	if (r == 0 && root->is_asked)
		r = settle_one(tx, &world, STR(LIFECYCLE_BUILTIN_MCP));
	for (const struct asked_server *server = call->asked->servers; r == 0 && server != NULL; server = server->next)
		if (server->is_asked && str_is(project, server->project))
			r = settle_one(tx, &world, (struct str){server->mcp_id, strlen(server->mcp_id)});
	return r;
}

/* A project that can't be kept up holds up no other: again without it. */
static int give_up(struct lifecycle_call *call, struct str project, int result)
{
	upkeep_fault(call->lifecycle, UPKEEP_RECHECK, project, result);
	return met_give_up(call, project, result);
}

static int want_due(struct store_tx *tx, struct lifecycle_call *call)
{
	struct store_health_retry_list list = {0};
	size_t limit = AT_ONCE * (met_given_up_count(call) + 1);
	int r = call_store_result(
		store_health_retry_list(tx, call->now, call->now + (int64_t)2 * LONGEST_MS, limit, &list));

	for (size_t i = 0; r == 0 && i < list.count; i++) {
		struct str project = list.items[i].project;

		r = met_is_given_up(call, project) ? 0 : want_one(tx, call, &list.items[i]);
		if (r < 0)
			return give_up(call, project, r);
	}
	return r == 0 && call->asked != NULL ? CALL_ASK_HEALTH : r;
}

static int run_recheck(struct store_tx *tx, struct lifecycle_call *call)
{
	int r = 0;

	if (call->asked == NULL)
		return want_due(tx, call);
	for (const struct asked_root *root = call->asked->first; r == 0 && root != NULL; root = root->next) {
		struct str project = {root->project, strlen(root->project)};

		r = met_is_given_up(call, project) ? 0 : settle_project(tx, call, root);
		if (r < 0)
			return give_up(call, project, r);
	}
	return r;
}

int recheck_due(struct lifecycle *lifecycle)
{
	struct arena arena;
	struct lifecycle_call call = {.arena = &arena};
	int r = 0;

	arena_init(&arena, RECHECK_BYTES);
	upkeep_begin(lifecycle, UPKEEP_RECHECK);
	r = upkeep_end(lifecycle, UPKEEP_RECHECK, call_write(lifecycle, &call, run_recheck));
	arena_release(&arena);
	return r;
}

/* ---- the thread */

static int read_next(struct store_tx *tx, void *arg)
{
	return store_health_retry_next(tx, arg);
}

/* How long nothing is due; at most LOOK_MS. */
static int64_t wait_ms(struct lifecycle *lifecycle)
{
	struct store_health_retry next = {0};
	struct arena arena;
	int64_t left = LOOK_MS;

	arena_init(&arena, RECHECK_BYTES);
	if (store_read(lifecycle->store, &arena, read_next, &next) == 0)
		left = next.next_at - lifecycle_now(lifecycle);
	arena_release(&arena);
	return left < 0 ? 0 : left < LOOK_MS ? left : LOOK_MS;
}

/* True when it is time to end. */
static bool wait_for_turn(struct lifecycle *lifecycle, int64_t ms)
{
	struct recheck *recheck = &lifecycle->recheck;
	struct timespec deadline = monotonic_in(ms);
	bool is_ending = false;
	int r = 0;

	pthread_mutex_lock(&recheck->lock);
	while (!recheck->is_ending && r == 0)
		r = pthread_cond_timedwait(&recheck->changed, &recheck->lock, &deadline);
	is_ending = recheck->is_ending;
	pthread_mutex_unlock(&recheck->lock);
	return is_ending;
}

static void *recheck_main(void *arg)
{
	struct lifecycle *lifecycle = arg;
	int64_t ms = LOOK_MS;

	while (!wait_for_turn(lifecycle, ms)) {
		/* A store that can't be written is asked again in its time, not at once. */
		ms = recheck_due(lifecycle) == 0 ? wait_ms(lifecycle) : LOOK_MS;
	}
	return NULL;
}

int recheck_start(struct lifecycle *lifecycle)
{
	struct recheck *recheck = &lifecycle->recheck;
	int r = 0;

	pthread_mutex_init(&recheck->lock, NULL);
	monotonic_cond_init(&recheck->changed);
	r = pthread_create(&recheck->thread, NULL, recheck_main, lifecycle);
	recheck->is_running = r == 0;
	return -r;
}

void recheck_stop(struct lifecycle *lifecycle)
{
	struct recheck *recheck = &lifecycle->recheck;

	if (!recheck->is_running)
		return;
	pthread_mutex_lock(&recheck->lock);
	recheck->is_ending = true;
	pthread_cond_broadcast(&recheck->changed);
	pthread_mutex_unlock(&recheck->lock);
	pthread_join(recheck->thread, NULL);
	recheck->is_running = false;
	pthread_cond_destroy(&recheck->changed);
	pthread_mutex_destroy(&recheck->lock);
}
