#include "daemon/health/root_health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/cleanup.h"

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* The kernel's own name of an open directory: no second walk that could end elsewhere. */
static int read_real_path(int fd, char *ret_path, size_t size)
{
	char link[64];
	ssize_t len = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, ret_path, size - 1);
	if (len < 0)
		return -errno;
	ret_path[len] = '\0';
	return 0;
}

int root_health_open(const char *path, struct root_found *ret)
{
	CLEANUP(fd_close) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		return -errno;
	ret->device = (uint64_t)status.st_dev;
	ret->inode = (uint64_t)status.st_ino;
	return read_real_path(fd, ret->real_path, sizeof(ret->real_path));
}

enum health_status root_health_observe(const char *path, uint64_t device, uint64_t inode, const char **ret_error)
{
	CLEANUP(fd_close) int fd = -1;
	struct stat status;

	*ret_error = "the project has no folder";
	if (path == NULL)
		return HEALTH_CONFIGURATION_REQUIRED;
	*ret_error = "the project's folder can't be opened";
	/* Not O_PATH: reading must be possible, too. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) != 0)
		return HEALTH_CONFIGURATION_REQUIRED;
	*ret_error = "the project's folder isn't the directory that was set";
	if ((uint64_t)status.st_dev != device || (uint64_t)status.st_ino != inode)
		return HEALTH_CONFIGURATION_REQUIRED;
	*ret_error = NULL;
	return HEALTH_HEALTHY;
}
