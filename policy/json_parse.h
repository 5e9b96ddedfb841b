/* json_parse.h - the one door through which JSON text becomes json_t (chapters 3.2, 4.1).
 *
 * Strict: a key twice at any depth, nesting over 64, NUL escapes, invalid UTF-8 and bytes behind the value are refused. Errors carry a
 * byte offset and never jansson's text, which quotes the input.
 *
 * jansson loses a byte of a long string without a word when its buffer can't grow, and so accepts another text than the one that
 * was sent. A program therefore calls json_parse_guard() first: from then on any allocation of jansson's that fails is
 * noticed, and json_parse() answers -ENOMEM instead of a changed document. libadmit doesn't call it, since the
 * allocation functions of jansson belong to the process and not to a library in it.
 */
#ifndef ADMITD_POLICY_JSON_PARSE_H
#define ADMITD_POLICY_JSON_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "policy/arena.h"

/* Deeper nesting is refused, so that code of ours may walk a value by recursion. */
enum { JSON_PARSE_DEPTH_LIMIT = 64 };

enum json_parse_result { JSON_PARSE_NOT_JSON = 1 };

/* Where a text stops being JSON. */
struct json_parse_fault {
	size_t offset; /* bytes; at or shortly behind the fault */
	int line;      /* from 1 */
	int column;    /* from 1 */
};

/* Once, at the start of a program, before any thread and any JSON. */
void json_parse_guard(void);

/* Any JSON value. 0 and *ret_value, owned by the caller; JSON_PARSE_NOT_JSON and *ret_fault (may be NULL); -ENOMEM. Any thread. */
int json_parse(struct str text, json_t **ret_value, struct json_parse_fault *ret_fault) MUST_USE;

#endif
