/* packet.h - the context packet: what an agent gets to read of a project under a bounded grant (chapters 5.2, 2.5).
 *
 * With `lists` an inventory of the root, with `searches` the hits of the patterns, with `reads` the contents of the paths, or without paths of files
 * in the order of the walk. All of it is one JSON object that is the same for the same tree, whatever the order in which it was made, and
 * holds no time. Nothing else of the machine is in it: not the root's path either.
 *
 * Left out, each in its counted bucket: names that look secret by whole words (`api_token.txt`; `tokenizer.c` stays), files that hold
 * credentials (credential_file.h), binaries, links, what is special, ignored folders (`.git`, `node_modules`, build output), what a
 * `.gitignore` excludes, files that are too large or can't be read, and what is beyond a bound, which is named. Secrets in contents and snippets
 * are masked, lines stay lines, and each file says how many of which category.
 *
 * The facts are what may be stored: counts and a digest, and no name, path or content. May use the contained reader and policy. One call is
 * one thread's; it reads the disk and takes as long as that takes, so never inside a transaction.
 */
#ifndef ADMITD_READER_PACKET_H
#define ADMITD_READER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/buf.h"
#include "policy/json_out.h"
#include "policy/redact.h"
#include "reader/contained.h"

enum {
	PACKET_FILES_USUAL = 50,             /* whose contents are given */
	PACKET_BYTES_USUAL = 160 * 1024,     /* of contents and snippets together, as they are given */
	PACKET_FILE_BYTES_USUAL = 24 * 1024, /* of one file, as it lies on the disk */
	PACKET_DEPTH_USUAL = 6,              /* of directories below the root */
	PACKET_ENTRIES_USUAL = 5000,         /* that are walked */
	PACKET_FILES_LIMIT = 5000,
	PACKET_BYTES_LIMIT = 16 * 1024 * 1024,
	PACKET_FILE_BYTES_LIMIT = 1024 * 1024,
	PACKET_DEPTH_LIMIT = 64,
	PACKET_ENTRIES_LIMIT = 200000,
	PACKET_PATTERNS_LIMIT = 32,
	PACKET_PATHS_LIMIT = 200,
	PACKET_HITS_LIMIT = 200,                /* of all patterns together */
	PACKET_ANSWER_BYTES = 64 * 1024 * 1024, /* what the buffer of a call should hold */
	PACKET_DIGEST_SIZE = 72,                /* "sha256:" and 64 digits */
};

struct packet_limits {
	int64_t files;
	int64_t bytes;
	int64_t file_bytes;
	int64_t depth;
	int64_t entries;
};

struct packet_request {
	bool lists;
	bool searches;
	bool reads;
	const struct str *patterns; /* literal bytes, none empty; up to PACKET_PATTERNS_LIMIT */
	size_t pattern_count;
	const struct str *paths; /* files and directories, shown names as in answers; up to PACKET_PATHS_LIMIT */
	size_t path_count;
	struct packet_limits limits;
};

/* Why something isn't in the packet. */
enum packet_omission {
	PACKET_SECRET_NAME = 0,
	PACKET_CREDENTIAL_FILE,
	PACKET_BINARY,
	PACKET_SYMLINK,
	PACKET_SPECIAL,
	PACKET_IGNORED_FOLDER,
	PACKET_GITIGNORED,
	PACKET_LARGE,
	PACKET_UNREADABLE,   /* also a path that was asked for and leads out of the root, or isn't there */
	PACKET_BEYOND_FILES, /* the number of files was reached */
	PACKET_BEYOND_BYTES, /* what is left of the bytes is too little for it */
	PACKET_OMISSIONS,
};

/* What may be stored of a packet. */
struct packet_facts {
	int64_t included; /* files with contents */
	int64_t listed;   /* entries of the inventory */
	int64_t hits;
	int64_t bytes; /* of contents and snippets */
	int64_t walked;
	size_t omitted[PACKET_OMISSIONS];
	size_t redactions[REDACT_CATEGORIES];
	char digest[PACKET_DIGEST_SIZE]; /* of the packet's bytes */
};

/* Nothing asked for, usual limits. */
void packet_request_init(struct packet_request *request);

/* Appends the packet, one JSON object, to `packet`, which begins empty. 0 and *ret_facts, or -errno. Limits beyond their own limits are a mistake of
 * ours. redact_init() and sodium_init() have succeeded before. */
int packet_make(const struct contained_root *root, const struct packet_request *request, struct buf *packet,
	struct packet_facts *ret_facts) MUST_USE;

/* The facts as members of an object that is open: included, listed, hits, bytes, walked, omitted {bucket: count}, redactions {category: count},
 * digest. Buckets and categories with nothing in them are left out. */
void packet_facts_write(const struct packet_facts *facts, struct json_out *out);

/* The wire name of a bucket: "secretName", "gitignored". */
const char *packet_omission_word(enum packet_omission omission);

#endif
