/* met.h - the projects that a call met, and what its tries before know of them; not for other rooms.
 *
 * Time is written down first (chapter 2.1), in the projects that a call works in and no others: a project that is damaged holds up
 * nobody else's. Which they are a call learns by opening them (world_open). A try that meets one in which time has come ends with
 * CALL_DUE_FIRST; the next begins by writing that down, a reading call has it written. So no operation reads a row that changes under it.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_MET_H
#define ADMITD_DAEMON_LIFECYCLE_MET_H

#include "daemon/lifecycle/call.h"

/* May the call work in this project? 0; CALL_DUE_FIRST; the fault for which the call gave it up; or -errno. In a transaction. */
int met_enter(struct store_tx *tx, struct lifecycle_call *call, struct str project) MUST_USE;
/* Writes what is due in every project met so far: at the start of a writer's transaction. 0; CALL_DUE_FIRST: one can't be written, try
 * without it; or what call_store_result() gives.
 */
int met_write_due(struct store_tx *tx, struct lifecycle_call *call) MUST_USE;
/* Has the same written for a reading call, outside its snapshot. 0, or what the store as a whole refused with. */
int met_catch_up(struct lifecycle_call *call) MUST_USE;

/* The next tries do without this project, for the fault `result`. CALL_DUE_FIRST, or -ENOMEM. */
int met_give_up(struct lifecycle_call *call, struct str project, int result) MUST_USE;
bool met_is_given_up(const struct lifecycle_call *call, struct str project);
size_t met_given_up_count(const struct lifecycle_call *call);

void met_free(struct lifecycle_call *call);

#endif
