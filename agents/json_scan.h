/* json_scan.h - finds its way in JSON text that somebody keeps by hand, byte by byte (chapter 5.8).
 *
 * A parser gives values and forgets how they were written. What is edited in place needs the places instead: json_scan_check() says
 * whether a text is JSON (RFC 8259, nothing more), and the other functions then walk it by offsets, allocating nothing.
 *
 * Refused: comments, trailing commas, a key twice in one object (also where an escape spells it), a byte-order mark, bytes that are
 * not UTF-8, nesting over JSON_SCAN_DEPTH_LIMIT, texts over JSON_SCAN_BYTES_LIMIT. Accepted, and never interpreted: any number and any
 * escape that the grammar has. A fault has a place and a kind and never a piece of the text, which may be a secret.
 *
 * May use policy only. Any thread.
 */
#ifndef ADMITD_AGENTS_JSON_SCAN_H
#define ADMITD_AGENTS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"

enum { JSON_SCAN_DEPTH_LIMIT = 64, JSON_SCAN_BYTES_LIMIT = 4 * 1024 * 1024 };

enum json_scan_result { JSON_SCAN_REFUSED = 1 };

enum json_scan_kind {
	JSON_SCAN_SYNTAX = 0,
	JSON_SCAN_EMPTY,
	JSON_SCAN_MARK, /* a byte-order mark, of UTF-8 or UTF-16 */
	JSON_SCAN_NOT_UTF8,
	JSON_SCAN_COMMENT,
	JSON_SCAN_TRAILING_COMMA,
	JSON_SCAN_CUT_OFF, /* ends within a value */
	JSON_SCAN_DUPLICATE,
	JSON_SCAN_TOO_DEEP,
	JSON_SCAN_TOO_LARGE,
};

struct json_scan_fault {
	enum json_scan_kind kind;
	size_t offset;
	size_t line;   /* from 1 */
	size_t column; /* from 1, in bytes */
};

/* Is it one JSON value? 0; JSON_SCAN_REFUSED and *ret_fault; -ENOMEM. */
int json_scan_check(struct str text, struct json_scan_fault *ret_fault) MUST_USE;

/* What is wrong, as the words behind "line 3, column 5: ". */
const char *json_scan_words(enum json_scan_kind kind);

/* ---- on a text that was checked. A value is named by the offset of its first byte. */

enum json_scan_type { JSON_SCAN_OTHER = 0, JSON_SCAN_OBJECT, JSON_SCAN_ARRAY, JSON_SCAN_STRING };

/* A member of an object or an item of an array. Begin with {0}. */
struct json_scan_item {
	size_t start;     /* of its key; of its value in an array */
	size_t key_end;   /* behind the key's closing quote; 0 in an array */
	size_t value;     /* of its value */
	size_t value_end; /* behind it */
};

size_t json_scan_root(struct str text);
enum json_scan_type json_scan_type(struct str text, size_t value);
/* The offset behind a value; for a container that is behind its closing bracket. */
size_t json_scan_end(struct str text, size_t value);
/* Moves *item to the next one of an object or array; false at the end. */
bool json_scan_next(struct str text, size_t container, struct json_scan_item *item);
/* The member of that name, however its key is escaped. `value` may be anything: what is no object has no member. */
bool json_scan_find(struct str text, size_t value, const char *name, struct json_scan_item *ret_item);
/* Whether the string at `value`, unescaped, is these bytes; false for what is no string. */
bool json_scan_is(struct str text, size_t value, struct str wanted);
/* Its bytes as they are written. */
struct str json_scan_slice(struct str text, const struct json_scan_item *item);

#endif
