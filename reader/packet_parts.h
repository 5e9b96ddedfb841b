/* packet_parts.h - what the making of one packet knows; for the files that make it up.
 */
#ifndef ADMITD_READER_PACKET_PARTS_H
#define ADMITD_READER_PACKET_PARTS_H

#include "reader/ignore.h"
#include "reader/packet.h"
#include "reader/seen.h"
#include "reader/walk.h"

enum packet_bound {
	PACKET_BOUND_FILES = 0,
	PACKET_BOUND_BYTES,
	PACKET_BOUND_FILE_BYTES,
	PACKET_BOUND_DEPTH,
	PACKET_BOUND_ENTRIES,
	PACKET_BOUND_HITS,
	PACKET_BOUND_READ,
	PACKET_BOUNDS,
};

enum {
	/* Files are searched beyond what may be given of them; so much in all. */
	PACKET_SEARCHED_FILE_BYTES = 2 * 1024 * 1024,
	PACKET_READ_BYTES = 64 * 1024 * 1024,
};

struct packet {
	const struct contained_root *root;
	const struct packet_request *request;
	struct packet_facts *facts;
	struct arena arena;
	struct walk walk;
	struct ignore_list ignores[WALK_DEPTH_LIMIT + 1]; /* by the depth of their directory */
	struct seen given;                                /* paths of files that were asked for */
	struct buf scratch;
	struct buf redacted; /* the file that is being looked at, as it is given */
	struct buf parts
		[4]; /* the inventory, the hits, the contents, and what was asked for and isn't given: items of arrays */
	struct json_out lists, hits, files, left_out;
	char *bytes;
	size_t size;
	int64_t read_bytes;
	bool wants_contents; /* of what is walked now */
	bool is_named;       /* what is walked now was asked for by its path, and may have been walked before */
	bool fired[PACKET_BOUNDS];
	bool was_omitted; /* the last file, and why */
	enum packet_omission omission;
};

/* ---- packet_judge.c: what is left out by its name */

/* Whether an entry stays: 0, or 1 and *ret_omission. */
int packet_judge(const struct packet *packet, struct str path, struct str name, unsigned depth, bool is_directory,
	enum packet_omission *ret_omission) MUST_USE;
/* Reads the `.gitignore` of a directory at that depth (0: the root). 0, also where there is none, or -errno. */
int packet_ignore_load(struct packet *packet, struct str directory, unsigned depth) MUST_USE;

/* ---- packet_file.c: what is given of one file */

/* Takes in an open file. 0 or -errno. */
int packet_file_add(struct packet *packet, const struct contained_node *node, struct str path) MUST_USE;
void packet_omit(struct packet *packet, enum packet_omission omission);

#endif
