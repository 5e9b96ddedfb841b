/* inventory_folder.h - opens files of a folder that many targets of an inventory lie in once instead of twice; for this room.
 *
 * What a caller names is classified by a handle that can't read (contained.h). Where several targets in succession lie in one folder, the
 * folder itself is read instead, as a walk does, and says of all of them what they are: only what it calls a file is opened, to be read at once,
 * and judged again by its own descriptor (ADR 0024). Whatever isn't as plain as that is left to the ordinary way, which
 * alone says what is wrong. One thread.
 */
#ifndef ADMITD_READER_INVENTORY_FOLDER_H
#define ADMITD_READER_INVENTORY_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "reader/walk_names.h"

enum {
	INVENTORY_FOLDER_TARGETS = 4,        /* in succession, before their folder is read */
	INVENTORY_FOLDER_BYTES = 256 * 1024, /* a folder that is larger on disk isn't read for this, … */
	INVENTORY_FOLDER_NAMES = 8192,       /* … nor more of its names kept */
};

struct inventory_folder {
	struct str path; /* as the targets have it; borrowed from them */
	size_t targets;  /* in succession, so far */
	int fd;          /* reads the folder; -1: not read */
	struct walk_names names;
};

void inventory_folder_init(struct inventory_folder *folder);
void inventory_folder_release(struct inventory_folder *folder);

/* True: `target` is a regular file without a link in its path and without credentials by its name, and *ret reads it; the caller closes it. The target's
 * bytes live as long as the folder. */
bool inventory_folder_open(struct inventory_folder *folder, const struct contained_root *root, struct str target,
	struct contained_node *ret) MUST_USE;

#endif
