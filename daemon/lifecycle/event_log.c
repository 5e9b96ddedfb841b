#include "daemon/lifecycle/event_log.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"

enum { PAYLOAD_CEILING = 8 * 1024 * 1024 };

static struct str literal(const char *text)
{
	return (struct str){text, strlen(text)};
}

void event_log_begin(
	struct event_log *event, struct world *world, const char *type, const char *subject_kind, struct str subject_id)
{
	event->world = world;
	event->row = (struct store_event){
		.type = literal(type),
		.subject_kind = literal(subject_kind),
		.subject_id = subject_id,
		.project = world->project.id,
		.actor = world->call->actor,
		.at = world->call->now,
	};
	buf_init(&event->buf, PAYLOAD_CEILING);
	json_out_init(&event->out, &event->buf);
	json_out_begin_object(&event->out);
}

int event_log_end(struct event_log *event)
{
	int r = 0;

	json_out_end_object(&event->out);
	r = buf_error(&event->buf);
	event->row.payload_json = buf_str(&event->buf);
	if (r == 0)
		r = call_store_result(store_event_append(event->world->tx, &event->row));
	buf_release(&event->buf);
	return r;
}

int event_log_package_status(struct world *world, const struct store_package *row, enum package_status before,
	enum package_status after, struct str run)
{
	return event_log_package_move(world, row, before, after, run, (struct str){0});
}

int event_log_package_move(struct world *world, const struct store_package *row, enum package_status before,
	enum package_status after, struct str run, struct str reason)
{
	struct event_log event;

	if (before == after)
		return 0;
	event_log_begin(&event, world, "package.status", "package", row->id);
	event.row.task = row->task;
	event.row.package = row->id;
	json_out_member_text(&event.out, "before", package_status_name(before));
	json_out_member_text(&event.out, "after", package_status_name(after));
	json_out_member_str(&event.out, "label", row->label);
	if (run.bytes != NULL)
		json_out_member_str(&event.out, "run", run);
	if (reason.bytes != NULL)
		json_out_member_str(&event.out, "reason", reason);
	return event_log_end(&event);
}

int event_log_task_status(struct world *world, const struct store_task *task, bool has_before,
	enum store_task_status before, struct str reason)
{
	struct event_log event;

	event_log_begin(&event, world, "task.status", "task", task->id);
	event.row.task = task->id;
	json_out_member_text(&event.out, "before", has_before ? store_task_status_text(before) : NULL);
	json_out_member_text(&event.out, "after", store_task_status_text(task->status));
	json_out_member_revision(&event.out, "planRevision", task->plan_revision);
	if (reason.bytes != NULL)
		json_out_member_str(&event.out, "reason", reason);
	return event_log_end(&event);
}

int event_log_hold(struct world *world, const struct store_package *row, const char *type, struct str hold_json,
	struct str decision)
{
	struct event_log event;

	event_log_begin(&event, world, type, "package", row->id);
	event.row.task = row->task;
	event.row.package = row->id;
	event.row.decision = decision;
	json_out_member_str(&event.out, "label", row->label);
	if (hold_json.bytes != NULL) {
		time_text_member(&event.out, "since", row->hold_since);
		json_out_member_raw(&event.out, "hold", hold_json);
	}
	return event_log_end(&event);
}

int event_log_grant(struct world *world, const struct store_grant *grant, struct str task)
{
	static const char *const decisions[STORE_GRANT_DECISION_COUNT] = {
		[STORE_GRANT_DENIED] = "denied",
		[STORE_GRANT_REVOKED] = "revoked",
		[STORE_GRANT_APPROVED] = "approved",
	};
	struct event_log event;

	event_log_begin(&event, world, "grant.recorded", "grant", grant->id);
	event.row.task = task;
	event.row.package = grant->package;
	json_out_member_text(&event.out, "decision", decisions[grant->decision]);
	json_out_member_text(&event.out, "mode", grant->mode == STORE_GRANT_ALLOW_ONCE ? "allow_once" : "always_allow");
	json_out_member_raw(&event.out, "capabilities", grant->capabilities_json);
	json_out_member_raw(&event.out, "dropped", grant->dropped_json);
	json_out_member_revision(&event.out, "revision", grant->revision);
	json_out_member_revision(&event.out, "rootRevision", grant->root_revision);
	time_text_member(&event.out, "expiresAt", grant->expires_at);
	json_out_member_str(&event.out, "reason", grant->reason);
	json_out_member_str(&event.out, "replaces", grant->replaces);
	return event_log_end(&event);
}

int event_log_health(struct world *world, const struct store_health *row)
{
	static const char *const sources[] = {
		[STORE_HEALTH_REPORTED] = "reported",
		[STORE_HEALTH_PROBED] = "probed",
		[STORE_HEALTH_BUILTIN] = "builtin",
	};
	struct event_log event;

	event_log_begin(&event, world, "health.changed", "server", row->mcp_id);
	json_out_member_str(&event.out, "mcpId", row->mcp_id);
	json_out_member_str(&event.out, "installState", row->install_state);
	json_out_member_str(&event.out, "status", row->status);
	json_out_member_bool(&event.out, "enabled", row->enabled);
	json_out_member_str(&event.out, "error", row->error);
	time_text_member(&event.out, "checkedAt", row->checked_at);
	json_out_member_text(&event.out, "source", sources[row->source]);
	return event_log_end(&event);
}
