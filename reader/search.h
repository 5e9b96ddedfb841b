/* search.h - finds literal bytes in the files below a root (chapter 5.3).
 *
 * A pattern is bytes and never a language. A named target may be reached through links, which are resolved beneath the root; the walk below it
 * follows none, and leaves `.git` and `node_modules` out unless they are named. Files that are links, binary (a NUL in the first 8 KiB), special,
 * unreadable, larger than a file may be, or made to hold credentials (credential_file.h) are counted by kind, and the search goes on. Matches
 * don't overlap, come in the order of paths and positions, and each file is searched once however many targets lead to it.
 *
 * May use the contained reader and policy. One call is one thread's.
 */
#ifndef ADMITD_READER_SEARCH_H
#define ADMITD_READER_SEARCH_H

#include <stdint.h>

#include "policy/buf.h"
#include "reader/arguments.h"
#include "reader/contained.h"
#include "reader/tools.h"

enum {
	SEARCH_PATTERN_LIMIT = 64 * 1024,
	SEARCH_PATHS_LIMIT = 5000,
	SEARCH_MATCHES_LIMIT = 100000,
	SEARCH_MATCHES_USUAL = 200,
	SEARCH_BYTES_LIMIT = 64 * 1024 * 1024, /* a file */
	SEARCH_BYTES_USUAL = 2 * 1024 * 1024,
	SEARCH_TOTAL_BYTES_USUAL = 256 * 1024 * 1024, /* a call */
	SEARCH_ENTRIES_USUAL = 20000,
	SEARCH_ENTRIES_LIMIT = 10 * 1000 * 1000,
	SEARCH_BINARY_BYTES = 8 * 1024,
};
#define SEARCH_TOTAL_BYTES_LIMIT ((int64_t)4 * 1024 * 1024 * 1024)

struct search_request {
	struct str pattern;           /* at least one byte; any bytes */
	struct arguments_names paths; /* none: the whole root */
	int64_t max;
	int64_t max_bytes;
	int64_t max_total_bytes;
	int64_t max_entries;
};

/* Its usual limits, no pattern and no path. */
void search_request_init(struct search_request *request);

/* Appends the answer, one JSON object. 0; TOOLS_REFUSED where a target names something outside of the root, before any file is opened; or
 * -errno. */
int search_run(const struct contained_root *root, const struct search_request *request, struct buf *answer,
	struct tools_refusal *ret_refusal) MUST_USE;

#endif
