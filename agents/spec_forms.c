/* The forms of a spec: kept, shown, sent. */
#include <errno.h>
#include <string.h>

#include "agents/spec.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

bool spec_has_credentials(const struct spec *spec)
{
	for (size_t i = 0; i < spec->value_count; i++)
		if (spec->values[i].is_credential)
			return true;
	return false;
}

struct str spec_missing_credential(const struct spec *spec)
{
	for (size_t i = 0; i < spec->value_count; i++)
		if (spec->values[i].is_credential && spec->values[i].value.bytes == NULL)
			return spec->values[i].name;
	return (struct str){0};
}

/* ---- writing */

static void write_list(const char *key, const struct str *items, size_t count, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, items[i]);
	json_out_end_array(out);
}

static void write_head(const struct spec *spec, struct json_out *out)
{
	json_out_member_str(out, "id", spec->id);
	json_out_member_text(out, "transport", spec->transport == SPEC_STDIO ? "stdio" : "http");
	if (spec->transport == SPEC_STDIO) {
		json_out_member_str(out, "command", spec->command);
		write_list("args", spec->args, spec->arg_count, out);
	} else {
		json_out_member_str(out, "url", spec->url);
	}
}

static void write_tail(const struct spec *spec, struct json_out *out)
{
	if (spec->narrows_tools)
		write_list("allowedTools", spec->allowed_tools, spec->allowed_tool_count, out);
	write_list("secretKeys", spec->secret_keys, spec->secret_key_count, out);
}

/* `whole`: with the values of credentials; else `are_sealed` says whether they lie in a seal. */
static void write_values(const struct spec *spec, bool whole, bool are_sealed, struct json_out *out)
{
	json_out_key(out, "values");
	json_out_begin_array(out);
	for (size_t i = 0; i < spec->value_count; i++) {
		const struct spec_value *value = &spec->values[i];

		json_out_begin_object(out);
		json_out_member_str(out, "name", value->name);
		json_out_member_bool(out, "credential", value->is_credential);
		if (value->value.bytes != NULL && (whole || !value->is_credential))
			json_out_member_str(out, "value", value->value);
		if (value->value.bytes != NULL && !whole && value->is_credential)
			json_out_member_bool(out, "sealed", are_sealed);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

void spec_write_kept(const struct spec *spec, struct str sealed, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(spec, out);
	write_values(spec, false, sealed.bytes != NULL, out);
	write_tail(spec, out);
	if (sealed.bytes != NULL)
		json_out_member_str(out, "sealed", sealed);
	json_out_end_object(out);
}

void spec_write_whole(const struct spec *spec, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(spec, out);
	write_values(spec, true, false, out);
	write_tail(spec, out);
	json_out_end_object(out);
}

void spec_write_credentials(const struct spec *spec, struct json_out *out)
{
	json_out_begin_object(out);
	for (size_t i = 0; i < spec->value_count; i++) {
		if (!spec->values[i].is_credential || spec->values[i].value.bytes == NULL)
			continue;
		json_out_key_str(out, spec->values[i].name);
		json_out_str(out, spec->values[i].value);
	}
	json_out_end_object(out);
}

void spec_write_shown(const struct spec *spec, struct json_out *out)
{
	json_out_begin_object(out);
	write_head(spec, out);
	json_out_key(out, spec->transport == SPEC_STDIO ? "env" : "headers");
	json_out_begin_object(out);
	for (size_t i = 0; i < spec->value_count; i++) {
		const struct spec_value *value = &spec->values[i];
		bool is_set = value->value.bytes != NULL || value->is_sealed;

		json_out_key_str(out, value->name);
		json_out_begin_object(out);
		json_out_member_bool(out, "credential", value->is_credential);
		json_out_member_bool(out, "set", is_set);
		json_out_end_object(out);
	}
	json_out_end_object(out);
	write_tail(spec, out);
	json_out_end_object(out);
}

/* ---- reading what we wrote: anything else is damage */

static struct str text_in(struct arena *arena, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return (struct str){0};
	return arena_str(arena, (struct str){json_string_value(value), json_string_length(value)});
}

static int read_list(struct arena *arena, const json_t *array, const struct str **ret, size_t *ret_count)
{
	struct str *items = ARENA_ARRAY(arena, json_array_size(array), struct str);
	size_t index;
	const json_t *item;

	if (items == NULL)
		return -ENOMEM;
	json_array_foreach(array, index, item)
	{
		if (!json_is_string(item))
			return -EUCLEAN;
		items[index] = arena_str(arena, (struct str){json_string_value(item), json_string_length(item)});
	}
	*ret = items;
	*ret_count = json_array_size(array);
	return 0;
}

static int read_values(struct arena *arena, const json_t *array, struct spec *spec)
{
	size_t index;
	const json_t *item;

	spec->values = ARENA_ARRAY(arena, json_array_size(array), struct spec_value);
	if (spec->values == NULL)
		return -ENOMEM;
	json_array_foreach(array, index, item)
	{
		struct spec_value *value = &spec->values[index];

		value->name = text_in(arena, item, "name");
		value->value = text_in(arena, item, "value");
		value->is_credential = json_is_true(json_object_get(item, "credential"));
		value->is_sealed = json_is_true(json_object_get(item, "sealed"));
		if (value->name.bytes == NULL)
			return -EUCLEAN;
	}
	spec->value_count = json_array_size(array);
	return 0;
}

static int read_head(struct arena *arena, const json_t *value, struct spec *spec)
{
	struct str transport = text_in(arena, value, "transport");

	spec->id = text_in(arena, value, "id");
	spec->command = text_in(arena, value, "command");
	spec->url = text_in(arena, value, "url");
	if (transport.bytes != NULL && str_is(transport, "stdio") && spec->command.bytes != NULL)
		spec->transport = SPEC_STDIO;
	else if (transport.bytes != NULL && str_is(transport, "http") && spec->url.bytes != NULL)
		spec->transport = SPEC_HTTP;
	return spec->transport != SPEC_NONE && spec_id_is_valid(spec->id) ? 0 : -EUCLEAN;
}

int spec_read_whole(struct arena *arena, const json_t *value, struct spec *ret)
{
	const json_t *tools = json_object_get(value, "allowedTools");
	int r = 0;

	*ret = (struct spec){.narrows_tools = tools != NULL};
	r = read_head(arena, value, ret);
	if (r == 0)
		r = read_list(arena, json_object_get(value, "args"), &ret->args, &ret->arg_count);
	if (r == 0)
		r = read_values(arena, json_object_get(value, "values"), ret);
	if (r == 0)
		r = read_list(arena, tools, &ret->allowed_tools, &ret->allowed_tool_count);
	if (r == 0)
		r = read_list(arena, json_object_get(value, "secretKeys"), &ret->secret_keys, &ret->secret_key_count);
	return arena->failed ? -ENOMEM : r;
}

int spec_read_kept(struct arena *arena, struct str json, struct spec *ret, struct str *ret_sealed)
{
	CLEANUP(json_drop) json_t *value = NULL;
	int r = json_parse(json, &value, NULL);

	*ret_sealed = (struct str){0};
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	*ret_sealed = text_in(arena, value, "sealed");
	return spec_read_whole(arena, value, ret);
}

int spec_read_credentials(struct arena *arena, struct str json, struct spec *spec)
{
	CLEANUP(json_drop) json_t *object = NULL;
	int r = json_parse(json, &object, NULL);

	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	for (size_t i = 0; i < spec->value_count; i++) {
		struct spec_value *value = &spec->values[i];
		const json_t *found =
			value->is_credential ? json_object_getn(object, value->name.bytes, value->name.len) : NULL;

		if (json_is_string(found))
			value->value =
				arena_str(arena, (struct str){json_string_value(found), json_string_length(found)});
	}
	return arena->failed ? -ENOMEM : 0;
}
