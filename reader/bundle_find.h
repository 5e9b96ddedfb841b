/* bundle_find.h - which bundles lie below the roots, and which one an id means (chapter 5.4).
 *
 * In bundle mode there is exactly one, the root itself. In root mode a walk looks for directories that have an `index.md`, down to
 * BUNDLE_FIND_DEPTH levels below each root, so that <root>/<project>/.okf/<id> is found; it knows none by name. What is inside a
 * bundle is that bundle's, but for what lies in a directory `.okf`, which is for bundles only. `.git` and `node_modules` are passed over.
 *
 * A bundle's id is the name of its directory; where several have that name, it is its path below its root; where that isn't enough
 * either, the number of the root (1 for the first) and the path: "2:proj/.okf/kb". An id that fits several is ambiguous: never is one of
 * them picked. Ids are shown forms (name_show). One thread.
 */
#ifndef ADMITD_READER_BUNDLE_FIND_H
#define ADMITD_READER_BUNDLE_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "reader/contained.h"

enum {
	BUNDLE_FIND_DEPTH = 4,
	BUNDLE_FIND_ENTRIES = 100000, /* names seen, over all roots */
	BUNDLE_FIND_LIMIT = 1000,     /* bundles */
	BUNDLE_FIND_ARENA = 8 * 1024 * 1024,
};

/* What serves: the roots, in the order they were given. Borrowed. */
struct bundle_place {
	const struct contained_root *roots;
	size_t root_count;
	bool is_bundle; /* bundle mode: one root, which is the bundle */
};

struct bundle_found {
	const struct contained_root *root;
	size_t root_number;  /* from 1 */
	struct str path;     /* below it, bytes; "." for the root itself */
	struct str id;       /* what okf_list shows: accepted by bundle_find_one() for this one alone */
	struct str names[3]; /* the three forms above */
};

struct bundle_finds {
	struct arena arena;
	struct bundle_found *items; /* sorted by id, byte-wise */
	size_t count;
	bool reached_depth; /* some directory lies deeper than was looked */
	bool reached_entries;
	bool reached_limit;
	size_t unread_folders;
};

/* Looks now. 0 or -errno. The caller releases *ret, also after a failure. */
int bundle_find(const struct bundle_place *place, struct bundle_finds *ret) MUST_USE;
void bundle_finds_release(struct bundle_finds *finds);

/* The one that `id` means: 0 and *ret, BUNDLE_UNKNOWN or BUNDLE_AMBIGUOUS. */
int bundle_find_one(const struct bundle_finds *finds, struct str id, const struct bundle_found **ret) MUST_USE;

#endif
