/* run_folder.h - the folder that one run's agent config lies in, from its making to its end (chapter 5.7).
 *
 * A base folder (0700, its owner's) holds one folder a run. Everything is made relative to an open descriptor and never through a
 * link: a name that is taken by one is refused, so nothing is written elsewhere. A file has mode 0600 before its first byte.
 *
 * Lifetime: whoever makes a folder holds a lock on it. It ends with remove(), or, when its holder is gone and neither is the process
 * that it was made for (its *owner*), with the next sweep. May use policy, libsodium and files; prints nothing. One thread a struct.
 */
#ifndef ADMITD_AGENTS_RUN_FOLDER_H
#define ADMITD_AGENTS_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "policy/arena.h"
#include "policy/check.h"

enum { RUN_FOLDER_NAME_SIZE = 40, RUN_FOLDER_DEPTH_LIMIT = 64 };

/* The file that says what a folder is; written last. */
#define RUN_FOLDER_NOTE "admission.json"

struct run_folder {
	int base; /* -1: closed */
	int descriptor;
	char name[RUN_FOLDER_NAME_SIZE]; /* in the base */
};

enum run_folder_result {
	RUN_FOLDER_UNSAFE = 1, /* it is a link, somebody else's, or open to others */
};

/* Makes the base folder where it is missing, and a new run folder in it. 0, RUN_FOLDER_UNSAFE (the base), -errno. To be closed. */
int run_folder_make(const char *base, struct run_folder *ret) MUST_USE;
/* An existing one, by its path: for checking and removing; not locked. 0, RUN_FOLDER_UNSAFE, -errno. */
int run_folder_open(const char *path, struct run_folder *ret) MUST_USE;
/* Gives the lock back; what lies there stays. */
void run_folder_close(struct run_folder *folder);

/* Removes it with all that is in it, and closes it. 0 or -errno: the first that couldn't be removed. */
int run_folder_remove(struct run_folder *folder) MUST_USE;

/* Calls `is_wanted` for each folder of a base that nobody holds, with its descriptor, and removes those for which it is false. 0 and
 * *ret_removed; RUN_FOLDER_UNSAFE, -errno; a base that isn't there holds none. */
int run_folder_sweep(const char *base, bool (*is_wanted)(int descriptor), size_t *ret_removed) MUST_USE;

/* ---- files below any folder, by descriptor */

/* Writes a file at `path` below `folder`, making the folders between (0700). A file of that name is replaced by a new one. 0,
 * RUN_FOLDER_UNSAFE (a part of the path is a link or no folder), -errno. */
int run_folder_write(int folder, const char *path, struct str bytes) MUST_USE;

/* Opens a folder below `folder` part by part, making what is missing. A descriptor, or -ELOOP for a link, or another -errno. */
int run_folder_below(int folder, const char *path, bool makes) MUST_USE;

/* Removes what `name` is in `folder`, a link itself and never what it leads to. 0 or -errno. */
int run_folder_clear(int folder, const char *name) MUST_USE;

/* Reads a regular file of at most `limit` bytes through no link. 0 and *ret_bytes in the arena; -EFBIG, -ELOOP, -errno. *ret_mode may
 * be NULL. */
int run_folder_read(struct arena *arena, int folder, const char *path, size_t limit, struct str *ret_bytes,
	mode_t *ret_mode) MUST_USE;

#endif
