/* name.h - names of files are bytes; how they are shown, and read back (chapter 5.1).
 *
 * Shown, a name is UTF-8 on one line that can't move a cursor: control characters (below 0x20, 0x7f, C1, bidi) and bytes that are no
 * UTF-8 stand as \xNN in lower case. A backslash is itself, but for one that would read as such an escape, which is \x5c: so a shown
 * name reads back to the same bytes, and two names never look alike by their escapes. Pure functions; any thread.
 */
#ifndef ADMITD_READER_NAME_H
#define ADMITD_READER_NAME_H

#include <stdbool.h>

#include "policy/arena.h"
#include "policy/buf.h"

/* Appends the shown form. */
void name_show(struct buf *out, struct str name);

/* The same for text out of a file, in which tabs, line feeds and carriage returns stay. */
void name_show_text(struct buf *out, struct str text);
/* Whether name_show_text() would change nothing. */
bool name_is_plain_text(struct str text);

/* The bytes that a shown form stands for; what name_show() would never write is taken as it is. *ret may borrow from `shown`,
 * else it lies in the arena. 0 or -ENOMEM.
 */
int name_read(struct arena *arena, struct str shown, struct str *ret) MUST_USE;

#endif
