#include "agents/json_edit.h"

#include <errno.h>

#include "policy/cleanup.h"

/* Every byte of the text that an edit makes grow is one that was asked for; this only ends runaways. */
enum { TEXT_CEILING = 2 * JSON_SCAN_BYTES_LIMIT };

/* How a text is written where something is put in. Indents borrow from it. */
struct style {
	bool is_block;       /* each value on a line of its own */
	struct str line_end; /* "\n", "\r\n" or "\r" */
	struct str indent;   /* in front of the new values */
	struct str closing;  /* in front of the bracket behind them */
	struct str unit;     /* one step deeper */
	struct str colon;    /* with the blanks around it */
	struct str comma;    /* within a line */
	enum json_edit_form form;
};

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static bool is_line_end(char byte)
{
	return byte == '\n' || byte == '\r';
}

/* ---- reading the style */

static struct str find_line_end(struct str text)
{
	const char *feed = memchr(text.bytes, '\n', text.len);

	if (feed == NULL)
		return memchr(text.bytes, '\r', text.len) != NULL ? STR("\r") : STR("\n");
	return feed > text.bytes && feed[-1] == '\r' ? STR("\r\n") : STR("\n");
}

/* The blanks that begin the line of the byte at `at`. */
static struct str indent_at(struct str text, size_t at)
{
	size_t start = at;
	size_t end;

	while (start > 0 && !is_line_end(text.bytes[start - 1]))
		start--;
	for (end = start; end < at && is_blank(text.bytes[end]); end++)
		;
	return (struct str){text.bytes + start, end - start};
}

/* Whether nothing but blanks stands before it on its line, and a line before that. */
static bool begins_line(struct str text, size_t at)
{
	while (at > 0 && is_blank(text.bytes[at - 1]))
		at--;
	return at > 0 && is_line_end(text.bytes[at - 1]);
}

/* The first indented line shows the step. A text without one gets four blanks: with two it would look like a file that was written
 * anew. */
static struct str find_unit(struct str text)
{
	struct json_scan_item item = {0};
	size_t root = json_scan_root(text);

	while (json_scan_type(text, root) != JSON_SCAN_OTHER && json_scan_type(text, root) != JSON_SCAN_STRING &&
		json_scan_next(text, root, &item)) {
		if (begins_line(text, item.start) && indent_at(text, item.start).len > 0)
			return indent_at(text, item.start);
	}
	return STR("    ");
}

static struct str find_colon(struct str text)
{
	struct json_scan_item item = {0};
	struct str colon;

	if (json_scan_type(text, json_scan_root(text)) != JSON_SCAN_OBJECT ||
		!json_scan_next(text, json_scan_root(text), &item))
		return STR(": ");
	colon = (struct str){text.bytes + item.key_end, item.value - item.key_end};
	for (size_t i = 0; i < colon.len; i++)
		if (is_line_end(colon.bytes[i]))
			return STR(": ");
	return colon;
}

/* What stands between two values on one line; where there is only one, as much as behind a colon. */
static struct str find_comma(struct str text, size_t container, struct str colon)
{
	struct json_scan_item item = {0};
	size_t end = 0;

	while (json_scan_next(text, container, &item)) {
		if (end != 0 && !begins_line(text, item.start))
			return (struct str){text.bytes + end, item.start - end};
		end = item.value_end;
	}
	return colon.bytes[colon.len - 1] == ':' ? STR(",") : STR(", ");
}

static bool is_block_root(struct str text)
{
	struct json_scan_item item = {0};
	size_t root = json_scan_root(text);

	return !json_scan_next(text, root, &item) || begins_line(text, item.start);
}

static struct str blanks_inside(struct str text, size_t container)
{
	size_t end = json_scan_end(text, container) - 1;

	return (struct str){text.bytes + container + 1, end - container - 1};
}

static bool is_empty_block(struct str text, size_t container)
{
	struct str inside = blanks_inside(text, container);

	for (size_t i = 0; i < inside.len; i++)
		if (is_line_end(inside.bytes[i]))
			return true;
	/* An empty list is filled on its line: register tells by that which lists were there before. */
	return inside.len == 0 && json_scan_type(text, container) == JSON_SCAN_OBJECT && is_block_root(text);
}

/* `last` is the last value there is, or has no end. */
static void read_style(
	struct arena *arena, struct str text, size_t container, const struct json_scan_item *last, struct style *style)
{
	bool is_empty = last->value_end == 0;

	style->line_end = find_line_end(text);
	style->colon = find_colon(text);
	style->comma = find_comma(text, container, style->colon);
	style->closing = indent_at(text, container);
	style->unit = find_unit(text);
	style->is_block = is_empty ? is_empty_block(text, container) : begins_line(text, last->start);
	style->indent = is_empty ? arena_printf(arena, "%.*s%.*s", (int)style->closing.len, style->closing.bytes,
					   (int)style->unit.len, style->unit.bytes)
				 : indent_at(text, last->start);
}

/* ---- writing in it */

static void write_line(const struct style *style, unsigned depth, struct buf *out)
{
	buf_add_str(out, style->line_end);
	buf_add_str(out, style->indent);
	for (unsigned i = 0; i < depth; i++)
		buf_add_str(out, style->unit);
}

static void write_value(const struct style *style, struct str value, size_t at, unsigned depth, struct buf *out)
{
	bool is_array = json_scan_type(value, at) == JSON_SCAN_ARRAY;
	bool is_block = style->is_block && (!is_array || style->form == JSON_EDIT_BLOCK);
	struct json_scan_item item = {0};
	bool has_items = false;

	if (!is_array && json_scan_type(value, at) != JSON_SCAN_OBJECT) {
		buf_add(out, value.bytes + at, json_scan_end(value, at) - at);
		return;
	}
	buf_putc(out, value.bytes[at]);
	for (; json_scan_next(value, at, &item); has_items = true) {
		if (has_items)
			buf_add_str(out, is_block ? STR(",") : style->comma);
		if (is_block)
			write_line(style, depth + 1, out);
		if (!is_array) {
			buf_add(out, value.bytes + item.start, item.key_end - item.start);
			buf_add_str(out, style->colon);
		}
		write_value(style, value, item.value, depth + 1, out);
	}
	if (has_items && is_block)
		write_line(style, depth, out);
	buf_putc(out, is_array ? ']' : '}');
}

static void write_values(const struct style *style, const struct json_edit_value *values, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_add_str(out, style->is_block ? STR(",") : style->comma);
		if (i > 0 && style->is_block)
			write_line(style, 0, out);
		if (values[i].key.bytes != NULL) {
			buf_add_str(out, values[i].key);
			buf_add_str(out, style->colon);
		}
		write_value(style, values[i].value, 0, 0, out);
	}
}

void json_edit_write(struct buf *out, struct str value)
{
	const struct style style = {.is_block = true,
		.line_end = STR("\n"),
		.indent = STR(""),
		.unit = STR("  "),
		.colon = STR(": "),
		.comma = STR(", "),
		.form = JSON_EDIT_BLOCK};

	write_value(&style, value, 0, 0, out);
	buf_putc(out, '\n');
}

/* ---- editing */

int json_edit_init(struct json_edit *edit, struct str text)
{
	buf_init(&edit->text, TEXT_CEILING);
	buf_add_str(&edit->text, text);
	return buf_error(&edit->text);
}

void json_edit_release(struct json_edit *edit)
{
	buf_release(&edit->text);
}

struct str json_edit_text(const struct json_edit *edit)
{
	return buf_str(&edit->text);
}

static int insert(struct json_edit *edit, size_t at, struct str bytes)
{
	struct buf *text = &edit->text;
	int r = buf_reserve(text, bytes.len);

	if (r != 0)
		return r;
	memmove(text->bytes + at + bytes.len, text->bytes + at, text->len - at + 1);
	memcpy(text->bytes + at, bytes.bytes, bytes.len);
	text->len += bytes.len;
	return 0;
}

static void cut(struct json_edit *edit, size_t start, size_t end)
{
	struct buf *text = &edit->text;

	memmove(text->bytes + start, text->bytes + end, text->len - end + 1);
	text->len -= end - start;
}

/* Behind the last value: a comma, and then as the values before are set apart. */
static void write_behind(const struct style *style, const struct json_edit_value *values, size_t count, struct buf *out)
{
	buf_add_str(out, style->is_block ? STR(",") : style->comma);
	if (style->is_block)
		write_line(style, 0, out);
	write_values(style, values, count, out);
}

/* Between two brackets with nothing or blanks between them. What stands there stays in front of the closing one. */
static void write_inside(const struct style *style, struct str inside, const struct json_edit_value *values,
	size_t count, struct buf *out)
{
	if (style->is_block)
		write_line(style, 0, out);
	write_values(style, values, count, out);
	if (style->is_block && inside.len == 0) {
		buf_add_str(out, style->line_end);
		buf_add_str(out, style->closing);
	} else if (!style->is_block) {
		buf_add_str(out, inside);
	}
}

int json_edit_add(struct json_edit *edit, size_t container, const struct json_edit_value *values, size_t count,
	enum json_edit_form form)
{
	struct str text = json_edit_text(edit);
	struct json_scan_item item = {0};
	struct json_scan_item last = {0};
	struct style style = {.form = form};
	CLEANUP(buf_drop) struct buf out = {0};
	struct arena arena;
	struct str inside;
	size_t at;

	arena_init(&arena, TEXT_CEILING);
	buf_init(&out, TEXT_CEILING);
	while (json_scan_next(text, container, &item))
		last = item;
	read_style(&arena, text, container, &last, &style);
	inside = blanks_inside(text, container);
	at = last.value_end;
	if (style.indent.bytes == NULL) {
		buf_fail(&out, -ENOMEM);
	} else if (at != 0) {
		write_behind(&style, values, count, &out);
	} else {
		at = style.is_block ? container + 1 : container + 1 + inside.len;
		write_inside(&style, inside, values, count, &out);
	}
	arena_release(&arena);
	return buf_error(&out) != 0 ? buf_error(&out) : insert(edit, at, buf_str(&out));
}

void json_edit_remove(struct json_edit *edit, size_t container, const struct json_scan_item *item)
{
	struct str text = json_edit_text(edit);
	struct json_scan_item other = {0};
	size_t before = 0; /* the end of the value before it */

	while (json_scan_next(text, container, &other) && other.start != item->start)
		before = other.value_end;
	if (before != 0) {
		cut(edit, before, item->value_end);
		return;
	}
	other = *item;
	if (json_scan_next(text, container, &other))
		cut(edit, item->start, other.start);
	else
		cut(edit, container + 1, json_scan_end(text, container) - 1);
}
