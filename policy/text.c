#include "policy/text.h"

#include <string.h>

#include "policy/redact.h"

/* The shortest sequence only, no surrogates, nothing above U+10FFFF: what RFC 3629 allows. */
static uint32_t next_multibyte(struct str text, size_t *at, unsigned char lead)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
	uint32_t code_point = lead & (0xFFu >> (length + 1));

	if (lead < 0xC2 || lead > 0xF4 || text.len - *at < length) {
		(*at)++;
		return TEXT_INVALID;
	}
	for (size_t i = 1; i < length; i++) {
		unsigned char byte = (unsigned char)text.bytes[*at + i];

		if ((byte & 0xC0) != 0x80) {
			(*at)++;
			return TEXT_INVALID;
		}
		code_point = code_point << 6 | (byte & 0x3Fu);
	}
	if (code_point < smallest[length] || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
		(*at)++;
		return TEXT_INVALID;
	}
	*at += length;
	return code_point;
}

uint32_t text_next(struct str text, size_t *at)
{
	unsigned char lead = (unsigned char)text.bytes[*at];

	if (lead < 0x80) {
		(*at)++;
		return lead;
	}
	return next_multibyte(text, at, lead);
}

bool text_is_space(uint32_t code_point)
{
	if (code_point < 0x80)
		return code_point == ' ' || (code_point >= 0x09 && code_point <= 0x0D);
	return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
		(code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 || code_point == 0x2029 ||
		code_point == 0x202F || code_point == 0x205F || code_point == 0x3000 || code_point == 0xFEFF;
}

bool text_is_control(uint32_t code_point)
{
	return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F) ||
		(code_point >= 0x202A && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}

/* The shape of a text, found in one pass. */
struct shape {
	size_t length; /* code points */
	bool is_blank;
	bool has_control; /* or invalid UTF-8 */
	bool is_padded;
	bool has_space;
	bool has_doubled_space;
};

static struct shape measure(struct str text)
{
	struct shape shape = {.is_blank = true};
	bool was_space = false;
	size_t at = 0;

	while (at < text.len) {
		uint32_t code_point = text_next(text, &at);
		bool space = text_is_space(code_point);

		if (code_point == TEXT_INVALID || text_is_control(code_point))
			shape.has_control = true;
		shape.is_padded |= space && shape.length == 0;
		shape.has_doubled_space |= space && was_space;
		shape.has_space |= space;
		shape.is_blank &= space;
		shape.length++;
		was_space = space;
	}
	shape.is_padded |= was_space;
	return shape;
}

static bool is_safe_shape(const struct shape *shape, struct str text)
{
	return !shape->is_blank && shape->length <= TEXT_LIMIT && !shape->has_control && !redact_finds_secret(text);
}

bool text_is_safe(struct str text)
{
	struct shape shape;

	if (!text.bytes)
		return false;
	shape = measure(text);
	return is_safe_shape(&shape, text);
}

bool text_is_identity(struct str text, size_t limit)
{
	struct shape shape;

	if (!text.bytes)
		return false;
	shape = measure(text);
	return shape.length <= limit && !shape.is_padded && !shape.has_doubled_space && is_safe_shape(&shape, text);
}

bool text_is_key(struct str text)
{
	struct shape shape;

	if (!text.bytes)
		return false;
	shape = measure(text);
	return shape.length <= TEXT_ID_LIMIT && !shape.has_space && is_safe_shape(&shape, text);
}

bool text_is_mcp_id(struct str text)
{
	if (!text.bytes || text.len == 0 || text.len > TEXT_NAME_LIMIT)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char byte = text.bytes[i];
		bool word = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');

		if (!word && (i == 0 || (byte != '_' && byte != '-')))
			return false;
	}
	return text_is_safe(text);
}

bool text_is_agent(struct str text)
{
	return text_is_identity(text, TEXT_NAME_LIMIT) && !str_is(text, "unknown");
}

bool text_is_subtask_id(struct str text)
{
	return text_is_identity(text, TEXT_ID_LIMIT) && !str_is(text, "unknown-subtask");
}

struct str text_trim(struct str text)
{
	size_t start = text.len;
	size_t end = 0;
	size_t at = 0;

	while (at < text.len) {
		size_t before = at;

		if (text_is_space(text_next(text, &at)))
			continue;
		if (start == text.len)
			start = before;
		end = at;
	}
	if (end == 0)
		return (struct str){text.bytes, 0};
	return (struct str){text.bytes + start, end - start};
}

/* Copies trimmed text, each run of white space as `gap`; at most `limit` code points. `lower` folds ASCII case. */
static struct str squeeze(struct arena *arena, struct str text, char gap, bool lower, size_t limit)
{
	struct str trimmed = text_trim(text);
	char *out = arena_alloc(arena, trimmed.len + 1);
	size_t len = 0;
	size_t count = 0;
	size_t at = 0;
	bool was_space = false;

	if (!out)
		return (struct str){0};
	while (at < trimmed.len && count < limit) {
		size_t before = at;
		bool space = text_is_space(text_next(trimmed, &at));

		if (space) {
			if (!was_space) {
				out[len++] = gap;
				count++;
			}
		} else {
			memcpy(out + len, trimmed.bytes + before, at - before);
			if (lower && out[len] >= 'A' && out[len] <= 'Z')
				out[len] = (char)(out[len] - 'A' + 'a');
			len += at - before;
			count++;
		}
		was_space = space;
	}
	out[len] = '\0';
	return (struct str){out, len};
}

struct str text_normalize(struct arena *arena, struct str text)
{
	return squeeze(arena, text, '_', true, SIZE_MAX);
}

struct str text_fold(struct arena *arena, struct str text, size_t limit)
{
	return squeeze(arena, text, ' ', false, limit);
}
