/* reply.h - an answer while it is being written (chapters 4.1 and 4.4).
 *
 * A handler fills one reply: a status, perhaps headers, perhaps a JSON body, written straight into the
 * buffer, or a stream (stream.h). The server adds what every answer has: request id, security headers, Cache-Control, and the body's
 * Content-Type. Refusals are RFC 9457 problems whose status and title come from one table (reply.c), so a
 * code has the same status everywhere.
 *
 * Errors are kept in the reply, as in buf.h: a reply that could not be written is sent as 500 `internal`.
 * Nothing here quotes a path, SQL, a secret or a library's text: `detail` is ours. One thread at a time.
 */
#ifndef ADMITD_DAEMON_HTTP_REPLY_H
#define ADMITD_DAEMON_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/http/json_in.h"
#include "policy/buf.h"
#include "policy/json_out.h"

struct http_request;

/* Every code of chapter 4.4. The names are the codes. The zero value is what a bug of ours gives. */
enum http_problem {
	HTTP_PROBLEM_INTERNAL = 0,
	HTTP_PROBLEM_INVALID_JSON,
	HTTP_PROBLEM_BAD_REQUEST,
	HTTP_PROBLEM_METHOD_NOT_ALLOWED,
	HTTP_PROBLEM_NOT_ACCEPTABLE,
	HTTP_PROBLEM_TOO_LARGE,
	HTTP_PROBLEM_UNSUPPORTED_MEDIA_TYPE,
	HTTP_PROBLEM_INVALID_DOCUMENT,
	HTTP_PROBLEM_UNAUTHENTICATED,
	HTTP_PROBLEM_FORBIDDEN,
	HTTP_PROBLEM_SELF_APPROVAL,
	HTTP_PROBLEM_ORIGIN,
	HTTP_PROBLEM_NOT_FOUND,
	HTTP_PROBLEM_ADMISSION_BLOCKED,
	HTTP_PROBLEM_INPUTS_CHANGED,
	HTTP_PROBLEM_IN_PROGRESS,
	HTTP_PROBLEM_PLAN_REVISION_CONFLICT,
	HTTP_PROBLEM_REVISION_CONFLICT,
	HTTP_PROBLEM_ROOT_CHANGED,
	HTTP_PROBLEM_PRECONDITION_FAILED,
	HTTP_PROBLEM_TASK_STATUS,
	HTTP_PROBLEM_PACKAGE_STATUS,
	HTTP_PROBLEM_ALREADY_COVERED,
	HTTP_PROBLEM_NOTHING_TO_REVOKE,
	HTTP_PROBLEM_RUN_ACTIVE,
	HTTP_PROBLEM_RUN_ENDED,
	HTTP_PROBLEM_OUTCOME_CONFLICT,
	HTTP_PROBLEM_GRANT_WITHDRAWN,
	HTTP_PROBLEM_HAS_DEPENDENTS,
	HTTP_PROBLEM_NOT_RETRYABLE,
	HTTP_PROBLEM_PROJECT_ARCHIVED,
	HTTP_PROBLEM_TASK_EXISTS,
	HTTP_PROBLEM_STALE_OBSERVATION,
	HTTP_PROBLEM_GRANT_NOT_ASKED,
	HTTP_PROBLEM_GRANT_INSUFFICIENT,
	HTTP_PROBLEM_ROOT_MISSING,
	HTTP_PROBLEM_ROOT_NOT_ALLOWED,
	HTTP_PROBLEM_IDEMPOTENCY_MISMATCH,
	HTTP_PROBLEM_RATE_LIMITED,
	HTTP_PROBLEM_QUEUE_FULL,
	HTTP_PROBLEM_JOBS_FULL,
	HTTP_PROBLEM_NOT_STORED,
	HTTP_PROBLEM_SHUTTING_DOWN,
	HTTP_PROBLEM_OUTCOME_UNKNOWN,
	HTTP_PROBLEM_NOT_IMPLEMENTED,   /* 501: a method word nobody knows */
	HTTP_PROBLEM_HEADERS_TOO_LARGE, /* 431: more than 64 fields, or 8 KiB of them */
	HTTP_PROBLEMS,                  /* how many there are */
};

enum { HTTP_REPLY_HEADERS = 8, HTTP_REPLY_CEILING = 32 * 1024 * 1024 };

struct http_reply {
	unsigned status; /* 0 while nothing was answered */
	struct buf body;
	const char *content_type; /* a literal; NULL for a reply without a body */
	struct {
		const char *name; /* a literal */
		char *value;      /* owned */
	} headers[HTTP_REPLY_HEADERS];
	unsigned headers_count;
	bool close;                 /* the connection ends with this answer */
	struct http_stream *stream; /* in place of `body`: stream.h */
};

void http_reply_init(struct http_reply *reply);
void http_reply_release(struct http_reply *reply);
/* Moves everything from one reply to another, which must be empty; `from` can be used again. */
void http_reply_move(struct http_reply *to, struct http_reply *from);
/* Forgets what was written, for an operation that runs a second time. */
void http_reply_reset(struct http_reply *reply);

/* Begins an `application/json` answer; the caller writes exactly one value to what is returned. */
struct json_out http_reply_json(struct http_reply *reply, unsigned status) MUST_USE;

/* Recorded bytes as they were: an answer kept for its Idempotency-Key. `content_type` is a literal. */
void http_reply_raw(struct http_reply *reply, unsigned status, const char *content_type, struct str body);

/* An answer without a body, such as 204. */
void http_reply_empty(struct http_reply *reply, unsigned status);

/* Adds a header. `name` is a literal. A value with control or non-ASCII bytes breaks the reply (500): it
 * would be ours, since ids and revisions have none.
 */
void http_reply_header(struct http_reply *reply, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* `ETag: "7"`, which for a task is its plan revision. */
void http_reply_etag(struct http_reply *reply, int64_t revision);

/* `Retry-After`, instead of the one that a problem brought. */
void http_reply_retry_after(struct http_reply *reply, unsigned seconds);

/* A problem with its five members and `instance`, left open for members of its own; then
 * http_reply_problem_end(). `detail` says in our words what is wrong; an absent one is left out. Codes that
 * ask to be tried again get a Retry-After of a second.
 */
struct json_out http_reply_problem_begin(struct http_reply *reply, const struct http_request *request,
	enum http_problem problem, struct str detail) MUST_USE;
/* The same with another title than the code's, where one code has several subjects. */
struct json_out http_reply_problem_begin_as(struct http_reply *reply, const struct http_request *request,
	enum http_problem problem, const char *title, struct str detail) MUST_USE;
void http_reply_problem_end(struct json_out *out);

/* The same without members of its own. `detail` is a literal or NULL. */
void http_reply_problem(
	struct http_reply *reply, const struct http_request *request, enum http_problem problem, const char *detail);

/* 422 `invalid_document` with the faults that `in` collected: at least one. */
void http_reply_faults(struct http_reply *reply, const struct http_request *request, const struct json_in *in);

/* 403 `forbidden` with `roleNeeded`, an array of the roles of which one would do. */
void http_reply_forbidden(struct http_reply *reply, const struct http_request *request, unsigned roles_needed);

/* The table, for the routes' documentation and the tests. */
const char *http_problem_code(enum http_problem problem);
unsigned http_problem_status(enum http_problem problem);
const char *http_problem_title(enum http_problem problem);

#endif
