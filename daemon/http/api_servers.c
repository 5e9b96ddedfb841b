/* Tool servers of a project: how they are reached, and looking at one now (chapters 4.2, 5.6, 5.7). */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/server.h"
#include "daemon/lifecycle/time_text.h"

/* ---- reading them */

static int list_servers(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_project project = {0};
	struct json_out out;
	int r = lifecycle_view_project_parts(&reader, http_request_param(request, "id"), &project);

	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	json_out_key(&out, "items");
	json_out_begin_array(&out);
	for (size_t i = 0; i < project.servers.count; i++)
		render_server(&project, i, &request->token, &out);
	json_out_end_array(&out);
	json_out_end_object(&out);
	return 0;
}

static int get_server(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_project project = {0};
	struct json_out out;
	int r = lifecycle_view_project_parts(&reader, http_request_param(request, "id"), &project);

	for (size_t i = 0; r == 0 && i < project.servers.count; i++) {
		if (!str_equal(project.servers.items[i].mcp_id, http_request_param(request, "mcpId")))
			continue;
		out = http_reply_json(reply, 200);
		render_server(&project, i, &request->token, &out);
		http_reply_etag(reply, project.servers.items[i].revision);
		return 0;
	}
	return api_call_refuse_view(reply, request, r != 0 ? r : LIFECYCLE_NOT_FOUND);
}

/* ---- setting one */

struct putting {
	struct api_call call;
	struct lifecycle_server_put put;
};

static void write_put(struct api_call *call, struct http_reply *reply)
{
	const struct putting *putting = (const struct putting *)call;
	const struct lifecycle_server_put *put = &putting->put;
	struct json_out out = http_reply_json(reply, put->created ? 201 : 200);

	render_server_with_health(&put->server, put->has_health ? &put->health : NULL, putting->call.call->now, &out);
	http_reply_etag(reply, put->server.revision);
	if (put->created)
		http_reply_header(reply, "Location", "/v1/projects/%.*s/servers/%.*s", (int)put->server.project.len,
			put->server.project.bytes, (int)put->server.mcp_id.len, put->server.mcp_id.bytes);
}

struct reading {
	struct http_request *request;
	struct json_in in;
	struct spec_faults spec_faults;
	struct spec spec;
	const json_t *given; /* the spec, NULL: none */
};

static enum store_server_kind read_kind(struct json_place *body, const struct reading *reading, struct str mcp_id)
{
	static const char *const words[] = {"reported", "builtin", "spec", NULL};
	static const enum store_server_kind kinds[] = {STORE_SERVER_REPORTED, STORE_SERVER_BUILTIN, STORE_SERVER_SPEC};
	unsigned found = json_in_enum(body, "kind", JSON_OPTIONAL, words);
	bool has_spec = reading->given != NULL;

	if (found == 0 && has_spec)
		return STORE_SERVER_SPEC;
	if (found == 0)
		return lifecycle_is_builtin(mcp_id) ? STORE_SERVER_BUILTIN : STORE_SERVER_REPORTED;
	if (kinds[found - 1] == STORE_SERVER_SPEC && !has_spec)
		json_in_fault(body, "spec", "is needed for this kind");
	if (kinds[found - 1] != STORE_SERVER_SPEC && has_spec)
		json_in_fault(body, "kind", "is spec where there is a spec");
	return kinds[found - 1];
}

/* 0, also with faults; -ENOMEM. */
static int read_put(struct reading *reading, struct lifecycle_server_put *put)
{
	struct http_request *request = reading->request;
	struct json_place body;
	int r = 0;

	json_in_init(&reading->in, &request->arena);
	json_in_root(&reading->in, request->json, &body);
	reading->spec_faults.arena = &request->arena;
	put->project = http_request_param(request, "id");
	put->mcp_id = http_request_param(request, "mcpId");
	put->enabled = json_in_bool(&body, "enabled", JSON_OPTIONAL, true);
	reading->given = json_in_any(&body, "spec", JSON_OPTIONAL);
	if (json_is_null(reading->given))
		reading->given = NULL;
	put->kind = read_kind(&body, reading, put->mcp_id);
	json_in_end(&body);
	if (reading->given != NULL)
		r = spec_read(put->mcp_id, reading->given, &reading->spec_faults, &reading->spec);
	return r < 0 || reading->in.out_of_memory ? -ENOMEM : 0;
}

/* Every fault of the body, with those of the spec behind them. */
static int refuse(const struct reading *reading, struct http_reply *reply)
{
	struct arena *arena = &reading->request->arena;
	size_t count = reading->in.count + reading->spec_faults.count;
	struct lifecycle_fault *faults = ARENA_ARRAY(arena, count, struct lifecycle_fault);
	struct lifecycle_refusal refusal = {.revision = -1, .faults = faults, .fault_count = count};

	if (faults == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < reading->in.count; i++)
		faults[i] = (struct lifecycle_fault){reading->in.faults[i].pointer, reading->in.faults[i].detail};
	for (size_t i = 0; i < reading->spec_faults.count; i++) {
		const struct spec_fault *fault = &reading->spec_faults.items[i];

		faults[reading->in.count + i] = (struct lifecycle_fault){
			arena_printf(arena, "/spec%.*s", (int)fault->pointer.len, fault->pointer.bytes), fault->text};
	}
	if (arena->failed)
		return -ENOMEM;
	api_call_refuse(reply, reading->request, LIFECYCLE_INVALID_DOCUMENT, &refusal);
	return 0;
}

static int put_server(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct putting *putting = ARENA_NEW(&request->arena, struct putting);
	struct reading reading = {.request = request};
	int r = putting != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&putting->call, api, request, &putting->put.call, write_put, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	r = read_put(&reading, &putting->put);
	if (r == 0 && reading.in.count + reading.spec_faults.count > 0)
		return api_call_drop(&putting->call, refuse(&reading, reply));
	if (r == 0 && condition_read(request, reply, &putting->put.condition) != 0)
		return api_call_drop(&putting->call, 0);
	if (r == 0 && reading.given != NULL)
		r = lifecycle_server_keep(
			api->lifecycle, &request->arena, putting->put.project, &reading.spec, &putting->put.spec_json);
	if (r != 0)
		return api_call_drop(&putting->call, r);
	return api_call_start(&putting->call, lifecycle_server_put(api->lifecycle, &putting->put), reply);
}

/* ---- taking one away */

struct deleting {
	struct api_call call;
	struct lifecycle_server_delete request;
};

static void write_deleted(struct api_call *call, struct http_reply *reply)
{
	(void)call;
	http_reply_empty(reply, 204);
}

static int delete_server(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct deleting *deleting = ARENA_NEW(&request->arena, struct deleting);
	int r = deleting != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&deleting->call, api, request, &deleting->request.call, write_deleted, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	deleting->request.project = http_request_param(request, "id");
	deleting->request.mcp_id = http_request_param(request, "mcpId");
	if (condition_read(request, reply, &deleting->request.condition) != 0)
		return api_call_drop(&deleting->call, 0);
	return api_call_start(&deleting->call, lifecycle_server_delete(api->lifecycle, &deleting->request), reply);
}

/* ---- looking at one now */

struct checking {
	struct api_call call;
	struct lifecycle_server_check check;
};

static void write_checked(struct api_call *call, struct http_reply *reply)
{
	const struct checking *checking = (const struct checking *)call;
	const struct lifecycle_server_check *check = &checking->check;
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_member_str(&out, "mcpId", check->mcp_id);
	json_out_member_bool(&out, "asked", check->was_asked);
	json_out_key(&out, "health");
	if (check->has_health)
		render_health(&check->health, checking->call.call->now, &out);
	else
		json_out_null(&out);
	time_text_member(&out, "nextRetryAt", check->next_retry_at);
	json_out_end_object(&out);
}

static int check_server(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct checking *checking = ARENA_NEW(&request->arena, struct checking);
	struct json_place body;
	struct json_in in;
	int r = checking != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&checking->call, api, request, &checking->check.call, write_checked, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&checking->call, 0);
	}
	checking->check.project = http_request_param(request, "id");
	checking->check.mcp_id = http_request_param(request, "mcpId");
	return api_call_start(&checking->call, lifecycle_server_check(api->lifecycle, &checking->check), reply);
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/projects/{id}/servers", 0, 0, 0, list_servers},
	{HTTP_GET, "/v1/projects/{id}/servers/{mcpId}", 0, 0, 0, get_server},
	{HTTP_PUT, "/v1/projects/{id}/servers/{mcpId}", AUTH_ADMIN, HTTP_NEEDS_BODY | HTTP_WRITES, 0, put_server},
	{HTTP_DELETE, "/v1/projects/{id}/servers/{mcpId}", AUTH_ADMIN, HTTP_WRITES, 0, delete_server},
	{HTTP_POST, "/v1/projects/{id}/servers/{mcpId}/check", AUTH_OPERATOR, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0,
		check_server},
};

const struct http_routes api_servers_routes = API_ROUTES(rows);
