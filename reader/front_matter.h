/* front_matter.h - the YAML block at the head of a concept, read by libyaml within bounds (chapter 5.4).
 *
 * A block begins at the first byte (behind a byte order mark, if any) with a line `---` and ends at the next such line; lines
 * may end in LF or CRLF. What is inside comes from anybody, so it is read event by event: nothing is expanded (an alias names
 * a scalar seen before or nothing at all), nesting, events, and the bytes of the block are bounded, and what no field below
 * takes is skipped without being kept. Unknown keys are no fault: their names are kept. A key given twice counts once.
 *
 * Texts are UTF-8 on one line: control characters become blanks, and what is longer than its limit is cut between two
 * characters. They live in the caller's arena or borrow from the text. No I/O. Any thread.
 */
#ifndef ADMITD_READER_FRONT_MATTER_H
#define ADMITD_READER_FRONT_MATTER_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"

enum {
	FRONT_MATTER_BYTES_LIMIT = 64 * 1024, /* of the block; a longer one is malformed */
	FRONT_MATTER_EVENTS_LIMIT = 20000,
	FRONT_MATTER_DEPTH_LIMIT = 32,
	FRONT_MATTER_TEXT_LIMIT = 4096, /* bytes of one text */
	FRONT_MATTER_NAME_LIMIT = 128,  /* bytes of a key, a type, a status, a tag */
	FRONT_MATTER_KEYS_LIMIT = 256,  /* further ones are counted, not kept */
	FRONT_MATTER_TAGS_LIMIT = 64,
	FRONT_MATTER_ANCHORS_LIMIT = 16,
};

struct front_matter {
	struct str type; /* a text that isn't there, is null, or isn't a scalar, is absent */
	struct str title;
	struct str description;
	struct str status;
	struct str stale_after;
	struct str timestamp;    /* what 0.1 has where 0.2 has generated.at */
	struct str generated_at; /* 0.2 */
	struct str okf_version;  /* of a bundle's first index.md */
	struct str tags[FRONT_MATTER_TAGS_LIMIT];
	size_t tag_count;
	struct str keys[FRONT_MATTER_KEYS_LIMIT]; /* of the block's own level, in its order */
	size_t key_count;
	size_t verified_count;  /* those that say by whom; one mapping alone is one verification */
	bool is_human_verified; /* some `by` of them begins with "human:" */
};

enum front_matter_result {
	FRONT_MATTER_NONE = 1,  /* the text doesn't begin with a block */
	FRONT_MATTER_MALFORMED, /* it does, but that has no end, is no mapping, is no YAML, or is beyond a bound */
};

/* Reads the block of `text`, which is UTF-8. 0 and *ret; FRONT_MATTER_NONE or FRONT_MATTER_MALFORMED, where *ret is empty; or
 * -ENOMEM. *ret_body is what stands behind the block: with NONE all of it, with MALFORMED what is behind its end, or all of
 * it where it has none.
 */
int front_matter_read(struct arena *arena, struct str text, struct front_matter *ret, struct str *ret_body) MUST_USE;

#endif
