/* shown.h - names and pieces of files as strings of an answer; for this room.
 *
 * A buffer that is used again and again for the shown form. One thread.
 */
#ifndef ADMITD_READER_SHOWN_H
#define ADMITD_READER_SHOWN_H

#include "policy/json_out.h"

/* Members and items: the shown form of a name (name.h). `scratch` is emptied first; its failure becomes the answer's. */
void shown_name(struct json_out *out, struct buf *scratch, const char *key, struct str name);
void shown_name_item(struct json_out *out, struct buf *scratch, struct str name);

/* A member with text out of a file: as it is where it is UTF-8 without control characters but tab, line feed and carriage return; else with
 * \xNN for what isn't. Whether it is as it was. */
bool shown_text(struct json_out *out, struct buf *scratch, const char *key, struct str text);

#endif
