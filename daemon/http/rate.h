/* rate.h - how many requests one token may make (chapter 4.1 "Limits").
 *
 * A token may make `per_minute` requests a minute, evenly or not: what it saved in ten seconds it may use at once. Whoever is over it is told
 * how long to wait; nothing that was accepted is dropped for it. A fixed table, so that no number of tokens makes it grow; of more
 * than it has room for, some share. Thread-safe.
 */
#ifndef ADMITD_DAEMON_HTTP_RATE_H
#define ADMITD_DAEMON_HTTP_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/buf.h"
#include "policy/check.h"

struct rate;

/* `per_minute` is not 0. NULL when memory is out. */
struct rate *rate_new(unsigned per_minute) MUST_USE;
void rate_free(struct rate *rate);

/* One more request of this token, at `now_ms` (monotonic). True if it may be; else *ret_wait_ms says when the next may. */
bool rate_take(struct rate *rate, struct str token, uint64_t now_ms, uint64_t *ret_wait_ms);

#endif
