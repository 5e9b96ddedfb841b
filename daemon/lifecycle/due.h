/* due.h - what time did, written down before anything else (chapter 2.1); not for other rooms.
 *
 * Every writing call does it at the start of its transaction (call.c), so that no operation sees a grant, or a reported health row,
 * that has outlived its end. Precedence and the engine read the records, never the clock.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_DUE_H
#define ADMITD_DAEMON_LIFECYCLE_DUE_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Appends every record that is due by `now` and reconciles the projects they are of. In a writer's transaction. 0 or -errno, or what
 * call_store_result() gives.
 */
int due_write(struct store_tx *tx, struct lifecycle *lifecycle, int64_t now) MUST_USE;
/* Whether something is due by `now` and not written yet. 0 or as above. */
int due_is_waiting(struct store_tx *tx, int64_t now, bool *ret) MUST_USE;
/* due_write() in a transaction of its own; waits for it. Not from the writer's thread. */
int due_catch_up(struct lifecycle *lifecycle) MUST_USE;

#endif
