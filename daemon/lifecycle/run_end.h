/* run_end.h - how a run ends, whoever ends it (chapter 2.5); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RUN_END_H
#define ADMITD_DAEMON_LIFECYCLE_RUN_END_H

#include "daemon/lifecycle/package_status.h"
#include "daemon/lifecycle/world.h"
#include "daemon/store/run.h"

/* The run, if the caller sees and may use it: with its own token, or with the token that claimed it. 0, LIFECYCLE_NOT_FOUND,
 * LIFECYCLE_FORBIDDEN, or -errno.
 */
int run_end_find(struct store_tx *tx, struct lifecycle_call *call, struct str id, bool has_run_token,
	struct store_run *ret) MUST_USE;
/* Fills the refusal with the end of a run that is over; gives `result` back. */
int run_end_refuse(struct lifecycle_call *call, const struct store_run *run, int result) MUST_USE;

/* Writes the end of a live run, by the call's actor, and tells of it. Its package is the caller's business. 0 or -errno. */
int run_end_write(
	struct world *world, struct store_run *run, enum store_run_outcome outcome, struct str summary) MUST_USE;
/* The same with all that follows: its package's attempt, end or hold, those that waited for it, its task. Not for CANCELLED. */
int run_end_settle(
	struct world *world, struct store_run *run, enum store_run_outcome outcome, struct str summary) MUST_USE;

#endif
