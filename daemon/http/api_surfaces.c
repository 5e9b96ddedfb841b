/* The three surfaces: preview, approval, handoff (chapter 2.3). */
#include <errno.h>
#include <stdio.h>

#include "daemon/http/api_call.h"
#include "daemon/http/conn.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/surface.h"

enum {
	REASON_CHARACTERS = 2000,
	WORKER_CHARACTERS = 160,
	AGENT_CHARACTERS = 80,
	PROJECT_CHARACTERS = 64,
	DETAIL_MAX = 96
};

/* ---- preview */

struct previewing {
	struct api_call call;
	struct lifecycle_preview preview;
	struct plan plan;
};

static void write_preview(struct api_call *call, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 200);

	render_preview(&((const struct previewing *)call)->preview, &call->request->token, &out);
}

static int begin_preview(
	struct api *api, struct http_request *request, struct http_reply *reply, struct previewing **ret)
{
	*ret = ARENA_NEW(&request->arena, struct previewing);
	if (*ret == NULL)
		return -ENOMEM;
	return api_call_begin(&(*ret)->call, api, request, &(*ret)->preview.call, write_preview, reply);
}

/* True if the body is absent or {}. */
static bool is_empty_body(struct http_request *request, struct http_reply *reply)
{
	struct json_place body;
	struct json_in in;

	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	json_in_end(&body);
	if (json_in_ok(&in))
		return true;
	http_reply_faults(reply, request, &in);
	return false;
}

static int post_task_preview(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct previewing *previewing = NULL;
	int r = begin_preview(api, request, reply, &previewing);

	if (r != 0)
		return API_CALL_ENDED(r);
	if (!is_empty_body(request, reply))
		return api_call_drop(&previewing->call, 0);
	previewing->preview.task = http_request_param(request, "id");
	return api_call_start(&previewing->call, lifecycle_preview(api->lifecycle, &previewing->preview), reply);
}

static int post_preview(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct previewing *previewing = NULL;
	struct lifecycle_refusal refusal = {.revision = -1};
	int r = begin_preview(api, request, reply, &previewing);

	if (r != 0)
		return API_CALL_ENDED(r);
	r = plan_read(&request->arena, request->json, PLAN_FORM_PREVIEW, &previewing->plan, &refusal);
	if (r > 0)
		api_call_refuse(reply, request, r, &refusal);
	if (r != 0)
		return api_call_drop(&previewing->call, API_CALL_ENDED(r));
	previewing->preview.plan = &previewing->plan;
	return api_call_start(&previewing->call, lifecycle_preview(api->lifecycle, &previewing->preview), reply);
}

/* ---- approval */

struct approving {
	struct api_call call;
	struct lifecycle_approval approval;
};

static void write_approval(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_approval *approval = &((const struct approving *)call)->approval;

	http_reply_raw(reply, 200, "application/json", approval->answer);
}

static bool is_retryable(const struct lifecycle_judgement *judgement)
{
	for (size_t i = 0; i < judgement->package_count; i++)
		if (judgement->packages[i].status == ADMISSION_BLOCKED && !judgement->packages[i].retryable)
			return false;
	return true;
}

static void write_judged(const struct lifecycle_judgement *judgement, enum admission_status status, const char *key,
	const struct auth_token *token, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < judgement->package_count; i++) {
		if (judgement->packages[i].status != status)
			continue;
		if (status == ADMISSION_BLOCKED)
			render_blocked(&judgement->packages[i], token, out);
		else
			render_warning(&judgement->packages[i], out);
	}
	json_out_end_array(out);
}

static void write_not_approved(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_approval *approval = &((const struct approving *)call)->approval;
	const struct lifecycle_judgement *judgement = &approval->judgement;
	size_t blocked = judgement->counts[ADMISSION_BLOCKED];
	char detail[DETAIL_MAX];
	struct json_out out;

	(void)snprintf(detail, sizeof(detail), "%zu of %zu packages %s blocked; nothing was changed", blocked,
		judgement->package_count, blocked == 1 ? "is" : "are");
	out = http_reply_problem_begin(reply, call->request, HTTP_PROBLEM_ADMISSION_BLOCKED, api_text(detail));
	json_out_member_text(&out, "surface", "approval");
	json_out_member_str(&out, "task", approval->task);
	json_out_member_revision(&out, "planRevision", approval->plan_revision);
	json_out_member_bool(&out, "retryable", is_retryable(judgement));
	write_judged(judgement, ADMISSION_BLOCKED, "blocked", &call->request->token, &out);
	write_judged(judgement, ADMISSION_WARNING, "warnings", &call->request->token, &out);
	json_out_member_raw(&out, "health", judgement->health);
	http_reply_problem_end(&out);
}

static int post_approval(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct approving *approving = ARENA_NEW(&request->arena, struct approving);
	struct lifecycle_approval *approval = approving != NULL ? &approving->approval : NULL;
	struct json_place body;
	struct json_in in;
	int r = approving != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&approving->call, api, request, &approval->call, write_approval, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	approving->call.blocked = write_not_approved;
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	approval->task = http_request_param(request, "id");
	approval->plan_revision = json_in_revision(&body, "planRevision", JSON_REQUIRED);
	approval->root_revision = json_in_revision(&body, "rootRevision", JSON_OPTIONAL);
	approval->reason = json_in_str(&body, "reason", JSON_OPTIONAL | JSON_NULLABLE, REASON_CHARACTERS);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&approving->call, 0);
	}
	return api_call_start(&approving->call, lifecycle_approve(api->lifecycle, approval), reply);
}

/* ---- handoff */

struct handing {
	struct api_call call;
	struct lifecycle_handoff handoff;
	enum agent_kind agent; /* whose config is wanted */
};

static void write_claim(struct api_call *call, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 200);

	render_claim(&((const struct handing *)call)->handoff, ((const struct handing *)call)->agent, &out);
}

static void write_not_handed(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_judged *judged = &((const struct handing *)call)->handoff.judged;
	struct json_out out = http_reply_problem_begin_as(reply, call->request, HTTP_PROBLEM_ADMISSION_BLOCKED,
		"The package is held", judged->is_held ? judged->hold.reason : judged->reason);

	render_held(judged, &call->request->token, &out);
	http_reply_problem_end(&out);
}

static int hand_again(struct api_call *call)
{
	return lifecycle_handoff(call->api->lifecycle, &((struct handing *)call)->handoff);
}

static void read_agent_config(struct json_place *body, struct handing *handing)
{
	const char *words[AGENT_KINDS + 1] = {0};
	unsigned found = 0;

	for (unsigned i = 0; i < AGENT_KINDS; i++)
		words[i] = agent_kind_name((enum agent_kind)i);
	found = json_in_enum(body, "agentConfig", JSON_OPTIONAL, words);
	handing->handoff.wants_config = found > 0;
	handing->agent = found > 0 ? (enum agent_kind)(found - 1) : AGENT_CLAUDE_CODE;
}

/* Which of all, and how long it is waited for. */
static void read_any(struct json_place *body, struct handing *handing)
{
	int64_t wait_s = json_in_int(body, "waitSeconds", JSON_OPTIONAL, 0, HANDOFF_WAIT_SECONDS, 0);

	handing->handoff.project = json_in_str(body, "project", JSON_OPTIONAL, PROJECT_CHARACTERS);
	handing->handoff.agent = json_in_str(body, "agent", JSON_OPTIONAL, AGENT_CHARACTERS);
	if (wait_s == 0)
		return;
	handing->call.again = hand_again;
	handing->call.waiter.until_ms = conn_now_ms() + (uint64_t)wait_s * 1000;
	handing->call.waiter.seen = handoff_wait_events(&handing->call.api->waits);
}

/* `is_any`: of all approved tasks, where the body may narrow it. */
static int hand_off(
	struct api *api, struct http_request *request, struct http_reply *reply, struct handing *handing, bool is_any)
{
	struct lifecycle_handoff *handoff = &handing->handoff;
	struct json_place body;
	struct json_in in;

	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	handoff->worker = json_in_str(&body, "worker", JSON_OPTIONAL | JSON_NULLABLE, WORKER_CHARACTERS);
	read_agent_config(&body, handing);
	if (is_any)
		read_any(&body, handing);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&handing->call, 0);
	}
	return api_call_start(&handing->call, lifecycle_handoff(api->lifecycle, handoff), reply);
}

static int begin_handoff(struct api *api, struct http_request *request, struct http_reply *reply, struct handing **ret)
{
	struct handing *handing = ARENA_NEW(&request->arena, struct handing);

	*ret = handing;
	if (handing == NULL)
		return -ENOMEM;
	handing->call.run_token = &handing->handoff.run_token;
	handing->call.blocked = write_not_handed;
	return api_call_begin(&handing->call, api, request, &handing->handoff.call, write_claim, reply);
}

static int post_package_handoff(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct handing *handing = NULL;
	int r = begin_handoff(ctx, request, reply, &handing);

	if (r != 0)
		return API_CALL_ENDED(r);
	handing->handoff.package = http_request_param(request, "id");
	return hand_off(ctx, request, reply, handing, false);
}

static int post_task_handoff(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct handing *handing = NULL;
	int r = begin_handoff(ctx, request, reply, &handing);

	if (r != 0)
		return API_CALL_ENDED(r);
	handing->handoff.task = http_request_param(request, "id");
	return hand_off(ctx, request, reply, handing, false);
}

static int post_handoffs(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct handing *handing = NULL;
	int r = begin_handoff(ctx, request, reply, &handing);

	return r != 0 ? API_CALL_ENDED(r) : hand_off(ctx, request, reply, handing, true);
}

enum { BODY = HTTP_OPTIONAL_BODY | HTTP_WRITES };

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/tasks/{id}/preview", 0, BODY, 0, post_task_preview},
	{HTTP_POST, "/v1/preview", 0, HTTP_NEEDS_BODY | HTTP_WRITES, HTTP_DOCUMENT_MAX, post_preview},
	{HTTP_POST, "/v1/tasks/{id}/approval", AUTH_APPROVER, HTTP_NEEDS_BODY | HTTP_WRITES, 0, post_approval},
	{HTTP_POST, "/v1/packages/{id}/handoff", AUTH_EXECUTOR, BODY, 0, post_package_handoff},
	{HTTP_POST, "/v1/tasks/{id}/handoff", AUTH_EXECUTOR, BODY, 0, post_task_handoff},
	{HTTP_POST, "/v1/handoffs", AUTH_EXECUTOR, BODY, 0, post_handoffs},
};

const struct http_routes api_surfaces_routes = API_ROUTES(rows);
