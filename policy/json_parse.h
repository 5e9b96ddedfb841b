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

enum json_parse_kind {
	JSON_PARSE_SYNTAX = 0,
	JSON_PARSE_DUPLICATE, /* a key twice in one object */
	JSON_PARSE_CUT_OFF,   /* the text ends in the middle of a value */
	JSON_PARSE_TOO_DEEP,
};

/* Where a text stops being JSON, and how. */
struct json_parse_fault {
	enum json_parse_kind kind;
	size_t offset; /* bytes; at or shortly behind the fault */
	int line;      /* from 1 */
	int column;    /* from 1 */
};

/* Once, at the start of a program, before any thread and any JSON. */
void json_parse_guard(void);

/* Any JSON value. 0 and *ret_value, owned by the caller; JSON_PARSE_NOT_JSON and *ret_fault (may be NULL); -ENOMEM. Any thread. */
int json_parse(struct str text, json_t **ret_value, struct json_parse_fault *ret_fault) MUST_USE;

/* The first value of a text that may hold more behind it: *ret_used bytes were its own. The same results. */
int json_parse_first(
	struct str text, json_t **ret_value, size_t *ret_used, struct json_parse_fault *ret_fault) MUST_USE;

#endif
