/* Projects and their tool servers. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/project.h"
#include "policy/text.h"

enum { NAME_CHARACTERS = 240, PATH_CHARACTERS = 4096, REASON_CHARACTERS = 2000 };

/* Where a project lies on this machine is not everybody's business (4.2). */
static bool shows_root(const struct http_request *request)
{
	return auth_has_role(&request->token, AUTH_OPERATOR);
}

struct putting {
	struct api_call call;
	struct lifecycle_project_put put;
};

static void write_put(struct api_call *call, struct http_reply *reply)
{
	const struct putting *putting = (const struct putting *)call;
	const struct lifecycle_project *view = &putting->put.view;
	struct json_out out = http_reply_json(reply, putting->put.created ? 201 : 200);

	render_project(view, shows_root(call->request), putting->put.call.now, NULL, &out);
	http_reply_etag(reply, view->row.revision);
	if (putting->put.created)
		http_reply_header(reply, "Location", "/v1/projects/%.*s", (int)view->row.id.len, view->row.id.bytes);
}

/* `root` absent: it stays; null: it goes. */
static void read_root(struct json_place *body, struct lifecycle_project_put *put)
{
	const json_t *root = json_in_any(body, "root", JSON_OPTIONAL);

	if (root == NULL)
		return;
	put->root = json_is_null(root) ? LIFECYCLE_ROOT_REMOVE : LIFECYCLE_ROOT_SET;
	if (put->root == LIFECYCLE_ROOT_SET)
		put->root_path = json_in_str(body, "root", JSON_OPTIONAL, PATH_CHARACTERS);
}

static int put_project(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct putting *putting = ARENA_NEW(&request->arena, struct putting);
	struct json_place body;
	struct json_in in;
	int r = putting != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&putting->call, api, request, &putting->put.call, write_put, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	putting->put.id = http_request_param(request, "id");
	putting->put.name = json_in_str(&body, "name", JSON_OPTIONAL, NAME_CHARACTERS);
	if (putting->put.name.bytes != NULL && !text_is_identity(putting->put.name, NAME_CHARACTERS))
		json_in_fault(&body, "name", "must be a plain text of 1 to 240 characters");
	read_root(&body, &putting->put);
	json_in_end(&body);
	if (!json_in_ok(&in))
		http_reply_faults(reply, request, &in);
	if (!json_in_ok(&in) || condition_read(request, reply, &putting->put.condition) != 0)
		return api_call_drop(&putting->call, 0);
	return api_call_start(&putting->call, lifecycle_project_put(api->lifecycle, &putting->put), reply);
}

/* ---- out of use, and into it again */

struct moving {
	struct api_call call;
	struct lifecycle_project_move move;
};

static void write_moved(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_project_move *move = &((const struct moving *)call)->move;
	struct json_out out = http_reply_json(reply, 200);

	render_archived(move, shows_root(call->request), &out);
	http_reply_etag(reply, move->view.row.revision);
}

static int move(struct api *api, struct http_request *request, struct http_reply *reply,
	int (*function)(struct lifecycle *lifecycle, struct lifecycle_project_move *call))
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
	moving->move.id = http_request_param(request, "id");
	moving->move.reason = json_in_str(&body, "reason", JSON_OPTIONAL | JSON_NULLABLE, REASON_CHARACTERS);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&moving->call, 0);
	}
	return api_call_start(&moving->call, function(api->lifecycle, &moving->move), reply);
}

static int post_archive(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_project_archive);
}

static int post_unarchive(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return move(ctx, request, reply, lifecycle_project_unarchive);
}

/* ---- reading */

static int get_project(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_project project = {0};
	struct json_out out;
	int r = lifecycle_view_project(&reader, http_request_param(request, "id"), &project);

	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	render_project(&project, shows_root(request), lifecycle_now(api->lifecycle), &request->token, &out);
	http_reply_etag(reply, project.row.revision);
	return 0;
}

static int list_projects(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {NULL};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct store_project_list found = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, false);

	if (r != 0)
		return 0;
	r = lifecycle_list_projects(&reader, list.after, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	shown = api_list_open(&list, found.count);
	for (size_t i = 0; i < shown; i++)
		render_project_line(&found.items[i], shows_root(request), &list.out);
	api_list_close(&list, found.count > shown, shown > 0 ? found.items[shown - 1].id : STR(""));
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_PUT, "/v1/projects/{id}", AUTH_OPERATOR, HTTP_NEEDS_BODY | HTTP_WRITES, 0, put_project},
	{HTTP_POST, "/v1/projects/{id}/archive", AUTH_ADMIN, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0, post_archive},
	{HTTP_POST, "/v1/projects/{id}/unarchive", AUTH_ADMIN, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0, post_unarchive},
	{HTTP_GET, "/v1/projects/{id}", 0, 0, 0, get_project},
	{HTTP_GET, "/v1/projects", 0, 0, 0, list_projects},
};

const struct http_routes api_projects_routes = API_ROUTES(rows);
