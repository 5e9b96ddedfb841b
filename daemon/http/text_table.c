#include "daemon/http/text_table.h"

#include <errno.h>
#include <string.h>

#include "daemon/http/accept.h"
#include "daemon/lifecycle/time_text.h"

enum { FIRST_CELLS = 64, GAP = 2, SECONDS_TEXT = 19 };

static void add_cell(struct text_table *table, struct str cell)
{
	size_t size = table->size ? 2 * table->size : FIRST_CELLS;
	struct str *cells = table->cells;

	if (table->count == table->size) {
		cells = ARENA_ARRAY(table->arena, size, struct str);
		if (cells == NULL) {
			table->failed = true;
			return;
		}
		if (table->count > 0)
			memcpy(cells, table->cells, table->count * sizeof(*cells));
		table->cells = cells;
		table->size = size;
	}
	table->failed = table->failed || cell.bytes == NULL;
	table->cells[table->count++] = cell;
}

void text_table_init(struct text_table *table, struct arena *arena, const char *const *headings)
{
	*table = (struct text_table){.arena = arena};
	for (; headings[table->columns] != NULL; table->columns++) {
		CHECK(table->columns < TEXT_TABLE_COLUMNS);
		add_cell(table, (struct str){headings[table->columns], strlen(headings[table->columns])});
	}
}

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t width_of(struct str text)
{
	size_t width = 0;

	for (size_t i = 0; i < text.len; i++)
		width += begins_character(text.bytes[i]);
	return width;
}

/* Bytes of the first TEXT_TABLE_CELL characters. */
static size_t cut_at(struct str text)
{
	size_t width = 0;
	size_t i = 0;

	for (; i < text.len; i++) {
		width += begins_character(text.bytes[i]);
		if (width > TEXT_TABLE_CELL)
			break;
	}
	return i;
}

/* C0 and DEL, C1, and what turns the direction of text or has no width (U+200B–200F, U+2028–202E, U+2060–2069, U+FEFF). */
static size_t harmful(const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *)bytes;

	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	if (len >= 2 && at[0] == 0xc2 && at[1] < 0xa0)
		return 2;
	if (len >= 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] >= 0x8b && at[2] <= 0xae) &&
		(at[2] <= 0x8f || at[2] >= 0xa8))
		return 3;
	if (len >= 3 && at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xa9)
		return 3;
	return len >= 3 && at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf ? 3 : 0;
}

void text_table_add(struct text_table *table, struct str text)
{
	struct str shown = text.bytes != NULL && text.len > 0 ? text : STR("-");
	size_t end = cut_at(shown);
	char *copy = arena_copy(table->arena, shown.bytes, end);
	size_t len = 0;

	for (size_t i = 0; copy != NULL && i < end;) {
		size_t skipped = harmful(shown.bytes + i, end - i);

		copy[len++] = skipped > 0 ? ' ' : shown.bytes[i];
		i += skipped > 0 ? skipped : 1;
	}
	add_cell(table, (struct str){copy, len});
}

void text_table_add_time(struct text_table *table, int64_t at)
{
	struct str text = time_text(table->arena, at);

	if (text.len > SECONDS_TEXT)
		text = arena_printf(table->arena, "%.*sZ", SECONDS_TEXT, text.bytes);
	text_table_add(table, text);
}

static void write_row(const struct text_table *table, size_t first, const size_t *widths, struct buf *out)
{
	for (size_t i = 0; i < table->columns; i++) {
		struct str cell = table->cells[first + i];

		buf_add_str(out, cell);
		for (size_t pad = width_of(cell); i + 1 < table->columns && pad < widths[i] + GAP; pad++)
			buf_putc(out, ' ');
	}
	buf_putc(out, '\n');
}

void text_table_reply(const struct text_table *table, struct str note, struct http_reply *reply)
{
	size_t widths[TEXT_TABLE_COLUMNS] = {0};

	http_reply_raw(reply, 200, "text/plain; charset=utf-8", (struct str){"", 0});
	if (table->failed) {
		buf_fail(&reply->body, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < table->count; i++) {
		size_t width = width_of(table->cells[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	for (size_t i = 0; i + table->columns <= table->count; i += table->columns)
		write_row(table, i, widths, &reply->body);
	if (note.len > 0) {
		buf_add_str(&reply->body, note);
		buf_putc(&reply->body, '\n');
	}
}

int text_table_wanted(const struct http_request *request, struct http_reply *reply, bool *ret_wants)
{
	static const char *const offers[] = {"application/json", "text/plain"};
	int chosen = accept_choose(http_request_header(request, "Accept"), offers, sizeof(offers) / sizeof(offers[0]));

	*ret_wants = chosen == 1;
	if (chosen >= 0)
		return 0;
	http_reply_problem(reply, request, HTTP_PROBLEM_NOT_ACCEPTABLE, "it is application/json or text/plain");
	return TEXT_TABLE_REFUSED;
}
