/* Decisions: what the engine was given, and what it said. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/store/decision.h"

struct reading {
	struct str id;
	struct str projects_json;
	struct store_decision decision;
	struct store_decision_filter filter;
	int64_t from;
	size_t limit;
	struct store_decision_list list;
};

static void write_members(const struct store_decision *decision, struct json_out *out)
{
	json_out_member_str(out, "id", decision->id);
	json_out_member_str(out, "catalogDigest", decision->catalog_digest);
	json_out_member_str(out, "packageDigest", decision->package_digest);
	json_out_member_int(out, "engineRevision", decision->engine_revision);
	json_out_member_str(out, "resultDigest", decision->result_digest);
	time_text_member(out, "createdAt", decision->created_at);
}

/* Who may not see a project doesn't learn what was decided in it (4.1). */
static int run_find(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;
	int r = store_decision_is_seen(tx, reading->id, reading->projects_json);

	return r != 0 ? r : store_decision_find(tx, reading->id, &reading->decision);
}

static int refuse(struct http_reply *reply, const struct http_request *request, int result)
{
	if (result < 0)
		return result;
	return api_call_refuse_view(
		reply, request, result == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : LIFECYCLE_NOT_STORED);
}

static int get_decision(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct reading reading = {.id = http_request_param(request, "id")};
	struct json_out out;
	int r = api_scope_json(request, &reading.projects_json);

	if (r == 0)
		r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_find, &reading);
	if (r != 0)
		return refuse(reply, request, r);
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	write_members(&reading.decision, &out);
	json_out_member_raw(&out, "inputs", reading.decision.inputs_json);
	json_out_member_raw(&out, "result", reading.decision.result_json);
	json_out_end_object(&out);
	return 0;
}

static int run_list(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;

	return store_decision_list(tx, &reading->filter, reading->from, reading->limit, &reading->list);
}

static int list_decisions(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"project", "package", NULL};
	struct api *api = ctx;
	struct reading reading = {.filter.project = http_request_query(request, "project"),
		.filter.package = http_request_query(request, "package")};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	reading.from = list.from;
	reading.limit = api_list_wanted(&list);
	r = api_scope_json(request, &reading.filter.projects_json);
	if (r == 0)
		r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_list, &reading);
	if (r != 0)
		return refuse(reply, request, r);
	shown = api_list_open(&list, reading.list.count);
	for (size_t i = 0; i < shown; i++) {
		json_out_begin_object(&list.out);
		write_members(&reading.list.items[i], &list.out);
		json_out_end_object(&list.out);
	}
	api_list_close_sequence(
		&list, reading.list.count > shown, shown > 0 ? reading.list.items[shown - 1].sequence : 0);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/decisions", 0, 0, 0, list_decisions},
	{HTTP_GET, "/v1/decisions/{id}", 0, 0, 0, get_decision},
};

const struct http_routes api_decisions_routes = API_ROUTES(rows);
