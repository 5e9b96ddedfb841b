/* secret_file.h - files with a secret in the state folder: the run-token key and the first admin token (chapter 4.1).
 *
 * Every such file is made new (O_EXCL), mode 0600, and is whole on the disk or not there. Prints nothing.
 */
#ifndef ADMITD_DAEMON_SECRET_FILE_H
#define ADMITD_DAEMON_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

enum secret_file_result {
	SECRET_FILE_ABSENT = 1,
	SECRET_FILE_OPEN_TO_OTHERS, /* its mode lets others read or write it */
	SECRET_FILE_DAMAGED,        /* it has another size */
};

/* Writes FOLDER/NAME; `replaces`: in place of one that may be there, in one step. -EEXIST without it; other -errno. */
int secret_file_write(const char *folder, const char *name, const void *bytes, size_t len, bool replaces) MUST_USE;

/* Reads exactly `len` bytes. 0, a result above, or -errno. */
int secret_file_read(const char *folder, const char *name, void *ret_bytes, size_t len) MUST_USE;

/* For a file whose purpose is over; fine when it isn't there. */
void secret_file_remove(const char *folder, const char *name);

#endif
