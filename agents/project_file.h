/* project_file.h - a small file of somebody's project: what it is, what it says, and putting another text in its place (chapter 5.8).
 *
 * Nothing here follows a link, and what isn't a regular file is never opened. A text is put in place whole or not at all: a reader
 * sees the old one or the new one, also after a crash. Where somebody else wrote in the meantime, theirs stays.
 *
 * May use policy only. One thread at a time; other processes are reckoned with.
 */
#ifndef ADMITD_AGENTS_PROJECT_FILE_H
#define ADMITD_AGENTS_PROJECT_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "policy/arena.h"

enum project_file_class {
	PROJECT_FILE_ODD = 0, /* a link, or a folder where a file should be, or the other way round */
	PROJECT_FILE_ABSENT,
	PROJECT_FILE_REGULAR,
	PROJECT_FILE_SPECIAL, /* a device, FIFO or socket */
};

enum project_file_result { PROJECT_FILE_CHANGED = 1 };

struct project_file {
	const char *name; /* in its folder */
	enum project_file_class class;
	const char *kind; /* the same in a word, for a person: "symbolic link" */
	struct str text;  /* of a regular file */
	struct stat seen; /* when it was read */
};

/* What a mode is called: "FIFO". */
const char *project_file_kind(mode_t mode);

/* Opens a folder that isn't a link; `parent` may be AT_FDCWD. 0 and *ret_folder, which the caller closes; -ENOENT; -ENOTDIR where
 * something else is there; -ELOOP where it is a link; another -errno. */
int project_folder_open(int parent, const char *name, int *ret_folder) MUST_USE;
/* For CLEANUP(). */
void project_folder_drop(int *folder);
/* Waits a few seconds for others that do the same in this folder. 0; -EBUSY; -errno. Closing the folder ends it. */
int project_folder_lock(int folder) MUST_USE;

/* Looks at a file and, if it is regular, reads at most `limit` + 1 bytes of it. `folder` may be -1: there is none, nor a file. 0 (also
 * for what may not be read as text); PROJECT_FILE_CHANGED where it changed between two looks; -ENOMEM; -errno. */
int project_file_read(
	struct arena *arena, int folder, const char *name, size_t limit, struct project_file *ret) MUST_USE;

/* Puts `text` in place of what was read, with the old mode, owner if that is possible, or the usual mode for a new file. 0;
 * PROJECT_FILE_CHANGED: somebody wrote since, and theirs stands; -errno: nothing was done. */
int project_file_publish(int folder, const struct project_file *file, struct str text) MUST_USE;

/* Takes the file away if it still is what was read. The same results. */
int project_file_delete(int folder, const struct project_file *file) MUST_USE;

/* Takes away what an interrupted project_file_publish() left in a locked folder. */
void project_folder_sweep(int folder, const char *name);

#endif
