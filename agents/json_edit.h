/* json_edit.h - puts members and items into somebody's JSON file, and takes them out, changing no other byte (chapter 5.8).
 *
 * What is put in follows what is there: indent, line ends, blanks behind colons and commas, one line or many. An insertion is one run
 * of bytes between two bytes of the old text; a removal is one run less, and takes back exactly what the insertion of the same member
 * put in, but for blanks inside brackets that held nothing.
 *
 * Texts are ones that json_scan_check() accepted, and stay so. Offsets are dead after each edit. May use policy only. One thread at a
 * time.
 */
#ifndef ADMITD_AGENTS_JSON_EDIT_H
#define ADMITD_AGENTS_JSON_EDIT_H

#include "agents/json_scan.h"
#include "policy/buf.h"

/* What is put in: compact JSON that json_out wrote. */
struct json_edit_value {
	struct str key;   /* absent in an array; else a JSON string with its quotes */
	struct str value; /* JSON */
};

/* How arrays of what is put in are written where every member stands on a line of its own. */
enum json_edit_form {
	JSON_EDIT_FLAT = 0, /* arrays on one line */
	JSON_EDIT_BLOCK,    /* every item on its own */
};

struct json_edit {
	struct buf text; /* the text as it is now */
};

/* Begins with a copy of `text`. 0 or -ENOMEM, -EMSGSIZE; json_edit_release() is due in each case. */
int json_edit_init(struct json_edit *edit, struct str text) MUST_USE;
void json_edit_release(struct json_edit *edit);

/* As it is now; valid until the next edit. */
struct str json_edit_text(const struct json_edit *edit);

/* Puts `count` (1 or more) values behind the last one in the object or array at `container`, whose keys are new to it. 0, -ENOMEM,
 * -EMSGSIZE; on an error the text is as it was. */
int json_edit_add(struct json_edit *edit, size_t container, const struct json_edit_value *values, size_t count,
	enum json_edit_form form) MUST_USE;

/* Takes the item out of the object or array at `container`, with the comma that belongs to it. */
void json_edit_remove(struct json_edit *edit, size_t container, const struct json_scan_item *item);

/* Appends `value` (compact JSON) as a new file would have it: two blanks, LF, every member and item on a line of its own. */
void json_edit_write(struct buf *out, struct str value);

#endif
