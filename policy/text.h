/* text.h - what counts as safe text, and the one way it is normalized (chapter 1.4).
 *
 * Everything here works on bytes with a length; lengths count code points. Invalid UTF-8 is unsafe. White
 * space is Unicode White_Space and U+FEFF. Pure functions, any thread; redact_init() must have succeeded before.
 */
#ifndef ADMITD_POLICY_TEXT_H
#define ADMITD_POLICY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"

/* Limits of 1.4, in code points. */
enum { TEXT_LIMIT = 240, TEXT_NAME_LIMIT = 80, TEXT_ID_LIMIT = 160 };

/* Reads one code point at *at and moves *at behind it; returns TEXT_INVALID (and moves one byte) where the bytes
 * are not UTF-8. *at must be below text.len.
 */
#define TEXT_INVALID 0xFFFFFFFFu
uint32_t text_next(struct str text, size_t *at);

bool text_is_space(uint32_t code_point);
/* C0, DEL, C1, U+202A-202E, U+2066-2069. */
bool text_is_control(uint32_t code_point);

/* Safe text of 1.4: not blank, at most TEXT_LIMIT long, no control or bidi control, no secret in it. */
bool text_is_safe(struct str text);

/* The identities of 1.4: safe, no padding, no doubled white space, at most `limit` code points. */
bool text_is_identity(struct str text, size_t limit);
/* An identity without any white space (requirement keys). */
bool text_is_key(struct str text);
/* [a-z0-9][a-z0-9_-]*, at most TEXT_NAME_LIMIT. */
bool text_is_mcp_id(struct str text);
/* Not the reserved "unknown". */
bool text_is_agent(struct str text);
/* Not the reserved "unknown-subtask". */
bool text_is_subtask_id(struct str text);

/* Trimmed, ASCII lower case, each inner run of white space one '_'. NULL bytes when memory is out. */
struct str text_normalize(struct arena *arena, struct str text);

/* Trimmed, each run of white space one blank, cut to `limit` code points: how a malformed identity is shown (1.7). */
struct str text_fold(struct arena *arena, struct str text, size_t limit);

/* The part between leading and trailing white space; borrows from `text`. */
struct str text_trim(struct str text);

#endif
