#include "cli/table.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "policy/cleanup.h"
#include "policy/text.h"

enum { GAP = 2, NARROWEST = 6, TABLE_CEILING = 32 * 1024 * 1024 };

void table_setup(void)
{
	/* A system without it counts every character as one column, which is near enough. */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
}

struct table_style table_style_of(int descriptor)
{
	struct table_style style = {0};
	struct winsize size;
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (isatty(descriptor) == 0)
		return style;
	style.colour = (no_colour == NULL || *no_colour == '\0') && (terminal == NULL || strcmp(terminal, "dumb") != 0);
	if (ioctl(descriptor, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

/* Code points that are seen as nothing, or change how others are seen. */
static bool is_unseen(uint32_t point)
{
	return text_is_control(point) || point == 0xAD || point == 0x61C || point == 0x180E ||
		(point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
		(point >= 0x2060 && point <= 0x206F) || point == 0xFEFF || (point >= 0xFFF9 && point <= 0xFFFB) ||
		(point >= 0xE0000 && point <= 0xE0FFF);
}

void table_text(struct buf *out, struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		size_t begin = at;
		uint32_t point = text_next(text, &at);

		if (point == TEXT_INVALID)
			buf_printf(out, "<0x%02x>", (unsigned)(unsigned char)text.bytes[begin]);
		else if (is_unseen(point))
			buf_printf(out, "<U+%04X>", (unsigned)point);
		else
			buf_add(out, text.bytes + begin, at - begin);
	}
}

static size_t point_width(uint32_t point)
{
	int width = wcwidth((wchar_t)point);

	return width < 0 ? 1 : (size_t)width;
}

size_t table_width(struct str shown)
{
	size_t width = 0;
	size_t at = 0;

	while (at < shown.len)
		width += point_width(text_next(shown, &at));
	return width;
}

void table_cut(struct buf *out, struct str shown, size_t width)
{
	size_t used = 0;
	size_t at = 0;

	if (table_width(shown) <= width) {
		buf_add_str(out, shown);
		return;
	}
	while (at < shown.len) {
		size_t begin = at;
		size_t columns = point_width(text_next(shown, &at));

		if (used + columns + 1 > width)
			break;
		buf_add(out, shown.bytes + begin, at - begin);
		used += columns;
	}
	if (width > 0)
		buf_puts(out, "…");
}

static void add_blanks(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_putc(out, ' ');
}

static void wrap_shown(struct buf *out, size_t width, struct str shown, size_t indent)
{
	size_t column = indent;
	size_t at = 0;

	add_blanks(out, indent);
	while (at < shown.len) {
		const char *blank = memchr(shown.bytes + at, ' ', shown.len - at);
		size_t length = blank == NULL ? shown.len - at : (size_t)(blank - shown.bytes) - at;
		struct str word = {shown.bytes + at, length};
		size_t columns = table_width(word);

		if (width > 0 && column > indent && column + 1 + columns > width) {
			buf_putc(out, '\n');
			add_blanks(out, indent);
			column = indent;
		}
		if (column > indent) {
			buf_putc(out, ' ');
			column++;
		}
		buf_add_str(out, word);
		column += columns;
		at += length + 1;
	}
	buf_putc(out, '\n');
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

void table_wrap(struct buf *out, const struct table_style *style, struct str text, size_t indent)
{
	CLEANUP(buf_drop) struct buf shown = {0};

	buf_init(&shown, TABLE_CEILING);
	table_text(&shown, text);
	if (buf_error(&shown) < 0)
		buf_fail(out, buf_error(&shown));
	wrap_shown(out, style->width, buf_str(&shown), indent);
}

static const char *const codes[] = {
	[TABLE_PLAIN] = NULL,
	[TABLE_NEUTRAL] = NULL,
	[TABLE_AMBER] = "\033[33m",
	[TABLE_RED] = "\033[31m",
	[TABLE_GREEN] = "\033[32m",
	[TABLE_SLATE] = "\033[36m",
	[TABLE_DIM] = "\033[2m",
	[TABLE_BOLD] = "\033[1m",
};

void table_paint(struct buf *out, const struct table_style *style, enum table_tone tone)
{
	if (style->colour && codes[tone] != NULL)
		buf_puts(out, codes[tone]);
}

void table_paint_end(struct buf *out, const struct table_style *style, enum table_tone tone)
{
	if (style->colour && codes[tone] != NULL)
		buf_puts(out, "\033[0m");
}

enum table_tone table_tone_find(const char *name)
{
	static const struct {
		const char *name;
		enum table_tone tone;
	} tones[] = {
		{"amber", TABLE_AMBER},
		{"red", TABLE_RED},
		{"green", TABLE_GREEN},
		{"slate", TABLE_SLATE},
		{"neutral", TABLE_NEUTRAL},
		{"blocked", TABLE_RED},
		{"failed", TABLE_RED},
		{"warning", TABLE_AMBER},
		{"allowed", TABLE_GREEN},
		{"approved", TABLE_GREEN},
		{"completed", TABLE_GREEN},
		{"succeeded", TABLE_GREEN},
		{"running", TABLE_GREEN},
		{"ready", TABLE_GREEN},
		{"denied", TABLE_AMBER},
		{"revoked", TABLE_AMBER},
	};

	for (size_t i = 0; name != NULL && i < sizeof(tones) / sizeof(tones[0]); i++) {
		if (strcmp(tones[i].name, name) == 0)
			return tones[i].tone;
	}
	return TABLE_PLAIN;
}

void table_init(struct table *table, const char *const *headings, size_t columns)
{
	CHECK(columns > 0 && columns <= TABLE_COLUMNS);
	*table = (struct table){.headings = headings, .columns = columns};
	arena_init(&table->arena, TABLE_CEILING);
}

void table_release(struct table *table)
{
	arena_release(&table->arena);
	free(table->cells);
	*table = (struct table){0};
}

static int cells_grow(struct table *table)
{
	size_t size = table->cell_size == 0 ? 64 : 2 * table->cell_size;
	struct table_cell *cells;

	if (table->cell_count < table->cell_size)
		return 0;
	if (table->cell_count >= (size_t)TABLE_ROWS * TABLE_COLUMNS)
		return -EMSGSIZE;
	cells = reallocarray(table->cells, size, sizeof(*cells));
	if (cells == NULL)
		return -ENOMEM;
	table->cells = cells;
	table->cell_size = size;
	return 0;
}

static int cell_fill(struct table *table, struct table_cell *cell, enum table_tone tone, const char *text)
{
	CLEANUP(buf_drop) struct buf shown = {0};

	buf_init(&shown, TABLE_CEILING);
	table_text(&shown, (struct str){text, strlen(text)});
	if (buf_error(&shown) < 0)
		return buf_error(&shown);
	*cell = (struct table_cell){.text = arena_str(&table->arena, buf_str(&shown)), .tone = tone};
	if (cell->text.bytes == NULL)
		return -ENOMEM;
	cell->width = table_width(cell->text);
	return 0;
}

void table_cell(struct table *table, enum table_tone tone, const char *text)
{
	if (table->error == 0)
		table->error = cells_grow(table);
	if (table->error == 0)
		table->error = cell_fill(table, &table->cells[table->cell_count], tone, text == NULL ? "-" : text);
	if (table->error == 0)
		table->cell_count++;
}

/* Takes columns from the widest until the whole fits, or nothing more can be taken. */
static void shrink(size_t widths[], size_t columns, size_t limit)
{
	size_t total = GAP * (columns - 1);

	for (size_t i = 0; i < columns; i++)
		total += widths[i];
	while (limit > 0 && total > limit) {
		size_t widest = 0;

		for (size_t i = 1; i < columns; i++) {
			if (widest == 0 || widths[i] > widths[widest])
				widest = i;
		}
		if (widest == 0 || widths[widest] <= NARROWEST)
			return;
		widths[widest]--;
		total--;
	}
}

static void measure(const struct table *table, size_t limit, size_t widths[])
{
	for (size_t i = 0; i < table->columns; i++)
		widths[i] = strlen(table->headings[i]);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t *width = &widths[i % table->columns];

		if (table->cells[i].width > *width)
			*width = table->cells[i].width;
	}
	shrink(widths, table->columns, limit);
}

/* The last column is not filled up: no line ends in blanks. */
static void write_cell(
	struct buf *out, const struct table_style *style, const struct table_cell *cell, size_t width, bool is_last)
{
	table_paint(out, style, cell->tone);
	table_cut(out, cell->text, width);
	table_paint_end(out, style, cell->tone);
	if (is_last)
		buf_putc(out, '\n');
	else
		add_blanks(out, GAP + width - (cell->width < width ? cell->width : width));
}

int table_write(const struct table *table, const struct table_style *style, struct buf *out)
{
	size_t widths[TABLE_COLUMNS] = {0};

	if (table->error < 0)
		return table->error;
	CHECK(table->cell_count % table->columns == 0);
	measure(table, style->width, widths);
	for (size_t i = 0; i < table->columns; i++) {
		struct table_cell heading = {
			.text = {table->headings[i], strlen(table->headings[i])},
			.width = strlen(table->headings[i]),
			.tone = TABLE_DIM,
		};

		write_cell(out, style, &heading, widths[i], i + 1 == table->columns);
	}
	for (size_t i = 0; i < table->cell_count; i++)
		write_cell(out, style, &table->cells[i], widths[i % table->columns], (i + 1) % table->columns == 0);
	return buf_error(out);
}
