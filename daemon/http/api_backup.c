/* A copy of the whole store, made while it is written to, and sent (chapters 3.2 "Writes", 4.2).
 *
 * The copy is made before the answer begins, so that what fails is told as a problem. The body is the file and nothing else: its first
 * page says how many pages it has, and admitctl compares, so a body that was cut short is seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/http/api_call.h"
#include "daemon/http/auth.h"
#include "daemon/http/stream.h"
#include "daemon/jobs.h"

enum { PIECE_BYTES = 32 * 1024, STREAM_BYTES = 256 * 1024 };

struct copying {
	struct job job;
	struct api *api;
	struct http_request *request;
	struct http_stream *stream;
};

static void end(struct copying *copying)
{
	http_stream_end(copying->stream);
	free(copying);
}

static void refuse(struct copying *copying, int result)
{
	struct http_reply reply;

	http_reply_init(&reply);
	api_call_refuse(&reply, copying->request, result, NULL);
	http_request_finish(copying->request, &reply);
	http_reply_release(&reply);
}

static int refusal_of(int result)
{
	switch (result) {
	case STORE_CONFLICT: /* another copy is being made */
	case STORE_NOT_STORED:
	case -ENOSPC:
		return LIFECYCLE_NOT_STORED;
	case STORE_SHUTTING_DOWN:
		return LIFECYCLE_SHUTTING_DOWN;
	default:
		return result < 0 ? result : -EIO;
	}
}

static void drop(struct job *job)
{
	struct copying *copying = (struct copying *)job; /* its first member */

	refuse(copying, LIFECYCLE_SHUTTING_DOWN);
	end(copying);
}

/* The request may be gone once it was answered; the stream stays. */
static void begin_answer(struct copying *copying)
{
	struct http_reply reply;

	http_reply_init(&reply);
	http_reply_stream(&reply, 200, "application/vnd.sqlite3", copying->stream);
	http_request_finish(copying->request, &reply);
	http_reply_release(&reply);
}

static void send_copy(struct copying *copying, int fd, int64_t bytes)
{
	char piece[PIECE_BYTES];
	ssize_t got = 0;

	for (int64_t sent = 0; sent < bytes && !jobs_is_stopping(copying->api->jobs); sent += got) {
		got = read(fd, piece, sizeof(piece));
		if (got <= 0 || http_stream_write(copying->stream, (struct str){piece, (size_t)got}) != 0)
			return;
	}
}

static void run(struct job *job)
{
	struct copying *copying = (struct copying *)job; /* its first member */
	int64_t bytes = 0;
	int fd = -1;
	int r = store_backup(lifecycle_store(copying->api->lifecycle), &fd, &bytes);

	if (r != 0) {
		refuse(copying, refusal_of(r));
	} else {
		begin_answer(copying);
		send_copy(copying, fd, bytes);
		(void)close(fd);
	}
	end(copying);
}

static int post_backup(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct copying *copying = calloc(1, sizeof(*copying));
	int r = copying != NULL ? http_stream_new(STREAM_BYTES, &copying->stream) : -ENOMEM;

	if (r != 0) {
		free(copying);
		return r;
	}
	copying->job = (struct job){.run = run, .drop = drop};
	copying->api = api;
	copying->request = request;
	r = jobs_submit(api->jobs, &copying->job);
	if (r == 0)
		return HTTP_LATER;
	end(copying);
	http_reply_problem(reply, request, r == JOBS_FULL ? HTTP_PROBLEM_JOBS_FULL : HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/backup", AUTH_ADMIN, HTTP_WRITES, 0, post_backup},
};

const struct http_routes api_backup_routes = API_ROUTES(rows);
