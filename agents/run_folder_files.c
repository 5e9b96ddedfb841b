/* Files and folders below a descriptor, part by part and through no link. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/run_folder.h"
#include "policy/cleanup.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static void descriptor_drop(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

/* One part further; takes `folder`. */
static int step_down(int folder, const char *part, bool makes)
{
	CLEANUP(descriptor_drop) int from = folder;
	int below = -1;

	if (*part == '\0' || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
		return -EINVAL;
	if (makes && mkdirat(from, part, 0700) != 0 && errno != EEXIST)
		return -errno;
	below = openat(from, part, FOLDER_FLAGS);
	if (below < 0)
		return errno == ENOTDIR ? -ELOOP : -errno;
	return below;
}

int run_folder_below(int folder, const char *path, bool makes)
{
	CLEANUP(free_drop) char *copy = strdup(path);
	char *rest = copy;
	char *part = NULL;
	int below = copy != NULL ? fcntl(folder, F_DUPFD_CLOEXEC, 0) : -1;

	if (below < 0)
		return copy != NULL ? -errno : -ENOMEM;
	while (below >= 0 && (part = strsep(&rest, "/")) != NULL)
		below = step_down(below, part, makes);
	return below;
}

/* The folder of a path, and its last part. */
static int open_parent(int folder, const char *path, bool makes, const char **ret_last)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(free_drop) char *parent = slash != NULL ? strndup(path, (size_t)(slash - path)) : NULL;

	*ret_last = slash != NULL ? slash + 1 : path;
	if (slash == NULL)
		return fcntl(folder, F_DUPFD_CLOEXEC, 0);
	return parent != NULL ? run_folder_below(folder, parent, makes) : -ENOMEM;
}

static int write_all(int descriptor, struct str bytes)
{
	size_t at = 0;

	while (at < bytes.len) {
		ssize_t written = write(descriptor, bytes.bytes + at, bytes.len - at);

		if (written < 0 && errno != EINTR)
			return -errno;
		at += written > 0 ? (size_t)written : 0;
	}
	return 0;
}

int run_folder_write(int folder, const char *path, struct str bytes)
{
	const char *last = NULL;
	CLEANUP(descriptor_drop) int parent = open_parent(folder, path, true, &last);
	CLEANUP(descriptor_drop) int file = -1;

	if (parent < 0)
		return parent == -ELOOP ? RUN_FOLDER_UNSAFE : parent;
	if (unlinkat(parent, last, 0) != 0 && errno != ENOENT)
		return errno == EISDIR ? RUN_FOLDER_UNSAFE : -errno;
	file = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* The umask may only have taken away: it has its mode before it has a byte. */
	if (file < 0 || fchmod(file, 0600) != 0)
		return -errno;
	return write_all(file, bytes);
}

static int read_all(struct arena *arena, int file, size_t limit, struct str *ret)
{
	char *bytes = arena_alloc(arena, limit + 2);
	size_t len = 0;

	if (bytes == NULL)
		return -ENOMEM;
	while (len <= limit) {
		ssize_t got = read(file, bytes + len, limit + 1 - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	*ret = (struct str){bytes, len};
	return len <= limit ? 0 : -EFBIG;
}

int run_folder_read(
	struct arena *arena, int folder, const char *path, size_t limit, struct str *ret_bytes, mode_t *ret_mode)
{
	const char *last = NULL;
	CLEANUP(descriptor_drop) int parent = open_parent(folder, path, false, &last);
	CLEANUP(descriptor_drop)
	int file = parent >= 0 ? openat(parent, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	struct stat info;

	if (parent < 0)
		return parent;
	if (file < 0 || fstat(file, &info) != 0)
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -ELOOP;
	if (ret_mode != NULL)
		*ret_mode = info.st_mode & 07777;
	if ((uintmax_t)info.st_size > limit)
		return -EFBIG;
	return read_all(arena, file, (size_t)info.st_size + 1, ret_bytes);
}
