#include "daemon/http/reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/request.h"
#include "daemon/http/stream.h"

/* One row a code (chapter 4.4); nothing else in the daemon says what status a code has. */
static const struct {
	const char *code;
	unsigned status;
	unsigned retry_after_s; /* 0: no Retry-After */
	const char *title;
} problems[HTTP_PROBLEMS] = {
	[HTTP_PROBLEM_INTERNAL] = {"internal", 500, 1, "Something went wrong on our side"},
	[HTTP_PROBLEM_INVALID_JSON] = {"invalid_json", 400, 0, "The body is not JSON as we take it"},
	[HTTP_PROBLEM_BAD_REQUEST] = {"bad_request", 400, 0, "The request is malformed"},
	[HTTP_PROBLEM_METHOD_NOT_ALLOWED] = {"method_not_allowed", 405, 0, "This address does not take this method"},
	[HTTP_PROBLEM_NOT_ACCEPTABLE] = {"not_acceptable", 406, 0, "There is no answer of this type"},
	[HTTP_PROBLEM_TOO_LARGE] = {"too_large", 413, 0, "The body is too large"},
	[HTTP_PROBLEM_UNSUPPORTED_MEDIA_TYPE] = {"unsupported_media_type", 415, 0, "The body must be application/json"},
	[HTTP_PROBLEM_INVALID_DOCUMENT] = {"invalid_document", 422, 0, "The document has faults"},
	[HTTP_PROBLEM_UNAUTHENTICATED] = {"unauthenticated", 401, 0, "A valid token is needed"},
	[HTTP_PROBLEM_FORBIDDEN] = {"forbidden", 403, 0, "The token lacks the role"},
	[HTTP_PROBLEM_SELF_APPROVAL] = {"self_approval", 403, 0, "Nobody approves what is partly his own"},
	[HTTP_PROBLEM_ORIGIN] = {"origin", 403, 0, "Not from here"},
	[HTTP_PROBLEM_NOT_FOUND] = {"not_found", 404, 0, "There is nothing here"},
	[HTTP_PROBLEM_ADMISSION_BLOCKED] = {"admission_blocked", 409, 0, "The plan has blocked packages"},
	[HTTP_PROBLEM_INPUTS_CHANGED] = {"inputs_changed", 409, 0, "What the decision rests on has changed"},
	[HTTP_PROBLEM_IN_PROGRESS] = {"in_progress", 409, 1, "The same request is still running"},
	[HTTP_PROBLEM_PLAN_REVISION_CONFLICT] = {"plan_revision_conflict", 409, 0, "The plan has another revision"},
	[HTTP_PROBLEM_REVISION_CONFLICT] = {"revision_conflict", 409, 0, "Somebody decided in between"},
	[HTTP_PROBLEM_ROOT_CHANGED] = {"root_changed", 409, 0, "The project's root has changed"},
	[HTTP_PROBLEM_PRECONDITION_FAILED] = {"precondition_failed", 412, 0, "The record has another revision"},
	[HTTP_PROBLEM_TASK_STATUS] = {"task_status", 409, 0, "The task's status does not allow it"},
	[HTTP_PROBLEM_PACKAGE_STATUS] = {"package_status", 409, 0, "The package's status does not allow it"},
	[HTTP_PROBLEM_ALREADY_COVERED] = {"already_covered", 409, 0, "A live grant says so already"},
	[HTTP_PROBLEM_NOTHING_TO_REVOKE] = {"nothing_to_revoke", 409, 0, "There is no live grant to revoke"},
	[HTTP_PROBLEM_RUN_ACTIVE] = {"run_active", 409, 0, "Runs are still active"},
	[HTTP_PROBLEM_RUN_ENDED] = {"run_ended", 409, 0, "The run has ended"},
	[HTTP_PROBLEM_OUTCOME_CONFLICT] = {"outcome_conflict", 409, 0, "The run has another outcome"},
	[HTTP_PROBLEM_GRANT_WITHDRAWN] = {"grant_withdrawn", 409, 0, "The grant was withdrawn"},
	[HTTP_PROBLEM_HAS_DEPENDENTS] = {"has_dependents", 409, 0, "Other packages depend on it"},
	[HTTP_PROBLEM_NOT_RETRYABLE] = {"not_retryable", 409, 0, "It can't be tried again"},
	[HTTP_PROBLEM_PROJECT_ARCHIVED] = {"project_archived", 409, 0, "The project is archived"},
	[HTTP_PROBLEM_TASK_EXISTS] = {"task_exists", 409, 0, "There is a task with this id"},
	[HTTP_PROBLEM_STALE_OBSERVATION] = {"stale_observation", 409, 0, "A newer observation is known"},
	[HTTP_PROBLEM_GRANT_NOT_ASKED] = {"grant_not_asked", 422, 0, "Nothing asks for these capabilities"},
	[HTTP_PROBLEM_GRANT_INSUFFICIENT] = {"grant_insufficient", 422, 0, "The grant would not be enough"},
	[HTTP_PROBLEM_ROOT_MISSING] = {"root_missing", 422, 0, "The project has no root"},
	[HTTP_PROBLEM_ROOT_NOT_ALLOWED] = {"root_not_allowed", 422, 0, "The root is not where roots may be"},
	[HTTP_PROBLEM_IDEMPOTENCY_MISMATCH] = {"idempotency_mismatch", 422, 0, "The key was used with another body"},
	[HTTP_PROBLEM_RATE_LIMITED] = {"rate_limited", 429, 1, "Too many requests"},
	[HTTP_PROBLEM_QUEUE_FULL] = {"queue_full", 503, 1, "Too much is waiting"},
	[HTTP_PROBLEM_JOBS_FULL] = {"jobs_full", 503, 1, "Too many jobs are running"},
	[HTTP_PROBLEM_NOT_STORED] = {"not_stored", 503, 1, "Nothing was stored"},
	[HTTP_PROBLEM_SHUTTING_DOWN] = {"shutting_down", 503, 1, "The daemon is stopping"},
	[HTTP_PROBLEM_OUTCOME_UNKNOWN] = {"outcome_unknown", 503, 1, "Whether it was stored is not known yet"},
	[HTTP_PROBLEM_NOT_IMPLEMENTED] = {"not_implemented", 501, 0, "There is no such method"},
	[HTTP_PROBLEM_HEADERS_TOO_LARGE] = {"headers_too_large", 431, 0, "The header fields are too large"},
};

const char *http_problem_code(enum http_problem problem)
{
	CHECK(problem < HTTP_PROBLEMS);
	return problems[problem].code;
}

unsigned http_problem_status(enum http_problem problem)
{
	CHECK(problem < HTTP_PROBLEMS);
	return problems[problem].status;
}

const char *http_problem_title(enum http_problem problem)
{
	CHECK(problem < HTTP_PROBLEMS);
	return problems[problem].title;
}

void http_reply_init(struct http_reply *reply)
{
	*reply = (struct http_reply){0};
	buf_init(&reply->body, HTTP_REPLY_CEILING);
}

static void drop_headers(struct http_reply *reply)
{
	for (unsigned i = 0; i < reply->headers_count; i++)
		free(reply->headers[i].value);
	reply->headers_count = 0;
}

static void drop_stream(struct http_reply *reply)
{
	http_stream_drop(reply->stream);
	reply->stream = NULL;
}

void http_reply_release(struct http_reply *reply)
{
	drop_stream(reply);
	drop_headers(reply);
	buf_release(&reply->body);
	http_reply_init(reply);
}

void http_reply_reset(struct http_reply *reply)
{
	drop_stream(reply);
	drop_headers(reply);
	buf_reset(&reply->body);
	reply->status = 0;
	reply->content_type = NULL;
	reply->close = false;
}

void http_reply_move(struct http_reply *to, struct http_reply *from)
{
	CHECK(to->status == 0 && to->headers_count == 0 && !to->body.bytes);
	*to = *from;
	http_reply_init(from);
}

/* A problem replaces what was begun: a handler may fail in the middle of its answer. */
static void begin_reply(struct http_reply *reply, unsigned status, const char *content_type)
{
	reply->status = status;
	reply->content_type = content_type;
	drop_stream(reply);
	buf_reset(&reply->body);
}

void http_reply_stream(struct http_reply *reply, unsigned status, const char *content_type, struct http_stream *stream)
{
	begin_reply(reply, status, content_type);
	reply->stream = http_stream_hold(stream);
}

struct json_out http_reply_json(struct http_reply *reply, unsigned status)
{
	struct json_out out;

	begin_reply(reply, status, "application/json");
	json_out_init(&out, &reply->body);
	return out;
}

void http_reply_raw(struct http_reply *reply, unsigned status, const char *content_type, struct str body)
{
	begin_reply(reply, status, content_type);
	buf_add_str(&reply->body, body);
}

void http_reply_empty(struct http_reply *reply, unsigned status)
{
	begin_reply(reply, status, NULL);
}

static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if (*text < 0x20 || *text > 0x7e)
			return false;
	}
	return true;
}

void http_reply_header(struct http_reply *reply, const char *name, const char *format, ...)
{
	va_list args;
	char *value = NULL;
	int len;

	va_start(args, format);
	len = vasprintf(&value, format, args);
	va_end(args);
	if (len < 0) {
		buf_fail(&reply->body, -ENOMEM);
		return;
	}
	if (!is_plain(value)) {
		free(value);
		buf_fail(&reply->body, -EINVAL);
		return;
	}
	CHECK(reply->headers_count < HTTP_REPLY_HEADERS);
	reply->headers[reply->headers_count].name = name;
	reply->headers[reply->headers_count].value = value;
	reply->headers_count++;
}

void http_reply_etag(struct http_reply *reply, int64_t revision)
{
	http_reply_header(reply, "ETag", "\"%lld\"", (long long)revision);
}

void http_reply_retry_after(struct http_reply *reply, unsigned seconds)
{
	for (unsigned i = 0; i < reply->headers_count; i++) {
		if (strcmp(reply->headers[i].name, "Retry-After") != 0)
			continue;
		free(reply->headers[i].value);
		reply->headers[i] = reply->headers[--reply->headers_count];
		break;
	}
	http_reply_header(reply, "Retry-After", "%u", seconds);
}

struct json_out http_reply_problem_begin(
	struct http_reply *reply, const struct http_request *request, enum http_problem problem, struct str detail)
{
	return http_reply_problem_begin_as(reply, request, problem, http_problem_title(problem), detail);
}

struct json_out http_reply_problem_begin_as(struct http_reply *reply, const struct http_request *request,
	enum http_problem problem, const char *title, struct str detail)
{
	struct json_out out;
	char type[64];

	CHECK(problem < HTTP_PROBLEMS);
	(void)snprintf(type, sizeof(type), "urn:admitd:problem:%s", problems[problem].code);
	drop_headers(reply);
	begin_reply(reply, problems[problem].status, "application/problem+json");
	if (problems[problem].retry_after_s)
		http_reply_header(reply, "Retry-After", "%u", problems[problem].retry_after_s);
	json_out_init(&out, &reply->body);
	json_out_begin_object(&out);
	json_out_key(&out, "type");
	json_out_text(&out, type);
	json_out_member_text(&out, "title", title);
	json_out_member_int(&out, "status", problems[problem].status);
	json_out_member_text(&out, "code", problems[problem].code);
	json_out_member_str(&out, "instance", request->id);
	if (detail.bytes)
		json_out_member_str(&out, "detail", detail);
	return out;
}

void http_reply_problem_end(struct json_out *out)
{
	json_out_end_object(out);
}

void http_reply_problem(
	struct http_reply *reply, const struct http_request *request, enum http_problem problem, const char *detail)
{
	struct str text = {detail, detail ? strlen(detail) : 0};
	struct json_out out = http_reply_problem_begin(reply, request, problem, text);

	http_reply_problem_end(&out);
}

void http_reply_faults(struct http_reply *reply, const struct http_request *request, const struct json_in *in)
{
	struct json_out out;

	CHECK(!json_in_ok(in));
	if (in->count == 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_INTERNAL, NULL);
		return;
	}
	out = http_reply_problem_begin(reply, request, HTTP_PROBLEM_INVALID_DOCUMENT, (struct str){0});
	json_out_key(&out, "faults");
	json_out_begin_array(&out);
	for (size_t i = 0; i < in->count; i++) {
		json_out_begin_object(&out);
		json_out_member_str(&out, "pointer", in->faults[i].pointer);
		json_out_member_str(&out, "detail", in->faults[i].detail);
		json_out_end_object(&out);
	}
	json_out_end_array(&out);
	http_reply_problem_end(&out);
}

void http_reply_forbidden(struct http_reply *reply, const struct http_request *request, unsigned roles_needed)
{
	struct json_out out = http_reply_problem_begin(
		reply, request, HTTP_PROBLEM_FORBIDDEN, STR("the token has none of the roles"));

	json_out_key(&out, "roleNeeded");
	json_out_begin_array(&out);
	for (unsigned i = 0; i < AUTH_ROLES; i++) {
		if (roles_needed & (1u << i))
			json_out_text(&out, auth_role_name(1u << i));
	}
	json_out_end_array(&out);
	http_reply_problem_end(&out);
}
