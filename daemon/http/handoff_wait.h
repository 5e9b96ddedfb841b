/* handoff_wait.h - executors that wait for work (chapter 4.2, `waitSeconds`).
 *
 * A handoff of the next package that found none is parked here until something happens or its time is over, and is tried again
 * then. An event that comes between the try and the parking is not missed: whoever parks says which events his try had seen.
 * One thread; the number of waiters is bounded.
 */
#ifndef ADMITD_DAEMON_HTTP_HANDOFF_WAIT_H
#define ADMITD_DAEMON_HTTP_HANDOFF_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/check.h"

enum { HANDOFF_WAIT_MAX = 256, HANDOFF_WAIT_SECONDS = 30 };

struct handoff_waiter;

/* Tries again, or, with `is_over`, gives up; on the thread of the waits. The waiter is no longer parked. */
typedef void handoff_resume_fn(struct handoff_waiter *waiter, bool is_over);

struct handoff_waiter {
	handoff_resume_fn *resume;
	uint64_t until_ms; /* monotonic; 0: it doesn't wait */
	uint64_t seen;     /* handoff_wait_events() before the last try */
	struct handoff_waiter *next;
};

/* Begins as HANDOFF_WAIT_INIT: waking and parking are safe, and useless, before the start and after the stop. */
struct handoff_wait {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct handoff_waiter *parked;
	unsigned count;
	uint64_t events; /* counts wakings */
	bool is_running;
	bool is_ending;
};

#define HANDOFF_WAIT_INIT                                                              \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

/* Once, before anybody wakes or parks. 0 or -errno. */
int handoff_wait_start(struct handoff_wait *wait) MUST_USE;
/* Gives everybody up and ends the thread; nobody can park any more. Fine when it was never started. */
void handoff_wait_stop(struct handoff_wait *wait);

/* Something happened. Any thread, never waits long: the store's writer calls it. */
void handoff_wait_wake(struct handoff_wait *wait);

uint64_t handoff_wait_events(struct handoff_wait *wait);

/* Parks a waiter: true, and `resume` is called once, perhaps before this returns. False: it isn't parked, since its time is over,
 * there are too many, or all ends.
 */
bool handoff_wait_park(struct handoff_wait *wait, struct handoff_waiter *waiter) MUST_USE;

#endif
