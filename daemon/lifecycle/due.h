/* due.h - what time did, written down before anything else (chapter 2.1); not for other rooms.
 *
 * Every call does it in the projects that it works in (met.h), the upkeep in all others, each by itself; so no operation sees a
 * grant, or a reported health row, that has outlived its end. Precedence and the engine read the records, never the clock.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_DUE_H
#define ADMITD_DAEMON_LIFECYCLE_DUE_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Appends every record of the project that is due by `now` and reconciles it. In a writer's transaction. 0 or -errno, or what
 * call_store_result() gives.
 */
int due_write(struct store_tx *tx, struct lifecycle *lifecycle, int64_t now, struct str project) MUST_USE;
/* Whether something of it is due by `now` and not written yet. 0 or as above. */
int due_is_waiting(struct store_tx *tx, struct str project, int64_t now, bool *ret) MUST_USE;
/* due_write() in a transaction of its own; waits for it. Not from the writer's thread. */
int due_catch_up(struct lifecycle *lifecycle, struct str project) MUST_USE;
/* The same for every project, each by itself. One that can't be written is a fault of the upkeep under way; 0, or what the store as a
 * whole refused with. *ret_next is the next end that is to come; INT64_MAX: none.
 */
int due_catch_up_all(struct lifecycle *lifecycle, int64_t *ret_next) MUST_USE;

#endif
