/* task_settle.h - what an approved task has come to (chapter 2.2); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_TASK_SETTLE_H
#define ADMITD_DAEMON_LIFECYCLE_TASK_SETTLE_H

#include "daemon/lifecycle/world.h"
#include "daemon/store/task.h"

/* Derives the status of an approved task from its packages as they are stored now; writes it and tells of it when it has changed, and
 * leaves it in `task`. A task in any other status is left alone. 0 or -errno.
 */
int task_settle(struct world *world, struct store_task *task) MUST_USE;

#endif
