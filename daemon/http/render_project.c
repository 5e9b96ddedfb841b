#include "agents/spec.h"
#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/health_row.h"

/* A spec has at most 1 MiB; what it is read into is several times that. */
enum { SPEC_CEILING = 32 * 1024 * 1024 };

static void write_head(const struct store_project *project, bool shows_root, struct json_out *out)
{
	json_out_member_str(out, "id", project->id);
	json_out_member_str(out, "name", project->name);
	if (shows_root)
		json_out_member_str(out, "root", project->root_path);
	json_out_member_str(out, "rootRef", project->root_ref);
	json_out_member_revision(out, "rootRevision", project->root_revision);
	json_out_member_revision(out, "decisionRevision", project->decision_revision);
	json_out_member_bool(out, "archived", project->archived_at != 0);
	time_text_member(out, "createdAt", project->created_at);
	json_out_member_revision(out, "revision", project->revision);
	render_actor("changedBy", &project->changed_by, out);
	time_text_member(out, "changedAt", project->changed_at);
}

void render_project_line(const struct store_project *project, bool shows_root, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(project, shows_root, out);
	json_out_end_object(out);
}

static void write_health(const struct store_health *health, int64_t age_at, struct json_out *out)
{
	static const char *const sources[] = {
		[STORE_HEALTH_REPORTED] = "reported",
		[STORE_HEALTH_PROBED] = "probed",
		[STORE_HEALTH_BUILTIN] = "builtin",
	};
	int64_t age_ms = age_at > health->checked_at ? age_at - health->checked_at : 0;

	json_out_member_str(out, "mcpId", health->mcp_id);
	json_out_member_str(out, "installState", health->install_state);
	json_out_member_str(out, "status", health->status);
	json_out_member_bool(out, "enabled", health->enabled);
	json_out_member_str(out, "error", health->error);
	time_text_member(out, "checkedAt", health->checked_at);
	json_out_member_text(out, "source", sources[health->source]);
	if (health->valid_seconds != 0)
		json_out_member_int(out, "validSeconds", health->valid_seconds);
	else
		json_out_member_null(out, "validSeconds");
	json_out_member_bool(out, "expired", health->expired);
	json_out_member_int(out, "ageSeconds", age_ms / 1000);
}

void render_health(const struct store_health *health, int64_t age_at, struct json_out *out)
{
	json_out_begin_object(out);
	write_health(health, age_at, out);
	json_out_end_object(out);
}

static void write_actions(
	const struct lifecycle_action_list *actions, const struct auth_token *token, struct json_out *out)
{
	json_out_key(out, "actions");
	actions_write(actions, token, api_has_route, out);
}

static void write_health_row(const struct lifecycle_project *project, size_t row, int64_t age_at,
	const struct auth_token *token, struct json_out *out)
{
	write_health(&project->health.items[row], age_at, out);
	if (token != NULL)
		write_actions(&project->health_actions[row], token, out);
}

void render_health_with_history(const struct lifecycle_project *project, size_t row, int64_t age_at,
	const struct store_event_list *history, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	write_health_row(project, row, age_at, token, out);
	json_out_key(out, "history");
	json_out_begin_array(out);
	for (size_t i = 0; i < history->count; i++)
		json_out_raw(out, history->items[i].payload_json);
	json_out_end_array(out);
	json_out_end_object(out);
}

/* How it is reached, without any value that may be a secret. */
static void write_spec(const struct store_server *server, struct json_out *out)
{
	struct arena arena;
	struct spec spec;
	struct str sealed = {0};
	int r = 0;

	json_out_key(out, "spec");
	if (server->kind != STORE_SERVER_SPEC) {
		json_out_null(out);
		return;
	}
	arena_init(&arena, SPEC_CEILING);
	r = spec_read_kept(&arena, server->spec_json, &spec, &sealed);
	if (r == 0)
		spec_write_shown(&spec, out);
	else
		buf_fail(out->buf, r);
	arena_release(&arena);
}

static void write_server(const struct store_server *server, struct json_out *out)
{
	static const char *const kinds[] = {
		[STORE_SERVER_REPORTED] = "reported",
		[STORE_SERVER_BUILTIN] = "builtin",
		[STORE_SERVER_SPEC] = "spec",
	};

	json_out_member_str(out, "mcpId", server->mcp_id);
	json_out_member_bool(out, "enabled", server->enabled);
	json_out_member_text(out, "kind", kinds[server->kind]);
	json_out_member_revision(out, "revision", server->revision);
	render_actor("changedBy", &server->changed_by, out);
	time_text_member(out, "changedAt", server->changed_at);
	write_spec(server, out);
}

void render_server(
	const struct lifecycle_project *project, size_t row, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	write_server(&project->servers.items[row], out);
	if (token != NULL)
		write_actions(&project->server_actions[row], token, out);
	json_out_end_object(out);
}

void render_server_with_health(
	const struct store_server *server, const struct store_health *health, int64_t age_at, struct json_out *out)
{
	json_out_begin_object(out);
	write_server(server, out);
	json_out_key(out, "health");
	if (health != NULL)
		render_health(health, age_at, out);
	else
		json_out_null(out);
	json_out_end_object(out);
}

static void write_members(const struct lifecycle_project *project, bool shows_root, int64_t age_at,
	const struct auth_token *token, struct json_out *out)
{
	write_head(&project->row, shows_root, out);
	if (project->has_grant)
		render_grant("grant", &project->grant, out);
	else
		json_out_member_null(out, "grant");
	json_out_key(out, "health");
	json_out_begin_array(out);
	for (size_t i = 0; i < project->health.count; i++) {
		json_out_begin_object(out);
		write_health_row(project, i, age_at, token, out);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "servers");
	json_out_begin_array(out);
	for (size_t i = 0; i < project->servers.count; i++)
		render_server(project, i, token, out);
	json_out_end_array(out);
	if (token != NULL)
		write_actions(&project->actions, token, out);
}

void render_project(const struct lifecycle_project *project, bool shows_root, int64_t age_at,
	const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	write_members(project, shows_root, age_at, token, out);
	json_out_end_object(out);
}

void render_archived(const struct lifecycle_project_move *move, bool shows_root, struct json_out *out)
{
	json_out_begin_object(out);
	write_members(&move->view, shows_root, move->call.now, NULL, out);
	render_names("cancelled", move->cancelled, move->cancelled_count, out);
	json_out_end_object(out);
}

static void write_event(const struct store_event *event, struct json_out *out)
{
	json_out_member_revision(out, "id", event->sequence);
	json_out_member_str(out, "type", event->type);
	time_text_member(out, "at", event->at);
	render_actor("actor", &event->actor, out);
	json_out_key(out, "subject");
	json_out_begin_object(out);
	json_out_member_str(out, "kind", event->subject_kind);
	json_out_member_str(out, "id", event->subject_id);
	json_out_end_object(out);
	json_out_member_str(out, "project", event->project);
	json_out_member_str(out, "task", event->task);
	json_out_member_str(out, "packageId", event->package);
	if (event->surface != STORE_SURFACE_NONE) {
		json_out_member_str(out, "surface", store_surface_text(event->surface));
		json_out_member_str(out, "decisionId", event->decision);
	}
	render_json("changed", event->payload_json, out);
}

void render_event(const struct store_event *event, struct json_out *out)
{
	json_out_begin_object(out);
	write_event(event, out);
	json_out_end_object(out);
}

void render_told_event(const struct store_event *event, const struct event_words *words, struct json_out *out)
{
	json_out_begin_object(out);
	write_event(event, out);
	json_out_key(out, "words");
	event_words_write(words, out);
	json_out_end_object(out);
}
