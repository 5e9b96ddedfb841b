#include "policy/json_out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_out_init(struct json_out *out, struct buf *buf)
{
	*out = (struct json_out){.buf = buf};
}

/* What stands before a value: nothing after a key, a comma after an earlier item. */
static void before_value(struct json_out *out)
{
	if (out->after_key) {
		out->after_key = false;
		return;
	}
	if (out->depth == 0)
		return;
	if (out->has_items[out->depth])
		buf_putc(out->buf, ',');
	out->has_items[out->depth] = true;
}

static void begin(struct json_out *out, char bracket)
{
	before_value(out);
	buf_putc(out->buf, bracket);
	out->depth++;
	CHECK(out->depth < JSON_OUT_DEPTH);
	out->has_items[out->depth] = false;
}

static void end(struct json_out *out, char bracket)
{
	CHECK(out->depth > 0 && !out->after_key);
	out->depth--;
	buf_putc(out->buf, bracket);
}

void json_out_begin_object(struct json_out *out)
{
	begin(out, '{');
}

void json_out_end_object(struct json_out *out)
{
	end(out, '}');
}

void json_out_begin_array(struct json_out *out)
{
	begin(out, '[');
}

void json_out_end_array(struct json_out *out)
{
	end(out, ']');
}

static void escape_byte(struct buf *buf, unsigned char byte)
{
	static const char short_form[] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['"'] = '"', ['\\'] = '\\'};

	if (byte < sizeof(short_form) && short_form[byte]) {
		char escape[2] = {'\\', short_form[byte]};

		buf_add(buf, escape, sizeof(escape));
	} else {
		buf_printf(buf, "\\u%04x", byte);
	}
}

/* True for the bytes that a string must escape. */
static bool needs_escape(unsigned char byte)
{
	return byte < 0x20 || byte == '"' || byte == '\\';
}

/* Whether one of eight bytes needs an escape: whole words are skipped, since almost no text has one. */
static bool word_needs_escape(const char *bytes)
{
	const uint64_t ones = 0x0101010101010101u;
	const uint64_t tops = 0x8080808080808080u;
	uint64_t word;
	uint64_t quote;
	uint64_t slash;

	memcpy(&word, bytes, sizeof(word));
	quote = word ^ (ones * '"');
	slash = word ^ (ones * '\\');
	return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
}

static size_t skip_plain(struct str text, size_t at)
{
	while (text.len - at >= sizeof(uint64_t) && !word_needs_escape(text.bytes + at))
		at += sizeof(uint64_t);
	while (at < text.len && !needs_escape((unsigned char)text.bytes[at]))
		at++;
	return at;
}

static void add_quoted(struct buf *buf, struct str text)
{
	size_t start = 0;

	buf_putc(buf, '"');
	for (;;) {
		size_t end = skip_plain(text, start);

		buf_add(buf, text.bytes + start, end - start);
		if (end == text.len)
			break;
		escape_byte(buf, (unsigned char)text.bytes[end]);
		start = end + 1;
	}
	buf_putc(buf, '"');
}

void json_out_key_str(struct json_out *out, struct str key)
{
	CHECK(out->depth > 0 && !out->after_key);
	before_value(out);
	add_quoted(out->buf, key);
	buf_putc(out->buf, ':');
	out->after_key = true;
}

void json_out_key(struct json_out *out, const char *key)
{
	json_out_key_str(out, (struct str){key, strlen(key)});
}

void json_out_str(struct json_out *out, struct str value)
{
	if (!value.bytes) {
		json_out_null(out);
		return;
	}
	before_value(out);
	add_quoted(out->buf, value);
}

void json_out_text(struct json_out *out, const char *value)
{
	json_out_str(out, (struct str){value, value ? strlen(value) : 0});
}

static void add_int(struct buf *buf, int64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRId64, value);

	buf_add(buf, digits, (size_t)len);
}

void json_out_int(struct json_out *out, int64_t value)
{
	before_value(out);
	add_int(out->buf, value);
}

void json_out_bool(struct json_out *out, bool value)
{
	before_value(out);
	buf_puts(out->buf, value ? "true" : "false");
}

void json_out_null(struct json_out *out)
{
	before_value(out);
	buf_puts(out->buf, "null");
}

void json_out_members(struct json_out *out, struct str members)
{
	CHECK(out->depth > 0 && !out->after_key);
	if (members.len == 0)
		return;
	before_value(out);
	buf_add_str(out->buf, members);
}

void json_out_raw(struct json_out *out, struct str json)
{
	before_value(out);
	buf_add_str(out->buf, json);
}

void json_out_member_str(struct json_out *out, const char *key, struct str value)
{
	json_out_key(out, key);
	json_out_str(out, value);
}

void json_out_member_text(struct json_out *out, const char *key, const char *value)
{
	json_out_key(out, key);
	json_out_text(out, value);
}

void json_out_member_int(struct json_out *out, const char *key, int64_t value)
{
	json_out_key(out, key);
	json_out_int(out, value);
}

void json_out_member_bool(struct json_out *out, const char *key, bool value)
{
	json_out_key(out, key);
	json_out_bool(out, value);
}

void json_out_member_null(struct json_out *out, const char *key)
{
	json_out_key(out, key);
	json_out_null(out);
}

void json_out_member_raw(struct json_out *out, const char *key, struct str json)
{
	json_out_key(out, key);
	json_out_raw(out, json);
}

void json_out_member_revision(struct json_out *out, const char *key, int64_t value)
{
	json_out_key(out, key);
	before_value(out);
	buf_putc(out->buf, '"');
	add_int(out->buf, value);
	buf_putc(out->buf, '"');
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* jansson keeps members in insertion order; keys hold no NUL, since the parser refuses it. */
static void canonical_object(struct json_out *out, const json_t *object)
{
	size_t count = json_object_size(object);
	const char **keys = calloc(count ? count : 1, sizeof(*keys));
	json_t *mutable_object = (json_t *)(uintptr_t)object; /* jansson's iterators take no const */
	size_t filled = 0;

	if (!keys) {
		json_out_null(out);
		buf_fail(out->buf, -ENOMEM);
		return;
	}
	for (void *at = json_object_iter(mutable_object); at; at = json_object_iter_next(mutable_object, at))
		keys[filled++] = json_object_iter_key(at);
	qsort(keys, filled, sizeof(*keys), by_key);
	json_out_begin_object(out);
	for (size_t i = 0; i < filled; i++) {
		json_out_key(out, keys[i]);
		json_out_canonical(out, json_object_get(object, keys[i]));
	}
	json_out_end_object(out);
	free(keys);
}

/* jansson writes a real with a fraction or an exponent, shortest at 17 digits, and with a point whatever the locale says. */
static void canonical_real(struct json_out *out, const json_t *value)
{
	char digits[40];
	size_t len = json_dumpb(value, digits, sizeof(digits), JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

	CHECK(len > 0 && len <= sizeof(digits));
	before_value(out);
	buf_add(out->buf, digits, len);
}

void json_out_canonical(struct json_out *out, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		canonical_object(out, value);
		break;
	case JSON_ARRAY:
		json_out_begin_array(out);
		for (size_t i = 0; i < json_array_size(value); i++)
			json_out_canonical(out, json_array_get(value, i));
		json_out_end_array(out);
		break;
	case JSON_STRING:
		json_out_str(out, (struct str){json_string_value(value), json_string_length(value)});
		break;
	case JSON_INTEGER:
		json_out_int(out, json_integer_value(value));
		break;
	case JSON_REAL:
		canonical_real(out, value);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		json_out_bool(out, json_is_true(value));
		break;
	case JSON_NULL:
	default:
		json_out_null(out);
		break;
	}
}
