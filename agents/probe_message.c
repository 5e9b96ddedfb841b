#include "agents/probe_message.h"

#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/json_parse.h"

static const char *const type_names[PROBE_TYPES] = {
	[PROBE_HELLO] = "hello",
	[PROBE_READY] = "ready",
	[PROBE_CHECK] = "check",
	[PROBE_CHECKED] = "checked",
	[PROBE_DELIVER] = "deliver",
	[PROBE_DELIVERED] = "delivered",
};

/* ---- writing */

static void write_list(const char *key, const struct str *items, size_t count, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, items[i]);
	json_out_end_array(out);
}

static void write_members(const struct probe_message *message, struct json_out *out)
{
	switch (message->type) {
	case PROBE_HELLO:
		write_list("commands", message->hello.commands, message->hello.command_count, out);
		write_list("hidden", message->hello.hidden, message->hello.hidden_count, out);
		json_out_member_bool(out, "allowPrivate", message->hello.allow_private);
		break;
	case PROBE_READY:
		json_out_member_bool(out, "landlock", message->ready.has_landlock);
		json_out_member_bool(out, "seccomp", message->ready.has_seccomp);
		break;
	case PROBE_CHECK:
		json_out_member_int(out, "id", message->check.id);
		json_out_member_int(out, "timeoutMs", message->check.timeout_ms);
		json_out_key(out, "spec");
		spec_write_whole(&message->check.spec, out);
		break;
	case PROBE_CHECKED:
		json_out_member_int(out, "id", message->checked.id);
		json_out_member_text(out, "installState", health_install_state_name(message->checked.install_state));
		json_out_member_text(out, "status", health_status_name(message->checked.status));
		json_out_member_str(out, "error", message->checked.error);
		break;
	case PROBE_DELIVER:
		json_out_member_int(out, "id", message->deliver.id);
		json_out_member_int(out, "timeoutMs", message->deliver.timeout_ms);
		json_out_member_str(out, "url", message->deliver.url);
		write_list("headers", message->deliver.headers, message->deliver.header_count, out);
		json_out_member_str(out, "body", message->deliver.body);
		break;
	case PROBE_DELIVERED:
		json_out_member_int(out, "id", message->delivered.id);
		json_out_member_int(out, "status", message->delivered.status);
		json_out_member_str(out, "error", message->delivered.error);
		break;
	case PROBE_NONE:
	case PROBE_TYPES:
		break;
	}
}

void probe_message_write(const struct probe_message *message, struct buf *buf)
{
	size_t start = buf->len;
	struct json_out out;
	size_t len = 0;

	CHECK(message->type > PROBE_NONE && message->type < PROBE_TYPES);
	buf_add(buf, "\0\0\0", PROBE_HEAD_SIZE);
	json_out_init(&out, buf);
	json_out_begin_object(&out);
	json_out_member_text(&out, "type", type_names[message->type]);
	write_members(message, &out);
	json_out_end_object(&out);
	if (buf_error(buf) != 0)
		return;
	len = buf->len - start - PROBE_HEAD_SIZE;
	if (len > PROBE_FRAME_LIMIT)
		buf_fail(buf, -EMSGSIZE);
	for (size_t i = 0; i < PROBE_HEAD_SIZE; i++)
		buf->bytes[start + i] = (char)(len >> (8 * (PROBE_HEAD_SIZE - 1 - i)));
}

/* ---- reading */

int probe_frame_find(const char *bytes, size_t len, struct str *ret_body, size_t *ret_used)
{
	size_t size = 0;

	if (len < PROBE_HEAD_SIZE)
		return PROBE_MORE;
	for (size_t i = 0; i < PROBE_HEAD_SIZE; i++)
		size = size << 8 | (unsigned char)bytes[i];
	if (size > PROBE_FRAME_LIMIT)
		return -EMSGSIZE;
	if (len - PROBE_HEAD_SIZE < size)
		return PROBE_MORE;
	*ret_body = (struct str){bytes + PROBE_HEAD_SIZE, size};
	*ret_used = PROBE_HEAD_SIZE + size;
	return 0;
}

static struct str text_in(struct arena *arena, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return (struct str){0};
	return arena_str(arena, (struct str){json_string_value(value), json_string_length(value)});
}

static size_t read_list(struct arena *arena, const json_t *object, const char *key, const struct str **ret)
{
	const json_t *array = json_object_get(object, key);
	struct str *items = ARENA_ARRAY(arena, json_array_size(array), struct str);
	size_t count = 0;
	size_t index;
	const json_t *item;

	if (items == NULL)
		return 0;
	json_array_foreach(array, index, item) if (json_is_string(item)) items[count++] =
		arena_str(arena, (struct str){json_string_value(item), json_string_length(item)});
	*ret = items;
	return count;
}

static int read_checked(struct arena *arena, const json_t *value, struct probe_checked *ret)
{
	struct str install_state = text_in(arena, value, "installState");
	struct str status = text_in(arena, value, "status");

	ret->id = json_integer_value(json_object_get(value, "id"));
	ret->error = text_in(arena, value, "error");
	return health_install_state_find(install_state, &ret->install_state) && health_status_find(status, &ret->status)
		? 0
		: -EUCLEAN;
}

static int read_deliver(struct arena *arena, const json_t *value, struct probe_deliver *ret)
{
	ret->id = json_integer_value(json_object_get(value, "id"));
	ret->timeout_ms = json_integer_value(json_object_get(value, "timeoutMs"));
	ret->url = text_in(arena, value, "url");
	ret->header_count = read_list(arena, value, "headers", &ret->headers);
	ret->body = text_in(arena, value, "body");
	return ret->url.bytes != NULL && ret->body.bytes != NULL ? 0 : -EUCLEAN;
}

static int read_members(struct arena *arena, const json_t *value, struct probe_message *ret)
{
	switch (ret->type) {
	case PROBE_HELLO:
		ret->hello.command_count = read_list(arena, value, "commands", &ret->hello.commands);
		ret->hello.hidden_count = read_list(arena, value, "hidden", &ret->hello.hidden);
		ret->hello.allow_private = json_is_true(json_object_get(value, "allowPrivate"));
		return 0;
	case PROBE_READY:
		ret->ready.has_landlock = json_is_true(json_object_get(value, "landlock"));
		ret->ready.has_seccomp = json_is_true(json_object_get(value, "seccomp"));
		return 0;
	case PROBE_CHECK:
		ret->check.id = json_integer_value(json_object_get(value, "id"));
		ret->check.timeout_ms = json_integer_value(json_object_get(value, "timeoutMs"));
		return spec_read_whole(arena, json_object_get(value, "spec"), &ret->check.spec);
	case PROBE_CHECKED:
		return read_checked(arena, value, &ret->checked);
	case PROBE_DELIVER:
		return read_deliver(arena, value, &ret->deliver);
	case PROBE_DELIVERED:
		ret->delivered.id = json_integer_value(json_object_get(value, "id"));
		ret->delivered.status = json_integer_value(json_object_get(value, "status"));
		ret->delivered.error = text_in(arena, value, "error");
		return 0;
	case PROBE_NONE:
	case PROBE_TYPES:
	default:
		return -EUCLEAN;
	}
}

int probe_message_read(struct arena *arena, struct str body, struct probe_message *ret)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct str type = {0};
	int r = json_parse(body, &value, NULL);

	*ret = (struct probe_message){0};
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	type = text_in(arena, value, "type");
	for (int i = PROBE_HELLO; type.bytes != NULL && i < PROBE_TYPES; i++)
		if (str_is(type, type_names[i]))
			ret->type = (enum probe_type)i;
	r = read_members(arena, value, ret);
	return r == 0 && arena->failed ? -ENOMEM : r;
}
