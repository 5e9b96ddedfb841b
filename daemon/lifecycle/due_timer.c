#include "daemon/lifecycle/due_timer.h"

#include <errno.h>
#include <time.h>

#include "daemon/lifecycle/due.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/store/grant.h"

enum {
	DUE_ARENA_BYTES = 1024 * 1024,
	DUE_LONGEST_MS = 60 * 1000, /* a clock that is set on is noticed by then */
	DUE_AGAIN_MS = 1000,        /* after a store that could not be read or written */
};

static int read_next(struct store_tx *tx, void *arg)
{
	return store_due_next(tx, arg);
}

/* Writes everything that is due. 0 and the time of the next end, INT64_MAX if there is none; else what failed. */
static int write_due(struct lifecycle *lifecycle, int64_t *ret_next)
{
	int r = 0;

	*ret_next = INT64_MAX;
	while (r == 0) {
		struct arena arena;
		struct store_due due = {0};

		arena_init(&arena, DUE_ARENA_BYTES);
		r = store_read(lifecycle->store, &arena, read_next, &due);
		arena_release(&arena);
		if (r == 0 && due.due_at > lifecycle_now(lifecycle)) {
			*ret_next = due.due_at;
			return 0;
		}
		if (r == 0)
			r = due_catch_up(lifecycle);
	}
	return r == STORE_ABSENT ? 0 : r;
}

/* ---- the thread */

static struct timespec deadline_in(int64_t wait_ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += wait_ms / 1000;
	at.tv_nsec += wait_ms % 1000 * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

static int64_t wait_until(struct lifecycle *lifecycle, int64_t next)
{
	int64_t now = lifecycle_now(lifecycle);

	return next <= now ? 1 : next - now < DUE_LONGEST_MS ? next - now : DUE_LONGEST_MS;
}

/* Until the next end, one that is told meanwhile and comes before it, or the end of the timer. */
static void wait(struct lifecycle *lifecycle, int64_t next, int result)
{
	struct due_timer *timer = &lifecycle->due_timer;
	struct timespec deadline = deadline_in(result == 0 ? wait_until(lifecycle, next) : DUE_AGAIN_MS);

	pthread_mutex_lock(&timer->lock);
	while (!timer->is_ending && timer->told_at >= next)
		if (pthread_cond_timedwait(&timer->changed, &timer->lock, &deadline) != 0)
			break;
	timer->told_at = INT64_MAX;
	pthread_mutex_unlock(&timer->lock);
}

static bool is_ending(struct due_timer *timer)
{
	bool ending = false;

	pthread_mutex_lock(&timer->lock);
	ending = timer->is_ending;
	pthread_mutex_unlock(&timer->lock);
	return ending;
}

static void *timer_main(void *arg)
{
	struct lifecycle *lifecycle = arg;

	while (!is_ending(&lifecycle->due_timer)) {
		int64_t next = INT64_MAX;
		int r = upkeep_note(lifecycle, UPKEEP_DUE, write_due(lifecycle, &next));

		wait(lifecycle, next, r);
	}
	return NULL;
}

int due_timer_start(struct lifecycle *lifecycle)
{
	struct due_timer *timer = &lifecycle->due_timer;
	pthread_condattr_t monotonic;
	int64_t next = INT64_MAX;
	int r = write_due(lifecycle, &next);

	if (r != 0)
		return r < 0 ? r : -EIO;
	timer->told_at = INT64_MAX;
	pthread_mutex_init(&timer->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&timer->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	r = pthread_create(&timer->thread, NULL, timer_main, lifecycle);
	timer->is_running = r == 0;
	return -r;
}

void due_timer_stop(struct lifecycle *lifecycle)
{
	struct due_timer *timer = &lifecycle->due_timer;

	if (!timer->is_running)
		return;
	pthread_mutex_lock(&timer->lock);
	timer->is_ending = true;
	pthread_cond_broadcast(&timer->changed);
	pthread_mutex_unlock(&timer->lock);
	pthread_join(timer->thread, NULL);
	timer->is_running = false;
	pthread_cond_destroy(&timer->changed);
	pthread_mutex_destroy(&timer->lock);
}

void due_timer_tell(struct lifecycle *lifecycle, int64_t due_at)
{
	struct due_timer *timer = &lifecycle->due_timer;

	if (!timer->is_running)
		return;
	pthread_mutex_lock(&timer->lock);
	if (due_at < timer->told_at)
		timer->told_at = due_at;
	pthread_cond_broadcast(&timer->changed);
	pthread_mutex_unlock(&timer->lock);
}
