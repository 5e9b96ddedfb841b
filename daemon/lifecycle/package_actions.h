/* package_actions.h - what a person may do with a package, whatever its status (chapters 2.2, 2.6, 7.6); not for other rooms.
 *
 * An action is here exactly if the operation would take it now, apart from who asks; taking back a used approval stays, and says why not.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PACKAGE_ACTIONS_H
#define ADMITD_DAEMON_LIFECYCLE_PACKAGE_ACTIONS_H

#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/package_status.h"

/* Into *ret: the actions of its hold, if it is held (`held`; empty: it isn't), else those of its status; then taking back its approval. The
 * context knows the task, its packages and edges. 0 or -errno.
 */
int package_actions(struct world *world, const struct store_package *row, const struct judged_context *context,
	const struct lifecycle_action_list *held, struct lifecycle_action_list *ret) MUST_USE;

#endif
