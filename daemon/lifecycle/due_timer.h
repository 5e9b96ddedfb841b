/* due_timer.h - time is written down when it is due, though nobody calls (chapter 2.1); not for other rooms.
 *
 * One thread waits for the next end and has it written by due.h; the clock is only read here, to see whether it has come.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_DUE_TIMER_H
#define ADMITD_DAEMON_LIFECYCLE_DUE_TIMER_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Writes what is due already, then starts the thread. 0 or -errno. */
int due_timer_start(struct lifecycle *lifecycle) MUST_USE;
/* Ends the thread; fine when there is none. */
void due_timer_stop(struct lifecycle *lifecycle);

/* An end at `due_at` is in the store now. Any thread; fine without the thread. */
void due_timer_tell(struct lifecycle *lifecycle, int64_t due_at);

#endif
