/* Plans: submitting them, reading tasks, and what people do to them beside approving (chapter 2.2). */
#include <errno.h>
#include <string.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/http/text_table.h"
#include "daemon/lifecycle/move.h"
#include "daemon/lifecycle/plan.h"

enum { REASON_CHARACTERS = 2000 };

struct planning {
	struct api_call call;
	struct lifecycle_plan_put put;
	struct plan plan;
};

static void write_planned(struct api_call *call, struct http_reply *reply)
{
	const struct planning *planning = (const struct planning *)call;
	const struct lifecycle_plan_put *put = &planning->put;
	struct json_out out = http_reply_json(reply, put->effect == LIFECYCLE_PLAN_CREATED ? 201 : 200);

	render_task(&put->view, RENDER_TASK_SUPERSEDED, put->superseded, put->superseded_count, &call->request->token,
		&out);
	http_reply_etag(reply, put->view.row.plan_revision);
	if (put->effect == LIFECYCLE_PLAN_CREATED)
		http_reply_header(reply, "Location", "/v1/tasks/%.*s", (int)put->task.len, put->task.bytes);
}

static int read_plan(struct planning *planning, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_refusal refusal = {.revision = -1};
	int r = condition_read(request, reply, &planning->put.condition);

	if (r != 0)
		return API_CALL_ANSWERED;
	r = plan_read(&request->arena, request->json, PLAN_FORM_TASK, &planning->plan, &refusal);
	if (r <= 0)
		return r;
	api_call_refuse(reply, request, r, &refusal);
	return API_CALL_ANSWERED;
}

static int put_task(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct planning *planning = ARENA_NEW(&request->arena, struct planning);
	int r = planning != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&planning->call, api, request, &planning->put.call, write_planned, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	planning->put.task = http_request_param(request, "id");
	planning->put.plan = &planning->plan;
	r = read_plan(planning, request, reply);
	if (r != 0)
		return api_call_drop(&planning->call, API_CALL_ENDED(r));
	return api_call_start(&planning->call, lifecycle_plan_put(api->lifecycle, &planning->put), reply);
}

/* ---- rejecting, sending back, cancelling */

struct moving {
	struct api_call call;
	struct lifecycle_task_move move;
};

typedef int move_fn(struct lifecycle *lifecycle, struct lifecycle_task_move *call);

static void write_moved_as(struct api_call *call, unsigned part, struct http_reply *reply)
{
	const struct lifecycle_task_move *move = &((const struct moving *)call)->move;
	struct json_out out = http_reply_json(reply, 200);

	render_task(&move->view, RENDER_TASK_STORY | part, move->ended, move->ended_count, &call->request->token, &out);
	http_reply_etag(reply, move->view.row.plan_revision);
}

static void write_rejected(struct api_call *call, struct http_reply *reply)
{
	write_moved_as(call, 0, reply);
}

static void write_sent_back(struct api_call *call, struct http_reply *reply)
{
	write_moved_as(call, RENDER_TASK_SUPERSEDED, reply);
}

static void write_cancelled(struct api_call *call, struct http_reply *reply)
{
	write_moved_as(call, RENDER_TASK_CANCELLED, reply);
}

/* Who rejects a plan or sends it back has read it; a task is also cancelled whatever its plan is. */
static int move(struct api *api, struct http_request *request, struct http_reply *reply, move_fn *function,
	api_call_write_fn *write)
{
	struct moving *moving = ARENA_NEW(&request->arena, struct moving);
	bool is_cancelled = function == lifecycle_cancel_task;
	struct json_place body;
	struct json_in in;
	int r = moving != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&moving->call, api, request, &moving->move.call, write, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	moving->move.task = http_request_param(request, "id");
	moving->move.plan_revision =
		json_in_revision(&body, "planRevision", is_cancelled ? JSON_OPTIONAL : JSON_REQUIRED);
	moving->move.reason = json_in_str(&body, "reason", JSON_OPTIONAL | JSON_NULLABLE, REASON_CHARACTERS);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&moving->call, 0);
	}
	return api_call_start(&moving->call, function(api->lifecycle, &moving->move), reply);
}

static int post_rejection(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_reject, write_rejected);
}

static int post_changes(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_request_changes, write_sent_back);
}

static int post_cancellation(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_cancel_task, write_cancelled);
}

/* ---- reading */

static int get_task(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_task task = {0};
	struct json_out out;
	int r = lifecycle_view_task(&reader, http_request_param(request, "id"), &task);

	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	render_task(&task, RENDER_TASK_ACTIONS, NULL, 0, &request->token, &out);
	/* The tag is the plan's and the answer tells of more, so it is never "not modified". */
	http_reply_etag(reply, task.row.plan_revision);
	return 0;
}

/* False: there is no such status. */
static bool read_filter(struct http_request *request, struct store_task_filter *filter)
{
	struct str status = http_request_query(request, "status");
	struct str submitter = http_request_query(request, "submittedBy");

	filter->project = http_request_query(request, "project");
	filter->submitted_by = submitter;
	if (submitter.bytes != NULL && str_is(submitter, "me"))
		filter->submitted_by = request->token.principal;
	filter->has_status = status.bytes != NULL;
	return status.bytes == NULL || store_task_status_parse(status, &filter->status) == 0;
}

static int list_tasks(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"project", "status", "submittedBy", NULL};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct store_task_filter filter = {0};
	struct store_task_list found = {0};
	struct api_list list;
	bool is_text = false;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r == 0)
		r = text_table_wanted(request, reply, &is_text);
	if (r != 0)
		return 0;
	if (!read_filter(request, &filter)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "status is a task's status");
		return 0;
	}
	r = lifecycle_list_tasks(&reader, filter, list.from, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	if (is_text) {
		render_tasks_text(&found, api_list_shown(&list, found.count), &request->arena, reply);
		return 0;
	}
	shown = api_list_open(&list, found.count);
	for (size_t i = 0; i < shown; i++)
		render_task_line(&found.items[i], &list.out);
	api_list_close_sequence(&list, found.count > shown, shown > 0 ? found.items[shown - 1].sequence : 0);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_PUT, "/v1/tasks/{id}", AUTH_PLANNER, HTTP_NEEDS_BODY | HTTP_WRITES, HTTP_DOCUMENT_MAX, put_task},
	{HTTP_POST, "/v1/tasks/{id}/rejection", AUTH_APPROVER, HTTP_NEEDS_BODY | HTTP_WRITES, 0, post_rejection},
	{HTTP_POST, "/v1/tasks/{id}/changes", AUTH_APPROVER | AUTH_OPERATOR, HTTP_NEEDS_BODY | HTTP_WRITES, 0,
		post_changes},
	{HTTP_POST, "/v1/tasks/{id}/cancellation", AUTH_OPERATOR, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0,
		post_cancellation},
	{HTTP_GET, "/v1/tasks/{id}", 0, 0, 0, get_task},
	{HTTP_GET, "/v1/tasks", 0, 0, 0, list_tasks},
};

const struct http_routes api_tasks_routes = API_ROUTES(rows);
