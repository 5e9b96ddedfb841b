/* The catalog in force, what it says of one capability, and the engine alone. */
#include <errno.h>
#include <string.h>

#include "daemon/http/api_catalog.h"
#include "policy/evaluate.h"
#include "policy/explain.h"
#include "policy/text.h"

static int get_catalog(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle, &request->arena);
	struct str known = http_request_header(request, "If-None-Match");

	if (catalog == NULL)
		return -ENOMEM;
	if (known.len == catalog->digest.len + 2 &&
		memcmp(known.bytes + 1, catalog->digest.bytes, catalog->digest.len) == 0)
		http_reply_empty(reply, 304);
	else
		http_reply_raw(reply, 200, "application/json", catalog->bytes);
	http_reply_header(reply, "ETag", "\"%.*s\"", (int)catalog->digest.len, catalog->digest.bytes);
	return 0;
}

static void write_result(const struct admission *admission, void *arg)
{
	admission_write(admission, false, arg);
}

static int post_evaluate(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle, &request->arena);
	struct json_place body;
	struct json_out out;
	struct json_in in;
	int r = 0;

	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return 0;
	}
	out = http_reply_json(reply, 200);
	r = catalog != NULL ? evaluate_with(catalog, request->json, write_result, &out) : -ENOMEM;
	if (r == 0)
		r = buf_error(&reply->body);
	if (r != -EMSGSIZE)
		return r;
	http_reply_reset(reply);
	http_reply_problem(reply, request, HTTP_PROBLEM_TOO_LARGE, "the result would be too large to answer");
	return 0;
}

/* ---- explain (chapters 1.4, 1.5) */

static int get_capability(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle, &request->arena);
	struct str mcp_id = http_request_query(request, "mcpId");
	struct explanation explanation;
	struct json_out out;
	int r = 0;

	if (mcp_id.bytes != NULL && !text_is_safe(mcp_id)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "mcpId is a tool server's id");
		return 0;
	}
	r = catalog != NULL ? explain_capability(&request->arena, catalog, mcp_id,
				      http_request_param(request, "capability"), &explanation)
			    : -ENOMEM;
	if (r != 0)
		return r;
	out = http_reply_json(reply, 200);
	explain_write(&explanation, &out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/evaluate", AUTH_PLANNER, HTTP_NEEDS_BODY, HTTP_DOCUMENT_MAX, post_evaluate},
	{HTTP_GET, "/v1/catalog", 0, 0, 0, get_catalog},
	{HTTP_PUT, "/v1/catalog", AUTH_ADMIN, HTTP_NEEDS_BODY | HTTP_WRITES, HTTP_DOCUMENT_MAX, api_catalog_put},
	{HTTP_GET, "/v1/capabilities/{capability}", 0, 0, 0, get_capability},
};

const struct http_routes api_catalog_routes = API_ROUTES(rows);
