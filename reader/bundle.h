/* bundle.h - one knowledge bundle as it is on disk right now, and the two checks before a concept of it is read (chapter 5.4).
 *
 * A bundle is a directory of Markdown concepts. bundle_open() walks it once, keeps which files it has, and reads every `index.md`
 * in it: what these name, and nothing else, is what can be asked for and fetched. Nothing is kept from one call to the next.
 *
 * A concept is given out only behind two checks, which share no code:
 *   A  (bundle_named.c) an index of the bundle names it, and the file that was opened is one that the walk met inside the bundle, told
 *      by device and inode: BUNDLE_CONCEPT_UNKNOWN;
 *   B  (bundle_inside.c) the kernel resolves its path without leaving the bundle: BUNDLE_CONCEPT_OUTSIDE.
 * So where one of them fails to hold, the other still refuses; tests/reader/test_bundle_checks.py links each of them out and sees it.
 * A link that stays inside is followed, and the concept's id is the link's own path.
 *
 * Ids and paths in these structs are the bytes of the file names; they are shown through name_show(). `.git`, `node_modules` and
 * `.okf` below a bundle are no part of it. May use policy, the contained open and the walk. One thread a bundle.
 */
#ifndef ADMITD_READER_BUNDLE_H
#define ADMITD_READER_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/buf.h"
#include "reader/contained.h"

enum {
	BUNDLE_CONCEPT_BYTES = 1024 * 1024,           /* a longer concept is refused, a longer index not read … */
	BUNDLE_CONCEPT_BYTES_LIMIT = 8 * 1024 * 1024, /* … and nobody can ask for longer ones than this */
	BUNDLE_ENTRIES = 200000,                      /* that a call looks at, over all bundles */
	BUNDLE_BYTES = 512 * 1024 * 1024,             /* that a call reads, the same */
	BUNDLE_NAMED = 100000,                        /* ids that a bundle's indexes name */
	BUNDLE_REFUSED = 20,                          /* entries that are kept to be told */
	BUNDLE_DEPTH = 32,
	BUNDLE_ARENA = 256 * 1024 * 1024,
};

/* Why something isn't answered; each has a code of the same name in answers. */
enum bundle_result {
	BUNDLE_UNKNOWN = 1,         /* no bundle has the id */
	BUNDLE_REQUIRED,            /* no id was given where one of several is meant */
	BUNDLE_AMBIGUOUS,           /* several have it */
	BUNDLE_UNREADABLE,          /* the directory, or its first index */
	BUNDLE_ARGUMENT_INVALID,    /* the call itself */
	BUNDLE_CONCEPT_UNKNOWN,     /* not named by the index, or no file of the bundle */
	BUNDLE_CONCEPT_OUTSIDE,     /* leaves the bundle */
	BUNDLE_CONCEPT_UNREADABLE,  /* named, and missing or not to be read */
	BUNDLE_CONCEPT_NOT_REGULAR, /* a FIFO, socket, device or directory */
	BUNDLE_CONCEPT_TOO_LARGE,
	BUNDLE_CONCEPT_MALFORMED, /* no UTF-8, or a NUL in it */
	BUNDLE_RESULTS,
	BUNDLE_CUT = BUNDLE_RESULTS, /* not read, as the call has read all it may; no code of answers */
};

/* "concept_outside", …; static. */
const char *bundle_result_word(int result);
/* What follows the concept's or bundle's name in a message: "leads out of its bundle"; static. */
const char *bundle_result_text(int result);

/* What a call may still look at and read. */
struct bundle_budget {
	size_t entries;
	size_t bytes;
	bool reached_bytes;
};

struct bundle_file {
	struct str path;
	enum contained_kind kind;
	int64_t size;
	uint64_t device;
	uint64_t inode;
};

/* An entry of an index that leads out of the bundle, refused on its text. */
struct bundle_refused {
	struct str page;   /* the index that has it */
	struct str target; /* as it was written */
};

/* Which file an inode is told by. */
struct bundle_inode {
	uint64_t device;
	uint64_t inode;
};

struct bundle {
	struct contained_root root;
	struct arena arena;
	struct bundle_file *files; /* what is no directory, sorted by path */
	size_t file_count;
	size_t file_size;
	struct str *named; /* ids that an index names, sorted, each once */
	size_t named_count;
	size_t named_size;
	struct bundle_refused refused[BUNDLE_REFUSED];
	size_t refused_count;        /* all of them */
	struct bundle_inode *inodes; /* of regular files, sorted */
	size_t inode_count;
	struct str title;       /* of the first index's front matter, or absent */
	struct str okf_version; /* the same */
	bool has_index;         /* there is a first index.md */
	size_t unread_indexes;  /* further ones that name nothing, as they can't be read or are too long */
	size_t unread_folders;
	bool reached_entries; /* the walk's bounds, or BUNDLE_NAMED */
	bool reached_depth;
	size_t concept_bytes;         /* the limit of one concept */
	struct bundle_budget *budget; /* the call's; borrowed */
};

/* Opens the bundle that the directory at `path` of `root` is, within a budget that outlives it, "." for the root itself; no link leads to it. 0; BUNDLE_UNREADABLE; or
 * -errno. The caller releases *ret, which begins zeroed, also after a failure. */
int bundle_open(const struct contained_root *root, struct str path, size_t concept_bytes, struct bundle_budget *budget,
	struct bundle *ret) MUST_USE;
/* Does nothing to a zeroed one. For CLEANUP(). */
void bundle_release(struct bundle *bundle);

/* Whether a path is a concept's: it ends in .md and its name isn't reserved. */
bool bundle_is_concept(struct str path);
/* A concept's id is its path without .md; borrowed. */
struct str bundle_id_of(struct str path);
/* What the walk met at a path; NULL: nothing, or a directory. */
const struct bundle_file *bundle_file_at(const struct bundle *bundle, struct str path);
/* Whether anything in the bundle has the path, or lies below it. */
bool bundle_has_path(const struct bundle *bundle, struct str path);

/* For qsort() and bsearch() over `named` and `inodes`. */
int bundle_compare_ids(const void *a, const void *b);
int bundle_compare_inodes(const void *a, const void *b);

/* Check A, first half: an index names the id. */
bool bundle_named_has(const struct bundle *bundle, struct str id);
/* Check A, second half: what was opened is a file that the walk met. */
bool bundle_named_owns(const struct bundle *bundle, const struct contained_node *node);
/* Check B: opens a path of the bundle; `is_file`: its directory said that it is one, so it is opened to be read at once. 0 and *ret, which the
 * caller closes; a result of enum bundle_result; or -errno. */
int bundle_inside_open(const struct bundle *bundle, struct str path, bool is_file, struct contained_node *ret) MUST_USE;

/* The exact text of a concept, behind the string rule and both checks: 0 and *text, which begins initialised and is reset; a result;
 * or -errno. An id that the string rule refuses opens nothing. */
int bundle_concept_read(const struct bundle *bundle, struct str id, struct buf *text) MUST_USE;
/* The same for any page that the walk met, whether or not an index names it: for counting and for the identity, never to be shown.
 * Any bytes are fine here. */
int bundle_page_read(const struct bundle *bundle, const struct bundle_file *page, struct buf *text) MUST_USE;
/* 0, or BUNDLE_CONCEPT_MALFORMED. */
int bundle_text_check(struct str text) MUST_USE;

/* bundle_ref: SHA-256, in hex, over path, size and content hash of every .md file, sorted by path. A page that can't be read counts as
 * its result; what is longer than a concept may be counts by size alone, as no answer shows more of it. */
enum { BUNDLE_REF_HEX = 64 };
struct bundle_ref;
int bundle_ref_new(struct bundle_ref **ret) MUST_USE;
void bundle_ref_add(struct bundle_ref *ref, const struct bundle_file *file, int result, struct str content);
void bundle_ref_end(struct bundle_ref *ref, char hex[BUNDLE_REF_HEX + 1]);
/* For CLEANUP(). */
void bundle_ref_free(struct bundle_ref **ref);

#endif
