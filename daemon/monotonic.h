/* monotonic.h - waiting by the clock that nobody sets, for every room of the daemon: conditions, and the moments that they wait for.
 *
 * Inline: there is no state, and nothing to link. Any thread.
 */
#ifndef ADMITD_DAEMON_MONOTONIC_H
#define ADMITD_DAEMON_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition whose pthread_cond_timedwait() takes a monotonic moment. Until pthread_cond_destroy(). */
static inline void monotonic_cond_init(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(condition, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
}

/* So many milliseconds from now; not negative. */
static inline struct timespec monotonic_in(int64_t wait_ms)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += (time_t)(wait_ms / 1000);
	at.tv_nsec += (long)(wait_ms % 1000 * 1000000);
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

#endif
