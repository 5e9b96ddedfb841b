/* api_list.h - lists: `limit`, `cursor` and `next` (chapter 4.1, "Lists").
 *
 * A cursor is opaque to clients: a mark of the list and its filters, so that one of another list is refused, and where the store goes on, a
 * sequence or an id. `next` is the whole path of the next page, with
 * the filters of this one; null on the last.
 */
#ifndef ADMITD_DAEMON_HTTP_API_LIST_H
#define ADMITD_DAEMON_HTTP_API_LIST_H

#include "daemon/http/api.h"

enum { API_LIST_USUAL = 50, API_LIST_MAX = 500 };

struct api_list {
	struct http_request *request;
	struct http_reply *reply;
	struct json_out out;
	int64_t limit;
	int64_t from;     /* of a sequence cursor; 0: the first page */
	struct str after; /* of an id cursor; absent: the first page */
};

enum api_list_result { API_LIST_REFUSED = 1 };

/* Reads limit and cursor, and refuses query parameters that are neither these nor in `filters` (ended by NULL). 0, or
 * API_LIST_REFUSED with a 400 in *reply. `by_sequence`: the cursor is a number.
 */
int api_list_begin(struct api_list *list, struct http_request *request, struct http_reply *reply,
	const char *const *filters, bool by_sequence) MUST_USE;

/* How many to ask the store for: one more, which says that there is a next page. */
size_t api_list_wanted(const struct api_list *list);

/* How many of `count` are of this page. */
size_t api_list_shown(const struct api_list *list, size_t count);
/* Opens `items`; returns how many of `count` are to be written. */
size_t api_list_open(struct api_list *list, size_t count);
/* Closes it. `has_more`: there is a next page, from this cursor on. */
void api_list_close(struct api_list *list, bool has_more, struct str cursor);
/* Only the `next` of an open object, where an answer has members beside its items. */
void api_list_write_next(struct api_list *list, bool has_more, struct str cursor);
void api_list_close_sequence(struct api_list *list, bool has_more, int64_t sequence);

#endif
