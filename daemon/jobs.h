/* jobs.h - a small pool of threads for long work: re-judging, verifying, packets, searches (chapter 3.2, "Long work").
 *
 * Bounded twice: so many threads, and so many jobs that may wait for one. A job that doesn't fit is refused at once, and its
 * client asks again (503 `jobs_full`). Knows nothing of HTTP, store or lifecycle; a tool of the rooms of the daemon.
 */
#ifndef ADMITD_DAEMON_JOBS_H
#define ADMITD_DAEMON_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/check.h"

struct jobs;

/* Owned by whoever made it; one of `run` and `drop` is called, once, and may free it. */
struct job {
	void (*run)(struct job *job);  /* on a thread of the pool */
	void (*drop)(struct job *job); /* it never ran: the pool is stopping */
	struct job *next;              /* the pool's */
};

enum jobs_result { JOBS_FULL = 1, JOBS_STOPPING };

/* Starts `threads` threads, at least one. 0 and *ret, or -errno. */
int jobs_new(unsigned threads, unsigned waiting_limit, struct jobs **ret) MUST_USE;

/* Hands a job over: 0; JOBS_FULL and JOBS_STOPPING: it wasn't taken, and neither of its functions is called. Any thread. */
int jobs_submit(struct jobs *jobs, struct job *job) MUST_USE;

/* Whether a running job should come to an end. Any thread. */
bool jobs_is_stopping(struct jobs *jobs);

/* Takes no more, drops what waits, and returns when nothing runs. Idempotent; not from a job. NULL is fine. */
void jobs_stop(struct jobs *jobs);

/* Stops and frees. NULL is fine. */
void jobs_free(struct jobs *jobs);

struct jobs_figures {
	uint64_t running;
	uint64_t waiting;
	uint64_t done;    /* since the start */
	uint64_t refused; /* the same */
};

void jobs_figures(struct jobs *jobs, struct jobs_figures *ret);

#endif
