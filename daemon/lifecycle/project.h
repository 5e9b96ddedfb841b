/* project.h - making and changing projects (chapters 2.1, 2.4 "Root change", 4.2).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PROJECT_H
#define ADMITD_DAEMON_LIFECYCLE_PROJECT_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

enum lifecycle_root_change { LIFECYCLE_ROOT_KEEP = 0, LIFECYCLE_ROOT_SET, LIFECYCLE_ROOT_REMOVE };

struct lifecycle_project_put {
	struct lifecycle_call call;
	struct str id;
	struct str name; /* absent: stays, or the id for a new one */
	enum lifecycle_root_change root;
	struct str root_path; /* absolute, with LIFECYCLE_ROOT_SET */
	struct lifecycle_condition condition;

	bool created; /* out */
	bool root_changed;
	struct lifecycle_project view;

	/* the lifecycle's own: what opening the path found */
	uint64_t opened_device;
	uint64_t opened_inode;
};

/* INVALID_DOCUMENT (id, name, path), PRECONDITION_FAILED, ROOT_NOT_ALLOWED, RUN_ACTIVE (live runs were given context of the old root),
 * PROJECT_ARCHIVED; NOT_FOUND when the id is outside the scope. The same path of the same directory is no change.
 */
int lifecycle_project_put(struct lifecycle *lifecycle, struct lifecycle_project_put *call) MUST_USE;

struct lifecycle_project_move {
	struct lifecycle_call call;
	struct str id;
	struct str reason; /* absent: none */

	struct lifecycle_project view; /* out */
	const struct str *cancelled;   /* ids of the tasks that archiving ended */
	size_t cancelled_count;
};

/* Takes the root away and cancels the open tasks with their live runs; the ledger stays. An archived project again is no change.
 * NOT_FOUND.
 */
int lifecycle_project_archive(struct lifecycle *lifecycle, struct lifecycle_project_move *call) MUST_USE;
/* Takes it into use again, without a root. NOT_FOUND. */
int lifecycle_project_unarchive(struct lifecycle *lifecycle, struct lifecycle_project_move *call) MUST_USE;

#endif
