/* The daemon itself: alive, ready, in health, which version, and who asks. */
#include <ctype.h>
#include <string.h>

#include <errno.h>

#include "daemon/health/prober_client.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/http/tls.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/sandbox.h"
#include "policy/admission.h"

static int write_status(struct http_reply *reply, const char *status)
{
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_member_text(&out, "status", status);
	json_out_end_object(&out);
	return 0;
}

static int get_healthz(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	(void)request;
	return write_status(reply, "alive");
}

/* The store was opened and migrated before anything was served; what is left to ask is whether it still is whole. */
static int get_readyz(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	struct store_stats stats;

	store_stats_read(lifecycle_store(api->lifecycle), &stats);
	if (!stats.broken)
		return write_status(reply, "ready");
	http_reply_problem(
		reply, request, HTTP_PROBLEM_NOT_STORED, "the store is broken; the daemon must be started anew");
	return 0;
}

/* The other process; what it gave up counts while it runs. */
static void write_prober(const struct api *api, struct json_out *out)
{
	struct prober_state state;

	prober_client_state(api->prober, &state);
	json_out_key(out, "prober");
	json_out_begin_object(out);
	json_out_member_bool(out, "running", state.is_running);
	json_out_member_bool(out, "landlock", state.has_landlock);
	json_out_member_bool(out, "seccomp", state.has_seccomp);
	json_out_end_object(out);
}

/* Loud where it matters: what isn't signed or exported is a sentence, not only a false. */
static void write_audit(struct audit_keeper *keeper, struct json_out *out)
{
	struct audit_keeper_facts facts;

	json_out_key(out, "audit");
	if (keeper == NULL) {
		json_out_null(out);
		return;
	}
	audit_keeper_read(keeper, &facts);
	json_out_begin_object(out);
	json_out_member_bool(out, "signed", facts.has_key);
	json_out_member_text(out, "keyId", facts.has_key ? facts.key_id : NULL);
	json_out_member_bool(out, "exported", facts.exports && facts.is_exported);
	json_out_member_bool(out, "failing", facts.is_failing);
	json_out_member_int(out, "checkpoint", facts.number);
	json_out_member_int(out, "sealedThrough", facts.sequence);
	time_text_member(out, "sealedAt", facts.at);
	json_out_key(out, "warnings");
	json_out_begin_array(out);
	if (!facts.has_key)
		json_out_text(out, "CHECKPOINTS OF THE LOG ARE NOT SIGNED: whoever holds the store can rewrite it");
	if (!facts.exports)
		json_out_text(out, "CHECKPOINTS OF THE LOG ARE NOT EXPORTED: its tail can be cut unnoticed");
	json_out_end_array(out);
	json_out_end_object(out);
}

static void write_tls(struct tls *tls, int64_t now, struct json_out *out)
{
	json_out_key(out, "tls");
	if (tls == NULL) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	time_text_member(out, "validUntil", tls_ends_at(tls));
	json_out_member_text(out, "warning", tls_warning(tls, now));
	json_out_end_object(out);
}

static int get_version(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle, &request->arena);
	struct json_out out = http_reply_json(reply, 200);

	if (catalog == NULL)
		return -ENOMEM;
	json_out_begin_object(&out);
	json_out_member_text(&out, "version", api->version);
	json_out_member_int(&out, "contractVersion", ADMISSION_SCHEMA_VERSION);
	json_out_member_int(&out, "engineRevision", ADMISSION_ENGINE_REVISION);
	json_out_member_str(&out, "catalogDigest", catalog->digest);
	write_audit(atomic_load(&api->audit), &out);
	write_tls(api->tls, lifecycle_now(api->lifecycle), &out);
	json_out_key(&out, "sandbox");
	json_out_begin_object(&out);
	json_out_member_bool(&out, "landlock", api->sandbox != NULL && api->sandbox->has_landlock);
	json_out_member_bool(&out, "seccomp", api->sandbox != NULL && api->sandbox->has_seccomp);
	write_prober(api, &out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	return 0;
}

/* ---- what the daemon does unasked */

/* What an operator can do about it, in a sentence. */
static struct str upkeep_detail(struct arena *arena, const struct lifecycle_upkeep *upkeep, bool is_seen)
{
	int first = toupper((unsigned char)upkeep->what[0]);
	const char *rest = upkeep->what + 1;

	if (upkeep->result == 0)
		return arena_printf(arena, "%c%s works", first, rest);
	if (upkeep->project_count == 0)
		return arena_printf(arena, "%c%s fails, and is tried again: the store doesn't take it", first, rest);
	return arena_printf(arena,
		"%c%s fails in %s%s, and is tried again; other projects are kept up. A stored row can't be used: check "
		"the "
		"store, restore it from a backup, or cancel what is damaged",
		first, rest, is_seen ? "project " : "a project that you don't see", is_seen ? upkeep->project : "");
}

static void write_upkeep(struct http_request *request, const struct lifecycle_scope *scope,
	const struct lifecycle_upkeep *upkeep, struct json_out *out)
{
	struct str project = {upkeep->project, strlen(upkeep->project)};
	bool is_seen = project.len > 0 && lifecycle_scope_has(scope, project);

	json_out_begin_object(out);
	json_out_member_text(out, "name", upkeep->name);
	json_out_member_bool(out, "failing", upkeep->result != 0);
	json_out_member_text(out, "code", upkeep->result != 0 ? lifecycle_result_code(upkeep->result) : NULL);
	json_out_member_str(out, "detail", upkeep_detail(&request->arena, upkeep, is_seen));
	time_text_member(out, "since", upkeep->since);
	json_out_member_int(out, "projects", (int64_t)upkeep->project_count);
	json_out_member_str(out, "project", is_seen ? project : (struct str){0});
	json_out_end_object(out);
}

static int get_health(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_upkeep upkeep[LIFECYCLE_UPKEEPS];
	struct json_out out = http_reply_json(reply, 200);
	bool is_failing = false;

	lifecycle_upkeep_read(api->lifecycle, upkeep);
	for (size_t i = 0; i < LIFECYCLE_UPKEEPS; i++)
		is_failing = is_failing || upkeep[i].result != 0;
	json_out_begin_object(&out);
	json_out_member_text(&out, "status", is_failing ? "failing" : "ok");
	json_out_key(&out, "upkeep");
	json_out_begin_array(&out);
	for (size_t i = 0; i < LIFECYCLE_UPKEEPS; i++)
		write_upkeep(request, &reader.scope, &upkeep[i], &out);
	json_out_end_array(&out);
	json_out_end_object(&out);
	return 0;
}

static int get_session(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct api *api = ctx;
	const struct auth_token *token = &request->token;
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_member_str(&out, "principal", token->principal);
	json_out_member_str(&out, "token", token->id);
	render_roles("roles", token->roles, &out);
	if (token->all_projects)
		json_out_member_null(&out, "projects");
	else
		render_names("projects", token->projects, token->projects_count, &out);
	time_text_member(&out, "expiresAt", token->expires_ms);
	time_text_member(&out, "serverTime", lifecycle_now(api->lifecycle));
	json_out_end_object(&out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/healthz", 0, HTTP_NO_AUTH, 0, get_healthz},
	{HTTP_GET, "/readyz", 0, HTTP_NO_AUTH, 0, get_readyz},
	{HTTP_GET, "/v1/version", 0, HTTP_NO_AUTH, 0, get_version},
	{HTTP_GET, "/v1/health", 0, 0, 0, get_health},
	{HTTP_GET, "/v1/session", 0, 0, 0, get_session},
};

const struct http_routes api_service_routes = API_ROUTES(rows);
