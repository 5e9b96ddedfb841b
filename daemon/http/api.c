#include "daemon/http/api.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/token.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

enum {
	TOUCH_EVERY_MS = 60 * 1000,
	SCOPE_CEILING = 1024 * 1024,
	TOUCH_ARENA_BYTES = 64 * 1024,
	TOUCHES_WAITING = 64,
	ID_MAX = 64
};

static const struct http_routes *const tables[] = {
	&api_service_routes,
	&api_audit_routes,
	&api_backup_routes,
	&api_catalog_routes,
	&api_projects_routes,
	&api_servers_routes,
	&api_health_routes,
	&api_tasks_routes,
	&api_packages_routes,
	&api_surfaces_routes,
	&api_runs_routes,
	&api_agent_config_routes,
	&api_grants_routes,
	&api_decisions_routes,
	&api_rejudge_routes,
	&api_recovery_routes,
	&api_events_routes,
	&api_metrics_routes,
	&api_stats_routes,
	&api_tokens_routes,
	&api_openapi_routes,
	&api_console_routes,
	&api_mcp_routes,
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct http_routes *api_tables(size_t *ret_count)
{
	static struct http_routes copies[TABLES];

	for (size_t i = 0; i < TABLES; i++)
		copies[i] = *tables[i];
	*ret_count = TABLES;
	return copies;
}

void api_note_answer(void *ctx, const struct http_request *request, unsigned status, uint64_t duration_ms)
{
	struct api *api = ctx;

	metrics_note_answer(&api->metrics, request->route, status, duration_ms);
}

static const struct http_route *find_route(enum http_method method, const char *pattern)
{
	for (size_t i = 0; i < TABLES; i++) {
		for (size_t k = 0; k < tables[i]->count; k++) {
			const struct http_route *row = &tables[i]->rows[k];

			if (row->method == method && strcmp(row->pattern, pattern) == 0)
				return row;
		}
	}
	return NULL;
}

bool api_has_route(enum http_method method, const char *pattern)
{
	return find_route(method, pattern) != NULL;
}

const struct http_route *api_find_get(const char *pattern)
{
	const struct http_route *row = find_route(HTTP_GET, pattern);

	CHECK(row != NULL);
	return row;
}

struct str api_text(const char *text)
{
	return text != NULL ? (struct str){text, strlen(text)} : (struct str){0};
}

/* ---- who asks */

struct store_actor api_actor(const struct http_request *request)
{
	return (struct store_actor){.token = request->token.id, .principal = request->token.principal};
}

struct lifecycle_scope api_scope(const struct http_request *request)
{
	return (struct lifecycle_scope){
		.is_all = request->token.all_projects,
		.projects = request->token.projects,
		.project_count = request->token.projects_count,
	};
}

struct lifecycle_reader api_reader(struct api *api, struct http_request *request)
{
	return (struct lifecycle_reader){
		.lifecycle = api->lifecycle,
		.arena = &request->arena,
		.scope = api_scope(request),
		.actor = api_actor(request),
	};
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

int api_scope_json(struct http_request *request, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;

	buf_init(&buf, SCOPE_CEILING);
	*ret_json = (struct str){0};
	if (request->token.all_projects)
		return 0;
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < request->token.projects_count; i++)
		json_out_str(&out, request->token.projects[i]);
	json_out_end_array(&out);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	*ret_json = arena_str(&request->arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

/* ---- tokens */

/* A last use, written after the answer: nobody waits for it, and a lost one is no loss. While the disk stands still every read would
 * add one, and they wait where writes do: a few may.
 */
struct touch {
	struct store_op op;
	struct api *api;
	struct arena arena;
	char id[ID_MAX + 1];
	int64_t at;
};

static int run_touch(struct store_tx *tx, void *arg)
{
	const struct touch *touch = arg;

	return store_token_touch(tx, api_text(touch->id), touch->at);
}

static void end_touch(struct store_op *op, int result)
{
	struct touch *touch = op->arg;

	(void)result;
	atomic_fetch_sub(&touch->api->notes, 1);
	arena_release(&touch->arena);
	free(touch);
}

static void note_use(struct api *api, const struct store_token *token, int64_t now)
{
	struct touch *touch = NULL;

	if (token->id.len > ID_MAX || now - token->last_used_at < TOUCH_EVERY_MS)
		return;
	if (atomic_fetch_add(&api->notes, 1) < TOUCHES_WAITING)
		touch = calloc(1, sizeof(*touch));
	if (touch == NULL) {
		atomic_fetch_sub(&api->notes, 1);
		return;
	}
	touch->api = api;
	arena_init(&touch->arena, TOUCH_ARENA_BYTES);
	memcpy(touch->id, token->id.bytes, token->id.len);
	touch->at = now;
	touch->op = (struct store_op){.run = run_touch, .done = end_touch, .arg = touch, .arena = &touch->arena};
	if (store_submit(lifecycle_store(api->lifecycle), &touch->op) != 0)
		end_touch(&touch->op, 0);
}

static int read_projects(struct arena *arena, struct str json, struct auth_token *token)
{
	CLEANUP(json_drop) json_t *array = NULL;
	struct str *projects = NULL;

	token->all_projects = json.bytes == NULL;
	if (token->all_projects)
		return 0;
	array = json_loadb(json.bytes, json.len, 0, NULL);
	if (!json_is_array(array))
		return -EUCLEAN;
	projects = ARENA_ARRAY(arena, json_array_size(array), struct str);
	if (projects == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);

		projects[i] = arena_str(arena, (struct str){json_string_value(item), json_string_length(item)});
	}
	token->projects = projects;
	token->projects_count = json_array_size(array);
	return arena->failed ? -ENOMEM : 0;
}

struct looking {
	struct str hash;
	struct store_token token;
};

static int run_look(struct store_tx *tx, void *arg)
{
	struct looking *looking = arg;

	return store_token_find_by_hash(tx, looking->hash, &looking->token);
}

/* A run's token dies a day after its run (2.5). */
static int find_run_token(struct api *api, struct arena *arena, const unsigned char *hash, struct auth_token *ret)
{
	enum { KEPT_MS = 24 * 3600 * 1000 };
	struct store_run run = {0};
	struct str *project = NULL;
	int r = lifecycle_find_run_token(api->lifecycle, arena, hash, &run);

	if (r != 0)
		return r < 0 ? r : r == LIFECYCLE_NOT_FOUND ? AUTH_ABSENT : -EBUSY;
	if (run.outcome != STORE_RUN_LIVE && lifecycle_now(api->lifecycle) - run.ended_at > KEPT_MS)
		return AUTH_ABSENT;
	project = ARENA_NEW(arena, struct str);
	if (project == NULL)
		return -ENOMEM;
	*project = run.project;
	*ret = (struct auth_token){.id = run.id, .run = run.id, .projects = project, .projects_count = 1};
	return 0;
}

int api_find_token(
	void *ctx, struct arena *arena, const unsigned char hash[AUTH_HASH_SIZE], struct auth_token *ret_token)
{
	struct api *api = ctx;
	char hex[2 * AUTH_HASH_SIZE + 1];
	struct looking looking = {.hash = {hex, 2 * AUTH_HASH_SIZE}};
	int64_t now = lifecycle_now(api->lifecycle);
	int r = 0;

	(void)sodium_bin2hex(hex, sizeof(hex), hash, AUTH_HASH_SIZE);
	r = store_read(lifecycle_store(api->lifecycle), arena, run_look, &looking);
	if (r == STORE_ABSENT)
		return find_run_token(api, arena, hash, ret_token);
	if (r != 0)
		return r < 0 ? r : -EBUSY;
	if (looking.token.revoked_at != 0 || (looking.token.expires_at != 0 && looking.token.expires_at <= now))
		return AUTH_ABSENT;
	*ret_token = (struct auth_token){
		.id = looking.token.id,
		.principal = looking.token.principal,
		.roles = looking.token.roles,
		.expires_ms = looking.token.expires_at,
	};
	r = read_projects(arena, looking.token.projects_json, ret_token);
	if (r == 0)
		note_use(api, &looking.token, now);
	return r;
}
