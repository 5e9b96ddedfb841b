/* key_file.h - the key of sealed credentials, which lies outside the state folder and the backup (chapter 5.7). Prints nothing.
 */
#ifndef ADMITD_DAEMON_KEY_FILE_H
#define ADMITD_DAEMON_KEY_FILE_H

#include "policy/check.h"

enum { KEY_FILE_SIZE = 32 };

enum key_file_result {
	KEY_FILE_ABSENT = 1, /* there is no such file: credentials can't be kept or read */
	KEY_FILE_REFUSED,    /* it must not be used; *ret_fault is a literal that says why */
};

/* 32 bytes, readable by the owner alone. `state` is the state folder, which must be there. 0, a result above, or -errno. */
int key_file_read(const char *path, const char *state, unsigned char ret_key[static KEY_FILE_SIZE],
	const char **ret_fault) MUST_USE;

#endif
