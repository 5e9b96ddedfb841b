/* Front matter of the plain kind: one `key: value` a line, lists of dashes, mappings by their indentation, in ASCII. */
#include <errno.h>
#include <string.h>

#include "reader/front_matter_parts.h"

enum {
	KEY_BYTES = 100, /* a longer one might be none to libyaml */
	LINES = 16,      /* that go on with a scalar; each copies what is before it */
};

void front_plain_init(struct front_plain *plain, struct arena *arena, struct str block)
{
	plain->arena = arena;
	plain->rest = block;
	plain->depth = plain->first = plain->count = 0;
	plain->is_open = plain->is_at_end = false;
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static struct str behind(struct str text, size_t count)
{
	return (struct str){text.bytes + count, text.len - count};
}

static void push(struct front_plain *plain, enum front_event_type type)
{
	CHECK(plain->count < FRONT_PLAIN_QUEUE);
	plain->queue[plain->count++] = (struct front_event){.type = type};
}

static void push_scalar(struct front_plain *plain, struct str value, bool is_plain)
{
	push(plain, FRONT_SCALAR);
	plain->queue[plain->count - 1].value = value;
	plain->queue[plain->count - 1].is_plain = is_plain;
}

static int begin_level(struct front_plain *plain, bool is_sequence, size_t column)
{
	if (plain->depth == FRONT_PLAIN_DEPTH)
		return FRONT_PLAIN_UNKNOWN;
	plain->levels[plain->depth++] = (struct front_level){is_sequence, column};
	push(plain, is_sequence ? FRONT_SEQUENCE_START : FRONT_MAPPING_START);
	return 0;
}

static void end_level(struct front_plain *plain)
{
	push(plain, plain->levels[--plain->depth].is_sequence ? FRONT_SEQUENCE_END : FRONT_MAPPING_END);
}

/* The last key has none. */
static void end_value(struct front_plain *plain)
{
	if (plain->is_open)
		push_scalar(plain, STR(""), true);
	plain->is_open = false;
}

/* ---- lines */

/* The first line of what is left, without its end. False: it isn't only of printable ASCII, or ends in a blank, or is empty. */
static bool peek_line(const struct front_plain *plain, struct str *ret_line, size_t *ret_indent)
{
	const char *end = memchr(plain->rest.bytes, '\n', plain->rest.len);
	struct str line = {plain->rest.bytes, end == NULL ? plain->rest.len : (size_t)(end - plain->rest.bytes)};
	size_t i, indent = 0;

	for (i = 0; i < line.len; i++)
		if (line.bytes[i] < 0x20 || line.bytes[i] > 0x7E)
			return false;
	while (indent < line.len && line.bytes[indent] == ' ')
		indent++;
	*ret_indent = indent;
	*ret_line = behind(line, indent);
	return indent < line.len && line.bytes[line.len - 1] != ' ';
}

static void pass_line(struct front_plain *plain)
{
	const char *end = memchr(plain->rest.bytes, '\n', plain->rest.len);

	plain->rest = behind(plain->rest, end == NULL ? plain->rest.len : (size_t)(end - plain->rest.bytes) + 1);
}

/* ---- values */

/* No `: `, no ` #`, and no colon at the end. */
static bool is_plain_text(struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (text.bytes[i] == ':' && (i + 1 == text.len || text.bytes[i + 1] == ' '))
			return false;
		if (text.bytes[i] == '#' && i > 0 && text.bytes[i - 1] == ' ')
			return false;
	}
	return true;
}

/* Whether the next line goes on with the scalar before it, which belongs to the innermost level. */
static bool goes_on(const struct front_plain *plain, struct str *ret_line)
{
	size_t indent;

	if (plain->rest.len == 0 || plain->rest.bytes[0] != ' ' || !peek_line(plain, ret_line, &indent))
		return false;
	return indent > plain->levels[plain->depth - 1].column &&
		(is_letter(ret_line->bytes[0]) || is_digit(ret_line->bytes[0])) &&
		memchr(ret_line->bytes, ':', ret_line->len) == NULL &&
		memchr(ret_line->bytes, '#', ret_line->len) == NULL;
}

/* A scalar without quotes, and the lines that go on with it, with a blank between them. */
static int take_plain(struct front_plain *plain, struct str value)
{
	struct str line;
	size_t lines = 0;

	if (!is_letter(value.bytes[0]) && !is_digit(value.bytes[0]) && strchr("_/(.$~", value.bytes[0]) == NULL)
		return FRONT_PLAIN_UNKNOWN;
	if (!is_plain_text(value))
		return FRONT_PLAIN_UNKNOWN;
	while (goes_on(plain, &line)) {
		if (++lines > LINES)
			return FRONT_PLAIN_UNKNOWN;
		value = arena_printf(plain->arena, "%.*s %.*s", (int)value.len, value.bytes, (int)line.len, line.bytes);
		if (value.bytes == NULL)
			return -ENOMEM;
		pass_line(plain);
	}
	push_scalar(plain, value, true);
	return 0;
}

/* In quotes of one kind, with nothing in them that would mean anything. */
static int take_quoted(struct front_plain *plain, struct str value)
{
	struct str inside = {value.bytes + 1, value.len - 2};

	if (value.len < 2 || value.bytes[value.len - 1] != value.bytes[0] ||
		memchr(inside.bytes, value.bytes[0], inside.len) != NULL ||
		(value.bytes[0] == '"' && memchr(inside.bytes, '\\', inside.len) != NULL))
		return FRONT_PLAIN_UNKNOWN;
	push_scalar(plain, inside, false);
	return 0;
}

static bool is_item(struct str item)
{
	size_t i;

	if (item.len == 0 || !(is_letter(item.bytes[0]) || is_digit(item.bytes[0])) || item.bytes[item.len - 1] == ' ')
		return false;
	for (i = 0; i < item.len; i++)
		if (!is_letter(item.bytes[i]) && !is_digit(item.bytes[i]) && strchr(" _-./", item.bytes[i]) == NULL)
			return false;
	return true;
}

/* `[one, two]`. */
static int take_list(struct front_plain *plain, struct str value)
{
	struct str rest = {value.bytes + 1, value.len - 2};
	size_t count = 0;

	if (value.len < 3 || value.bytes[value.len - 1] != ']')
		return FRONT_PLAIN_UNKNOWN;
	push(plain, FRONT_SEQUENCE_START);
	while (rest.len > 0) {
		const char *comma = memchr(rest.bytes, ',', rest.len);
		struct str item = {rest.bytes, comma == NULL ? rest.len : (size_t)(comma - rest.bytes)};

		if (!is_item(item) || ++count > FRONT_PLAIN_ITEMS)
			return FRONT_PLAIN_UNKNOWN;
		push_scalar(plain, item, true);
		rest = behind(rest, item.len);
		if (comma == NULL)
			break;
		if (rest.len < 3 || rest.bytes[1] != ' ')
			return FRONT_PLAIN_UNKNOWN;
		rest = behind(rest, 2);
	}
	push(plain, FRONT_SEQUENCE_END);
	return 0;
}

static int take_value(struct front_plain *plain, struct str value)
{
	if (value.bytes[0] == '\'' || value.bytes[0] == '"')
		return take_quoted(plain, value);
	return value.bytes[0] == '[' ? take_list(plain, value) : take_plain(plain, value);
}

/* The length of the key that a text begins with, before its colon; 0: there is none. */
static size_t key_length(struct str text)
{
	size_t len = 0;

	while (len < text.len &&
		(is_letter(text.bytes[len]) || text.bytes[len] == '_' ||
			(len > 0 && (is_digit(text.bytes[len]) || text.bytes[len] == '-'))))
		len++;
	if (len > KEY_BYTES || len == text.len || text.bytes[len] != ':')
		return 0;
	return len + 1 == text.len || text.bytes[len + 1] == ' ' ? len : 0;
}

/* `key: value`, or `key:` whose value follows; the line was passed. */
static int take_member(struct front_plain *plain, struct str text, size_t key_len)
{
	struct str value = behind(text, key_len + 1);

	push_scalar(plain, (struct str){text.bytes, key_len}, true);
	while (value.len > 0 && value.bytes[0] == ' ')
		value = behind(value, 1);
	plain->is_open = value.len == 0;
	return plain->is_open ? 0 : take_value(plain, value);
}

/* ---- structure */

/* Ends what doesn't reach to a column: a sequence ends also where a key stands at its own. */
static void end_levels(struct front_plain *plain, size_t column, bool is_item_next)
{
	while (plain->depth > 1) {
		const struct front_level *level = &plain->levels[plain->depth - 1];

		if (level->column < column || (level->column == column && (is_item_next || !level->is_sequence)))
			return;
		end_level(plain);
	}
}

static bool is_at(const struct front_plain *plain, size_t column, bool is_sequence)
{
	const struct front_level *level = &plain->levels[plain->depth - 1];

	return plain->depth > 0 && level->column == column && level->is_sequence == is_sequence;
}

/* A key at a column: of the mapping that stands there, or of a new one that is the last key's value. */
static int take_key(struct front_plain *plain, struct str text, size_t column)
{
	size_t key_len = key_length(text);
	int result = 0;

	if (key_len == 0)
		return FRONT_PLAIN_UNKNOWN;
	if (plain->is_open && column > plain->levels[plain->depth - 1].column) {
		plain->is_open = false;
		result = begin_level(plain, false, column);
	}
	if (result != 0)
		return result;
	end_value(plain);
	end_levels(plain, column, false);
	return is_at(plain, column, false) ? take_member(plain, text, key_len) : FRONT_PLAIN_UNKNOWN;
}

/* What stands behind a dash: a scalar, or the first key of a mapping. */
static int take_item(struct front_plain *plain, struct str text, size_t column)
{
	size_t key_len = key_length(text);
	int result;

	if (text.bytes[0] == ' ')
		return FRONT_PLAIN_UNKNOWN;
	if (key_len == 0)
		return take_value(plain, text);
	result = begin_level(plain, false, column);
	return result == 0 ? take_member(plain, text, key_len) : result;
}

/* A dash at a column: of the sequence that stands there, or of a new one that is the last key's value. */
static int take_dash(struct front_plain *plain, struct str text, size_t column)
{
	int result = 0;

	if (plain->is_open && column >= plain->levels[plain->depth - 1].column) {
		plain->is_open = false;
		result = begin_level(plain, true, column);
	}
	if (result != 0)
		return result;
	end_value(plain);
	end_levels(plain, column, true);
	return is_at(plain, column, true) ? take_item(plain, behind(text, 2), column + 2) : FRONT_PLAIN_UNKNOWN;
}

static int take_line(struct front_plain *plain)
{
	struct str text;
	size_t column;

	if (!peek_line(plain, &text, &column))
		return FRONT_PLAIN_UNKNOWN;
	pass_line(plain);
	if (plain->depth == 0) {
		push(plain, FRONT_STREAM_START);
		push(plain, FRONT_DOCUMENT_START);
		if (column != 0 || begin_level(plain, false, 0) != 0)
			return FRONT_PLAIN_UNKNOWN;
	}
	if (text.len > 2 && text.bytes[0] == '-' && text.bytes[1] == ' ')
		return take_dash(plain, text, column);
	return take_key(plain, text, column);
}

static int take_end(struct front_plain *plain)
{
	if (plain->depth == 0 || plain->is_at_end)
		return FRONT_PLAIN_UNKNOWN;
	end_value(plain);
	while (plain->depth > 0)
		end_level(plain);
	push(plain, FRONT_DOCUMENT_END);
	push(plain, FRONT_STREAM_END);
	plain->is_at_end = true;
	return 0;
}

int front_plain_next(void *arg, struct front_event *ret)
{
	struct front_plain *plain = arg;
	int result = 0;

	if (plain->first == plain->count) {
		plain->first = plain->count = 0;
		result = plain->rest.len > 0 ? take_line(plain) : take_end(plain);
	}
	if (result == 0)
		*ret = plain->queue[plain->first++];
	return result;
}
