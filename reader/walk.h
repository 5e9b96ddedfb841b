/* walk.h - goes through everything below a directory, in byte-wise order of paths, within bounds (chapters 5.1, 5.3).
 *
 * The order depends on names alone. No link is followed: one is told as a link. A bound that fires is kept with its name, and what was
 * told before it is the same whatever lies behind. Entries that can't be opened are told with why. A directory is open while what is in it is
 * told, so that what is below it stays below it. Any thread; one walk is one thread's.
 */
#ifndef ADMITD_READER_WALK_H
#define ADMITD_READER_WALK_H

#include <stddef.h>

#include "policy/buf.h"
#include "reader/contained.h"

/* However deep a caller wants to go: one descriptor a level. */
enum { WALK_DEPTH_LIMIT = 128 };

enum walk_bound {
	WALK_BOUND_NONE = 0,
	WALK_BOUND_ENTRIES, /* as many entries as wanted were told, and there are more */
	WALK_BOUND_DEPTH,   /* a directory has entries that lie deeper; the walk went on beside it */
};

/* What the visitor wants. */
enum walk_step {
	WALK_ON = 0, /* into it, if it is a directory */
	WALK_SKIP,   /* not into it */
	WALK_STOP,   /* nothing more at all */
};

struct walk_entry {
	struct str path;          /* from the root, without "./"; bytes, ended by NUL */
	struct str name;          /* its last component */
	unsigned depth;           /* 1: directly in the directory that is walked */
	enum contained_kind kind; /* as the directory said, then as it was opened */
	int directory_fd;         /* of the directory that it is in */
};

struct walk {
	const struct contained_root *root;
	size_t max_entries;
	unsigned max_depth;   /* up to WALK_DEPTH_LIMIT */
	unsigned first_depth; /* at which the directory that is walked lies; 0: it is where depth begins */
	/* Told of every entry, directories before what is in them. 0 or more: an enum walk_step. Negative: an error that ends the walk. */
	int (*visit)(void *arg, const struct walk_entry *entry);
	/* Told where a directory can't be read, with a contained_result; may be NULL. */
	void (*failed)(void *arg, struct str path, int result);
	void *arg;

	size_t entries; /* told so far; several walks may share a budget by keeping it */
	bool reached_entries;
	bool reached_depth;
	bool is_stopped;
	struct buf path;
};

void walk_init(struct walk *walk, const struct contained_root *root);
void walk_release(struct walk *walk);

/* Walks below `directory`, which is open and stays the caller's; `path` is its path from the root, "." or without a slash at its end. 0, also
 * when a bound fired or a visitor stopped; a contained_result where the directory itself can't be read; or -errno. */
int walk_run(struct walk *walk, const struct contained_node *directory, struct str path) MUST_USE;

/* Opens the entry that is being visited, whatever it has become since its directory was read. As contained_open_entry(), and for
 * what the directory said is a file, as contained_open_file_entry(). */
int walk_open(const struct walk_entry *entry, struct contained_node *ret) MUST_USE;

#endif
