/* snippet.h - a match and what stands around it on its lines, short and harmless; for this room.
 */
#ifndef ADMITD_READER_SNIPPET_H
#define ADMITD_READER_SNIPPET_H

#include <stdint.h>

#include "policy/buf.h"

enum {
	SNIPPET_BYTES = 512,         /* of the shown form */
	SNIPPET_CONTEXT_BYTES = 200, /* before a match, and behind it */
};

/* Puts the shown form (name_show_text) of the match of `len` bytes at `at` into `out`, which is emptied first. What doesn't fit is taken off its
 * ends, the match's own end last of all. Errors are in `out`. */
void snippet_make(struct buf *out, struct str bytes, size_t at, size_t len);

/* Which line a position is on, counted on from the last call's. Begins with .line = 1; positions only grow. */
struct snippet_place {
	struct str bytes;
	size_t counted;
	int64_t line;
};
int64_t snippet_line(struct snippet_place *place, size_t offset);

#endif
