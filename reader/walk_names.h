/* walk_names.h - the names in one directory, sorted, and no more of them than are wanted; for this room.
 *
 * However many entries a directory has and in whichever order it gives them, the same ones are kept: the first `limit` of the order. It is
 * the byte-wise order of the paths below: a directory counts as its name with a slash, so that `a.c` comes before what is in `a`. Not
 * thread-safe.
 */
#ifndef ADMITD_READER_WALK_NAMES_H
#define ADMITD_READER_WALK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/buf.h"
#include "policy/check.h"
#include "reader/contained.h"

struct walk_name {
	uint32_t offset; /* of the name, ended by NUL, in the text */
	uint16_t len;
	uint8_t kind; /* enum contained_kind, as the directory said */
};

struct walk_names {
	struct walk_name *items;
	size_t count;
	size_t size;
	size_t total; /* entries of the directory, kept or not */
	bool is_by_name;
	struct buf text;
};

void walk_names_init(struct walk_names *names);
void walk_names_release(struct walk_names *names);

enum walk_names_order {
	WALK_NAMES_BY_PATH = 0, /* as above */
	WALK_NAMES_BY_NAME,     /* the names' own bytes: one level, as it is listed */
};

/* Reads an open directory (contained_directory_open). 0, or -errno. */
int walk_names_read(struct walk_names *names, int directory_fd, enum walk_names_order order, size_t limit) MUST_USE;

/* The name, ended by NUL; valid until the next read. */
const char *walk_names_get(const struct walk_names *names, size_t at);
/* The one with this name, of those that were read WALK_NAMES_BY_NAME; NULL: none. */
const struct walk_name *walk_names_find(const struct walk_names *names, struct str name);

#endif
