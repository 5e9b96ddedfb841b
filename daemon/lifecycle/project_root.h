/* project_root.h - a project's folder: setting it, taking it away, and what follows (chapter 2.4 "Root change"); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PROJECT_ROOT_H
#define ADMITD_DAEMON_LIFECYCLE_PROJECT_ROOT_H

#include "daemon/lifecycle/world.h"

struct project_root {
	struct str path; /* absent: none */
	uint64_t device, inode;
};

/* LIFECYCLE_RUN_ACTIVE, with the runs in the refusal, while live ones were given context of the root there is; else 0 or -errno. */
int project_root_refuse_active(struct world *world) MUST_USE;
/* Whether there are such runs. 0 or -errno. */
int project_root_is_active(struct world *world, bool *ret) MUST_USE;
/* Path, revision, health and reconciliation. Reads the world again. 0 or -errno. */
int project_root_set(struct world *world, const struct project_root *root) MUST_USE;
/* The first row of the health of the built-in server: what was seen when the folder was opened. */
int project_root_first_health(struct world *world) MUST_USE;

/* Who changes a project, and when: the call's. `reason` may be absent. */
void project_root_sign(const struct world *world, struct str reason, struct store_project *row);
/* `project.changed`; `what` is a literal, `reason` may be absent. */
int project_root_tell(struct world *world, const char *what, struct str reason) MUST_USE;

#endif
