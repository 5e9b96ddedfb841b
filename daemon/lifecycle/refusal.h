/* refusal.h - refusals that name the record in the way: who made it, when and why (chapter 4.1 "Errors"); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_REFUSAL_H
#define ADMITD_DAEMON_LIFECYCLE_REFUSAL_H

#include "daemon/lifecycle/world.h"

/* LIFECYCLE_PROJECT_ARCHIVED where the world's project is, else 0. */
int refusal_of_archived(const struct world *world) MUST_USE;
/* What somebody's condition didn't find: gives LIFECYCLE_PRECONDITION_FAILED. Revision 0 and zeroes: there is no record. */
int refusal_of_condition(struct lifecycle_call *call, int64_t revision, const struct store_actor *actor, int64_t at,
	struct str reason) MUST_USE;
/* A package's status, and the event that gave it: gives `result`, or -errno. */
int refusal_of_package(
	struct store_tx *tx, struct lifecycle_call *call, const struct store_package *row, int result) MUST_USE;

#endif
