/* recheck.h - tool servers that packages wait for are looked at again by the daemon (chapter 2.6); not for other rooms.
 *
 * A hold of kind needs_setup, on a server that the daemon can ask itself, leaves a row that says when it is asked again: 5 s later,
 * then after a time that doubles up to 5 min, with jitter. Once the server is healthy, or nothing waits for it any more, the row goes.
 * One thread waits for the next time; nothing else is ever retried by a timer.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECHECK_H
#define ADMITD_DAEMON_LIFECYCLE_RECHECK_H

#include "daemon/lifecycle/world.h"

/* Something waits for this server: when it is asked again, in a transaction that writes. 0 and *ret_next_at, 0 where the daemon can't ask
 * it; or -errno. */
int recheck_note(struct world *world, struct str mcp_id, int64_t *ret_next_at) MUST_USE;
/* The same for reading: 0 and what recheck_note() left, 0 for nothing. */
int recheck_find(struct store_tx *tx, struct str project, struct str mcp_id, int64_t *ret_next_at) MUST_USE;

/* Asks every server whose time has come, all at once. 0 or what failed. What the thread does, and tests without it. */
int recheck_due(struct lifecycle *lifecycle) MUST_USE;

/* 0 or -errno. */
int recheck_start(struct lifecycle *lifecycle) MUST_USE;
/* Ends the thread; fine when there is none. */
void recheck_stop(struct lifecycle *lifecycle);

#endif
