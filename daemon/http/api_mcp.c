#include "daemon/http/api_mcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/mcp_project.h"
#include "mcp/windows.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/text.h"

enum { QUERY_MAX = 8, TOOLS_MAX = MCP_WINDOWS + MCP_PROJECT_TOOLS, THREADS = 2, CALLS_WAITING = 64 };

static const char instructions[] = "Shows what agent work waits for in admitd, and what would become of a plan. "
				   "Nothing here approves, grants or changes anything: a "
				   "person does that. Begin with recovery_list when work doesn't start, with "
				   "admission_preview before a plan is handed in. A result "
				   "with isError carries {code, message}: go by the code.";

/* Which GET route a window is, by what it is asked for. */
struct window {
	enum mcp_window window;
	const char *pattern; /* of a row of GET: nothing else can be said here */
	const char *subject; /* the argument that stands in the pattern; NULL: none. All others are the query */
};

static const struct window windows[] = {
	{MCP_WINDOW_RECOVERY, "/v1/recovery", NULL},
	{MCP_WINDOW_EXPLAIN, "/v1/capabilities/{capability}", "capability"},
	{MCP_WINDOW_STATUS, "/v1/tasks/{id}", "task"},
	{MCP_WINDOW_STATUS, "/v1/packages/{id}", "package"},
};

/* The daemon's tools, filled once. */
struct daemon_tools {
	struct mcp_front front;
	struct jobs *jobs; /* calls that aren't quick */
	struct mcp_tool windows[MCP_WINDOWS];
	struct mcp_project project;
	const struct mcp_tool *tools[TOOLS_MAX];
};

static const struct window *find_window(const struct mcp_tool_call *call)
{
	enum mcp_window wanted = mcp_window_find(call->tool->name);

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		if (windows[i].window == wanted &&
			(windows[i].subject == NULL || json_object_get(call->arguments, windows[i].subject) != NULL))
			return &windows[i];
	return NULL;
}

/* ---- arguments */

/* What came over the wire as a path or query never holds these; what comes in an argument might. */
static bool is_plain(struct str text)
{
	for (size_t at = 0; at < text.len;) {
		uint32_t point = text_next(text, &at);

		if (point == TEXT_INVALID || text_is_control(point))
			return false;
	}
	return text.len > 0;
}

static int read_argument(struct arena *arena, const json_t *value, struct str *ret)
{
	if (json_is_string(value))
		*ret = (struct str){json_string_value(value), json_string_length(value)};
	else
		*ret = arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	if (ret->bytes == NULL)
		return -ENOMEM;
	return is_plain(*ret) ? 0 : MCP_TOOL_REFUSED;
}

/* Into the request's parameters and query. */
static int read_arguments(const struct mcp_tool_call *call, const struct window *window, struct http_request *request)
{
	const char *key;
	json_t *value;
	int r = 0;

	request->query = ARENA_ARRAY(&request->arena, QUERY_MAX, struct http_pair);
	if (request->query == NULL)
		return -ENOMEM;
	json_object_foreach((json_t *)(uintptr_t)call->arguments, key, value)
	{
		bool is_subject = window->subject != NULL && strcmp(key, window->subject) == 0;
		struct http_pair *pair = &request->query[request->query_count];

		CHECK(request->query_count < QUERY_MAX);
		r = read_argument(&request->arena, value, is_subject ? &request->params[0] : &pair->value);
		if (r != 0)
			return r;
		pair->name = api_text(key);
		request->query_count += !is_subject;
	}
	return 0;
}

/* ---- answers */

static void reply_drop(struct http_reply *reply)
{
	http_reply_release(reply);
}

int api_mcp_refuse(const struct http_reply *problem, struct mcp_refusal *ret_refusal)
{
	CLEANUP(json_drop) json_t *json = NULL;
	const char *code;
	const char *detail;

	if (json_parse(buf_str(&problem->body), &json, NULL) < 0)
		return -ENOMEM;
	code = json_string_value(json_object_get(json, "code"));
	detail = json_string_value(json_object_get(json, "detail"));
	if (detail == NULL)
		detail = json_string_value(json_object_get(json, "title"));
	if (code == NULL || detail == NULL)
		return -EPROTO;
	mcp_refuse(ret_refusal, code, "%s", detail);
	return MCP_TOOL_REFUSED;
}

static int pass(const struct http_reply *reply, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	if (buf_error(&reply->body) < 0)
		return buf_error(&reply->body);
	if (reply->status != 200)
		return api_mcp_refuse(reply, ret_refusal);
	buf_add_str(ret_answer, buf_str(&reply->body));
	return 0;
}

/* Asks the route as the request that the call came with: its token, its arena, its id. */
static int ask(const struct mcp_tool_call *call, const struct window *window, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal)
{
	CLEANUP(reply_drop) struct http_reply reply = {0};
	const struct mcp_front_context *context = call->context;
	struct http_request *request = context->request;
	const struct http_request asked = *request;
	int r;

	http_reply_init(&reply);
	r = read_arguments(call, window, request);
	if (r == MCP_TOOL_REFUSED)
		mcp_refuse(ret_refusal, "argument_invalid", "An argument is empty or holds control characters");
	if (r != 0)
		return r;
	request->route = api_find_get(window->pattern);
	request->method = HTTP_GET;
	request->path = api_text(window->pattern);
	request->headers_count = 0;
	r = request->route->handler(context->ctx, request, &reply);
	request->route = asked.route;
	request->method = asked.method;
	request->path = asked.path;
	request->headers_count = asked.headers_count;
	return r != 0 ? r : pass(&reply, ret_answer, ret_refusal);
}

static int run_window(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	const struct window *window;

	if (mcp_window_find(call->tool->name) == MCP_WINDOW_PREVIEW)
		return mcp_preview_run(call, ret_answer, ret_refusal);
	window = find_window(call);
	if (window != NULL &&
		(window->subject == NULL || json_object_size(call->arguments) == 1 ||
			window->window == MCP_WINDOW_EXPLAIN))
		return ask(call, window, ret_answer, ret_refusal);
	mcp_refuse(ret_refusal, "argument_invalid", "Give either task or package");
	return MCP_TOOL_REFUSED;
}

/* ---- start and end */

static void add_tools(
	struct daemon_tools *daemon, struct mcp_config *config, const struct mcp_tool *tools, size_t count)
{
	for (size_t i = 0; i < count; i++)
		daemon->tools[config->tool_count++] = &tools[i];
}

int api_mcp_start(struct api *api)
{
	struct daemon_tools *daemon = calloc(1, sizeof(*daemon));
	struct mcp_config config = {.version = api->version, .instructions = instructions, .is_for_all = true};
	int r;

	if (daemon == NULL)
		return -ENOMEM;
	api->mcp = daemon;
	r = mcp_project_init(&daemon->project);
	if (r != 0)
		return r;
	mcp_windows_fill(daemon->windows, run_window);
	add_tools(daemon, &config, daemon->windows, MCP_WINDOWS);
	add_tools(daemon, &config, daemon->project.tools, MCP_PROJECT_TOOLS);
	config.tools = daemon->tools;
	r = jobs_new(THREADS, CALLS_WAITING, &daemon->jobs);
	return r != 0 ? r : mcp_front_init(&daemon->front, &config, daemon->jobs);
}

void api_mcp_quiesce(struct api *api)
{
	if (api->mcp != NULL && api->mcp->jobs != NULL)
		jobs_stop(api->mcp->jobs);
}

void api_mcp_stop(struct api *api)
{
	if (api->mcp == NULL)
		return;
	jobs_free(api->mcp->jobs);
	mcp_front_release(&api->mcp->front);
	mcp_project_release(&api->mcp->project);
	free(api->mcp);
	api->mcp = NULL;
}

static int post_mcp(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;

	return mcp_front_post(&api->mcp->front, ctx, request, reply);
}

static int delete_mcp(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;

	return mcp_front_delete(&api->mcp->front, request, reply);
}

static const struct http_route rows[] = {
	{HTTP_POST, "/mcp", 0, HTTP_NEEDS_BODY | HTTP_ANY_TYPE | HTTP_WRITES, MCP_MESSAGE_BYTES_MAX, post_mcp},
	{HTTP_DELETE, "/mcp", 0, 0, 0, delete_mcp},
};

const struct http_routes api_mcp_routes = API_ROUTES(rows);
