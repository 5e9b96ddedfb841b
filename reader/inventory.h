/* inventory.h - what a list of paths is: absent, a link, a directory with its entries, a file with its lines and contents (chapter 5.2).
 *
 * Links are named and never followed at the end of a path; above it they are, as long as they stay beneath the root. One bad target is one bad
 * entry, and the call goes on. A link that leads out of the root is told as that, and nobody looks whether something is there. What a
 * bound cuts is null, with the bound's name beside it; files that hold credentials (credential_file.h) are counted and not opened.
 *
 * May use the contained reader and policy. One call is one thread's.
 */
#ifndef ADMITD_READER_INVENTORY_H
#define ADMITD_READER_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/buf.h"
#include "reader/arguments.h"
#include "reader/contained.h"

enum {
	INVENTORY_PATHS_LIMIT = 5000,
	INVENTORY_CONTENT_BYTES_LIMIT = 16 * 1024 * 1024, /* a file */
	INVENTORY_CONTENT_BYTES_USUAL = 1024 * 1024,
	INVENTORY_TOTAL_BYTES_LIMIT = 64 * 1024 * 1024, /* a call */
	INVENTORY_TOTAL_BYTES_USUAL = 8 * 1024 * 1024,
	INVENTORY_ENTRIES_LIMIT = 20000, /* a directory */
	INVENTORY_ENTRIES_USUAL = 500,
	INVENTORY_TOTAL_ENTRIES_LIMIT = 200000, /* a call */
	INVENTORY_TOTAL_ENTRIES_USUAL = 20000,
};

struct inventory_request {
	struct arguments_names paths; /* each once */
	bool contents;
	int64_t max_content_bytes;
	int64_t max_entries;
	int64_t max_total_bytes;
	int64_t max_total_entries;
};

/* Its usual limits, and no path yet. */
void inventory_request_init(struct inventory_request *request);

/* Appends the answer, one JSON object. 0 or -errno. */
int inventory_run(
	const struct contained_root *root, const struct inventory_request *request, struct buf *answer) MUST_USE;

#endif
