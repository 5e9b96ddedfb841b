#include "daemon/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/cleanup.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int open_folder(const char *folder)
{
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t wrote = write(fd, bytes, len);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		bytes += wrote;
		len -= (size_t)wrote;
	}
	return fsync(fd) == 0 ? 0 : -errno;
}

/* Under a name that nobody looks for, so that a crash leaves nothing half-written under the real one. */
static int write_aside(int folder, const char *aside, const void *bytes, size_t len)
{
	CLEANUP(close_fd) int fd = -1;

	if (unlinkat(folder, aside, 0) != 0 && errno != ENOENT)
		return -errno;
	fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : write_all(fd, bytes, len);
}

int secret_file_write(const char *folder, const char *name, const void *bytes, size_t len, bool replaces)
{
	CLEANUP(close_fd) int at = open_folder(folder);
	char aside[NAME_MAX];
	int r = at < 0 ? -errno : 0;

	(void)snprintf(aside, sizeof(aside), ".%s.new", name);
	if (r == 0)
		r = write_aside(at, aside, bytes, len);
	if (r == 0 && (replaces ? renameat(at, aside, at, name) : linkat(at, aside, at, name, 0)) != 0)
		r = -errno;
	if (r == 0 && fsync(at) != 0)
		r = -errno;
	if (at >= 0 && (r != 0 || !replaces))
		(void)unlinkat(at, aside, 0);
	return r;
}

int secret_file_read(const char *folder, const char *name, void *ret_bytes, size_t len)
{
	CLEANUP(close_fd) int at = open_folder(folder);
	CLEANUP(close_fd) int fd = at < 0 ? -1 : openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat found;
	ssize_t got = 0;

	if (fd < 0)
		return errno == ENOENT ? SECRET_FILE_ABSENT : -errno;
	if (fstat(fd, &found) != 0)
		return -errno;
	if (found.st_mode & 077)
		return SECRET_FILE_OPEN_TO_OTHERS;
	if (!S_ISREG(found.st_mode) || found.st_size != (off_t)len)
		return SECRET_FILE_DAMAGED;
	got = read(fd, ret_bytes, len);
	if (got < 0)
		return -errno;
	return (size_t)got == len ? 0 : SECRET_FILE_DAMAGED;
}

void secret_file_remove(const char *folder, const char *name)
{
	CLEANUP(close_fd) int at = open_folder(folder);

	if (at >= 0)
		(void)unlinkat(at, name, 0);
}
