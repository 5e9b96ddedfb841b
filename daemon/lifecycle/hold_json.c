#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"

enum { HOLD_CEILING = 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- writing */

static void write_names(struct json_out *out, const char *key, const struct str *names, size_t count)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, names[i]);
	json_out_end_array(out);
}

static void write_record(const struct lifecycle_hold_facts *facts, struct json_out *out)
{
	json_out_key(out, "actor");
	json_out_begin_object(out);
	json_out_member_str(out, "token", facts->actor.token);
	json_out_member_str(out, "principal", facts->actor.principal);
	json_out_end_object(out);
	time_text_member(out, "at", facts->at);
	if (facts->reason.bytes != NULL)
		json_out_member_str(out, "reason", facts->reason);
	if (facts->expires_at != 0)
		time_text_member(out, "expiresAt", facts->expires_at);
}

static void write_facts(const struct lifecycle_hold_facts *facts, bool stored, struct json_out *out)
{
	json_out_begin_object(out);
	if (facts->at != 0)
		write_record(facts, out);
	if (facts->left_count > 0)
		write_names(out, "left", facts->left, facts->left_count);
	if (facts->missing_count > 0)
		write_names(out, "missing", facts->missing, facts->missing_count);
	if (facts->attempt != 0)
		json_out_member_int(out, "attempt", facts->attempt);
	if (facts->error.bytes != NULL)
		json_out_member_str(out, "error", facts->error);
	if (facts->checked_at != 0)
		time_text_member(out, "checkedAt", facts->checked_at);
	if (stored && facts->root_revision_then != 0)
		json_out_member_int(out, "rootRevisionThen", facts->root_revision_then);
	if (!stored) {
		json_out_key(out, "revisions");
		json_out_begin_object(out);
		json_out_member_revision(out, "package", facts->package_revision);
		json_out_member_revision(out, "project", facts->project_revision);
		json_out_member_revision(out, "root", facts->root_revision);
		json_out_end_object(out);
	}
	json_out_end_object(out);
}

static void write_decided(const struct lifecycle_hold *hold, struct json_out *out)
{
	json_out_member_text(out, "kind", hold_kind_name(hold->kind));
	json_out_member_text(out, "mode", admission_mode_name(hold->mode));
	json_out_member_text(out, "recoveryAction", recovery_action_name(hold->recovery));
	if (hold->arm != ARM_NONE)
		json_out_member_text(out, "arm", hold_arm_name(hold->arm));
	json_out_member_str(out, "requirementKey", hold->requirement_key);
	if (hold->subtask_id.bytes != NULL)
		json_out_member_str(out, "subtaskId", hold->subtask_id);
	json_out_member_str(out, "decisionId", hold->decision_id);
}

void lifecycle_hold_write(const struct lifecycle_hold *hold, struct json_out *out)
{
	json_out_begin_object(out);
	write_decided(hold, out);
	time_text_member(out, "since", hold->since);
	json_out_member_bool(out, "retryable", hold->retryable);
	time_text_member(out, "nextRetryAt", hold->next_retry_at);
	json_out_key(out, "facts");
	write_facts(&hold->facts, false, out);
	json_out_end_object(out);
}

void lifecycle_hold_facts_write(const struct lifecycle_hold_facts *facts, struct json_out *out)
{
	write_facts(facts, false, out);
}

void lifecycle_state_write(const struct lifecycle_state *state, struct json_out *out)
{
	words_state_write(state->key, &state->words, out);
}

int hold_store_json(struct arena *arena, const struct lifecycle_hold *hold, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	int r = 0;

	buf_init(&buf, HOLD_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	write_decided(hold, &out);
	json_out_member_bool(&out, "retryable", hold->retryable);
	time_text_member(&out, "nextRetryAt", hold->next_retry_at);
	json_out_member_str(&out, "mcpId", hold->mcp_id);
	json_out_member_str(&out, "agent", hold->agent);
	json_out_member_str(&out, "reason", hold->reason);
	json_out_key(&out, "facts");
	write_facts(&hold->facts, true, &out);
	json_out_end_object(&out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	*ret_json = arena_str(arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

int hold_fingerprint(struct arena *arena, const struct lifecycle_hold *hold, struct str *ret)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	char digest[DIGEST_TEXT_SIZE];
	int r = 0;

	buf_init(&buf, HOLD_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	write_decided(hold, &out);
	json_out_member_bool(&out, "retryable", hold->retryable);
	json_out_end_object(&out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	digest_text(buf_str(&buf), digest);
	*ret = arena_str(arena, (struct str){digest, strlen(digest)});
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

/* ---- reading what we wrote: anything else is a damaged store */

static struct str borrow(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

static struct str read_text(struct arena *arena, const json_t *object, const char *key)
{
	return arena_str(arena, borrow(object, key));
}

static int64_t read_time(const json_t *object, const char *key)
{
	int64_t at = 0;

	return time_text_read(borrow(object, key), &at) ? at : 0;
}

static const struct str *read_names(struct arena *arena, const json_t *object, const char *key, size_t *ret_count)
{
	const json_t *array = json_object_get(object, key);
	size_t count = json_array_size(array);
	struct str *names = ARENA_ARRAY(arena, count, struct str);

	*ret_count = 0;
	for (size_t i = 0; names != NULL && i < count; i++) {
		const json_t *item = json_array_get(array, i);

		names[(*ret_count)++] =
			arena_str(arena, (struct str){json_string_value(item), json_string_length(item)});
	}
	return names;
}

static void read_facts(struct arena *arena, const json_t *object, struct lifecycle_hold_facts *facts)
{
	const json_t *actor = json_object_get(object, "actor");

	facts->actor.token = read_text(arena, actor, "token");
	facts->actor.principal = read_text(arena, actor, "principal");
	facts->at = read_time(object, "at");
	facts->reason = read_text(arena, object, "reason");
	facts->expires_at = read_time(object, "expiresAt");
	facts->left = read_names(arena, object, "left", &facts->left_count);
	facts->missing = read_names(arena, object, "missing", &facts->missing_count);
	facts->attempt = json_integer_value(json_object_get(object, "attempt"));
	facts->error = read_text(arena, object, "error");
	facts->checked_at = read_time(object, "checkedAt");
	facts->root_revision_then = json_integer_value(json_object_get(object, "rootRevisionThen"));
}

static bool read_words(const json_t *object, struct lifecycle_hold *hold)
{
	struct str arm = borrow(object, "arm");
	struct str mode = borrow(object, "mode");
	struct str recovery = borrow(object, "recoveryAction");
	int at = 0;

	if (!hold_kind_find(borrow(object, "kind"), &hold->kind) ||
		(arm.bytes != NULL && !hold_arm_find(arm, &hold->arm)))
		return false;
	for (at = MODE_BLOCKED; at < MODE_PLANNING_ONLY && !str_is(mode, admission_mode_name((enum admission_mode)at));)
		at++;
	hold->mode = (enum admission_mode)at;
	for (at = RECOVERY_REVISE_PLAN; at < RECOVERY_CONTINUE_AS_PROMPT_CONTEXT &&
		!str_is(recovery, recovery_action_name((enum recovery_action)at));)
		at++;
	hold->recovery = (enum recovery_action)at;
	return true;
}

int hold_read_json(struct arena *arena, struct str json, struct lifecycle_hold *ret)
{
	CLEANUP(json_drop) json_t *object = json_loadb(json.bytes, json.len, JSON_ALLOW_NUL, NULL);

	*ret = (struct lifecycle_hold){0};
	if (!json_is_object(object) || !read_words(object, ret))
		return -EUCLEAN;
	ret->requirement_key = read_text(arena, object, "requirementKey");
	ret->subtask_id = read_text(arena, object, "subtaskId");
	ret->mcp_id = read_text(arena, object, "mcpId");
	ret->agent = read_text(arena, object, "agent");
	ret->decision_id = read_text(arena, object, "decisionId");
	ret->reason = read_text(arena, object, "reason");
	ret->retryable = json_is_true(json_object_get(object, "retryable"));
	ret->next_retry_at = read_time(object, "nextRetryAt");
	read_facts(arena, json_object_get(object, "facts"), &ret->facts);
	return arena->failed ? -ENOMEM : 0;
}

/* ---- copies */

static int copy_names(struct arena *arena, const struct str **names, size_t count)
{
	struct str *copies = ARENA_ARRAY(arena, count, struct str);

	if (copies == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		copies[i] = arena_str(arena, (*names)[i]);
	*names = copies;
	return 0;
}

int hold_copy(struct arena *arena, const struct lifecycle_hold *hold, struct lifecycle_hold *ret)
{
	int r = 0;

	*ret = *hold;
	ret->requirement_key = arena_str(arena, hold->requirement_key);
	ret->subtask_id = arena_str(arena, hold->subtask_id);
	ret->mcp_id = arena_str(arena, hold->mcp_id);
	ret->agent = arena_str(arena, hold->agent);
	ret->decision_id = arena_str(arena, hold->decision_id);
	ret->reason = arena_str(arena, hold->reason);
	ret->facts.actor.token = arena_str(arena, hold->facts.actor.token);
	ret->facts.actor.principal = arena_str(arena, hold->facts.actor.principal);
	ret->facts.reason = arena_str(arena, hold->facts.reason);
	ret->facts.error = arena_str(arena, hold->facts.error);
	r = copy_names(arena, &ret->facts.left, hold->facts.left_count);
	if (r == 0)
		r = copy_names(arena, &ret->facts.missing, hold->facts.missing_count);
	return r == 0 && arena->failed ? -ENOMEM : r;
}
