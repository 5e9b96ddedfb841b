/* Tokens: making, listing and revoking them. The secret is in the answer that makes one, and nowhere again. */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/render.h"
#include "daemon/http/token_issue.h"
#include "policy/cleanup.h"
#include "policy/text.h"

enum {
	PRINCIPAL_CHARACTERS = 160,
	ROLE_CHARACTERS = 32,
	PROJECTS = 500,
	PROJECT_CHARACTERS = 64,
	PROJECTS_CEILING = 64 * 1024,
	WORK_BYTES = 4 * 1024 * 1024,
};

/* A writing request that the store alone answers. */
struct working {
	struct store_op op;
	struct api *api;
	struct http_request *request;
	struct arena arena;
	struct store_token row;
	struct str id;
	int64_t now;
	char secret[TOKEN_SECRET_SIZE];
};

static void write_made(const struct working *working, struct http_reply *reply)
{
	struct json_out out = http_reply_json(reply, 201);

	json_out_begin_object(&out);
	render_token(&working->row, &out);
	json_out_member_text(&out, "secret", working->secret);
	json_out_end_object(&out);
	http_reply_header(reply, "Location", "/v1/tokens/%.*s", (int)working->row.id.len, working->row.id.bytes);
}

static int refusal_of(int result)
{
	switch (result) {
	case STORE_ABSENT:
		return LIFECYCLE_NOT_FOUND;
	case STORE_QUEUE_FULL:
		return LIFECYCLE_QUEUE_FULL;
	case STORE_SHUTTING_DOWN:
		return LIFECYCLE_SHUTTING_DOWN;
	case STORE_OUTCOME_UNKNOWN:
		return LIFECYCLE_OUTCOME_UNKNOWN;
	case STORE_NOT_STORED:
	case -ENOSPC:
	case -EBUSY:
	case -EROFS:
		return LIFECYCLE_NOT_STORED;
	default:
		return result > 0 ? -EUCLEAN : result;
	}
}

static void release(struct working *working)
{
	sodium_memzero(working->secret, sizeof(working->secret));
	arena_release(&working->arena);
}

static void end_work(struct store_op *op, int result)
{
	struct working *working = op->arg;
	struct http_request *request = working->request;
	struct http_reply reply;

	http_reply_init(&reply);
	if (result != 0)
		api_call_refuse(&reply, request, refusal_of(result), NULL);
	else if (request->method == HTTP_POST)
		write_made(working, &reply);
	else
		http_reply_empty(&reply, 204);
	release(working);
	http_request_finish(request, &reply);
	http_reply_release(&reply);
}

static struct working *begin(struct api *api, struct http_request *request)
{
	struct working *working = ARENA_NEW(&request->arena, struct working);

	if (working == NULL)
		return NULL;
	working->api = api;
	working->request = request;
	working->now = lifecycle_now(api->lifecycle);
	arena_init(&working->arena, WORK_BYTES);
	return working;
}

static int submit(struct working *working, int (*run)(struct store_tx *tx, void *arg), struct http_reply *reply)
{
	int r = 0;

	working->op = (struct store_op){.run = run, .done = end_work, .arg = working, .arena = &working->arena};
	r = store_submit(lifecycle_store(working->api->lifecycle), &working->op);
	if (r == 0)
		return HTTP_LATER;
	api_call_refuse(reply, working->request, refusal_of(r), NULL);
	release(working);
	return 0;
}

/* ---- making */

static int run_make(struct store_tx *tx, void *arg)
{
	struct working *working = arg;

	return token_issue(tx, &working->row, working->secret);
}

static unsigned read_roles(struct json_place *body)
{
	struct json_place roles;
	unsigned mask = 0;

	if (!json_in_array(body, "roles", JSON_REQUIRED, AUTH_ROLES, &roles))
		return 0;
	for (size_t i = 0; i < json_in_size(&roles); i++) {
		struct str name = json_in_item_str(&roles, i, ROLE_CHARACTERS);
		unsigned role = name.bytes != NULL ? auth_role_find(name) : 0;

		if (name.bytes != NULL && role == 0)
			json_in_fault(&roles, NULL,
				"has a role that there isn't: planner, approver, executor, operator, "
				"auditor, admin");
		mask |= role;
	}
	if (json_in_size(&roles) == 0)
		json_in_fault(&roles, NULL, "must have a role");
	return mask;
}

static bool is_project(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char byte = name.bytes[i];
		bool is_first = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');

		if (!is_first && (i == 0 || byte == '\0' || strchr("._-", byte) == NULL))
			return false;
	}
	return name.len > 0;
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

static int read_projects(struct json_place *body, struct arena *arena, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	const struct str *projects = NULL;
	size_t count =
		json_in_strs(body, "projects", JSON_OPTIONAL | JSON_NULLABLE, PROJECTS, PROJECT_CHARACTERS, &projects);
	struct json_out out;

	buf_init(&buf, PROJECTS_CEILING);
	*ret_json = (struct str){0};
	if (projects == NULL)
		return 0;
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < count; i++) {
		if (!is_project(projects[i])) {
			json_in_fault(body, "projects", "has something that can't be a project's id");
			return 0;
		}
		json_out_str(&out, projects[i]);
	}
	json_out_end_array(&out);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	*ret_json = arena_str(arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

static int read_token(struct working *working, struct json_place *body)
{
	struct store_token *row = &working->row;
	int64_t end = json_in_time_ms(body, "expiresAt", JSON_OPTIONAL | JSON_NULLABLE);
	int r = 0;

	*row = (struct store_token){.made_by = api_actor(working->request), .created_at = working->now};
	row->principal = json_in_str(body, "principal", JSON_REQUIRED, PRINCIPAL_CHARACTERS);
	if (row->principal.bytes != NULL && !text_is_identity(row->principal, PRINCIPAL_CHARACTERS))
		json_in_fault(body, "principal", "must be a plain name");
	row->roles = read_roles(body);
	r = read_projects(body, &working->request->arena, &row->projects_json);
	if (end != INT64_MIN && end <= working->now)
		json_in_fault(body, "expiresAt", "must be a time to come");
	row->expires_at = end == INT64_MIN ? 0 : end;
	json_in_end(body);
	return r;
}

static int post_token(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct working *working = begin(ctx, request);
	struct json_place body;
	struct json_in in;
	int r = 0;

	if (working == NULL)
		return -ENOMEM;
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	r = read_token(working, &body);
	if (r == 0 && !json_in_ok(&in))
		http_reply_faults(reply, request, &in);
	if (r != 0 || !json_in_ok(&in)) {
		release(working);
		return r;
	}
	token_issue_secret(working->secret);
	return submit(working, run_make, reply);
}

/* ---- revoking and listing */

static int run_revoke(struct store_tx *tx, void *arg)
{
	struct working *working = arg;
	struct store_actor actor = api_actor(working->request);

	return token_issue_revoke(tx, working->id, &actor, working->now);
}

static int delete_token(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct working *working = begin(ctx, request);

	if (working == NULL)
		return -ENOMEM;
	working->id = http_request_param(request, "id");
	return submit(working, run_revoke, reply);
}

struct listing {
	int64_t from;
	size_t limit;
	struct store_token_list found;
};

static int run_list(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;

	return store_token_list(tx, listing->from, listing->limit, &listing->found);
}

static int list_tokens(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {NULL};
	struct api *api = ctx;
	struct listing listing = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	listing.from = list.from;
	listing.limit = api_list_wanted(&list);
	r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_list, &listing);
	if (r != 0)
		return api_call_refuse_view(reply, request, refusal_of(r));
	shown = api_list_open(&list, listing.found.count);
	for (size_t i = 0; i < shown; i++) {
		json_out_begin_object(&list.out);
		render_token(&listing.found.items[i], &list.out);
		json_out_end_object(&list.out);
	}
	api_list_close_sequence(
		&list, listing.found.count > shown, shown > 0 ? listing.found.items[shown - 1].sequence : 0);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/tokens", AUTH_ADMIN, HTTP_NEEDS_BODY | HTTP_WRITES, 0, post_token},
	{HTTP_GET, "/v1/tokens", AUTH_ADMIN, 0, 0, list_tokens},
	{HTTP_DELETE, "/v1/tokens/{id}", AUTH_ADMIN, HTTP_WRITES, 0, delete_token},
};

const struct http_routes api_tokens_routes = API_ROUTES(rows);
