/* json_out.h - writes JSON straight into a buffer, one way for everything (chapter 3.2).
 *
 * The writer keeps track of commas and nesting; the caller gives keys and values in the order they shall
 * appear. Strings must be UTF-8 (everything that came through a strict parser is) and are escaped in exactly
 * one way: \" \\ \b \f \n \r \t, other bytes below 0x20 as \u00xx in lower case, all else as it is. So equal values give equal
 * bytes, which the digests of chapter 2.1 rest on.
 *
 * Errors are the buffer's: ask buf_error() at the end. A wrong nesting is a bug of ours and CHECKed.
 */
#ifndef ADMITD_POLICY_JSON_OUT_H
#define ADMITD_POLICY_JSON_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/buf.h"

enum { JSON_OUT_DEPTH = 80 };

struct json_out {
	struct buf *buf;
	unsigned depth;
	bool has_items[JSON_OUT_DEPTH];
	bool after_key;
};

/* Writes to `buf`, which the caller owns and may have begun already. */
void json_out_init(struct json_out *out, struct buf *buf);

void json_out_begin_object(struct json_out *out);
void json_out_end_object(struct json_out *out);
void json_out_begin_array(struct json_out *out);
void json_out_end_array(struct json_out *out);

/* A member's key; its value must follow. The key is a literal of ours or UTF-8. */
void json_out_key(struct json_out *out, const char *key);
void json_out_key_str(struct json_out *out, struct str key);

/* An absent str is written as null. */
void json_out_str(struct json_out *out, struct str value);
void json_out_text(struct json_out *out, const char *value);
void json_out_int(struct json_out *out, int64_t value);
void json_out_bool(struct json_out *out, bool value);
void json_out_null(struct json_out *out);
/* `json` is one complete JSON value that this module wrote before. */
void json_out_raw(struct json_out *out, struct str json);

/* Members that this module wrote before, without the braces around them; none are fine. */
void json_out_members(struct json_out *out, struct str members);

/* Shorthands for a key and its value. */
void json_out_member_str(struct json_out *out, const char *key, struct str value);
void json_out_member_text(struct json_out *out, const char *key, const char *value);
void json_out_member_int(struct json_out *out, const char *key, int64_t value);
void json_out_member_bool(struct json_out *out, const char *key, bool value);
void json_out_member_null(struct json_out *out, const char *key);
void json_out_member_raw(struct json_out *out, const char *key, struct str json);
/* A revision: chapter 4 writes them as decimal strings. */
void json_out_member_revision(struct json_out *out, const char *key, int64_t value);

/* The canonical bytes of any JSON value (chapter 3.2): members sorted byte-wise by key, no white space.
 * Integers are decimal; a real number keeps a fraction or exponent, so that 1.0 and 1 stay different.
 * Depth is bounded by the parser that made `value` (64).
 */
void json_out_canonical(struct json_out *out, const json_t *value);

#endif
