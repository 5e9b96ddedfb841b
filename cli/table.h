/* table.h - text and tables on a terminal: aligned, cut to its width, and harmless whatever the text holds.
 *
 * Everything that came from outside passes table_text() on its way to a terminal. Control characters, bidi and zero-width
 * ones and bytes that are no UTF-8 are shown by number, as <U+202E> and <0xff>, so that no text can move the cursor,
 * hide itself or look like another one. Widths are columns as wcwidth() counts them in a UTF-8 locale. One thread at a time.
 */
#ifndef ADMITD_CLI_TABLE_H
#define ADMITD_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "policy/buf.h"

/* The tones of 1.12, and two of our own. Colour is never the only sign: a word always says the same. */
enum table_tone {
	TABLE_PLAIN = 0,
	TABLE_NEUTRAL,
	TABLE_AMBER,
	TABLE_RED,
	TABLE_GREEN,
	TABLE_SLATE,
	TABLE_DIM,
	TABLE_BOLD,
};

struct table_style {
	bool colour;
	size_t width; /* columns to stay within; 0: no limit */
};

enum { TABLE_COLUMNS = 8, TABLE_ROWS = 10000 };

struct table_cell {
	struct str text; /* shown form */
	size_t width;
	enum table_tone tone;
};

struct table {
	struct arena arena;
	const char *const *headings;
	size_t columns;
	struct table_cell *cells;
	size_t cell_count;
	size_t cell_size;
	int error; /* 0, or the first failure: later cells are left out and table_write says so */
};

/* Makes wcwidth() count as a UTF-8 terminal does. Called once, by main and by tests. */
void table_setup(void);

/* Colour and width of what `descriptor` is connected to: neither if it is no terminal; no colour with NO_COLOR or on a dumb
 * terminal.
 */
struct table_style table_style_of(int descriptor);

/* Appends text in its shown form, on one line. */
void table_text(struct buf *out, struct str text);
/* Columns of text that is in its shown form already. */
size_t table_width(struct str shown);
/* Appends as much of a shown form as fits into `width` columns; what was cut ends in "…". */
void table_cut(struct buf *out, struct str shown, size_t width);
/* Appends text in its shown form broken at blanks, each line behind `indent` blanks, and ended by a line feed. */
void table_wrap(struct buf *out, const struct table_style *style, struct str text, size_t indent);

/* Around painted text; nothing without colour. */
void table_paint(struct buf *out, const struct table_style *style, enum table_tone tone);
void table_paint_end(struct buf *out, const struct table_style *style, enum table_tone tone);

/* The tone of an operator state or an admission status by its wire name; TABLE_PLAIN for another word. */
enum table_tone table_tone_find(const char *name);

/* `headings` are 1 to TABLE_COLUMNS literals. The first column is never cut: it holds what a person copies. */
void table_init(struct table *table, const char *const *headings, size_t columns);
void table_release(struct table *table);
/* Adds the next cell, row by row. NULL shows as "-". */
void table_cell(struct table *table, enum table_tone tone, const char *text);
/* Writes heading and rows; 0 or the negative errno of table or buffer. */
int table_write(const struct table *table, const struct table_style *style, struct buf *out) MUST_USE;

#endif
