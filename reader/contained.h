/* contained.h - opens everything that is read below a root, and nothing beyond it (chapter 5.1).
 *
 * The root is opened once; all else is opened from that descriptor by the kernel's own containment: openat2() with RESOLVE_BENEATH and
 * RESOLVE_NO_MAGICLINKS, and RESOLVE_NO_SYMLINKS where no link may be followed. There is no moment between a check and a use. Where
 * the kernel or a filter has no openat2(), paths are walked one component at a time and every link is refused; paths are never
 * compared as text instead.
 *
 * What a target is, is told from a handle that can't be read (O_PATH), so a FIFO or device is named and never opened; it is read through
 * a second descriptor for the same inode. A hard link is a file of the root like any other: it can't be told from one. A directory
 * that is moved out of the root while it is being read is read as what it was.
 *
 * Invariants: (1) no target has an empty name, a NUL or a component `..`; (2) no call here waits for a writer, a peer or a device;
 * (3) nothing here writes. Needs /proc, opened with the root. A root may be used by any number of threads at once; a child
 * of fork() opens its own.
 */
#ifndef ADMITD_READER_CONTAINED_H
#define ADMITD_READER_CONTAINED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/arena.h"
#include "policy/cleanup.h"

struct contained_root {
	int fd;           /* O_PATH of the directory */
	int self_fd;      /* O_PATH of /proc/self/fd */
	pid_t process;    /* whose descriptors those are */
	bool has_openat2; /* what the probe found; tests may say otherwise */
	uint64_t device;  /* which directory it is, whatever is at its path later */
	uint64_t inode;
	struct str given; /* the path as it was given, without slashes at its end; owned */
	struct str path;  /* the path without links; owned */
};

/* Why a target isn't opened. */
enum contained_result {
	CONTAINED_ABSENT =
		1,         /* nothing has the name; also a name below a file, or a file named with a slash at its end */
	CONTAINED_OUTSIDE, /* it leads out of the root, or through a link of /proc */
	CONTAINED_LINKED,  /* a link where none is followed */
	CONTAINED_LOOP,    /* links that lead to each other */
	CONTAINED_DENIED,  /* permission */
	CONTAINED_EMPTY,   /* the target is the empty string */
	CONTAINED_HAS_NUL,
	CONTAINED_HAS_PARENT,  /* a component `..` */
	CONTAINED_ELSEWHERE,   /* an absolute path that isn't the root's */
	CONTAINED_TOO_LONG,    /* a name or path beyond what the kernel takes */
	CONTAINED_NOT_REGULAR, /* reading something that is no file */
	CONTAINED_FAILED,      /* the disk, or a file system that gave up */
	CONTAINED_RESULTS,
};

enum contained_kind {
	CONTAINED_UNKNOWN = 0,
	CONTAINED_FILE,
	CONTAINED_DIRECTORY,
	CONTAINED_LINK,
	CONTAINED_FIFO,
	CONTAINED_SOCKET,
	CONTAINED_CHARACTER_DEVICE,
	CONTAINED_BLOCK_DEVICE,
	CONTAINED_KINDS,
};

/* Which links an opening follows; whatever is followed stays beneath the root. */
enum contained_links {
	CONTAINED_FOLLOW_NONE = 0, /* a link anywhere is CONTAINED_LINKED */
	CONTAINED_FOLLOW_ABOVE,    /* the last component may be a link, and is the link itself then */
	CONTAINED_FOLLOW_ALL,
};

/* Something below the root, held so that it stays the same thing. Begins as CONTAINED_NODE_NONE. */
struct contained_node {
	int fd;           /* O_PATH, unless it reads; -1: none */
	bool is_readable; /* the descriptor itself reads it */
	enum contained_kind kind;
	uint64_t device;
	uint64_t inode;
	int64_t size; /* bytes, as the file system says; what is read is counted */
	int64_t changed_ns;
};

#define CONTAINED_NODE_NONE ((struct contained_node){.fd = -1})

/* Opens a directory as a root. Links on the way to it are resolved now and never again; what takes its place later isn't the root.
 * 0, or -errno (-ENOTDIR, -ENOENT, -EACCES, …; -ENOSYS: /proc isn't there). The caller closes it. */
int contained_root_open(struct contained_root *ret, const char *path) MUST_USE;
/* Makes a directory below a root a root of its own: what leaves it is outside, even if it stays in the one around it. `below` is the path
 * that it was opened by; `directory` stays the caller's. 0; CONTAINED_NOT_REGULAR where it is no directory; or -errno. The caller closes
 * it. */
int contained_root_below(const struct contained_root *root, const struct contained_node *directory, struct str below,
	struct contained_root *ret) MUST_USE;
/* Does nothing to a root that isn't open (zeroed). For CLEANUP(). */
void contained_root_close(struct contained_root *root);

/* The rules for a target as text: not empty, no NUL, no component `..`; an absolute one must begin with the root. 0 and the part below
 * the root in *ret_below, "." for the root itself, borrowed from `target`; or a result. Opens nothing. */
int contained_target(const struct contained_root *root, struct str target, struct str *ret_below) MUST_USE;

/* The same, and the path from the root as a walk names it, in the arena: without `./`, doubled and last slashes; "." for the root. Or -ENOMEM. */
int contained_path_clean(
	struct arena *arena, const struct contained_root *root, struct str target, struct str *ret_path) MUST_USE;

/* Opens a target, by the rules above. 0 and *ret, which the caller closes; a result; or -errno for what is no fault of the target
 * (-EMFILE, -ENOMEM). */
int contained_open(const struct contained_root *root, struct str target, enum contained_links links,
	struct contained_node *ret) MUST_USE;

/* The same for a target of which its directory said that it is a file, with no link in its path: the handle is one that reads it, which saves
 * opening it twice. 0 and *ret; or a result where it isn't as plain as that, or there is no openat2(): then contained_open() says what it is;
 * or -errno. Nothing is waited for. */
int contained_open_file(const struct contained_root *root, struct str target, struct contained_node *ret) MUST_USE;

/* Opens an entry of a directory that is open already: `name` is one component, ended by NUL. A link is the link itself. The same results. */
int contained_open_entry(int directory_fd, const char *name, struct contained_node *ret) MUST_USE;
/* The same for an entry of which the directory said that it is a file: the handle is one that reads it, which saves opening it twice. What took its
 * place meanwhile is told by *ret's kind and not read; a link is CONTAINED_LINKED. Nothing is waited for. */
int contained_open_file_entry(int directory_fd, const char *name, struct contained_node *ret) MUST_USE;

/* What an entry is, with nothing opened: *ret holds no descriptor. The same results. */
int contained_look_entry(int directory_fd, const char *name, struct contained_node *ret) MUST_USE;

/* Closes what is open. For CLEANUP(). */
void contained_node_close(struct contained_node *node);

/* A descriptor that reads the same inode, which the caller closes. 0 and *ret_fd; CONTAINED_NOT_REGULAR; another result; or -errno. */
int contained_reader_open(const struct contained_root *root, const struct contained_node *node, int *ret_fd) MUST_USE;
/* The same for a directory's entries; CONTAINED_NOT_REGULAR where it is no directory. */
int contained_directory_open(const struct contained_node *node, int *ret_fd) MUST_USE;

/* Reads until `size` bytes or the end, whatever the file system says of its size. 0 and *ret_len, or -errno. Give a limit and one byte
 * more to learn whether there is more. */
int contained_read(int fd, char *bytes, size_t size, size_t *ret_len) MUST_USE;
/* The same from a node, with what it said of its size to save a call. 0, a result, or -errno. */
int contained_read_node(const struct contained_root *root, const struct contained_node *node, char *bytes, size_t size,
	size_t *ret_len) MUST_USE;

/* Where a node lies now, from the root, whatever links led to it: into `path`, from which *ret borrows. What was moved out of the root is
 * absent; what was removed has the path that it had. 0 or -errno. */
int contained_real_path(const struct contained_root *root, const struct contained_node *node,
	char path[static PATH_MAX], struct str *ret) MUST_USE;

/* For CLEANUP() of a descriptor; -1 is none. */
void contained_fd_drop(int *fd);

/* What a -errno of reading says of the target, as a result; what it says of us is passed on. */
int contained_result_of(int error) MUST_USE;

/* Words of ours: "absent", "leads outside the root", "fifo". */
const char *contained_result_text(int result);
/* The word in answers: "absent", "outside", "target_empty". */
const char *contained_result_word(int result);
const char *contained_kind_word(enum contained_kind kind);

#endif
