#include "daemon/http/api_job.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/http/conn.h"
#include "daemon/log.h"

enum {
	JOB_ARENA_BYTES = 64 * 1024 * 1024,
	STREAM_BYTES = 64 * 1024,
	LINE_BYTES = 64 * 1024 * 1024,
	TELL_MS = 250,
};

void api_job_drop(struct api_job *job)
{
	if (job->release)
		job->release(job);
	http_stream_end(job->stream);
	arena_release(&job->arena);
	free(job);
}

static void drop_waiting(struct job *job)
{
	api_job_drop((struct api_job *)job); /* its first member */
}

static void write_problem(struct api_job *job, enum http_problem problem, struct json_out *out)
{
	json_out_key(out, "problem");
	json_out_begin_object(out);
	json_out_member_text(out, "title", http_problem_title(problem));
	json_out_member_int(out, "status", http_problem_status(problem));
	json_out_member_text(out, "code", http_problem_code(problem));
	json_out_member_str(out, "instance", job->request_id);
	json_out_end_object(out);
}

/* The last line. */
static void write_end(struct api_job *job, int result, struct str value)
{
	struct json_out out;
	struct buf line;

	if (result < 0)
		log_line(LOG_LINE_ERROR, "job", "%.*s failed with error %d", (int)job->request_id.len,
			job->request_id.bytes, -result);
	buf_init(&line, LINE_BYTES);
	json_out_init(&out, &line);
	json_out_begin_object(&out);
	if (result == 0)
		json_out_member_raw(&out, "result", value);
	else
		write_problem(
			job, result < 0 ? HTTP_PROBLEM_INTERNAL : (enum http_problem)(result - API_JOB_PROBLEM), &out);
	json_out_end_object(&out);
	buf_putc(&line, '\n');
	if (buf_error(&line) == 0 && http_stream_write(job->stream, buf_str(&line)) == HTTP_STREAM_CLOSED)
		log_line(LOG_LINE_INFO, "job", "%.*s was done when nobody waited any more", (int)job->request_id.len,
			job->request_id.bytes);
	buf_release(&line);
}

static void run(struct job *base)
{
	struct api_job *job = (struct api_job *)base; /* its first member */
	struct json_out out;
	struct buf value;
	int result;

	buf_init(&value, LINE_BYTES);
	json_out_init(&out, &value);
	result = job->work(job, &out);
	if (result == 0)
		result = buf_error(&value);
	if (result != API_JOB_STOPPED)
		write_end(job, result, buf_str(&value));
	buf_release(&value);
	api_job_drop(job);
}

void *api_job_new(size_t size, struct api *api, const struct http_request *request, api_job_fn *work)
{
	struct api_job *job = calloc(1, size);

	CHECK(size >= sizeof(*job));
	if (!job)
		return NULL;
	job->job = (struct job){.run = run, .drop = drop_waiting};
	job->api = api;
	job->work = work;
	arena_init(&job->arena, JOB_ARENA_BYTES);
	job->request_id = arena_str(&job->arena, request->id);
	if (!job->request_id.bytes || http_stream_new(STREAM_BYTES, &job->stream)) {
		api_job_drop(job);
		return NULL;
	}
	return job;
}

int api_job_start(struct api_job *job, const struct http_request *request, struct http_reply *reply)
{
	int result;

	http_reply_stream(reply, 200, "application/x-ndjson", job->stream);
	result = jobs_submit(job->api->jobs, &job->job);
	if (result == 0)
		return 0;
	api_job_drop(job);
	http_reply_problem(
		reply, request, result == JOBS_FULL ? HTTP_PROBLEM_JOBS_FULL : HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	return 0;
}

int api_job_progress(struct api_job *job, uint64_t done, uint64_t total)
{
	uint64_t now_ms = conn_now_ms();
	struct json_out out;
	struct buf line;
	int result;

	if (http_stream_is_closed(job->stream))
		return API_JOB_STOPPED;
	if (job->told_ms && now_ms - job->told_ms < TELL_MS)
		return 0;
	job->told_ms = now_ms;
	buf_init(&line, 256);
	json_out_init(&out, &line);
	json_out_begin_object(&out);
	json_out_key(&out, "progress");
	json_out_begin_object(&out);
	json_out_member_int(&out, "done", (int64_t)done);
	json_out_member_int(&out, "total", (int64_t)total);
	json_out_end_object(&out);
	json_out_end_object(&out);
	buf_putc(&line, '\n');
	result = buf_error(&line);
	if (!result && http_stream_write(job->stream, buf_str(&line)))
		result = API_JOB_STOPPED;
	buf_release(&line);
	return result;
}
