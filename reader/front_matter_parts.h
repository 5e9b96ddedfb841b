/* front_matter_parts.h - the events that front matter is read from, and the two that tell them: libyaml, and a reader of the plain kind of block that
 * most heads are, which is ten times as fast. For this room and its tests.
 *
 * The plain reader tells exactly what libyaml would or says that it doesn't know: nothing else is decided by it, and a test compares both.
 */
#ifndef ADMITD_READER_FRONT_MATTER_PARTS_H
#define ADMITD_READER_FRONT_MATTER_PARTS_H

#include <stdbool.h>

#include "reader/front_matter.h"

enum front_event_type {
	FRONT_NOTHING = 0,
	FRONT_STREAM_START,
	FRONT_DOCUMENT_START,
	FRONT_DOCUMENT_END,
	FRONT_STREAM_END,
	FRONT_SCALAR,
	FRONT_ALIAS,
	FRONT_SEQUENCE_START,
	FRONT_SEQUENCE_END,
	FRONT_MAPPING_START,
	FRONT_MAPPING_END,
};

/* Texts live in the arena or borrow from the block. */
struct front_event {
	enum front_event_type type;
	bool is_plain;     /* a scalar without quotes */
	struct str value;  /* a scalar's */
	struct str anchor; /* a scalar's, or what an alias names; absent: none */
};

/* ---- libyaml */

struct front_yaml;
/* 0 or -ENOMEM. The block outlives it. */
int front_yaml_open(struct arena *arena, struct str block, struct front_yaml **ret) MUST_USE;
/* For CLEANUP(). */
void front_yaml_close(struct front_yaml **yaml);
/* 0; FRONT_MATTER_MALFORMED; or -ENOMEM. */
int front_yaml_next(void *yaml, struct front_event *ret) MUST_USE;

/* ---- the plain kind */

enum {
	FRONT_PLAIN_UNKNOWN = 3, /* behind enum front_matter_result: only libyaml can tell */
	FRONT_PLAIN_DEPTH = 8,
	FRONT_PLAIN_ITEMS = 24, /* of a list on one line */
	FRONT_PLAIN_QUEUE = 2 * FRONT_PLAIN_DEPTH + FRONT_PLAIN_ITEMS + 8,
};

/* A mapping or sequence that has begun, and the column of its members. */
struct front_level {
	bool is_sequence;
	size_t column;
};

struct front_plain {
	struct arena *arena;
	struct str rest; /* lines that weren't looked at */
	struct front_level levels[FRONT_PLAIN_DEPTH];
	size_t depth;
	bool is_open; /* the last key has no value yet */
	bool is_at_end;
	struct front_event queue[FRONT_PLAIN_QUEUE];
	size_t first, count; /* of the queue */
};

void front_plain_init(struct front_plain *plain, struct arena *arena, struct str block);
/* 0; FRONT_PLAIN_UNKNOWN; or -ENOMEM. */
int front_plain_next(void *plain, struct front_event *ret) MUST_USE;

#endif
