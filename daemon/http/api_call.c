#include "daemon/http/api_call.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/log.h"
#include "policy/cleanup.h"

enum { OUTCOME_BYTES = 256 * 1024 * 1024 };

/* Behind the last member of the answer, which is an object. */
static void add_run_token(struct http_reply *reply, struct str run_token)
{
	if (buf_error(&reply->body) != 0)
		return;
	CHECK(reply->body.len > 0 && reply->body.bytes[reply->body.len - 1] == '}');
	reply->body.len--;
	buf_printf(&reply->body, ",\"runToken\":\"%.*s\"}", (int)run_token.len, run_token.bytes);
}

/* ---- the end of a call */

static void fill(struct api_call *call, int result, struct http_reply *reply)
{
	if (result == LIFECYCLE_DONE) {
		call->write(call, reply);
		return;
	}
	if (result == LIFECYCLE_ADMISSION_BLOCKED) {
		CHECK(call->blocked != NULL);
		call->blocked(call, reply);
		return;
	}
	if (result == LIFECYCLE_NOTHING_READY) {
		http_reply_empty(reply, 204);
		http_reply_header(reply, "Retry-After", "%d", 1);
		return;
	}
	api_call_refuse(reply, call->request, result, &call->call->refusal);
}

static void finish(struct api_call *call, int result)
{
	struct http_request *request = call->request;
	struct http_reply reply;

	http_reply_init(&reply);
	fill(call, result, &reply);
	if (result == LIFECYCLE_DONE && call->run_token != NULL)
		add_run_token(&reply, *call->run_token);
	(void)api_call_drop(call, 0);
	http_request_finish(request, &reply);
	http_reply_release(&reply);
}

void api_call_end(struct api_call *call, int result)
{
	finish(call, result);
}

static void resume(struct handoff_waiter *waiter, bool is_over)
{
	struct api_call *call = (struct api_call *)((char *)waiter - offsetof(struct api_call, waiter));
	int r = LIFECYCLE_NOTHING_READY;

	if (!is_over) {
		waiter->seen = handoff_wait_events(&call->api->waits);
		r = call->again(call);
		if (r == 0)
			return;
	}
	finish(call, r);
}

static void end_call(struct lifecycle_call *lifecycle_call, int result)
{
	struct api_call *call = lifecycle_call->arg;

	call->waiter.resume = resume;
	if (result == LIFECYCLE_NOTHING_READY && call->again != NULL &&
		handoff_wait_park(&call->api->waits, &call->waiter))
		return;
	finish(call, result);
}

static int record(struct store_tx *tx, struct lifecycle_call *lifecycle_call)
{
	struct api_call *call = lifecycle_call->arg;
	struct http_reply reply;
	int r = 0;

	http_reply_init(&reply);
	call->write(call, &reply);
	r = buf_error(&reply.body);
	if (r == 0)
		r = idempotency_record(tx, &call->key, reply.status, buf_str(&reply.body), lifecycle_call->now);
	http_reply_release(&reply);
	return r;
}

/* ---- the beginning */

/* Of a recorded answer: derived again from its run. */
static void derive_run_token(struct api_call *call, const json_t *answer, struct http_reply *reply)
{
	const json_t *id = json_object_get(json_object_get(answer, "run"), "id");
	struct str run = {json_string_value(id), json_string_length(id)};
	struct str run_token = {0};

	if (run.bytes != NULL)
		run_token = lifecycle_run_token(call->api->lifecycle, &call->request->arena, run);
	if (run_token.bytes == NULL)
		buf_fail(&reply->body, -ENOMEM);
	else
		add_run_token(reply, run_token);
}

/* The headers of the answer, from its body: the place of a grant that was made, a task's or a project's tag. */
static void derive_headers(const json_t *answer, struct http_reply *reply)
{
	const json_t *grant = json_object_get(json_object_get(answer, "grant"), "id");
	bool is_task = json_object_get(answer, "planDigest") != NULL;
	bool is_project = json_object_get(answer, "rootRef") != NULL;
	const json_t *revision = json_object_get(answer, is_task ? "planRevision" : "revision");

	if (reply->status == 201 && json_is_string(grant))
		http_reply_header(reply, "Location", "/v1/grants/%s", json_string_value(grant));
	if ((is_task || is_project) && json_is_string(revision))
		http_reply_header(reply, "ETag", "\"%s\"", json_string_value(revision));
}

/* A recorded answer, with the headers and the secret that belong to it. */
static int replay(struct api_call *call, const struct store_answer *answer, struct http_reply *reply)
{
	CLEANUP(json_drop) json_t *json = json_loadb(answer->answer_json.bytes, answer->answer_json.len, 0, NULL);

	if (json == NULL)
		return -EUCLEAN;
	http_reply_raw(reply, (unsigned)answer->status, "application/json", answer->answer_json);
	derive_headers(json, reply);
	if (call->run_token != NULL)
		derive_run_token(call, json, reply);
	return API_CALL_ANSWERED;
}

static int refuse_key(int result, const struct http_request *request, struct http_reply *reply)
{
	if (result == IDEMPOTENCY_MALFORMED)
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
			"Idempotency-Key comes once, as 1 to 200 visible ASCII characters");
	else if (result == IDEMPOTENCY_MISMATCH)
		http_reply_problem(reply, request, HTTP_PROBLEM_IDEMPOTENCY_MISMATCH,
			"this key was used here with another body; another request needs another key");
	else
		http_reply_problem(
			reply, request, HTTP_PROBLEM_IN_PROGRESS, "the request that took this key is not answered yet");
	return API_CALL_ANSWERED;
}

static int take_key(struct api_call *call, struct http_reply *reply)
{
	struct store_answer answer = {0};
	int r = idempotency_begin(&call->api->idempotency, call->request, &call->key);

	if (r != 0)
		return r < 0 ? r : refuse_key(r, call->request, reply);
	r = idempotency_find(lifecycle_store(call->api->lifecycle), &call->request->arena, &call->key, &answer);
	if (r == 0)
		return 0;
	if (r == IDEMPOTENCY_RECORDED)
		r = replay(call, &answer, reply);
	else if (r == IDEMPOTENCY_MISMATCH)
		r = refuse_key(r, call->request, reply);
	return api_call_drop(call, r);
}

int api_call_begin(struct api_call *call, struct api *api, struct http_request *request,
	struct lifecycle_call *lifecycle_call, api_call_write_fn *write, struct http_reply *reply)
{
	int r = 0;

	call->api = api;
	call->request = request;
	call->call = lifecycle_call;
	call->write = write;
	arena_init(&call->arena, OUTCOME_BYTES);
	*lifecycle_call = (struct lifecycle_call){
		.actor = api_actor(request),
		.scope = api_scope(request),
		.arena = &call->arena,
		.done = end_call,
		.arg = call,
		.refusal.revision = -1,
	};
	/* What PUT and DELETE do again is the same anyway. */
	r = request->method == HTTP_POST && !call->is_dry ? take_key(call, reply) : 0;
	if (r == 0 && call->key.key.bytes != NULL)
		lifecycle_call->record = record;
	return r;
}

int api_call_start(struct api_call *call, int result, struct http_reply *reply)
{
	if (result == 0)
		return HTTP_LATER;
	api_call_refuse(reply, call->request, result, &call->call->refusal);
	return api_call_drop(call, 0);
}

int api_call_drop(struct api_call *call, int result)
{
	idempotency_end(&call->api->idempotency, &call->key);
	arena_release(&call->arena);
	return result;
}

/* ---- refusals */

static enum http_problem problem_of(int result)
{
	const char *code = lifecycle_result_code(result);

	for (int i = 0; code != NULL && i < HTTP_PROBLEMS; i++)
		if (strcmp(http_problem_code((enum http_problem)i), code) == 0)
			return (enum http_problem)i;
	return HTTP_PROBLEM_INTERNAL;
}

/* What a person reads; absent where the title says all. */
static const char *detail_of(int result)
{
	switch (result) {
	case LIFECYCLE_FORBIDDEN:
		return "only the run's own token and the token that claimed it may use a run";
	case LIFECYCLE_NOT_EXECUTOR:
		return "an operator may rework it, or an executor that ran a package which depends on it";
	case LIFECYCLE_HAS_DEPENDENTS:
		return "other packages depend on it; with cascade they go with it";
	case LIFECYCLE_NOT_RETRYABLE:
		return "only a failed package is retried";
	case LIFECYCLE_PROJECT_ARCHIVED:
		return "the project is archived; it can be read, and taken into use again";
	case LIFECYCLE_SELF_APPROVAL:
		return "who contributed to a plan doesn't approve it or what it asks for; somebody else must";
	case LIFECYCLE_PLAN_REVISION_CONFLICT:
		return "the plan was replaced; read it again, then decide";
	case LIFECYCLE_REVISION_CONFLICT:
		return "another decision came first; read it, then decide";
	case LIFECYCLE_ROOT_CHANGED:
		return "rootRevision is not the current one; read again, then decide";
	case LIFECYCLE_INPUTS_CHANGED:
		return "what the decision rests on changed three times meanwhile; try again";
	case LIFECYCLE_GRANT_NOT_ASKED:
		return "the package doesn't ask for these reads";
	case LIFECYCLE_GRANT_INSUFFICIENT:
		return "an approval must cover every read that the package asks for";
	case LIFECYCLE_ROOT_MISSING:
		return "the project has no root to read; set one first";
	case LIFECYCLE_ROOT_NOT_ALLOWED:
		return "a root is a directory that the daemon can open, beneath [roots] allow and apart from its state "
		       "folder";
	case LIFECYCLE_GRANT_WITHDRAWN:
		return "a grant of this run no longer stands, or it was given no context";
	case LIFECYCLE_TASK_EXISTS:
		return "a task with this id belongs to another project";
	case LIFECYCLE_PRECONDITION_FAILED:
		return "it isn't what If-Match or If-None-Match asks for; read it again, then decide";
	case LIFECYCLE_STALE_OBSERVATION:
		return "checkedAt is before that of the observation that is stored";
	default:
		return NULL;
	}
}

static void write_faults(const struct lifecycle_refusal *refusal, struct json_out *out)
{
	json_out_key(out, "faults");
	json_out_begin_array(out);
	for (size_t i = 0; i < refusal->fault_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "pointer", refusal->faults[i].pointer);
		json_out_member_str(out, "detail", refusal->faults[i].text);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

/* The record that stands: revision, who, when, why. */
static void write_current(const struct lifecycle_refusal *refusal, struct json_out *out)
{
	char at[TIME_TEXT_SIZE];

	if (refusal->revision < 0 && refusal->at == 0 && refusal->status.bytes == NULL)
		return;
	json_out_key(out, "current");
	json_out_begin_object(out);
	if (refusal->revision >= 0)
		json_out_member_revision(out, "revision", refusal->revision);
	if (refusal->status.bytes != NULL)
		json_out_member_str(out, "status", refusal->status);
	render_actor("actor", &refusal->actor, out);
	if (refusal->at != 0) {
		time_text_write(refusal->at, at);
		json_out_member_text(out, "at", at);
	} else {
		json_out_member_null(out, "at");
	}
	json_out_member_str(out, "reason", refusal->reason);
	json_out_end_object(out);
}

static void write_members(int result, const struct lifecycle_refusal *refusal, struct json_out *out)
{
	if (result == LIFECYCLE_INVALID_DOCUMENT) {
		write_faults(refusal, out);
		return;
	}
	if (result == LIFECYCLE_FORBIDDEN || result == LIFECYCLE_SELF_APPROVAL)
		render_names("roleNeeded", NULL, 0, out);
	if (result == LIFECYCLE_NOT_EXECUTOR)
		render_names("roleNeeded", &(struct str){"operator", 8}, 1, out);
	if (result == LIFECYCLE_HAS_DEPENDENTS)
		render_names("dependents", refusal->ids, refusal->id_count, out);
	if (result == LIFECYCLE_RUN_ACTIVE)
		render_names("runs", refusal->ids, refusal->id_count, out);
	if (result == LIFECYCLE_GRANT_INSUFFICIENT)
		render_names("missing", refusal->ids, refusal->id_count, out);
	if (result == LIFECYCLE_GRANT_NOT_ASKED)
		render_names("notAsked", refusal->ids, refusal->id_count, out);
	if (result == LIFECYCLE_RUN_ENDED || result == LIFECYCLE_OUTCOME_CONFLICT)
		json_out_member_str(out, "outcome", refusal->status);
	if (result == LIFECYCLE_TASK_STATUS || result == LIFECYCLE_PACKAGE_STATUS || result == LIFECYCLE_NOT_RETRYABLE)
		json_out_member_str(out, "currentStatus", refusal->status);
	write_current(refusal, out);
}

void api_call_refuse(struct http_reply *reply, const struct http_request *request, int result,
	const struct lifecycle_refusal *refusal)
{
	enum http_problem problem = problem_of(result);
	struct str detail =
		refusal != NULL && refusal->detail.bytes != NULL ? refusal->detail : api_text(detail_of(result));
	struct json_out out = http_reply_problem_begin(reply, request, problem, detail);

	if (problem == HTTP_PROBLEM_INTERNAL)
		log_line(LOG_LINE_ERROR, "call", "%s failed with error %d, %.*s", request->route->pattern, -result,
			(int)request->id.len, request->id.bytes);
	else if (problem != HTTP_PROBLEM_NOT_FOUND && refusal != NULL)
		write_members(result, refusal, &out);
	http_reply_problem_end(&out);
	if (result == LIFECYCLE_INPUTS_CHANGED)
		http_reply_retry_after(reply, 0);
}

int api_call_refuse_view(struct http_reply *reply, const struct http_request *request, int result)
{
	if (result < 0)
		return result;
	api_call_refuse(reply, request, result, NULL);
	return 0;
}
