#include "reader/name.h"

#include <errno.h>
#include <string.h>

#include "policy/text.h"

enum { ESCAPE_SIZE = 4 }; /* \xNN */

static int digit_of(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The byte of the escape at `at`, or -1: only those that are ever written. */
static int escape_at(struct str text, size_t at)
{
	const char *bytes = text.bytes + at;
	int high = -1;
	int low = -1;
	int byte = 0;

	if (text.len - at < ESCAPE_SIZE || bytes[0] != '\\' || bytes[1] != 'x')
		return -1;
	high = digit_of(bytes[2]);
	low = digit_of(bytes[3]);
	if (high < 0 || low < 0)
		return -1;
	byte = high * 16 + low;
	return byte < 0x20 || byte >= 0x7f || byte == '\\' ? byte : -1;
}

static void add_escaped(struct buf *out, struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		buf_printf(out, "\\x%02x", (unsigned char)bytes.bytes[i]);
}

static bool is_kept(unsigned char byte, bool is_text)
{
	if (byte >= 0x20)
		return byte < 0x7f && byte != '\\';
	return is_text && (byte == '\t' || byte == '\n' || byte == '\r');
}

/* How many bytes from `at` on are shown as they are. */
static size_t plain_length(struct str name, size_t at, bool is_text)
{
	size_t end = at;

	while (end < name.len && is_kept((unsigned char)name.bytes[end], is_text))
		end++;
	return end - at;
}

/* Whether what is at *at, which isn't plain, is escaped; *at moves behind it. */
static bool take_odd(struct str name, size_t *at)
{
	uint32_t code_point = 0;

	if (escape_at(name, *at) >= 0) {
		(*at)++;
		return true;
	}
	code_point = text_next(name, at);
	return code_point == TEXT_INVALID || text_is_control(code_point);
}

static void show(struct buf *out, struct str name, bool is_text)
{
	size_t at = 0;

	while (at < name.len) {
		size_t plain = plain_length(name, at, is_text);
		size_t start = at + plain;
		bool is_escaped = false;

		buf_add(out, name.bytes + at, plain);
		at = start;
		if (at == name.len)
			break;
		is_escaped = take_odd(name, &at);
		if (is_escaped)
			add_escaped(out, (struct str){name.bytes + start, at - start});
		else
			buf_add(out, name.bytes + start, at - start);
	}
}

void name_show(struct buf *out, struct str name)
{
	show(out, name, false);
}

void name_show_text(struct buf *out, struct str text)
{
	show(out, text, true);
}

bool name_is_plain_text(struct str text)
{
	for (size_t at = 0; at < text.len;) {
		at += plain_length(text, at, true);
		if (at < text.len && take_odd(text, &at))
			return false;
	}
	return true;
}

int name_read(struct arena *arena, struct str shown, struct str *ret)
{
	char *bytes = NULL;
	size_t len = 0;

	*ret = shown;
	if (shown.len == 0 || memmem(shown.bytes, shown.len, "\\x", 2) == NULL)
		return 0;
	bytes = arena_alloc(arena, shown.len);
	if (bytes == NULL)
		return -ENOMEM;
	for (size_t at = 0; at < shown.len;) {
		int byte = escape_at(shown, at);

		bytes[len++] = byte >= 0 ? (char)byte : shown.bytes[at];
		at += byte >= 0 ? ESCAPE_SIZE : 1;
	}
	*ret = (struct str){bytes, len};
	return 0;
}
