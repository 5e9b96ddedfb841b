/* rejudge.h - after a new catalog: every project reconciled, in bounded transactions (chapter 2.4); not for other rooms.
 *
 * Stamps say which catalog judged a package last; those of an older one are judged again. A daemon that was stopped in the middle goes
 * on at its next start.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_REJUDGE_H
#define ADMITD_DAEMON_LIFECYCLE_REJUDGE_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Waits until all is judged that can be. 0, or what the first failing transaction answered. */
int rejudge_all(struct lifecycle *lifecycle) MUST_USE;

/* A thread that does it whenever the catalog in force was replaced, and once at its start. 0 or -errno. */
int rejudge_start(struct lifecycle *lifecycle) MUST_USE;
/* From any thread; never waits. Without the thread it does nothing. */
void rejudge_wake(struct lifecycle *lifecycle);
/* Ends it, between two transactions. */
void rejudge_stop(struct lifecycle *lifecycle);

#endif
