/* Packages, what people do to one (chapter 2.2), and the timelines of packages and tasks. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/move.h"

enum { REASON_CHARACTERS = 2000 };

static int get_package(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_package package = {0};
	struct json_out out;
	int r = lifecycle_view_package(&reader, http_request_param(request, "id"), &package);

	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	render_package(&package, &request->token, &out);
	condition_tag_body(request, reply);
	return 0;
}

/* Oldest first: what happened is read in its order. */
static int list_events(
	struct api *api, struct http_request *request, struct store_event_filter filter, struct http_reply *reply)
{
	static const char *const filters[] = {NULL};
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_told found = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	r = lifecycle_list_events(&reader, filter, list.from, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	shown = api_list_open(&list, found.events.count);
	for (size_t i = 0; i < shown; i++)
		render_told_event(&found.events.items[i], &found.words[i], &list.out);
	api_list_close_sequence(
		&list, found.events.count > shown, shown > 0 ? found.events.items[shown - 1].sequence : 0);
	return 0;
}

static int get_package_timeline(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct store_event_filter filter = {.package = http_request_param(request, "id")};

	return list_events(ctx, request, filter, reply);
}

static int get_task_timeline(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct store_event_filter filter = {.task = http_request_param(request, "id")};

	return list_events(ctx, request, filter, reply);
}

/* ---- cancelling, retrying, reworking */

struct moving {
	struct api_call call;
	struct lifecycle_package_move move;
};

typedef int move_fn(struct lifecycle *lifecycle, struct lifecycle_package_move *call);

static void write_moved(struct api_call *call, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 200);

	render_package_move(&((const struct moving *)call)->move, &out);
}

static int move(struct api *api, struct http_request *request, struct http_reply *reply, move_fn *function)
{
	struct moving *moving = ARENA_NEW(&request->arena, struct moving);
	struct json_place body;
	struct json_in in;
	int r = moving != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&moving->call, api, request, &moving->move.call, write_moved, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	moving->move.package = http_request_param(request, "id");
	moving->move.is_operator = auth_has_role(&request->token, AUTH_OPERATOR);
	moving->move.reason = json_in_str(&body, "reason", JSON_OPTIONAL | JSON_NULLABLE, REASON_CHARACTERS);
	if (function != lifecycle_retry)
		moving->move.cascade = json_in_bool(&body, "cascade", JSON_OPTIONAL, false);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&moving->call, 0);
	}
	return api_call_start(&moving->call, function(api->lifecycle, &moving->move), reply);
}

static int post_cancellation(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_cancel_package);
}

static int post_retry(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_retry);
}

static int post_rework(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_rework);
}

enum { BODY = HTTP_OPTIONAL_BODY | HTTP_WRITES };

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/packages/{id}/cancellation", AUTH_OPERATOR, BODY, 0, post_cancellation},
	{HTTP_POST, "/v1/packages/{id}/retry", AUTH_OPERATOR, BODY, 0, post_retry},
	{HTTP_POST, "/v1/packages/{id}/rework", AUTH_OPERATOR | AUTH_EXECUTOR, BODY, 0, post_rework},
	{HTTP_GET, "/v1/packages/{id}", 0, 0, 0, get_package},
	{HTTP_GET, "/v1/packages/{id}/timeline", 0, 0, 0, get_package_timeline},
	{HTTP_GET, "/v1/tasks/{id}/timeline", 0, 0, 0, get_task_timeline},
};

const struct http_routes api_packages_routes = API_ROUTES(rows);
