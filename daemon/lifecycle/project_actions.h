/* project_actions.h - what a person may do with a project and its tool servers (chapters 2.4, 7.2); not for other rooms.
 *
 * What can't be done now stays, with why. An archived project offers nothing.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PROJECT_ACTIONS_H
#define ADMITD_DAEMON_LIFECYCLE_PROJECT_ACTIONS_H

#include "daemon/lifecycle/view.h"

/* Into view->actions: standing access and the folder; the rest of the view is there. 0 or -errno. */
int project_actions(
	struct store_tx *tx, const struct lifecycle_reader *reader, struct lifecycle_project *view) MUST_USE;

/* Into view->server_actions and ->health_actions: looking at each now. 0 or -ENOMEM. */
int project_actions_of_servers(struct arena *arena, struct lifecycle_project *view) MUST_USE;

#endif
