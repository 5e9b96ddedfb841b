/* The catalog in force, what it says of one capability, and the engine alone. */
#include <errno.h>
#include <string.h>

#include "daemon/http/api.h"
#include "policy/capability.h"
#include "policy/evaluate.h"
#include "policy/text.h"

static int get_catalog(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle);
	struct str known = http_request_header(request, "If-None-Match");

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
	r = evaluate_with(lifecycle_catalog(api->lifecycle), request->json, write_result, &out);
	if (r == 0)
		r = buf_error(&reply->body);
	if (r != -EMSGSIZE)
		return r;
	http_reply_reset(reply);
	http_reply_problem(reply, request, HTTP_PROBLEM_TOO_LARGE, "the result would be too large to answer");
	return 0;
}

/* ---- explain (chapters 1.4, 1.5) */

struct explanation {
	struct str as_written;
	struct str mcp_id; /* under which it is read; absent: under none */
	struct capability capability;
	enum delivery_kind delivery;
	const struct catalog_mcp *owner;
	struct str resource; /* both absent: no address */
	struct str operation;
	const struct catalog_capability *nearest;
};

/* The row of 1.5 that gave the class. */
static int rule_of(const struct explanation *explanation, const struct catalog_mcp *declared)
{
	if (declared == NULL || explanation->capability.canonical.bytes == NULL)
		return 1;
	if (explanation->owner != declared)
		return 2;
	switch (explanation->capability.class) {
	case CLASS_PLANNING_ONLY:
		return 3;
	case CLASS_DEFERRED_LIVE_MCP:
		return 4;
	case CLASS_BOUNDED_READ_ONLY:
		return 5;
	case CLASS_UNKNOWN:
		break;
	}
	return 6;
}

static void find_address(struct explanation *explanation)
{
	struct str name = explanation->capability.canonical;
	struct str root = explanation->owner->root_resource;
	size_t head = explanation->owner->id.len + 1;
	struct str rest = {name.bytes + head, name.len - head};
	const char *dot = memchr(rest.bytes, '.', rest.len);
	size_t len = dot != NULL ? (size_t)(dot - rest.bytes) : 0;

	if (dot == NULL) {
		explanation->resource = rest.len > 0 ? root : (struct str){0};
		explanation->operation = root.bytes != NULL && rest.len > 0 ? rest : (struct str){0};
		return;
	}
	if (len == 0 || len + 1 == rest.len || memchr(dot + 1, '.', rest.len - len - 1) != NULL)
		return;
	if (root.bytes != NULL && str_equal((struct str){rest.bytes, len}, root))
		return;
	explanation->resource = (struct str){rest.bytes, len};
	explanation->operation = (struct str){dot + 1, rest.len - len - 1};
}

static int explain(struct arena *arena, const struct catalog *catalog, struct explanation *explanation, int *ret_rule)
{
	struct str normalized = text_normalize(arena, explanation->as_written);
	const struct catalog_mcp *declared = NULL;
	int r = 0;

	if (normalized.bytes == NULL)
		return -ENOMEM;
	declared = explanation->mcp_id.bytes != NULL ? catalog_find_mcp(catalog, explanation->mcp_id)
						     : capability_owner(catalog, normalized);
	if (declared != NULL)
		explanation->mcp_id = declared->id;
	r = capability_explain(arena, catalog, explanation->mcp_id.bytes != NULL ? explanation->mcp_id : STR(""),
		explanation->as_written, &explanation->capability, &explanation->delivery);
	if (r != 0)
		return r;
	if (explanation->capability.canonical.bytes != NULL)
		explanation->owner = capability_owner(catalog, explanation->capability.canonical);
	if (explanation->owner != NULL)
		find_address(explanation);
	if (explanation->capability.class == CLASS_UNKNOWN && text_is_safe(explanation->as_written))
		explanation->nearest = capability_nearest(catalog, normalized);
	*ret_rule = rule_of(explanation, declared);
	return 0;
}

static void write_address(const struct explanation *explanation, struct json_out *out)
{
	json_out_key(out, "address");
	if (explanation->resource.bytes == NULL) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "resource", explanation->resource);
	json_out_member_str(out, "operation", explanation->operation);
	json_out_end_object(out);
}

static void write_explanation(const struct explanation *explanation, int rule, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "requested", explanation->capability.requested);
	json_out_member_str(out, "capability", explanation->capability.canonical);
	json_out_member_str(out, "mcpId", explanation->mcp_id);
	json_out_member_str(out, "owner", explanation->owner != NULL ? explanation->owner->id : (struct str){0});
	write_address(explanation, out);
	json_out_member_text(out, "class", capability_class_name(explanation->capability.class));
	json_out_member_str(out, "deliveryKind", api_text(delivery_kind_name(explanation->delivery)));
	json_out_member_int(out, "rule", rule);
	json_out_member_str(
		out, "nearest", explanation->nearest != NULL ? explanation->nearest->name : (struct str){0});
	json_out_end_object(out);
}

static int get_capability(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	struct explanation explanation = {.as_written = http_request_param(request, "capability"),
		.mcp_id = http_request_query(request, "mcpId")};
	struct json_out out;
	int rule = 0;
	int r = 0;

	if (explanation.mcp_id.bytes != NULL && !text_is_safe(explanation.mcp_id)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "mcpId is a tool server's id");
		return 0;
	}
	r = explain(&request->arena, lifecycle_catalog(api->lifecycle), &explanation, &rule);
	if (r != 0)
		return r;
	out = http_reply_json(reply, 200);
	write_explanation(&explanation, rule, &out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/evaluate", AUTH_PLANNER, HTTP_NEEDS_BODY, HTTP_DOCUMENT_MAX, post_evaluate},
	{HTTP_GET, "/v1/catalog", 0, 0, 0, get_catalog},
	{HTTP_GET, "/v1/capabilities/{capability}", 0, 0, 0, get_capability},
};

const struct http_routes api_catalog_routes = API_ROUTES(rows);
