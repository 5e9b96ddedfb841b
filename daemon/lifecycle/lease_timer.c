#include "daemon/lifecycle/lease_timer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/run_expire.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/monotonic.h"
#include "daemon/store/run.h"

enum { LEASE_ARENA_BYTES = 64 * 1024 * 1024 };

static int64_t monotonic_now(const struct lifecycle *lifecycle)
{
	return lifecycle->monotonic_ms(lifecycle->clock_arg);
}

void lease_timer_init(struct lifecycle *lifecycle)
{
	struct lease_timer *leases = &lifecycle->leases;

	pthread_mutex_init(&leases->lock, NULL);
	monotonic_cond_init(&leases->changed);
}

void lease_timer_release(struct lifecycle *lifecycle)
{
	struct lease_timer *leases = &lifecycle->leases;

	free(leases->items);
	pthread_cond_destroy(&leases->changed);
	pthread_mutex_destroy(&leases->lock);
}

/* ---- the terms; with the lock */

static struct lease *find(struct lease_timer *leases, struct str run)
{
	for (size_t i = 0; i < leases->count; i++)
		if (str_is(run, leases->items[i].run))
			return &leases->items[i];
	return NULL;
}

static struct lease *add(struct lease_timer *leases)
{
	if (leases->count == leases->capacity) {
		size_t capacity = leases->capacity != 0 ? 2 * leases->capacity : 64;
		struct lease *items = reallocarray(leases->items, capacity, sizeof(*items));

		if (items == NULL)
			return NULL;
		leases->items = items;
		leases->capacity = capacity;
	}
	return &leases->items[leases->count++];
}

static void set(struct lease_timer *leases, struct str run, int64_t renewals, int64_t ends_at)
{
	struct lease *lease = find(leases, run);

	CHECK(run.len < sizeof(lease->run));
	if (lease == NULL)
		lease = add(leases);
	if (lease == NULL) {
		leases->is_lost = true;
		return;
	}
	memcpy(lease->run, run.bytes, run.len);
	lease->run[run.len] = '\0';
	lease->renewals = renewals;
	lease->ends_at = ends_at;
	lease->failed = 0;
}

/* The one that ends first, of those that this turn may still end; NULL: none. */
static struct lease *first(struct lease_timer *leases)
{
	struct lease *found = NULL;

	for (size_t i = 0; i < leases->count; i++) {
		struct lease *lease = &leases->items[i];

		if (lease->failed != leases->turn && (found == NULL || lease->ends_at < found->ends_at))
			found = lease;
	}
	return found;
}

void lease_timer_note(struct lifecycle *lifecycle, struct str run, int64_t renewals)
{
	struct lease_timer *leases = &lifecycle->leases;

	pthread_mutex_lock(&leases->lock);
	set(leases, run, renewals, monotonic_now(lifecycle) + lifecycle->lease_ms);
	pthread_cond_broadcast(&leases->changed);
	pthread_mutex_unlock(&leases->lock);
}

/* ---- what the store knows */

struct renewing {
	struct lifecycle_call call;
	struct store_run_list live;
};

static int run_renew_all(struct store_tx *tx, struct lifecycle_call *call)
{
	struct renewing *renewing = (struct renewing *)call;
	int r = call_store_result(store_run_list_live(tx, (struct str){0}, &renewing->live));

	for (size_t i = 0; r == 0 && i < renewing->live.count; i++) {
		struct store_run *run = &renewing->live.items[i];

		r = call_store_result(store_run_renew(tx, run->id, call->now + call->lifecycle->lease_ms));
		run->renewals++;
	}
	return r;
}

int lease_timer_renew_all(struct lifecycle *lifecycle)
{
	struct arena arena;
	struct renewing renewing = {.call.arena = &arena};
	int r = 0;

	arena_init(&arena, LEASE_ARENA_BYTES);
	r = call_write(lifecycle, &renewing.call, run_renew_all);
	pthread_mutex_lock(&lifecycle->leases.lock);
	lifecycle->leases.is_lost = r != 0;
	pthread_mutex_unlock(&lifecycle->leases.lock);
	for (size_t i = 0; r == 0 && i < renewing.live.count; i++)
		lease_timer_note(lifecycle, renewing.live.items[i].id, renewing.live.items[i].renewals);
	arena_release(&arena);
	return r <= 0 ? r : -EIO;
}

/* ---- their end */

/* Takes out a lease that is over. False: none is; *ret_next is when one will be. */
static bool take_over(struct lifecycle *lifecycle, struct lease *ret, int64_t *ret_next)
{
	struct lease_timer *leases = &lifecycle->leases;
	struct lease *lease = NULL;
	bool is_over = false;

	pthread_mutex_lock(&leases->lock);
	lease = first(leases);
	*ret_next = lease != NULL ? lease->ends_at : INT64_MAX;
	is_over = lease != NULL && lease->ends_at <= monotonic_now(lifecycle);
	if (is_over) {
		*ret = *lease;
		*lease = leases->items[--leases->count];
	}
	pthread_mutex_unlock(&leases->lock);
	return is_over;
}

/* What could not be written is over all the same: for the next turn. */
static void put_back(struct lifecycle *lifecycle, const struct lease *lease)
{
	struct lease_timer *leases = &lifecycle->leases;
	struct str run = {lease->run, strlen(lease->run)};
	struct lease *back = NULL;

	pthread_mutex_lock(&leases->lock);
	if (find(leases, run) == NULL) {
		set(leases, run, lease->renewals, lease->ends_at);
		back = find(leases, run);
	}
	if (back != NULL)
		back->failed = leases->turn;
	pthread_mutex_unlock(&leases->lock);
}

static bool is_lost(struct lease_timer *leases)
{
	bool lost = false;

	pthread_mutex_lock(&leases->lock);
	lost = leases->is_lost;
	pthread_mutex_unlock(&leases->lock);
	return lost;
}

static void begin_turn(struct lifecycle *lifecycle)
{
	upkeep_begin(lifecycle, UPKEEP_LEASES);
	pthread_mutex_lock(&lifecycle->leases.lock);
	if (++lifecycle->leases.turn == 0)
		lifecycle->leases.turn = 1;
	pthread_mutex_unlock(&lifecycle->leases.lock);
}

/* A run that can't be ended holds up no other's end. What the store as a whole refuses ends the turn. */
int lease_timer_expire(struct lifecycle *lifecycle, int64_t *ret_next)
{
	struct lease lease;
	int r = 0;

	begin_turn(lifecycle);
	r = is_lost(&lifecycle->leases) ? lease_timer_renew_all(lifecycle) : 0;
	while (r == 0 && take_over(lifecycle, &lease, ret_next)) {
		int ended = run_expire(lifecycle, (struct str){lease.run, strlen(lease.run)}, lease.renewals);

		if (ended != 0)
			put_back(lifecycle, &lease);
		r = ended > 0 ? ended : 0;
	}
	return upkeep_end(lifecycle, UPKEEP_LEASES, r);
}

/* ---- the thread */

static struct timespec timespec_of(int64_t at_ms)
{
	return (struct timespec){.tv_sec = (time_t)(at_ms / 1000), .tv_nsec = (long)(at_ms % 1000 * 1000000)};
}

/* With the lock. */
static void wait_till(struct lease_timer *leases, int64_t at_ms)
{
	struct timespec until = timespec_of(at_ms);

	if (!leases->is_ending)
		(void)pthread_cond_timedwait(&leases->changed, &leases->lock, &until);
}

/* Until `next` (monotonic), or a lease that ends before it. With the lock. */
static void wait(struct lifecycle *lifecycle, int64_t next)
{
	struct lease_timer *leases = &lifecycle->leases;
	const struct lease *lease = first(leases);

	if (leases->is_ending || (lease != NULL && lease->ends_at < next))
		return;
	if (next == INT64_MAX) {
		(void)pthread_cond_wait(&leases->changed, &leases->lock);
		return;
	}
	wait_till(leases, next);
}

static void *timer_main(void *arg)
{
	struct lifecycle *lifecycle = arg;
	struct lease_timer *leases = &lifecycle->leases;

	unsigned failures = 0;

	pthread_mutex_lock(&leases->lock);
	while (!leases->is_ending) {
		int64_t next = INT64_MAX;
		int64_t again = 0;
		int r = 0;

		pthread_mutex_unlock(&leases->lock);
		r = lease_timer_expire(lifecycle, &next);
		failures = r != 0 ? failures + 1 : 0;
		again = monotonic_now(lifecycle) + upkeep_again_ms(r, failures);
		pthread_mutex_lock(&leases->lock);
		if (r > 0)
			wait_till(leases, again);
		else
			wait(lifecycle, r != 0 && again < next ? again : next);
	}
	pthread_mutex_unlock(&leases->lock);
	return NULL;
}

int lease_timer_start(struct lifecycle *lifecycle)
{
	struct lease_timer *leases = &lifecycle->leases;
	int r = pthread_create(&leases->thread, NULL, timer_main, lifecycle);

	leases->is_running = r == 0;
	return -r;
}

void lease_timer_stop(struct lifecycle *lifecycle)
{
	struct lease_timer *leases = &lifecycle->leases;

	if (!leases->is_running)
		return;
	pthread_mutex_lock(&leases->lock);
	leases->is_ending = true;
	pthread_cond_broadcast(&leases->changed);
	pthread_mutex_unlock(&leases->lock);
	pthread_join(leases->thread, NULL);
	leases->is_running = false;
}
