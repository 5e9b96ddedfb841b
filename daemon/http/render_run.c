#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"

/* Whether an earlier requirement was admitted by the same grant. */
static bool is_told(const struct lifecycle_run *run, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_equal(run->grants[i].grant, run->grants[at].grant))
			return true;
	return false;
}

static const char *mode_name(enum store_grant_mode mode)
{
	return mode == STORE_GRANT_ALLOW_ONCE ? "allow_once" : "always_allow";
}

static void write_grant(const struct lifecycle_run *run, size_t at, struct json_out *out)
{
	const struct store_run_grant *grant = &run->grants[at];

	json_out_begin_object(out);
	json_out_member_str(out, "id", grant->grant);
	json_out_member_text(out, "mode", mode_name(grant->mode));
	json_out_key(out, "requirementKeys");
	json_out_begin_array(out);
	for (size_t i = at; i < run->grant_count; i++)
		if (str_equal(run->grants[i].grant, grant->grant))
			json_out_str(out, run->grants[i].requirement_key);
	json_out_end_array(out);
	json_out_end_object(out);
}

static void write_grants(const struct lifecycle_run *run, struct json_out *out)
{
	json_out_key(out, "grants");
	json_out_begin_array(out);
	for (size_t i = 0; i < run->grant_count; i++)
		if (!is_told(run, i))
			write_grant(run, i, out);
	json_out_end_array(out);
}

static void write_lease(const struct store_run *row, const struct lifecycle *lifecycle, struct json_out *out)
{
	json_out_key(out, "lease");
	if (row->outcome != STORE_RUN_LIVE) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	time_text_member(out, "expiresAt", row->lease_expires_at);
	json_out_member_int(out, "seconds", lifecycle_lease_seconds(lifecycle));
	json_out_member_int(out, "renewAfterSeconds", lifecycle_renew_seconds(lifecycle));
	json_out_end_object(out);
}

static void write_head(const struct store_run *row, struct json_out *out)
{
	json_out_member_str(out, "id", row->id);
	json_out_member_str(out, "task", row->task);
	json_out_member_str(out, "packageId", row->package);
	json_out_member_int(out, "attempt", row->attempt);
	json_out_member_text(out, "status", row->outcome == STORE_RUN_LIVE ? "running" : "ended");
}

static void write_story(const struct store_run *row, struct json_out *out)
{
	json_out_member_str(out, "project", row->project);
	json_out_member_str(out, "worker", row->worker);
	render_actor("claimedBy", &row->claimed_by, out);
	time_text_member(out, "claimedAt", row->claimed_at);
	json_out_member_str(out, "decisionId", row->decision);
	if (row->outcome == STORE_RUN_LIVE)
		json_out_member_null(out, "outcome");
	else
		json_out_member_text(out, "outcome", package_status_run_outcome(row->outcome));
	json_out_member_str(out, "summary", row->summary);
	render_actor("endedBy", &row->ended_by, out);
	time_text_member(out, "endedAt", row->ended_at);
}

void render_run(const struct lifecycle_run *run, const struct lifecycle *lifecycle, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(&run->row, out);
	json_out_member_str(out, "packageLabel", run->package_label);
	write_grants(run, out);
	write_lease(&run->row, lifecycle, out);
	write_story(&run->row, out);
	json_out_key(out, "packet");
	if (run->row.packet_json.bytes != NULL)
		json_out_raw(out, run->row.packet_json);
	else
		json_out_null(out);
	json_out_end_object(out);
}

void render_run_line(const struct store_run *run, const struct lifecycle *lifecycle, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(run, out);
	write_lease(run, lifecycle, out);
	write_story(run, out);
	json_out_end_object(out);
}

/* ---- a claim */

static void write_given(const struct lifecycle_handoff *handoff, struct json_out *out)
{
	json_out_key(out, "given");
	json_out_begin_object(out);
	json_out_member_raw(out, "promptOverlays", handoff->overlays);
	render_names("subtasks", handoff->subtasks, handoff->subtask_count, out);
	json_out_key(out, "readScope");
	json_out_begin_array(out);
	for (size_t i = 0; i < handoff->read_scope_count; i++) {
		const struct lifecycle_read_scope *scope = &handoff->read_scope[i];

		json_out_begin_object(out);
		json_out_member_str(out, "requirementKey", scope->requirement_key);
		render_names("capabilities", scope->capabilities, scope->capability_count, out);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_end_object(out);
}

/* `pattern` may end in a query, which is no part of the route. */
static void write_link(const char *name, enum http_method method, const char *route, const char *pattern,
	struct str run, struct json_out *out)
{
	char href[ACTIONS_HREF_MAX];

	if (api_has_route(method, route))
		json_out_member_str(out, name, actions_href(href, pattern, run, (struct str){0}));
}

static void write_links(struct str run, struct json_out *out)
{
	static const char heartbeat[] = "/v1/runs/{id}/heartbeat";
	static const char context[] = "/v1/runs/{id}/context";
	static const char config[] = "/v1/runs/{id}/agent-config";
	static const char outcome[] = "/v1/runs/{id}/outcome";

	json_out_key(out, "links");
	json_out_begin_object(out);
	write_link("heartbeat", HTTP_POST, heartbeat, heartbeat, run, out);
	write_link("context", HTTP_POST, context, context, run, out);
	write_link("agentConfig", HTTP_GET, config, "/v1/runs/{id}/agent-config?agent=claude-code", run, out);
	write_link("outcome", HTTP_POST, outcome, outcome, run, out);
	json_out_end_object(out);
}

void render_claim(const struct lifecycle_handoff *handoff, enum agent_kind agent, struct json_out *out)
{
	const struct lifecycle_judged *judged = &handoff->judged;

	json_out_begin_object(out);
	json_out_member_text(out, "surface", "handoff");
	json_out_member_str(out, "decisionId", judged->decision_id);
	render_compared(judged, out);
	json_out_member_text(out, "status", admission_status_name(judged->status));
	json_out_member_bool(out, "retryable", judged->retryable);
	json_out_key(out, "run");
	json_out_begin_object(out);
	write_head(&handoff->run.row, out);
	write_grants(&handoff->run, out);
	write_lease(&handoff->run.row, handoff->call.lifecycle, out);
	json_out_end_object(out);
	render_package_part("package", &handoff->view, RENDER_PACKAGE_AGENT, out);
	write_given(handoff, out);
	render_state(&judged->state, out);
	json_out_member_raw(out, "aggregate", judged->aggregate);
	json_out_member_raw(out, "health", handoff->health);
	write_links(handoff->run.row.id, out);
	if (handoff->wants_config) {
		json_out_key(out, "agentConfig");
		render_agent_config(&handoff->config, agent, handoff->call.arena, out);
	}
	json_out_end_object(out);
}

void render_heartbeat(const struct lifecycle_heartbeat *heartbeat, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_key(out, "run");
	json_out_begin_object(out);
	write_head(&heartbeat->run_view.row, out);
	write_lease(&heartbeat->run_view.row, heartbeat->call.lifecycle, out);
	json_out_end_object(out);
	json_out_end_object(out);
}

void render_outcome(const struct lifecycle_outcome *outcome, struct json_out *out)
{
	const struct store_run *run = &outcome->run_view.row;

	json_out_begin_object(out);
	json_out_key(out, "run");
	json_out_begin_object(out);
	json_out_member_str(out, "id", run->id);
	json_out_member_text(out, "status", "ended");
	json_out_member_text(out, "outcome", package_status_run_outcome(run->outcome));
	time_text_member(out, "endedAt", run->ended_at);
	json_out_end_object(out);
	render_package_part(
		"package", &outcome->view, RENDER_PACKAGE_ATTEMPTS | RENDER_PACKAGE_LEFT | RENDER_PACKAGE_HOLD, out);
	json_out_key(out, "task");
	json_out_begin_object(out);
	json_out_member_str(out, "id", outcome->task.id);
	json_out_member_text(out, "status", store_task_status_text(outcome->task.status));
	json_out_end_object(out);
	json_out_end_object(out);
}
