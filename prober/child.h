/* child.h - one tool server as a process of its own, with limits, that leaves nothing behind (chapter 3.2 "Processes").
 *
 * Between the prober and the server stands a nurse: a small process that adopts whatever the server's processes leave, and ends all
 * of them when the prober closes its end of a pipe, or dies. The server has its own session, an empty environment but for the
 * spec's, / as its folder, pipes as standard input and output and nothing else open.
 */
#ifndef ADMITD_PROBER_CHILD_H
#define ADMITD_PROBER_CHILD_H

#include <sys/types.h>

#include "policy/check.h"

struct child {
	pid_t nurse;
	int to;   /* its standard input; non-blocking */
	int from; /* its standard output; non-blocking */
	int life; /* closed: everything ends */
};

/* `argv` and `environment` end in NULL. 0; or -errno, of exec too (-ENOENT: there is no such file). */
int child_start(struct child *child, const char *path, char *const *argv, char *const *environment) MUST_USE;
/* Closes its standard input, waits up to `grace_ms` for it to end, ends all of it. */
void child_end(struct child *child, int grace_ms);

#endif
