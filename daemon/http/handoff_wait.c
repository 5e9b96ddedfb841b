#include "daemon/http/handoff_wait.h"

#include <time.h>

#include "daemon/http/conn.h"
#include "daemon/monotonic.h"

static void wait_until(struct handoff_wait *wait, uint64_t until_ms)
{
	struct timespec until = {.tv_sec = (time_t)(until_ms / 1000), .tv_nsec = (long)(until_ms % 1000) * 1000 * 1000};

	if (until_ms == CONN_NEVER)
		(void)pthread_cond_wait(&wait->changed, &wait->lock);
	else
		(void)pthread_cond_timedwait(&wait->changed, &wait->lock, &until);
}

/* Takes out who has something to do: his time is over, or something happened since he looked. */
static struct handoff_waiter *take_due(struct handoff_wait *wait, uint64_t now_ms, uint64_t *ret_next_ms)
{
	struct handoff_waiter **at = &wait->parked;
	struct handoff_waiter *due = NULL;

	*ret_next_ms = CONN_NEVER;
	while (*at != NULL) {
		struct handoff_waiter *waiter = *at;

		if (!wait->is_ending && waiter->until_ms > now_ms && waiter->seen == wait->events) {
			if (waiter->until_ms < *ret_next_ms)
				*ret_next_ms = waiter->until_ms;
			at = &waiter->next;
			continue;
		}
		*at = waiter->next;
		waiter->next = due;
		due = waiter;
		wait->count--;
	}
	return due;
}

static void resume_all(struct handoff_waiter *due, bool is_ending, uint64_t now_ms)
{
	while (due != NULL) {
		struct handoff_waiter *next = due->next;

		due->resume(due, is_ending || due->until_ms <= now_ms);
		due = next;
	}
}

static void *wait_main(void *arg)
{
	struct handoff_wait *wait = arg;

	(void)pthread_mutex_lock(&wait->lock);
	while (!wait->is_ending || wait->parked != NULL) {
		uint64_t now_ms = conn_now_ms();
		uint64_t next_ms = CONN_NEVER;
		struct handoff_waiter *due = take_due(wait, now_ms, &next_ms);
		bool is_ending = wait->is_ending;

		if (due == NULL) {
			wait_until(wait, next_ms);
			continue;
		}
		(void)pthread_mutex_unlock(&wait->lock);
		resume_all(due, is_ending, now_ms);
		(void)pthread_mutex_lock(&wait->lock);
	}
	(void)pthread_mutex_unlock(&wait->lock);
	return NULL;
}

int handoff_wait_start(struct handoff_wait *wait)
{
	int r = 0;

	monotonic_cond_init(&wait->changed);
	r = pthread_create(&wait->thread, NULL, wait_main, wait);
	wait->is_running = r == 0;
	return -r;
}

void handoff_wait_stop(struct handoff_wait *wait)
{
	bool was_running = false;

	(void)pthread_mutex_lock(&wait->lock);
	was_running = wait->is_running && !wait->is_ending;
	wait->is_ending = true;
	(void)pthread_cond_broadcast(&wait->changed);
	(void)pthread_mutex_unlock(&wait->lock);
	if (was_running)
		(void)pthread_join(wait->thread, NULL);
}

void handoff_wait_wake(struct handoff_wait *wait)
{
	(void)pthread_mutex_lock(&wait->lock);
	wait->events++;
	if (wait->parked != NULL)
		(void)pthread_cond_broadcast(&wait->changed);
	(void)pthread_mutex_unlock(&wait->lock);
}

uint64_t handoff_wait_events(struct handoff_wait *wait)
{
	uint64_t events = 0;

	(void)pthread_mutex_lock(&wait->lock);
	events = wait->events;
	(void)pthread_mutex_unlock(&wait->lock);
	return events;
}

bool handoff_wait_park(struct handoff_wait *wait, struct handoff_waiter *waiter)
{
	bool is_parked = false;

	if (waiter->until_ms <= conn_now_ms())
		return false;
	(void)pthread_mutex_lock(&wait->lock);
	is_parked = wait->is_running && !wait->is_ending && wait->count < HANDOFF_WAIT_MAX;
	if (is_parked) {
		waiter->next = wait->parked;
		wait->parked = waiter;
		wait->count++;
		(void)pthread_cond_broadcast(&wait->changed);
	}
	(void)pthread_mutex_unlock(&wait->lock);
	return is_parked;
}
