/* Decisions of people on reads, and the ledger of them (chapter 2.4). */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/condition.h"
#include "daemon/http/render.h"
#include "daemon/http/text_table.h"
#include "daemon/lifecycle/grant.h"

enum { REASON_CHARACTERS = 2000, CAPABILITY_CHARACTERS = 240, CAPABILITIES = 30 };

struct granting {
	struct api_call call;
	struct lifecycle_grant grant;
};

static void write_granted(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_grant *grant = &((const struct granting *)call)->grant;
	struct json_out out = http_reply_json(reply, grant->dry_run ? 200 : 201);

	render_granted(grant, &call->request->token, &out);
	if (!grant->dry_run)
		http_reply_header(
			reply, "Location", "/v1/grants/%.*s", (int)grant->grant.id.len, grant->grant.id.bytes);
}

/* What only an approval may say is refused with anything else (2.4). */
static void refuse_member(struct json_place *body, const char *key)
{
	if (json_in_any(body, key, JSON_OPTIONAL | JSON_NULLABLE) != NULL)
		json_in_fault(body, key, "only goes with an approval");
}

static void read_approval(struct json_place *body, struct lifecycle_grant *grant)
{
	int64_t end = json_in_time_ms(body, "expiresAt", JSON_OPTIONAL | JSON_NULLABLE);

	grant->expires_at = end == INT64_MIN ? 0 : end;
	if (end == 0)
		json_in_fault(body, "expiresAt", "must be a time to come");
	grant->root_revision = json_in_revision(body, "rootRevision", JSON_REQUIRED);
	grant->capability_count = json_in_strs(
		body, "capabilities", JSON_OPTIONAL, CAPABILITIES, CAPABILITY_CHARACTERS, &grant->capabilities);
	grant->has_capabilities = grant->capabilities != NULL;
}

static void read_body(struct json_place *body, struct lifecycle_grant *grant)
{
	static const char *const words[] = {"approved", "denied", "revoked", NULL};
	static const enum store_grant_decision decisions[] = {
		STORE_GRANT_DENIED, STORE_GRANT_APPROVED, STORE_GRANT_DENIED, STORE_GRANT_REVOKED};

	grant->decision = decisions[json_in_enum(body, "decision", JSON_REQUIRED, words)];
	grant->expected_revision = json_in_revision(body, "expectedRevision", JSON_REQUIRED);
	grant->reason = json_in_str(body, "reason", JSON_OPTIONAL | JSON_NULLABLE, REASON_CHARACTERS);
	grant->root_revision = -1;
	if (grant->decision == STORE_GRANT_APPROVED) {
		read_approval(body, grant);
	} else {
		refuse_member(body, "expiresAt");
		refuse_member(body, "rootRevision");
		refuse_member(body, "capabilities");
	}
	if (grant->package.bytes == NULL && grant->decision == STORE_GRANT_APPROVED)
		grant->replace = json_in_bool(body, "replace", JSON_OPTIONAL, false);
	if (grant->package.bytes == NULL && grant->decision == STORE_GRANT_DENIED &&
		json_in_any(body, "decision", JSON_OPTIONAL) != NULL && json_in_ok(body->in))
		json_in_fault(body, "decision", "a project's reads are approved or revoked");
	json_in_end(body);
}

static int read_grant(struct granting *granting, struct http_request *request, struct http_reply *reply)
{
	struct json_place body;
	struct json_in in;

	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	read_body(&body, &granting->grant);
	if (json_in_ok(&in))
		return 0;
	http_reply_faults(reply, request, &in);
	return API_CALL_ANSWERED;
}

static int decide(struct api *api, struct http_request *request, struct http_reply *reply, bool is_package)
{
	struct granting *granting = ARENA_NEW(&request->arena, struct granting);
	bool is_dry = false;
	int r = granting != NULL ? 0 : -ENOMEM;

	if (http_request_query_bool(request, "dryRun", &is_dry) != 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "dryRun is true or false");
		return 0;
	}
	if (r == 0) {
		granting->call.is_dry = is_dry;
		r = api_call_begin(&granting->call, api, request, &granting->grant.call, write_granted, reply);
	}
	if (r != 0)
		return API_CALL_ENDED(r);
	granting->grant.dry_run = is_dry;
	if (is_package)
		granting->grant.package = http_request_param(request, "id");
	else
		granting->grant.project = http_request_param(request, "id");
	r = read_grant(granting, request, reply);
	if (r != 0)
		return api_call_drop(&granting->call, API_CALL_ENDED(r));
	return api_call_start(&granting->call, lifecycle_grant(api->lifecycle, &granting->grant), reply);
}

static int post_package_grant(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return decide(ctx, request, reply, true);
}

static int post_project_grant(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return decide(ctx, request, reply, false);
}

/* ---- the ledger */

static int get_grant(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct store_grant grant = {0};
	struct json_out out;
	int r = lifecycle_view_grant(&reader, http_request_param(request, "id"), &grant);

	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	render_grant(NULL, &grant, &out);
	condition_tag_body(request, reply);
	return 0;
}

static int list_grants(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"package", "project", "live", NULL};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct store_grant_filter filter = {
		.package = http_request_query(request, "package"), .project = http_request_query(request, "project")};
	struct store_grant_list found = {0};
	struct api_list list;
	bool is_text = false;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r == 0)
		r = text_table_wanted(request, reply, &is_text);
	if (r != 0)
		return 0;
	if (http_request_query_bool(request, "live", &filter.live_only) != 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "live is true or false");
		return 0;
	}
	r = lifecycle_list_grants(&reader, filter, list.from, api_list_wanted(&list), &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	if (is_text) {
		render_grants_text(&found, api_list_shown(&list, found.count), &request->arena, reply);
		return 0;
	}
	shown = api_list_open(&list, found.count);
	for (size_t i = 0; i < shown; i++)
		render_grant(NULL, &found.items[i], &list.out);
	api_list_close_sequence(&list, found.count > shown, shown > 0 ? found.items[shown - 1].sequence : 0);
	return 0;
}

enum { BODY = HTTP_NEEDS_BODY | HTTP_WRITES };

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/packages/{id}/grants", AUTH_APPROVER, BODY, 0, post_package_grant},
	{HTTP_POST, "/v1/projects/{id}/grants", AUTH_APPROVER, BODY, 0, post_project_grant},
	{HTTP_GET, "/v1/grants", 0, 0, 0, list_grants},
	{HTTP_GET, "/v1/grants/{id}", 0, 0, 0, get_grant},
};

const struct http_routes api_grants_routes = API_ROUTES(rows);
