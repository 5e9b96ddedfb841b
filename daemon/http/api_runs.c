/* Runs: finding them, their lease, and their outcome (chapter 2.5). */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/api_runs.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/heartbeat.h"
#include "daemon/lifecycle/outcome.h"

enum { SUMMARY_CHARACTERS = 4000 };

static int get_run(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_run run = {0};
	struct json_out out;
	int r = 0;

	if (request->token.run.bytes != NULL && !str_equal(request->token.run, http_request_param(request, "id")))
		return api_call_refuse_view(reply, request, LIFECYCLE_NOT_FOUND);
	r = lifecycle_view_run(&reader, http_request_param(request, "id"), &run);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	render_run(&run, reader.lifecycle, &out);
	condition_tag_body(request, reply);
	return 0;
}

/* `claimedBy`: `me` is the token that asks, so that a claim whose answer was lost is found; else a principal. */
static int read_filter(struct http_request *request, struct store_run_filter *filter)
{
	struct str claimer = http_request_query(request, "claimedBy");

	filter->project = http_request_query(request, "project");
	filter->task = http_request_query(request, "task");
	filter->package = http_request_query(request, "package");
	if (claimer.bytes != NULL && str_is(claimer, "me"))
		filter->claimed_by_token = request->token.id;
	else
		filter->claimed_by_principal = claimer;
	return http_request_query_bool(request, "live", &filter->live_only);
}

static int list_runs(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"project", "task", "package", "claimedBy", "live", NULL};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct store_run_filter filter = {0};
	struct store_run_list found = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	if (read_filter(request, &filter) != 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "live is true or false");
		return 0;
	}
	r = lifecycle_list_runs(&reader, filter, list.from, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	shown = api_list_open(&list, found.count);
	for (size_t i = 0; i < shown; i++)
		render_run_line(&found.items[i], reader.lifecycle, &list.out);
	api_list_close_sequence(&list, found.count > shown, shown > 0 ? found.items[shown - 1].sequence : 0);
	return 0;
}

bool api_runs_names(struct http_request *request, struct str run, struct http_reply *reply)
{
	if (request->token.run.bytes == NULL || str_equal(request->token.run, run))
		return true;
	api_call_refuse(reply, request, LIFECYCLE_NOT_FOUND, NULL);
	return false;
}

/* ---- the lease */

struct renewing {
	struct api_call call;
	struct lifecycle_heartbeat heartbeat;
};

static void write_renewed(struct api_call *call, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 200);

	render_heartbeat(&((const struct renewing *)call)->heartbeat, &out);
}

static int post_heartbeat(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct renewing *renewing = ARENA_NEW(&request->arena, struct renewing);
	struct json_place body;
	struct json_in in;
	int r = renewing != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&renewing->call, api, request, &renewing->heartbeat.call, write_renewed, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	renewing->heartbeat.run = http_request_param(request, "id");
	renewing->heartbeat.has_run_token = request->token.run.bytes != NULL;
	if (!api_runs_names(request, renewing->heartbeat.run, reply))
		return api_call_drop(&renewing->call, 0);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&renewing->call, 0);
	}
	return api_call_start(&renewing->call, lifecycle_renew(api->lifecycle, &renewing->heartbeat), reply);
}

/* ---- the outcome */

struct ending {
	struct api_call call;
	struct lifecycle_outcome outcome;
};

static void write_outcome(struct api_call *call, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 200);

	render_outcome(&((const struct ending *)call)->outcome, &out);
}

static void read_outcome(struct json_place *body, struct lifecycle_outcome *outcome)
{
	static const char *const words[] = {"succeeded", "failed", "released", NULL};
	static const enum store_run_outcome outcomes[] = {
		STORE_RUN_LIVE, STORE_RUN_SUCCEEDED, STORE_RUN_FAILED, STORE_RUN_RELEASED};

	outcome->outcome = outcomes[json_in_enum(body, "outcome", JSON_REQUIRED, words)];
	outcome->summary = json_in_str(body, "summary", JSON_OPTIONAL | JSON_NULLABLE, SUMMARY_CHARACTERS);
	json_in_end(body);
}

static int post_outcome(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct ending *ending = ARENA_NEW(&request->arena, struct ending);
	struct json_place body;
	struct json_in in;
	int r = ending != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&ending->call, api, request, &ending->outcome.call, write_outcome, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	ending->outcome.run = http_request_param(request, "id");
	ending->outcome.has_run_token = request->token.run.bytes != NULL;
	if (!api_runs_names(request, ending->outcome.run, reply))
		return api_call_drop(&ending->call, 0);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	read_outcome(&body, &ending->outcome);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&ending->call, 0);
	}
	return api_call_start(&ending->call, lifecycle_report_outcome(api->lifecycle, &ending->outcome), reply);
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/runs", 0, 0, 0, list_runs},
	{HTTP_GET, "/v1/runs/{id}", 0, HTTP_RUN_TOKEN, 0, get_run},
	{HTTP_POST, "/v1/runs/{id}/heartbeat", AUTH_EXECUTOR, HTTP_OPTIONAL_BODY | HTTP_WRITES | HTTP_RUN_TOKEN, 0,
		post_heartbeat},
	{HTTP_POST, "/v1/runs/{id}/context", AUTH_EXECUTOR, HTTP_OPTIONAL_BODY | HTTP_WRITES | HTTP_RUN_TOKEN, 0,
		api_context_post},
	{HTTP_POST, "/v1/runs/{id}/outcome", AUTH_EXECUTOR, HTTP_NEEDS_BODY | HTTP_WRITES | HTTP_RUN_TOKEN, 0,
		post_outcome},
};

const struct http_routes api_runs_routes = API_ROUTES(rows);
