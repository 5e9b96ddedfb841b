/* folder.h - the state folder: who may see it, that only one daemon has it, and what lies in the file (chapter 6.2).
 * daemon/store only.
 */
#ifndef ADMITD_DAEMON_STORE_FOLDER_H
#define ADMITD_DAEMON_STORE_FOLDER_H

#include <stdbool.h>

#include "policy/check.h"

enum { FOLDER_APPLICATION_ID = 0x61646d74 }; /* "admt" */

struct folder {
	int lock_fd;
	char *database; /* path of the file, owned */
	bool is_new;    /* the file was empty */
};

/* Makes or tightens the folder (0700), takes the lock, makes the file (0600) or looks at its first page. 0, or STORE_OPEN_ELSEWHERE,
 * STORE_NOT_A_DATABASE, STORE_FOREIGN, STORE_NEWER, -errno; nothing is held then, and a file that was there is untouched.
 */
int folder_open(const char *path, struct folder *ret) MUST_USE;
/* Lets the lock go. */
void folder_close(struct folder *folder);

#endif
