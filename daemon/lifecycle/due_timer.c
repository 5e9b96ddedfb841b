#include "daemon/lifecycle/due_timer.h"

#include <errno.h>
#include <time.h>

#include "daemon/lifecycle/due.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/monotonic.h"

enum { DUE_LONGEST_MS = 60 * 1000 }; /* a clock that is set on is noticed by then */

/* One turn: 0, or what failed. */
static int write_due(struct lifecycle *lifecycle, int64_t *ret_next)
{
	upkeep_begin(lifecycle, UPKEEP_DUE);
	return upkeep_end(lifecycle, UPKEEP_DUE, due_catch_up_all(lifecycle, ret_next));
}

/* ---- the thread */

static int64_t wait_until(struct lifecycle *lifecycle, int64_t next, int64_t longest)
{
	int64_t now = lifecycle_now(lifecycle);

	return next <= now ? 1 : next - now < longest ? next - now : longest;
}

/* Until the next end, one that is told meanwhile and comes before it, `longest`, or the end of the timer. */
static void wait(struct lifecycle *lifecycle, int64_t next, int64_t longest)
{
	struct due_timer *timer = &lifecycle->due_timer;
	struct timespec deadline = monotonic_in(wait_until(lifecycle, next, longest));

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

	unsigned failures = 0;

	while (!is_ending(&lifecycle->due_timer)) {
		int64_t next = INT64_MAX;
		int r = write_due(lifecycle, &next);

		failures = r != 0 ? failures + 1 : 0;
		wait(lifecycle, next, r != 0 ? upkeep_again_ms(r, failures) : DUE_LONGEST_MS);
	}
	return NULL;
}

int due_timer_start(struct lifecycle *lifecycle)
{
	struct due_timer *timer = &lifecycle->due_timer;
	int64_t next = INT64_MAX;
	int r = write_due(lifecycle, &next);

	/* A project that can't be written keeps nobody from starting: the thread tries again. */
	if (r > 0)
		return -EIO;
	timer->told_at = INT64_MAX;
	pthread_mutex_init(&timer->lock, NULL);
	monotonic_cond_init(&timer->changed);
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
