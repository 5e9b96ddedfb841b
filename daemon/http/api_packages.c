/* Packages, and the timelines of packages and tasks. */
#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/render.h"

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
	return 0;
}

/* Oldest first: what happened is read in its order. */
static int list_events(
	struct api *api, struct http_request *request, struct store_event_filter filter, struct http_reply *reply)
{
	static const char *const filters[] = {NULL};
	struct lifecycle_reader reader = api_reader(api, request);
	struct store_event_list found = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	r = lifecycle_list_events(&reader, filter, list.from, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	shown = api_list_open(&list, found.count);
	for (size_t i = 0; i < shown; i++)
		render_event(&found.items[i], &list.out);
	api_list_close_sequence(&list, found.count > shown, shown > 0 ? found.items[shown - 1].sequence : 0);
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

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/packages/{id}", 0, 0, 0, get_package},
	{HTTP_GET, "/v1/packages/{id}/timeline", 0, 0, 0, get_package_timeline},
	{HTTP_GET, "/v1/tasks/{id}/timeline", 0, 0, 0, get_task_timeline},
};

const struct http_routes api_packages_routes = API_ROUTES(rows);
