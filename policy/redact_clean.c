#include <string.h>

#include "policy/redact_internal.h"
#include "policy/text.h"

enum { ESC = 0x1B, BEL = 0x07, DEL = 0x7F, CSI = 0x9B, STRING_TERMINATOR = 0x9C };

/* ---- look: bytes that may begin something */

static bool ends_with(struct str text, size_t end, const char *literal)
{
	size_t len = strlen(literal);

	return end >= len && memcmp(text.bytes + end - len, literal, len) == 0;
}

/* Whether what stands before the `-` or `_` at `at` begins a token. */
static bool is_token_prefix(struct str text, size_t at)
{
	static const char *const prefixes[] = {"sk", "rk", "ghp", "gho", "ghu", "ghs", "ghr", "pat", "xapp", "GOCSPX"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (ends_with(text, at, prefixes[i]))
			return true;
	for (size_t back = 2; back <= 6 && back <= at; back++)
		if (memcmp(text.bytes + at - back, "gl", 2) == 0)
			return true;
	return at >= 4 && memcmp(text.bytes + at - 4, "xox", 3) == 0;
}

static unsigned look_at(struct str text, size_t at)
{
	char byte = text.bytes[at];

	switch (byte) {
	case ':':
	case '=':
	case '%':
	case '+':
		return REDACT_SEEN_SEPARATOR;
	case ' ':
		return REDACT_SEEN_SPACE;
	case '\n':
		return REDACT_SEEN_SPACE | REDACT_SEEN_ODD;
	case '-':
		return REDACT_SEEN_DASH | (is_token_prefix(text, at) ? (unsigned)REDACT_SEEN_TOKEN : 0) |
			(ends_with(text, at, "-") ? (unsigned)REDACT_SEEN_DASHES : 0);
	case '_':
		return is_token_prefix(text, at) ? REDACT_SEEN_TOKEN : 0;
	case '/':
		return ends_with(text, at, "1/") ? REDACT_SEEN_TOKEN : 0;
	case '9':
		return ends_with(text, at, "ya2") ? REDACT_SEEN_TOKEN : 0;
	default:
		break;
	}
	if (byte >= 'A' && byte <= 'Z')
		return REDACT_SEEN_TOKEN;
	if ((unsigned char)byte < ' ' || (unsigned char)byte >= DEL)
		return REDACT_SEEN_ODD;
	return 0;
}

unsigned redact_look(struct str text)
{
	unsigned seen = 0;

	for (size_t i = 0; i < text.len; i++)
		if (text.bytes[i] < 'a' || text.bytes[i] > 'z')
			seen |= look_at(text, i);
	return seen;
}

/* ---- clean */

/* Left-to-right and other marks that text.h does not call controls, and characters without any width that would
 * only split a secret in two.
 */
static bool is_invisible(uint32_t code_point)
{
	return code_point == 0xAD || code_point == 0x61C || code_point == 0x180E || code_point == 0x200B ||
		code_point == 0x200E || code_point == 0x200F || code_point == 0x2060;
}

static bool is_line_break(uint32_t code_point)
{
	return (code_point >= '\n' && code_point <= '\r') || code_point == 0x85 || code_point == 0x2028 ||
		code_point == 0x2029;
}

static bool is_between(struct str text, size_t at, unsigned char from, unsigned char to)
{
	return at < text.len && (unsigned char)text.bytes[at] >= from && (unsigned char)text.bytes[at] <= to;
}

/* Behind the parameters and the final byte of a control sequence that begins at `at`. `at` itself if there is
 * no proper final byte: what follows is text.
 */
static size_t skip_sequence(struct str text, size_t at)
{
	size_t end = at;

	while (is_between(text, end, 0x30, 0x3F))
		end++;
	while (is_between(text, end, 0x20, 0x2F))
		end++;
	if (!is_between(text, end, 0x40, 0x7E))
		return at;
	/* Without parameters a small letter is more likely the text's own than a sequence's. */
	if (end == at && text.bytes[end] >= 'a' && text.bytes[end] != 'm')
		return at;
	return end + 1;
}

/* Behind a string sequence (title, link, …): its end mark, or the next escape, or the end of the text. Stops at an
 * escape so that many unfinished ones cost one walk.
 */
static size_t skip_string(struct str text, size_t at)
{
	while (at < text.len) {
		unsigned char byte = (unsigned char)text.bytes[at];

		if (byte == ESC)
			return at + 1 < text.len && text.bytes[at + 1] == '\\' ? at + 2 : at;
		if (byte == 0xC2 && is_between(text, at + 1, STRING_TERMINATOR, STRING_TERMINATOR))
			return at + 2;
		at++;
		if (byte == BEL)
			return at;
	}
	return at;
}

/* `at` is behind an ESC. What makes no sequence stays as text, its bracket too: it may open a value. */
static size_t skip_escape(struct str text, size_t at)
{
	size_t end;

	if (at >= text.len)
		return at;
	switch (text.bytes[at]) {
	case '[':
		end = skip_sequence(text, at + 1);
		return end > at + 1 ? end : at;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return skip_string(text, at + 1);
	case '(':
	case ')':
		return is_between(text, at + 1, '0', 'B') ? at + 2 : at + 1;
	default:
		return at;
	}
}

struct cleaner {
	struct buf *out;
	size_t start;  /* where our part of `out` begins */
	char pending;  /* white space that is written before the next character */
	bool is_inrun; /* of removed characters */
	size_t *controls;
};

static void clean_space(struct cleaner *cleaner, uint32_t code_point)
{
	if (is_line_break(code_point))
		cleaner->pending = '\n';
	else if (!cleaner->pending)
		cleaner->pending = ' ';
}

static void clean_keep(struct cleaner *cleaner, const char *bytes, size_t len)
{
	if (cleaner->pending && cleaner->out->len > cleaner->start)
		buf_putc(cleaner->out, cleaner->pending);
	cleaner->pending = '\0';
	cleaner->is_inrun = false;
	buf_add(cleaner->out, bytes, len);
}

static void clean_drop(struct cleaner *cleaner)
{
	if (!cleaner->is_inrun)
		++*cleaner->controls;
	cleaner->is_inrun = true;
}

/* The length of the printable ASCII without blanks that begins at `at`. */
static size_t plain_run(struct str text, size_t at)
{
	size_t end = at;

	while (is_between(text, end, '!', '~'))
		end++;
	return end - at;
}

/* Takes one character that is not plain; returns where to go on. */
static size_t clean_next(struct cleaner *cleaner, struct str text, size_t at)
{
	size_t begin = at;
	uint32_t code_point = text_next(text, &at);

	if (code_point == TEXT_INVALID) {
		clean_keep(cleaner, "\xEF\xBF\xBD", 3);
	} else if (code_point == ESC || code_point == CSI) {
		clean_drop(cleaner);
		return code_point == ESC ? skip_escape(text, at) : skip_sequence(text, at);
	} else if (code_point == 0x90 || code_point == 0x98 || (code_point >= 0x9D && code_point <= 0x9F)) {
		clean_drop(cleaner);
		return skip_string(text, at);
	} else if (text_is_space(code_point)) {
		clean_space(cleaner, code_point);
	} else if (text_is_control(code_point) || is_invisible(code_point)) {
		clean_drop(cleaner);
	} else {
		clean_keep(cleaner, text.bytes + begin, at - begin);
	}
	return at;
}

void redact_clean(struct str text, struct buf *out, size_t *controls)
{
	struct cleaner cleaner = {.out = out, .start = out->len, .controls = controls};
	size_t at = 0;

	while (at < text.len && !buf_error(out)) {
		size_t plain = plain_run(text, at);

		if (plain)
			clean_keep(&cleaner, text.bytes + at, plain);
		else
			at = clean_next(&cleaner, text, at);
		at += plain;
	}
}
