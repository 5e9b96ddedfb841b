/* main_restore.h - a backup put in place of a store (chapter 2.8): checked, made a new epoch of, and swapped in one step. Part of
 * main.c.
 *
 * All is done in a folder of its own inside the state folder, whose lock is held, and thrown away when something fails: the store
 * that was there is untouched until the last rename, and kept beside it afterwards.
 */
#ifndef ADMITD_DAEMON_MAIN_RESTORE_H
#define ADMITD_DAEMON_MAIN_RESTORE_H

#include <limits.h>

#include "daemon/audit/audit_verify.h"

struct main_restore {
	const char *state;
	char folder[PATH_MAX]; /* where it is done */
	int lock_fd;
	struct store_chain replaced; /* sequence 0: none is known */
	struct store_chain restored; /* the backup's head */
};

/* Takes the state folder, looks at the store that is there, copies the backup beside it, and checks all of it. 0, or EXIT_FAILURE after a
 * line that says why. `export_folder` may be NULL. Ended by main_restore_end(), whatever it answers. */
int main_restore_begin(struct main_restore *restore, const char *state, const char *file, const char *export_folder,
	const struct audit_trust *trust) MUST_USE;
/* After the store in `folder` was closed: puts it, and the token in `token_file`, in place. The same. */
int main_restore_swap(struct main_restore *restore, const char *token_file) MUST_USE;
/* Lets go of the folders. */
void main_restore_end(struct main_restore *restore);

#endif
