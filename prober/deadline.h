/* deadline.h - how much of a check's time is left, on the monotonic clock. One thread.
 */
#ifndef ADMITD_PROBER_DEADLINE_H
#define ADMITD_PROBER_DEADLINE_H

#include <stdint.h>
#include <time.h>

static inline int64_t deadline_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Milliseconds until `end_ms`; 0 when it is over. */
static inline int deadline_left_ms(int64_t end_ms)
{
	int64_t left = end_ms - deadline_now_ms();

	return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

#endif
