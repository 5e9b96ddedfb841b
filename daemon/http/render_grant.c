#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"

static const char *const decisions[] = {
	[STORE_GRANT_DENIED] = "denied",
	[STORE_GRANT_REVOKED] = "revoked",
	[STORE_GRANT_APPROVED] = "approved",
};

void render_grant(const char *key, const struct store_grant *grant, struct json_out *out)
{
	if (key != NULL)
		json_out_key(out, key);
	json_out_begin_object(out);
	json_out_member_str(out, "id", grant->id);
	json_out_member_str(out, "project", grant->project);
	json_out_member_str(out, "packageId", grant->package);
	if (grant->label.bytes != NULL)
		json_out_member_str(out, "packageLabel", grant->label);
	json_out_member_text(out, "decision", decisions[grant->decision]);
	json_out_member_text(out, "mode", grant->mode == STORE_GRANT_ALLOW_ONCE ? "allow_once" : "always_allow");
	json_out_member_raw(out, "capabilities", grant->capabilities_json);
	json_out_member_revision(out, "revision", grant->revision);
	json_out_member_revision(out, "rootRevision", grant->root_revision);
	time_text_member(out, "expiresAt", grant->expires_at);
	json_out_member_str(out, "reason", grant->reason);
	render_actor("actor", &grant->actor, out);
	time_text_member(out, "at", grant->at);
	json_out_member_str(out, "replaces", grant->replaces);
	if (grant->package.bytes == NULL)
		render_json("dropped", grant->dropped_json, out);
	if (grant->expired)
		json_out_member_bool(out, "expired", true);
	if (grant->used_by.bytes != NULL)
		json_out_member_str(out, "usedBy", grant->used_by);
	json_out_end_object(out);
}

static void write_line(const struct lifecycle_impact_line *line, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "effect", lifecycle_effect_name(line->effect));
	json_out_member_text(out, "sign", line->sign);
	json_out_member_text(out, "tone", line->tone);
	json_out_member_str(out, "text", line->text);
	json_out_member_str(out, "does", line->does);
	json_out_key(out, "packages");
	json_out_begin_array(out);
	for (size_t i = 0; i < line->package_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "id", line->packages[i].id);
		json_out_member_str(out, "label", line->packages[i].label);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	if (line->task.bytes != NULL)
		json_out_member_str(out, "task", line->task);
	if (line->title.bytes != NULL)
		json_out_member_str(out, "title", line->title);
	if (line->has_state)
		render_state(&line->state, out);
	json_out_end_object(out);
}

static void write_told(const struct lifecycle_impact *impact, struct json_out *out)
{
	json_out_member_str(out, "headline", impact->headline);
	json_out_member_str(out, "brief", impact->brief);
	json_out_key(out, "lines");
	json_out_begin_array(out);
	for (size_t i = 0; i < impact->line_count; i++)
		write_line(&impact->lines[i], out);
	json_out_end_array(out);
}

static void write_impact(const struct lifecycle_impact *impact, struct json_out *out)
{
	json_out_key(out, "impact");
	json_out_begin_object(out);
	render_names("opens", impact->opens, impact->open_count, out);
	render_names("holds", impact->holds, impact->hold_count, out);
	render_names("stays", impact->stays, impact->stay_count, out);
	render_names("overrides", impact->overrides, impact->override_count, out);
	render_names("plans", impact->plans, impact->plan_count, out);
	json_out_member_revision(out, "revision", impact->revision);
	if (impact->headline.bytes != NULL)
		write_told(impact, out);
	json_out_end_object(out);
}

void render_granted(const struct lifecycle_grant *granted, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	if (!granted->dry_run)
		render_grant("grant", &granted->grant, out);
	write_impact(&granted->impact, out);
	if (!granted->dry_run && granted->package.bytes != NULL)
		render_package_part("package", &granted->view, RENDER_PACKAGE_HOLD, out);
	if (!granted->dry_run) {
		json_out_key(out, "actions");
		actions_write(&granted->actions, token, api_has_route, out);
		if (granted->no_undo.bytes != NULL)
			json_out_member_str(out, "noUndo", granted->no_undo);
	}
	json_out_end_object(out);
}
