#include "policy/replay.h"

#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"

enum { REPLAY_MEMORY_LIMIT = 64 * 1024 * 1024 };

static const char second_suffix[] = " #2"; /* of the second of two rows with one name: decision_id.c */

void replay_release(struct replay *replay)
{
	package_free(replay->package);
	arena_release(&replay->arena);
	*replay = (struct replay){0};
}

static struct str text_of(const json_t *value)
{
	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

/* ---- health and prompt */

static bool read_row(struct str mcp_id, const json_t *value, struct health_row *ret)
{
	const json_t *enabled = json_object_get(value, "enabled");

	*ret = (struct health_row){.mcp_id = mcp_id, .observed = true, .enabled = json_is_true(enabled)};
	return json_is_boolean(enabled) && json_is_boolean(json_object_get(value, "observed")) &&
		health_install_state_find(text_of(json_object_get(value, "installState")), &ret->install_state) &&
		health_status_find(text_of(json_object_get(value, "status")), &ret->status);
}

static int read_health(struct replay *replay, json_t *record)
{
	json_t *object = json_object_get(record, "health");
	struct admission_inputs *inputs = &replay->inputs;
	const char *key;
	json_t *value;

	inputs->health = ARENA_ARRAY(&replay->arena, json_object_size(object), struct health_row);
	if (!inputs->health)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		if (json_is_false(json_object_get(value, "observed")))
			continue;
		if (!read_row((struct str){key, strlen(key)}, value, &inputs->health[inputs->health_count]))
			return REPLAY_UNREADABLE;
		inputs->health_count++;
	}
	return 0;
}

static int read_prompt(struct replay *replay, const json_t *record)
{
	const json_t *list = json_object_get(record, "prompt");
	struct admission_inputs *inputs = &replay->inputs;

	inputs->prompt = ARENA_ARRAY(&replay->arena, json_array_size(list), struct str);
	if (!inputs->prompt)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str key = text_of(json_array_get(list, i));

		if (!key.bytes)
			return REPLAY_UNREADABLE;
		inputs->prompt[inputs->prompt_count++] = key;
	}
	return 0;
}

/* ---- grants */

static bool is_still_read(struct arena *arena, const struct catalog *catalog, const json_t *item, int *ret_error)
{
	struct str name = text_of(item);
	const struct catalog_mcp *mcp = name.bytes ? capability_owner(catalog, name) : NULL;
	struct capability capability;

	if (!mcp || mcp->delivery != DELIVERY_BOUNDED_CONTEXT_PACKET)
		return false;
	*ret_error = capability_read(arena, catalog, mcp, name, &capability);
	return *ret_error == 0 && capability.class == CLASS_BOUNDED_READ_ONLY;
}

/* The state without what this catalog doesn't read: a new reference, or NULL. */
static json_t *narrow(struct arena *arena, const struct catalog *catalog, const json_t *state, int *ret_error)
{
	const json_t *covered = json_object_get(state, "coveredCapabilities");
	json_t *kept = json_array();
	json_t *copy = json_copy((json_t *)(uintptr_t)state);

	for (size_t i = 0; kept && copy && !*ret_error && i < json_array_size(covered); i++) {
		if (is_still_read(arena, catalog, json_array_get(covered, i), ret_error) &&
			json_array_append(kept, json_array_get(covered, i)))
			*ret_error = -ENOMEM;
	}
	if (covered && !*ret_error && (!copy || json_object_set(copy, "coveredCapabilities", kept)))
		*ret_error = -ENOMEM;
	json_decref(kept);
	return copy;
}

static int add_grant(struct replay *replay, struct str name, const json_t *state)
{
	struct admission_grant *grant = &replay->inputs.grants[replay->inputs.grant_count];
	const struct catalog *catalog = replay->package->catalog;
	int result = 0;
	CLEANUP(json_drop) json_t *narrowed = narrow(&replay->arena, catalog, state, &result);

	if (result)
		return result;
	if (!narrowed)
		return -ENOMEM;
	grant->name = arena_str(&replay->arena, name);
	result = grant_state_read(&replay->arena, catalog, narrowed, &grant->state);
	if (result || !grant->name.bytes)
		return result ? result : -ENOMEM;
	replay->inputs.grant_count++;
	return 0;
}

/* Two rows with one name were told apart by what their MCPs had (1.2): otherwise both would have the state of the name. */
static int add_pair(struct replay *replay, struct str name, const json_t *first, const json_t *second)
{
	const json_t *states[] = {first, second};
	size_t found = 0;

	for (size_t i = 0; i < replay->package->requirement_count && found < 2; i++) {
		int result;

		if (!str_equal(replay->package->requirements[i].key, name))
			continue;
		result = add_grant(replay, replay->package->requirements[i].mcp_id, states[found++]);
		if (result)
			return result;
	}
	return 0;
}

static bool is_second(struct str name)
{
	size_t len = sizeof(second_suffix) - 1;

	return name.len > len && memcmp(name.bytes + name.len - len, second_suffix, len) == 0;
}

static int read_grants(struct replay *replay, json_t *record)
{
	json_t *object = json_object_get(record, "grants");
	const char *key;
	json_t *value;
	int result = 0;

	replay->inputs.grants = ARENA_ARRAY(&replay->arena, json_object_size(object), struct admission_grant);
	if (!replay->inputs.grants)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		struct str name = {key, strlen(key)};
		struct str second = arena_printf(&replay->arena, "%s%s", key, second_suffix);
		const json_t *other = second.bytes ? json_object_get(object, second.bytes) : NULL;

		if (!second.bytes)
			return -ENOMEM;
		if (is_second(name))
			continue;
		result = other && !json_equal(value, other) ? add_pair(replay, name, value, other)
							    : add_grant(replay, name, value);
		if (result)
			return result;
	}
	return 0;
}

/* ---- deciding */

static int read_inputs(struct replay *replay, json_t *record)
{
	int result;

	if (!json_is_object(json_object_get(record, "health")) || !json_is_object(json_object_get(record, "grants")) ||
		!json_is_array(json_object_get(record, "prompt")))
		return REPLAY_UNREADABLE;
	result = read_health(replay, record);
	if (!result)
		result = read_grants(replay, record);
	if (!result)
		result = read_prompt(replay, record);
	if (!result)
		admission_inputs_sort(&replay->inputs);
	return result;
}

/* A stored document believes no envelope, and of one that did the record names what it believed (1.7). */
int replay_decide(const struct catalog *catalog, const json_t *document, const json_t *record, struct replay *ret)
{
	static const struct package_options options = {.believes_envelopes = false};
	int result;

	*ret = (struct replay){0};
	arena_init(&ret->arena, REPLAY_MEMORY_LIMIT);
	result = package_new(catalog, document, &options, &ret->package);
	if (!result)
		result = read_inputs(ret, (json_t *)(uintptr_t)record);
	if (!result)
		result = admit_work_package_mcp(&ret->arena, ret->package, &ret->inputs, &ret->admission);
	return result;
}

static int digest_of(const struct replay *replay, void (*write)(const struct admission *, struct json_out *),
	char ret[static DIGEST_TEXT_SIZE])
{
	struct json_out out;
	struct buf buf;
	int result;

	buf_init(&buf, REPLAY_MEMORY_LIMIT);
	json_out_init(&out, &buf);
	write(&replay->admission, &out);
	result = buf_error(&buf);
	if (!result)
		digest_text(buf_str(&buf), ret);
	buf_release(&buf);
	return result;
}

static void write_stored(const struct admission *admission, struct json_out *out)
{
	admission_write(admission, true, out);
}

int replay_digests(
	const struct replay *replay, char ret_id[static DIGEST_TEXT_SIZE], char ret_result[static DIGEST_TEXT_SIZE])
{
	int result = digest_of(replay, decision_inputs_write, ret_id);

	return result ? result : digest_of(replay, write_stored, ret_result);
}
