/* What is known of a project's tool servers, and what outside checkers say of them. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/report.h"
#include "policy/health_row.h"

enum { ERROR_CHARACTERS = 4000, TIME_CHARACTERS = 64, ID_CHARACTERS = 80, HISTORY_ROWS = 20 };

struct reporting {
	struct api_call call;
	struct lifecycle_report report;
};

static void write_report(struct api_call *call, struct http_reply *reply)
{
	const struct reporting *reporting = (const struct reporting *)call;
	struct json_out out = http_reply_json(reply, 200);

	render_health(&reporting->report.health, reporting->report.call.now, &out);
}

/* The row of 1.6, member by member, so that each fault has its pointer. */
static void read_row(struct json_place *body, struct str mcp_id)
{
	static const char *const install_states[] = {"installed", "missing", NULL};
	static const char *const statuses[] = {
		"healthy", "unhealthy", "disabled", "auth_required", "configuration_required", "unknown", NULL};
	struct str named = json_in_str(body, "mcpId", JSON_REQUIRED, ID_CHARACTERS);

	if (named.bytes != NULL && !str_equal(named, mcp_id))
		json_in_fault(body, "mcpId", "is not the tool server of this address");
	(void)json_in_enum(body, "installState", JSON_REQUIRED, install_states);
	(void)json_in_enum(body, "status", JSON_REQUIRED, statuses);
	(void)json_in_bool(body, "enabled", JSON_REQUIRED, false);
	(void)json_in_time_ms(body, "checkedAt", JSON_REQUIRED);
	if (json_in_any(body, "error", JSON_OPTIONAL) == NULL)
		json_in_fault(body, "error", "is needed: null, or a text");
	else
		(void)json_in_str(body, "error", JSON_OPTIONAL | JSON_NULLABLE, ERROR_CHARACTERS);
}

static int put_health(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct reporting *reporting = ARENA_NEW(&request->arena, struct reporting);
	struct json_place body;
	struct json_in in;
	int r = reporting != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&reporting->call, api, request, &reporting->report.call, write_report, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	reporting->report.project = http_request_param(request, "id");
	reporting->report.mcp_id = http_request_param(request, "mcpId");
	read_row(&body, reporting->report.mcp_id);
	reporting->report.valid_seconds =
		json_in_int(&body, "validSeconds", JSON_OPTIONAL, 1, REPORT_VALID_SECONDS_LIMIT, 0);
	json_in_end(&body);
	if (json_in_ok(&in) &&
		!health_row_read(&request->arena, reporting->report.mcp_id, request->json, &reporting->report.row, &r))
		json_in_fault(&body, NULL, "is not a health row");
	if (r != 0)
		return api_call_drop(&reporting->call, r);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&reporting->call, 0);
	}
	return api_call_start(&reporting->call, lifecycle_report_health(api->lifecycle, &reporting->report), reply);
}

/* One list for each row; NULL: no memory. */
static struct store_event_list *read_histories(
	const struct lifecycle_reader *reader, const struct lifecycle_project *project, int *ret_result)
{
	struct store_event_list *lists = ARENA_ARRAY(reader->arena, project->health.count, struct store_event_list);

	*ret_result = lists != NULL ? 0 : -ENOMEM;
	for (size_t i = 0; *ret_result == 0 && i < project->health.count; i++)
		*ret_result = lifecycle_list_health_history(
			reader, project->row.id, project->health.items[i].mcp_id, HISTORY_ROWS, &lists[i]);
	return lists;
}

static int list_health(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_project project = {0};
	const struct store_event_list *histories = NULL;
	struct json_out out;
	int r = lifecycle_view_project_parts(&reader, http_request_param(request, "id"), &project);

	if (r == 0)
		histories = read_histories(&reader, &project, &r);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	json_out_key(&out, "items");
	json_out_begin_array(&out);
	for (size_t i = 0; i < project.health.count; i++)
		render_health_with_history(
			&project, i, lifecycle_now(api->lifecycle), &histories[i], &request->token, &out);
	json_out_end_array(&out);
	json_out_end_object(&out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_PUT, "/v1/projects/{id}/health/{mcpId}", AUTH_OPERATOR, HTTP_NEEDS_BODY | HTTP_WRITES, 0, put_health},
	{HTTP_GET, "/v1/projects/{id}/health", 0, 0, 0, list_health},
};

const struct http_routes api_health_routes = API_ROUTES(rows);
