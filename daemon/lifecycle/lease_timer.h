/* lease_timer.h - leases of runs on the monotonic clock (chapter 2.5); not for other rooms.
 *
 * Each live run has a term; one thread waits for the next end and has the run expire (run_expire.h). A renewal that was committed before
 * is seen there by its number, so that a lease that was renewed in time never ends. The terms are in memory alone: a start of the
 * daemon gives every live run a fresh one.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_LEASE_TIMER_H
#define ADMITD_DAEMON_LIFECYCLE_LEASE_TIMER_H

#include "daemon/lifecycle/lifecycle_inner.h"

void lease_timer_init(struct lifecycle *lifecycle);
void lease_timer_release(struct lifecycle *lifecycle);

/* At the start of the daemon: one fresh term for each live run, written down for people. 0 or -errno. */
int lease_timer_renew_all(struct lifecycle *lifecycle) MUST_USE;
/* Starts the thread. 0 or -errno. */
int lease_timer_start(struct lifecycle *lifecycle) MUST_USE;
/* Ends the thread; fine when there is none. */
void lease_timer_stop(struct lifecycle *lifecycle);

/* A claim or a renewal was committed: a full term from now. Any thread. */
void lease_timer_note(struct lifecycle *lifecycle, struct str run, int64_t renewals);
/* Ends every lease whose term is over, each in a transaction of its own. 0 and when the next one ends (INT64_MAX: none), or what failed; it is
 * tried again then. What the thread does, and tests without it.
 */
int lease_timer_expire(struct lifecycle *lifecycle, int64_t *ret_next) MUST_USE;

#endif
