/* view_make.h - views read inside a transaction, for answers of operations too; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_VIEW_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_VIEW_MAKE_H

#include "daemon/lifecycle/view.h"
#include "daemon/lifecycle/world.h"

/* The task as it stands. 0, LIFECYCLE_NOT_FOUND, or -errno. */
int view_make_task(
	struct store_tx *tx, const struct catalog *catalog, struct str id, struct lifecycle_task *ret) MUST_USE;
/* A package as a task shows it: without state and actions. */
int view_make_package(
	struct store_tx *tx, const struct catalog *catalog, struct str id, struct lifecycle_package *ret) MUST_USE;
/* The same from a row, with its edges. */
int view_make_of_row(struct store_tx *tx, const struct catalog *catalog, const struct store_package *row,
	const struct store_dependency_list *edges, struct lifecycle_package *ret) MUST_USE;
/* What the reader may do with the task, into task->actions; its row and is_blocked are there. 0 or -errno. */
int view_make_task_actions(
	struct store_tx *tx, const struct lifecycle_reader *reader, struct lifecycle_task *task) MUST_USE;
int view_make_run(struct store_tx *tx, struct str id, struct lifecycle_run *ret) MUST_USE;
int view_make_project(struct store_tx *tx, struct str id, struct lifecycle_project *ret) MUST_USE;

#endif
