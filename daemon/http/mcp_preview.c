/* admission_preview: what would become of a plan. It approves and grants nothing; that it was asked is noted, as any preview is (2.3). */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_mcp.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/surface.h"
#include "policy/cleanup.h"

enum { OUTCOME_MAX = 32 * 1024 * 1024 };

static void reply_drop(struct http_reply *reply)
{
	http_reply_release(reply);
}

static void arena_drop(struct arena *arena)
{
	arena_release(arena);
}

/* A refusal of the lifecycle in the words that the route has for it; the first fault of a plan is told with its place. */
static int refuse(struct http_request *request, int result, const struct lifecycle_refusal *refusal,
	struct mcp_refusal *ret_refusal)
{
	CLEANUP(reply_drop) struct http_reply reply = {0};

	http_reply_init(&reply);
	if (result == LIFECYCLE_INVALID_DOCUMENT && refusal->fault_count > 0) {
		mcp_refuse(ret_refusal, "invalid_document", "plan%.*s: %.*s", (int)refusal->faults[0].pointer.len,
			refusal->faults[0].pointer.bytes, (int)refusal->faults[0].text.len,
			refusal->faults[0].text.bytes);
		return MCP_TOOL_REFUSED;
	}
	api_call_refuse(&reply, request, result, refusal);
	return api_mcp_refuse(&reply, ret_refusal);
}

static int preview(struct api *api, struct http_request *request, struct lifecycle_preview *preview,
	struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	struct json_out out;
	int r;

	preview->call.actor = api_actor(request);
	preview->call.scope = api_scope(request);
	r = lifecycle_preview(api->lifecycle, preview);
	if (r < 0)
		return r;
	if (r > 0)
		return refuse(request, r, &preview->call.refusal, ret_refusal);
	json_out_init(&out, ret_answer);
	render_preview(preview, &request->token, &out);
	return 0;
}

int mcp_preview_run(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	CLEANUP(arena_drop) struct arena arena = {0};
	const struct mcp_front_context *context = call->context;
	const json_t *task = json_object_get(call->arguments, "task");
	const json_t *body = json_object_get(call->arguments, "plan");
	struct lifecycle_refusal refusal = {.revision = -1};
	struct lifecycle_preview asked = {0};
	struct plan plan;
	int r = 0;

	arena_init(&arena, OUTCOME_MAX);
	if ((task == NULL) == (body == NULL)) {
		mcp_refuse(ret_refusal, "argument_invalid", "Give either task or plan");
		return MCP_TOOL_REFUSED;
	}
	asked.call.arena = &arena;
	if (task != NULL)
		asked.task = (struct str){json_string_value(task), json_string_length(task)};
	else
		r = plan_read(&context->request->arena, body, PLAN_FORM_PREVIEW, &plan, &refusal);
	if (r > 0)
		return refuse(context->request, r, &refusal, ret_refusal);
	if (r == 0 && body != NULL)
		asked.plan = &plan;
	return r != 0 ? r : preview(context->ctx, context->request, &asked, ret_answer, ret_refusal);
}
