#include "daemon/http/actions.h"
#include "daemon/http/api.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/words_queue.h"

static void write_state(const struct lifecycle_recovery_item *item, struct json_out *out)
{
	const char *kind = item->is_unreadable ? "unreadable" : lifecycle_recovery_kind_name(item->kind);

	words_queue_write(kind, item->state.key, item->has_state ? &item->state.words : NULL, out);
	if (item->has_state)
		render_state(&item->state, out);
	if (item->arm != ARM_NONE)
		json_out_member_text(out, "arm", hold_arm_name(item->arm));
	if (item->is_held) {
		json_out_key(out, "facts");
		lifecycle_hold_facts_write(&item->hold.facts, out);
	}
	if (item->kind == STORE_QUEUE_PLAN_SENT_BACK) {
		json_out_key(out, "facts");
		json_out_begin_object(out);
		render_actor("actor", &item->actor, out);
		time_text_member(out, "at", item->since);
		json_out_member_str(out, "reason", item->reason);
		json_out_end_object(out);
	}
}

static void write_blocked(const struct lifecycle_recovery_item *item, struct json_out *out)
{
	json_out_key(out, "blocked");
	json_out_begin_array(out);
	for (size_t i = 0; i < item->blocked_count; i++) {
		const struct lifecycle_blocking *blocking = &item->blocked[i];

		json_out_begin_object(out);
		json_out_member_str(out, "packageId", blocking->package);
		json_out_member_str(out, "label", blocking->label);
		render_state(&blocking->state, out);
		if (blocking->arm != ARM_NONE)
			json_out_member_text(out, "arm", hold_arm_name(blocking->arm));
		json_out_member_str(out, "decisionId", blocking->decision_id);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_actions(
	const struct lifecycle_action_list *actions, const struct auth_token *token, struct json_out *out)
{
	json_out_key(out, "actions");
	actions_write(actions, token, api_has_route, out);
}

static void write_group(
	const struct lifecycle_recovery_item *item, const struct auth_token *token, struct json_out *out)
{
	if (item->has_opens)
		render_opens(&item->opens, out);
	if (item->besides.bytes != NULL)
		json_out_member_str(out, "besides", item->besides);
	if (item->cause == NULL)
		return;
	json_out_key(out, "cause");
	json_out_begin_object(out);
	json_out_member_str(out, "key", item->cause->key);
	json_out_member_str(out, "headline", item->cause->headline);
	json_out_member_int(out, "count", (int64_t)item->cause->count);
	if (item->cause->does.bytes != NULL)
		json_out_member_str(out, "does", item->cause->does);
	write_actions(&item->cause->actions, token, out);
	json_out_end_object(out);
}

static void write_subject(const struct lifecycle_recovery_item *item, struct json_out *out)
{
	json_out_member_str(out, "id", item->id);
	json_out_member_text(out, "kind", lifecycle_recovery_kind_name(item->kind));
	json_out_member_str(out, "project", item->project);
	if (item->task.bytes != NULL)
		json_out_member_str(out, "task", item->task);
	if (item->title.bytes != NULL)
		json_out_member_str(out, "title", item->title);
	if (item->plan_revision > 0)
		json_out_member_revision(out, "planRevision", item->plan_revision);
	if (item->package.bytes != NULL) {
		json_out_member_str(out, "packageId", item->package);
		json_out_member_str(out, "label", item->label);
		json_out_member_str(out, "agent", item->agent);
	}
	if (item->is_held && item->hold.mcp_id.bytes != NULL)
		json_out_member_str(out, "mcpId", item->hold.mcp_id);
	if (item->run.bytes != NULL)
		json_out_member_str(out, "run", item->run);
}

void render_recovery_item(
	const struct lifecycle_recovery_item *item, const struct auth_token *token, struct json_out *out)
{
	json_out_begin_object(out);
	write_subject(item, out);
	write_state(item, out);
	if (item->reason.bytes != NULL && item->kind != STORE_QUEUE_PLAN_SENT_BACK)
		json_out_member_str(out, "reason", item->reason);
	time_text_member(out, "since", item->since);
	if (item->is_held) {
		json_out_member_str(out, "decisionId", item->hold.decision_id);
		json_out_member_bool(out, "retryable", item->hold.retryable);
		if (item->hold.next_retry_at != 0)
			time_text_member(out, "nextRetryAt", item->hold.next_retry_at);
	}
	if (item->kind == STORE_QUEUE_PLAN_WAITS) {
		json_out_member_int(out, "packages", (int64_t)item->package_count);
		json_out_member_int(out, "warnings", item->warnings);
	}
	if (item->blocked_count > 0)
		write_blocked(item, out);
	write_group(item, token, out);
	write_actions(&item->actions, token, out);
	json_out_end_object(out);
}

/* Kinds of which there are none are left out. */
void render_recovery_counts(const struct store_queue_counts *counts, struct json_out *out)
{
	json_out_key(out, "counts");
	json_out_begin_object(out);
	for (unsigned i = 0; i < STORE_QUEUE_KIND_COUNT; i++)
		if (counts->kinds[i] > 0)
			json_out_member_int(
				out, lifecycle_recovery_kind_name((enum store_queue_kind)i), counts->kinds[i]);
	json_out_key(out, "ready");
	json_out_begin_object(out);
	json_out_member_int(out, "count", counts->ready);
	time_text_member(out, "oldestSince", counts->ready_oldest_since);
	json_out_end_object(out);
	json_out_end_object(out);
}
