/* text_table.h - an aligned table in plain text, for people with curl (chapter 4.2, `Accept: text/plain`).
 *
 * Cells are copied when they are added. What could move a cursor is shown as a blank; a cell is cut to a width that a terminal can hold.
 * Columns are as wide as their widest cell, the last one isn't padded. One thread.
 */
#ifndef ADMITD_DAEMON_HTTP_TEXT_TABLE_H
#define ADMITD_DAEMON_HTTP_TEXT_TABLE_H

#include "daemon/http/request.h"

enum { TEXT_TABLE_COLUMNS = 8, TEXT_TABLE_CELL = 100 };

struct text_table {
	struct arena *arena;
	size_t columns;
	struct str *cells; /* of all rows, the headings first */
	size_t count;
	size_t size;
	bool failed;
};

/* `headings` ends with NULL; everything lives in the arena. */
void text_table_init(struct text_table *table, struct arena *arena, const char *const *headings);
/* The next cell; an absent one is a dash. */
void text_table_add(struct text_table *table, struct str text);
/* A moment, in UTC to the second. */
void text_table_add_time(struct text_table *table, int64_t at);

/* The answer, `text/plain`, with a line behind the table when `note` is there. */
void text_table_reply(const struct text_table *table, struct str note, struct http_reply *reply);

/* Whether the request wants it so. 0, and *ret_wants; TEXT_TABLE_REFUSED: neither this nor JSON will do, and *reply says 406. */
enum text_table_result { TEXT_TABLE_REFUSED = 1 };
int text_table_wanted(const struct http_request *request, struct http_reply *reply, bool *ret_wants) MUST_USE;

#endif
