#include "agents/json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/text.h"

struct key {
	const char *raw; /* behind the opening quote; the closing one ends it */
};

/* One text being checked. The keys of all objects that are open lie on one stack, each object's behind those of the one around it. */
struct checking {
	struct str text;
	size_t at;
	unsigned depth;
	struct key *keys;
	size_t key_count;
	size_t key_size;
	enum json_scan_kind kind;
};

enum { KEYS_FIRST = 64 };

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static size_t skip_space(struct str text, size_t at)
{
	while (at < text.len && is_space(text.bytes[at]))
		at++;
	return at;
}

/* ---- keys, as what they spell */

static unsigned hex_value(const char *digits)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		unsigned byte = (unsigned char)digits[i];

		value = value * 16 + (byte <= '9' ? byte - '0' : (byte | 0x20U) - 'a' + 10);
	}
	return value;
}

static uint32_t take_escape(const char **raw)
{
	static const char names[] = "bfnrt";
	static const char meanings[] = "\b\f\n\r\t";
	const char letter = *(*raw)++;
	const char *found = strchr(names, letter);
	unsigned unit;

	if (letter != 'u')
		return (unsigned char)(found != NULL ? meanings[found - names] : letter);
	unit = hex_value(*raw);
	*raw += 4;
	if (unit >= 0xd800 && unit < 0xdc00 && (*raw)[0] == '\\' && (*raw)[1] == 'u') {
		unsigned low = hex_value(*raw + 2);

		if (low >= 0xdc00 && low < 0xe000) {
			*raw += 6;
			return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return unit;
}

/* The next code point of a checked string, TEXT_INVALID at its closing quote. */
static uint32_t take_point(const char **raw)
{
	size_t used = 0;
	uint32_t point;

	if (**raw == '"')
		return TEXT_INVALID;
	if (**raw == '\\') {
		++*raw;
		return take_escape(raw);
	}
	if ((unsigned char)**raw < 0x80)
		return (unsigned char)*(*raw)++;
	point = text_next(
		(struct str){*raw, 4}, &used); /* a checked text has whole code points, and a quote behind them */
	*raw += used;
	return point;
}

static int compare_raw(const char *a, const char *b)
{
	for (;;) {
		uint32_t left = take_point(&a);
		uint32_t right = take_point(&b);

		if (left != right)
			return left == TEXT_INVALID ? -1 : right == TEXT_INVALID ? 1 : left < right ? -1 : 1;
		if (left == TEXT_INVALID)
			return 0;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *left = a;
	const struct key *right = b;
	int order = compare_raw(left->raw, right->raw);

	return order != 0 ? order : left->raw < right->raw ? -1 : left->raw > right->raw;
}

/* ---- the check */

static int refuse(struct checking *checking, enum json_scan_kind kind)
{
	checking->kind = kind;
	return JSON_SCAN_REFUSED;
}

static bool is_at(const struct checking *checking, char byte)
{
	return checking->at < checking->text.len && checking->text.bytes[checking->at] == byte;
}

/* What stands here is not what must; the kind says what people put there. */
static int refuse_here(struct checking *checking)
{
	size_t at = checking->at;

	if (at == checking->text.len)
		return refuse(checking, JSON_SCAN_CUT_OFF);
	if (checking->text.bytes[at] == '/' || checking->text.bytes[at] == '#')
		return refuse(checking, JSON_SCAN_COMMENT);
	if ((unsigned char)checking->text.bytes[at] >= 0x80 && text_next(checking->text, &at) == TEXT_INVALID)
		return refuse(checking, JSON_SCAN_NOT_UTF8);
	return refuse(checking, JSON_SCAN_SYNTAX);
}

static void pass_space(struct checking *checking)
{
	checking->at = skip_space(checking->text, checking->at);
}

static int pass_escape(struct checking *checking)
{
	checking->at++;
	if (checking->at == checking->text.len)
		return refuse_here(checking);
	if (checking->text.bytes[checking->at] != 'u') {
		if (memchr("\"\\/bfnrt", checking->text.bytes[checking->at], 8) == NULL)
			return refuse(checking, JSON_SCAN_SYNTAX);
		checking->at++;
		return 0;
	}
	checking->at++;
	for (int i = 0; i < 4; i++, checking->at++) {
		if (checking->at == checking->text.len)
			return refuse_here(checking);
		if (memchr("0123456789abcdefABCDEF", checking->text.bytes[checking->at], 22) == NULL)
			return refuse(checking, JSON_SCAN_SYNTAX);
	}
	return 0;
}

static int pass_string(struct checking *checking)
{
	struct str text = checking->text;
	int r = 0;

	checking->at++;
	while (r == 0 && checking->at < text.len && text.bytes[checking->at] != '"') {
		unsigned char byte = (unsigned char)text.bytes[checking->at];
		size_t behind = checking->at;

		if (byte < 0x20)
			return refuse(checking, JSON_SCAN_SYNTAX);
		if (byte >= 0x80 && text_next(text, &behind) == TEXT_INVALID)
			return refuse(checking, JSON_SCAN_NOT_UTF8);
		if (byte == '\\')
			r = pass_escape(checking);
		else
			checking->at = byte < 0x80 ? checking->at + 1 : behind;
	}
	if (r == 0 && checking->at == text.len)
		return refuse(checking, JSON_SCAN_CUT_OFF);
	checking->at += r == 0;
	return r;
}

static bool pass_digits(struct checking *checking)
{
	size_t start = checking->at;

	while (checking->at < checking->text.len && is_digit(checking->text.bytes[checking->at]))
		checking->at++;
	return checking->at > start;
}

static int pass_number(struct checking *checking)
{
	if (is_at(checking, '-'))
		checking->at++;
	if (is_at(checking, '0'))
		checking->at++;
	else if (!pass_digits(checking))
		return refuse_here(checking);
	if (is_at(checking, '.')) {
		checking->at++;
		if (!pass_digits(checking))
			return refuse_here(checking);
	}
	if (is_at(checking, 'e') || is_at(checking, 'E')) {
		checking->at++;
		if (is_at(checking, '+') || is_at(checking, '-'))
			checking->at++;
		if (!pass_digits(checking))
			return refuse_here(checking);
	}
	return 0;
}

static int pass_word(struct checking *checking)
{
	static const char *const words[] = {"true", "false", "null"};
	const char *at = checking->text.bytes + checking->at;
	size_t left = checking->text.len - checking->at;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (left >= len && memcmp(at, words[i], len) == 0) {
			checking->at += len;
			return 0;
		}
	}
	return refuse_here(checking);
}

static int keep_key(struct checking *checking, size_t start)
{
	if (checking->key_count == checking->key_size) {
		size_t size = checking->key_size == 0 ? KEYS_FIRST : 2 * checking->key_size;
		struct key *keys = reallocarray(checking->keys, size, sizeof(*keys));

		if (keys == NULL)
			return -ENOMEM;
		checking->keys = keys;
		checking->key_size = size;
	}
	checking->keys[checking->key_count++].raw = checking->text.bytes + start + 1;
	return 0;
}

/* The keys from `first` on are those of one object, which ends here. */
static int end_keys(struct checking *checking, size_t first)
{
	size_t count = checking->key_count - first;
	struct key *keys = checking->keys + first;

	if (count > 1)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++) {
		if (compare_raw(keys[i - 1].raw, keys[i].raw) == 0) {
			checking->at = (size_t)(keys[i].raw - 1 - checking->text.bytes);
			return refuse(checking, JSON_SCAN_DUPLICATE);
		}
	}
	checking->key_count = first;
	return 0;
}

static int pass_value(struct checking *checking);

static int pass_member(struct checking *checking)
{
	size_t start = checking->at;
	int r = is_at(checking, '"') ? pass_string(checking) : refuse_here(checking);

	if (r == 0)
		r = keep_key(checking, start);
	if (r != 0)
		return r;
	pass_space(checking);
	if (!is_at(checking, ':'))
		return refuse_here(checking);
	checking->at++;
	return pass_value(checking);
}

/* Behind its opening bracket. */
static int pass_items(struct checking *checking, char closing)
{
	pass_space(checking);
	if (is_at(checking, closing)) {
		checking->at++;
		return 0;
	}
	for (;;) {
		int r = closing == '}' ? pass_member(checking) : pass_value(checking);

		if (r != 0)
			return r;
		pass_space(checking);
		if (is_at(checking, closing)) {
			checking->at++;
			return 0;
		}
		if (!is_at(checking, ','))
			return refuse_here(checking);
		checking->at++;
		pass_space(checking);
		if (is_at(checking, closing))
			return refuse(checking, JSON_SCAN_TRAILING_COMMA);
	}
}

static int pass_container(struct checking *checking, char closing)
{
	size_t first = checking->key_count;
	int r;

	if (checking->depth == JSON_SCAN_DEPTH_LIMIT)
		return refuse(checking, JSON_SCAN_TOO_DEEP);
	checking->depth++;
	checking->at++;
	r = pass_items(checking, closing);
	checking->depth--;
	return r == 0 && closing == '}' ? end_keys(checking, first) : r;
}

static int pass_value(struct checking *checking)
{
	pass_space(checking);
	if (is_at(checking, '{'))
		return pass_container(checking, '}');
	if (is_at(checking, '['))
		return pass_container(checking, ']');
	if (is_at(checking, '"'))
		return pass_string(checking);
	if (is_at(checking, '-') || (checking->at < checking->text.len && is_digit(checking->text.bytes[checking->at])))
		return pass_number(checking);
	return pass_word(checking);
}

static bool has_mark(struct str text)
{
	return text.len >= 2 &&
		(memcmp(text.bytes, "\xef\xbb", 2) == 0 || memcmp(text.bytes, "\xff\xfe", 2) == 0 ||
			memcmp(text.bytes, "\xfe\xff", 2) == 0);
}

static int pass_text(struct checking *checking)
{
	int r;

	if (checking->text.len > JSON_SCAN_BYTES_LIMIT)
		return refuse(checking, JSON_SCAN_TOO_LARGE);
	if (has_mark(checking->text))
		return refuse(checking, JSON_SCAN_MARK);
	pass_space(checking);
	if (checking->at == checking->text.len)
		return refuse(checking, JSON_SCAN_EMPTY);
	r = pass_value(checking);
	if (r != 0)
		return r;
	pass_space(checking);
	return checking->at == checking->text.len ? 0 : refuse_here(checking);
}

static void place(struct str text, size_t offset, struct json_scan_fault *fault)
{
	fault->offset = offset;
	fault->line = 1;
	fault->column = 1;
	for (size_t i = 0; i < offset; i++) {
		fault->column++;
		if (text.bytes[i] == '\n' ||
			(text.bytes[i] == '\r' && (i + 1 == text.len || text.bytes[i + 1] != '\n'))) {
			fault->line++;
			fault->column = 1;
		}
	}
}

int json_scan_check(struct str text, struct json_scan_fault *ret_fault)
{
	struct checking checking = {.text = text};
	int r = pass_text(&checking);

	free(checking.keys);
	if (r == JSON_SCAN_REFUSED) {
		ret_fault->kind = checking.kind;
		place(text, checking.at, ret_fault);
	}
	return r;
}

const char *json_scan_words(enum json_scan_kind kind)
{
	static const char *const words[] = {
		[JSON_SCAN_SYNTAX] = "this isn't JSON",
		[JSON_SCAN_EMPTY] = "the file is empty; JSON needs a value, {} for none",
		[JSON_SCAN_MARK] = "a byte-order mark, which JSON must not begin with",
		[JSON_SCAN_NOT_UTF8] = "bytes that aren't UTF-8",
		[JSON_SCAN_COMMENT] = "a comment, which JSON doesn't have",
		[JSON_SCAN_TRAILING_COMMA] = "a comma with nothing behind it",
		[JSON_SCAN_CUT_OFF] = "the file ends within a value",
		[JSON_SCAN_DUPLICATE] = "a key that its object has already",
		[JSON_SCAN_TOO_DEEP] = "nested too deep",
		[JSON_SCAN_TOO_LARGE] = "the file is too large",
	};

	return words[kind];
}

/* ---- the way through a checked text */

size_t json_scan_root(struct str text)
{
	return skip_space(text, 0);
}

enum json_scan_type json_scan_type(struct str text, size_t value)
{
	switch (text.bytes[value]) {
	case '{':
		return JSON_SCAN_OBJECT;
	case '[':
		return JSON_SCAN_ARRAY;
	case '"':
		return JSON_SCAN_STRING;
	default:
		return JSON_SCAN_OTHER;
	}
}

/* Behind the closing quote. */
static size_t string_end(struct str text, size_t at)
{
	for (at++; text.bytes[at] != '"'; at++)
		at += text.bytes[at] == '\\';
	return at + 1;
}

size_t json_scan_end(struct str text, size_t value)
{
	size_t depth = 0;
	size_t at = value;

	do {
		char byte = text.bytes[at];

		if (byte == '"') {
			at = string_end(text, at);
			continue;
		}
		depth += byte == '{' || byte == '[';
		depth -= byte == '}' || byte == ']';
		at++;
	} while (depth > 0);
	if (json_scan_type(text, value) != JSON_SCAN_OTHER)
		return at;
	while (at < text.len && !is_space(text.bytes[at]) && memchr(",]}", text.bytes[at], 3) == NULL)
		at++;
	return at;
}

bool json_scan_next(struct str text, size_t container, struct json_scan_item *item)
{
	size_t at = skip_space(text, item->value_end == 0 ? container + 1 : item->value_end);

	if (item->value_end != 0 && text.bytes[at] == ',')
		at = skip_space(text, at + 1);
	if (text.bytes[at] == '}' || text.bytes[at] == ']')
		return false;
	*item = (struct json_scan_item){.start = at, .value = at};
	if (text.bytes[container] == '{') {
		item->key_end = string_end(text, at);
		item->value = skip_space(text, skip_space(text, item->key_end) + 1);
	}
	item->value_end = json_scan_end(text, item->value);
	return true;
}

bool json_scan_is(struct str text, size_t value, struct str wanted)
{
	const char *raw = text.bytes + value + 1;
	size_t at = 0;

	if (json_scan_type(text, value) != JSON_SCAN_STRING)
		return false;
	while (at < wanted.len)
		if (take_point(&raw) != text_next(wanted, &at))
			return false;
	return *raw == '"';
}

bool json_scan_find(struct str text, size_t value, const char *name, struct json_scan_item *ret_item)
{
	const struct str wanted = {name, strlen(name)};
	struct json_scan_item item = {0};

	if (json_scan_type(text, value) != JSON_SCAN_OBJECT)
		return false;
	while (json_scan_next(text, value, &item)) {
		if (json_scan_is(text, item.start, wanted)) {
			*ret_item = item;
			return true;
		}
	}
	return false;
}

struct str json_scan_slice(struct str text, const struct json_scan_item *item)
{
	return (struct str){text.bytes + item->value, item->value_end - item->value};
}
