#include "daemon/key_file.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/secret_file.h"
#include "policy/cleanup.h"

/* Whether `path` lies in `folder`; both resolved. */
static bool lies_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

static int read_resolved(const char *path, unsigned char *ret_key, const char **ret_fault)
{
	CLEANUP(free_drop) char *folder = strdup(path);
	CLEANUP(free_drop) char *name = strdup(path);
	int r = folder != NULL && name != NULL
		? secret_file_read(dirname(folder), basename(name), ret_key, KEY_FILE_SIZE)
		: -ENOMEM;

	if (r == SECRET_FILE_ABSENT)
		return KEY_FILE_ABSENT;
	if (r == SECRET_FILE_OPEN_TO_OTHERS)
		*ret_fault = "others can read or write it; chmod 600 it";
	else if (r == SECRET_FILE_DAMAGED)
		*ret_fault = "a key file has exactly 32 bytes, at random";
	return r > 0 ? KEY_FILE_REFUSED : r;
}

int key_file_read(
	const char *path, const char *state, unsigned char ret_key[static KEY_FILE_SIZE], const char **ret_fault)
{
	CLEANUP(free_drop) char *real_state = realpath(state, NULL);
	CLEANUP(free_drop) char *real = real_state != NULL ? realpath(path, NULL) : NULL;

	if (real == NULL)
		return real_state != NULL && errno == ENOENT ? KEY_FILE_ABSENT : -errno;
	if (lies_in(real, real_state)) {
		*ret_fault = "it lies in the state folder, which it must be kept apart from";
		return KEY_FILE_REFUSED;
	}
	return read_resolved(real, ret_key, ret_fault);
}
