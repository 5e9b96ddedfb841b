#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"

static void write_hold(const struct lifecycle_package *package, struct json_out *out)
{
	json_out_key(out, "hold");
	if (package->is_held)
		lifecycle_hold_write(&package->hold, out);
	else
		json_out_null(out);
}

static void write_parts(const struct lifecycle_package *package, unsigned parts, struct json_out *out)
{
	const struct store_package *row = &package->row;

	json_out_member_str(out, "id", row->id);
	json_out_member_str(out, "label", row->label);
	if (parts & RENDER_PACKAGE_AGENT)
		json_out_member_str(out, "agent", row->agent);
	json_out_member_text(out, "status", package_status_name(package->status));
	if (parts & RENDER_PACKAGE_ATTEMPTS)
		json_out_member_int(out, "attempts", row->attempts);
	if (parts & RENDER_PACKAGE_LEFT)
		json_out_member_int(out, "attemptsLeft", package->attempts_left);
	if (parts & RENDER_PACKAGE_PLAN) {
		render_names("dependsOn", package->depends_on, package->depends_on_count, out);
		json_out_member_str(out, "documentDigest", row->document_digest);
	}
	if (parts & RENDER_PACKAGE_HOLD)
		write_hold(package, out);
	if (package->is_rejudging)
		json_out_member_bool(out, "rejudging", true);
}

void render_package_part(const char *key, const struct lifecycle_package *package, unsigned parts, struct json_out *out)
{
	if (key != NULL)
		json_out_key(out, key);
	json_out_begin_object(out);
	write_parts(package, parts, out);
	json_out_end_object(out);
}

static void write_before(const struct lifecycle_package *package, struct json_out *out)
{
	json_out_key(out, "after");
	json_out_begin_array(out);
	for (size_t i = 0; i < package->depends_on_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "id", package->before[i].package);
		json_out_member_str(out, "label", package->before[i].label);
		json_out_member_text(out, "status", package_status_name(package->before[i].status));
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_last_decision(const struct lifecycle_package *package, struct json_out *out)
{
	json_out_key(out, "lastDecision");
	if (package->last_surface == STORE_SURFACE_NONE) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "surface", store_surface_text(package->last_surface));
	json_out_member_str(out, "decisionId", package->last_decision);
	json_out_end_object(out);
}

/* What its reader is told of it, and may do. */
static void write_said(const struct lifecycle_package *package, const struct auth_token *token, struct json_out *out)
{
	write_last_decision(package, out);
	if (package->has_state)
		render_state(&package->state, out);
	else
		json_out_member_null(out, "operatorState");
	if (package->is_unreadable)
		json_out_member_str(out, "unreadable", words_unreadable());
	json_out_key(out, "actions");
	actions_write(&package->actions, token, api_has_route, out);
}

void render_package(const struct lifecycle_package *package, const struct auth_token *token, struct json_out *out)
{
	const struct store_package *row = &package->row;

	json_out_begin_object(out);
	write_parts(package,
		RENDER_PACKAGE_AGENT | RENDER_PACKAGE_ATTEMPTS | RENDER_PACKAGE_LEFT | RENDER_PACKAGE_PLAN |
			RENDER_PACKAGE_HOLD,
		out);
	write_before(package, out);
	json_out_member_str(out, "task", row->task);
	json_out_member_str(out, "title", package->title);
	json_out_member_str(out, "project", row->project);
	json_out_member_revision(out, "planRevision", row->plan_revision);
	render_actor("submittedBy", &row->submitted_by, out);
	time_text_member(out, "createdAt", row->created_at);
	time_text_member(out, "endedAt", row->ended_at);
	json_out_member_str(out, "run", row->live_run);
	write_said(package, token, out);
	if (package->has_opens)
		render_opens(&package->opens, out);
	else
		json_out_member_null(out, "opens");
	json_out_end_object(out);
}

void render_package_move(const struct lifecycle_package_move *move, struct json_out *out)
{
	json_out_begin_object(out);
	render_package_part(
		"package", &move->view, RENDER_PACKAGE_ATTEMPTS | RENDER_PACKAGE_LEFT | RENDER_PACKAGE_HOLD, out);
	render_names("along", move->along, move->along_count, out);
	json_out_key(out, "task");
	json_out_begin_object(out);
	json_out_member_str(out, "id", move->task.id);
	json_out_member_text(out, "status", store_task_status_text(move->task.status));
	json_out_end_object(out);
	json_out_end_object(out);
}

/* A link to a route of this task, if there is such a route. */
static void write_link(
	const char *name, enum http_method method, const char *pattern, struct str task, struct json_out *out)
{
	char href[ACTIONS_HREF_MAX];

	if (api_has_route(method, pattern))
		json_out_member_str(out, name, actions_href(href, pattern, task, (struct str){0}));
}

static void write_links(struct str task, struct json_out *out)
{
	json_out_key(out, "links");
	json_out_begin_object(out);
	write_link("preview", HTTP_POST, "/v1/tasks/{id}/preview", task, out);
	write_link("approval", HTTP_POST, "/v1/tasks/{id}/approval", task, out);
	json_out_end_object(out);
}

static void write_head(const struct store_task *task, struct json_out *out)
{
	json_out_member_str(out, "id", task->id);
	json_out_member_str(out, "project", task->project);
	json_out_member_str(out, "title", task->title);
	json_out_member_text(out, "status", store_task_status_text(task->status));
	json_out_member_revision(out, "planRevision", task->plan_revision);
	json_out_member_str(out, "planDigest", task->plan_digest);
	render_actor("submittedBy", &task->submitted_by, out);
}

/* Who set the status, when and why; and the approval of this plan. */
static void write_story(const struct store_task *task, struct json_out *out)
{
	time_text_member(out, "submittedAt", task->submitted_at);
	time_text_member(out, "createdAt", task->created_at);
	render_actor("statusBy", &task->status_by, out);
	time_text_member(out, "statusAt", task->status_at);
	json_out_member_str(out, "statusReason", task->status_reason);
	render_actor("approvedBy", &task->approved_by, out);
	time_text_member(out, "approvedAt", task->approved_at);
}

void render_task(const struct lifecycle_task *task, unsigned parts, const struct str *ended, size_t ended_count,
	const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(&task->row, out);
	json_out_key(out, "packages");
	json_out_begin_array(out);
	for (size_t i = 0; i < task->package_count; i++) {
		json_out_begin_object(out);
		write_parts(&task->packages[i],
			RENDER_PACKAGE_AGENT | RENDER_PACKAGE_ATTEMPTS | RENDER_PACKAGE_PLAN | RENDER_PACKAGE_HOLD,
			out);
		if (parts & RENDER_TASK_ACTIONS)
			write_said(&task->packages[i], token, out);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	if (parts & RENDER_TASK_SUPERSEDED)
		render_names("superseded", ended, ended_count, out);
	if (parts & RENDER_TASK_CANCELLED)
		render_names("cancelled", ended, ended_count, out);
	if (parts & (RENDER_TASK_ACTIONS | RENDER_TASK_STORY))
		write_story(&task->row, out);
	if (parts & RENDER_TASK_ACTIONS) {
		json_out_key(out, "actions");
		actions_write(&task->actions, token, api_has_route, out);
	}
	write_links(task->row.id, out);
	json_out_end_object(out);
}

void render_task_line(const struct store_task *task, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(task, out);
	write_story(task, out);
	json_out_end_object(out);
}
