#include "daemon/http/mcp_front.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/http/gate.h"
#include "daemon/log.h"

static const char session_header[] = "Mcp-Session-Id";

int mcp_front_init(struct mcp_front *front, const struct mcp_config *config, struct jobs *jobs)
{
	int r = mcp_new(config, &front->mcp);

	front->jobs = jobs;
	return r != 0 ? r : mcp_sessions_init(&front->sessions);
}

void mcp_front_release(struct mcp_front *front)
{
	mcp_drop(&front->mcp);
	mcp_sessions_release(&front->sessions);
}

/* ---- answers */

/* The body is written already. */
static void settle(struct http_reply *reply, const struct mcp_call *call)
{
	reply->status = call->status;
	reply->content_type = "application/json";
}

static int refuse(
	struct http_reply *reply, const struct http_request *request, enum http_problem problem, const char *detail)
{
	http_reply_reset(reply);
	http_reply_problem(reply, request, problem, detail);
	return 0;
}

/* ---- a tool, on the pool */

struct calling {
	struct job job; /* first */
	struct mcp_front *front;
	struct mcp_call call;
	struct mcp_front_context context;
};

/* The request ends before the call's JSON is dropped: nothing of it is in the reply. */
static void finish(struct calling *calling, struct http_reply *reply)
{
	http_request_finish(calling->context.request, reply);
	http_reply_release(reply);
	mcp_call_release(&calling->call);
	free(calling);
}

static void run_call(struct job *job)
{
	struct calling *calling = (struct calling *)job; /* its first member */
	struct http_request *request = calling->context.request;
	struct http_reply reply;
	int r;

	http_reply_init(&reply);
	r = mcp_run(calling->front->mcp, &calling->call, &calling->context, &reply.body);
	if (r == 0) {
		settle(&reply, &calling->call);
	} else {
		log_line(LOG_LINE_ERROR, "mcp", "%.*s could not be answered, error %d", (int)request->id.len,
			request->id.bytes, -r);
		(void)refuse(&reply, request, HTTP_PROBLEM_INTERNAL, NULL);
	}
	finish(calling, &reply);
}

static void drop_call(struct job *job)
{
	struct calling *calling = (struct calling *)job; /* its first member */
	struct http_reply reply;

	http_reply_init(&reply);
	(void)refuse(&reply, calling->context.request, HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	finish(calling, &reply);
}

/* Takes the call, whatever it returns. */
static int start_call(struct mcp_front *front, struct mcp_call *call, void *ctx, struct http_request *request,
	struct http_reply *reply)
{
	struct calling *calling = calloc(1, sizeof(*calling));
	int r;

	if (calling == NULL) {
		mcp_call_release(call);
		return -ENOMEM;
	}
	calling->job = (struct job){.run = run_call, .drop = drop_call};
	calling->front = front;
	calling->call = *call;
	calling->context = (struct mcp_front_context){ctx, request};
	r = jobs_submit(front->jobs, &calling->job);
	if (r == 0)
		return HTTP_LATER;
	mcp_call_release(&calling->call);
	free(calling);
	return refuse(reply, request, r == JOBS_FULL ? HTTP_PROBLEM_JOBS_FULL : HTTP_PROBLEM_SHUTTING_DOWN, NULL);
}

/* On the server's own thread. */
static int run_quick(struct mcp_front *front, struct mcp_call *call, void *ctx, struct http_request *request,
	struct http_reply *reply)
{
	struct mcp_front_context context = {ctx, request};
	int r = mcp_run(front->mcp, call, &context, &reply->body);

	return r < 0 ? r : MCP_ANSWERED;
}

/* ---- a message */

static enum mcp_session session_of(struct mcp_front *front, const struct http_request *request)
{
	struct str id = http_request_header(request, session_header);

	if (id.bytes == NULL)
		return MCP_SESSION_NONE;
	return mcp_sessions_has(&front->sessions, request->token.id, id) ? MCP_SESSION_OPEN : MCP_SESSION_UNKNOWN;
}

static void open_session(struct mcp_front *front, const struct http_request *request, struct http_reply *reply)
{
	char id[MCP_SESSION_ID_SIZE];

	mcp_sessions_open(&front->sessions, request->token.id, id);
	http_reply_header(reply, session_header, "%s", id);
}

int mcp_front_post(struct mcp_front *front, void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct mcp_message message = {
		.text = request->body,
		.session = session_of(front, request),
		.has_headers = true,
		.version_header = http_request_header(request, "MCP-Protocol-Version"),
		.method_header = http_request_header(request, "Mcp-Method"),
		.name_header = http_request_header(request, "Mcp-Name"),
	};
	struct mcp_call call = {0};
	int r;

	if (!gate_is_json(request))
		return refuse(reply, request, HTTP_PROBLEM_UNSUPPORTED_MEDIA_TYPE, "a message is application/json");
	r = mcp_take(front->mcp, &message, &call, &reply->body);
	if (r == 0 && !call.tool->is_quick)
		return start_call(front, &call, ctx, request, reply);
	if (r == 0)
		r = run_quick(front, &call, ctx, request, reply);
	if (r == MCP_ANSWERED)
		settle(reply, &call);
	if (r == MCP_SILENT)
		http_reply_empty(reply, call.status);
	if (r == MCP_ANSWERED && call.opens_session)
		open_session(front, request, reply);
	mcp_call_release(&call);
	return r < 0 ? r : 0;
}

int mcp_front_delete(struct mcp_front *front, struct http_request *request, struct http_reply *reply)
{
	if (!mcp_sessions_end(&front->sessions, request->token.id, http_request_header(request, session_header)))
		return refuse(reply, request, HTTP_PROBLEM_NOT_FOUND, "there is no such session");
	http_reply_empty(reply, 204);
	return 0;
}
