/* api_job.h - a request whose answer is made by a job of the pool while it is being sent (chapters 3.2, 4.2).
 *
 * The answer is JSON lines: any number of {"progress":{"done":…,"total":…}}, then {"result":…} or {"problem":…}. A body without
 * that last line is not whole: the daemon was stopped. Everything a job needs is copied out of the request, which may be gone
 * while it runs.
 *
 *	struct rejudging {
 *		struct api_job job;	(first; calloc'ed by api_job_new)
 *		…
 *	};
 */
#ifndef ADMITD_DAEMON_HTTP_API_JOB_H
#define ADMITD_DAEMON_HTTP_API_JOB_H

#include "daemon/http/api.h"
#include "daemon/http/stream.h"
#include "daemon/jobs.h"

struct api_job;

/* Does the work, on a thread of the pool, and writes the value of `result` into an empty buffer. 0; API_JOB_STOPPED when
 * api_job_progress() said so; or -errno: `internal`. Positive others: enum http_problem + 1, see API_JOB_PROBLEM.
 */
typedef int api_job_fn(struct api_job *job, struct json_out *out);

enum { API_JOB_STOPPED = 1, API_JOB_PROBLEM = 2 /* and an enum http_problem */ };

struct api_job {
	struct job job;
	struct api *api;
	struct http_stream *stream;
	struct arena arena; /* for what is copied out of the request; goes with the job */
	struct str request_id;
	api_job_fn *work;
	void (*release)(struct api_job *job); /* what the derived struct owns; may be NULL */
	uint64_t told_ms;                     /* when progress was told */
};

/* A zeroed struct of `size` bytes that begins with an api_job. NULL when memory is out. Ended by api_job_start() or
 * api_job_drop(). */
void *api_job_new(size_t size, struct api *api, const struct http_request *request, api_job_fn *work) MUST_USE;
void api_job_drop(struct api_job *job);

/* Hands it to the pool and begins the answer: 200, or 503 `jobs_full`. Takes the job, whatever it returns: what the handler returns. */
int api_job_start(struct api_job *job, const struct http_request *request, struct http_reply *reply);

/* Tells how far it is, a few times a second. 0, or API_JOB_STOPPED: nobody waits any more. */
int api_job_progress(struct api_job *job, uint64_t done, uint64_t total) MUST_USE;

#endif
