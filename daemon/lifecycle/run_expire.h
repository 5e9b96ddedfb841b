/* run_expire.h - the end of a run whose executor fell silent (chapter 2.5); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RUN_EXPIRE_H
#define ADMITD_DAEMON_LIFECYCLE_RUN_EXPIRE_H

#include "daemon/lifecycle/lifecycle.h"

/* Ends the run as `expired`, which is an attempt, if it is live and its lease was not renewed since; writes the due record of its lease. Waits for
 * it. 0, a lifecycle_result when it could not be written, or -errno.
 */
int run_expire(struct lifecycle *lifecycle, struct str run, int64_t renewals) MUST_USE;

#endif
