/* rejudge.h - after a new catalog: every project reconciled, in bounded transactions (chapter 2.4); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_REJUDGE_H
#define ADMITD_DAEMON_LIFECYCLE_REJUDGE_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Waits until all is judged. 0, or what the first failing transaction answered. */
int rejudge_all(struct lifecycle *lifecycle) MUST_USE;

#endif
