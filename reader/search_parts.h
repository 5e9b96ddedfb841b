/* search_parts.h - what one search knows; for the files of this room that make it up.
 */
#ifndef ADMITD_READER_SEARCH_PARTS_H
#define ADMITD_READER_SEARCH_PARTS_H

#include <stdbool.h>

#include "reader/search.h"
#include "reader/seen.h"
#include "reader/walk.h"

enum search_skip {
	SEARCH_SKIP_SYMLINK = 0,
	SEARCH_SKIP_BINARY,
	SEARCH_SKIP_SPECIAL,
	SEARCH_SKIP_UNREADABLE,
	SEARCH_SKIP_LARGE,
	SEARCH_SKIP_CREDENTIAL,
	SEARCH_SKIPS,
};

enum search_bound {
	SEARCH_BOUND_RESULTS = 0,
	SEARCH_BOUND_TOTAL_BYTES,
	SEARCH_BOUND_ENTRIES,
	SEARCH_BOUND_DEPTH,
	SEARCH_BOUNDS,
};

struct search_match {
	struct str file;    /* in the arena; one for all matches of a file */
	int64_t line;       /* from 1 */
	int64_t offset;     /* bytes, from 0 */
	struct str snippet; /* shown form, in the arena */
};

/* A target that was named and not searched. */
struct search_left_out {
	struct str path;
	int result;
};

struct search {
	const struct contained_root *root;
	const struct search_request *request;
	struct arena arena;
	struct walk walk;
	struct buf scratch;
	char *bytes; /* of the file that is being searched */
	size_t size;
	struct seen seen; /* paths that were searched, where there are several targets */
	struct search_match *matches;
	size_t match_count;
	size_t match_size;
	struct search_left_out *left_out;
	size_t left_out_count;
	int64_t files;
	int64_t total_bytes;
	size_t skipped[SEARCH_SKIPS];
	bool fired[SEARCH_BOUNDS];
};

/* Whether nothing more can come of going on. */
bool search_is_over(const struct search *search);

/* Searches one open file; `path` is its path from the root. 0, also when it was left out and counted; or -errno. */
int search_file(struct search *search, const struct contained_node *node, struct str path) MUST_USE;

/* Writes the answer. */
void search_write(struct search *search, struct buf *answer);

#endif
