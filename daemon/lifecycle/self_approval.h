/* self_approval.h - what somebody may not allow a project himself (chapter 4.1); not for other rooms.
 *
 * Refusing a project's approval and telling who may press its button are the same question, and this is its one answer.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_SELF_APPROVAL_H
#define ADMITD_DAEMON_LIFECYCLE_SELF_APPROVAL_H

#include "daemon/lifecycle/world.h"

/* The bounded reads that open plans of the actor ask for in this project; none where the configuration lets people approve their own. Read
 * once a world. 0 or -errno.
 */
int self_approval_reads(struct world *world, struct precedence_set *ret) MUST_USE;

#endif
