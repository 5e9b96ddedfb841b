#include "reader/contained_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AGAIN_LIMIT = 128 };

static int call_openat2(int fd, const char *path, struct open_how *how)
{
	long result = syscall(SYS_openat2, fd, path, how, sizeof(*how));

	return result < 0 ? -errno : (int)result;
}

bool contained_probe_is_missing(int error)
{
	return error == -ENOSYS || error == -E2BIG || error == -EPERM;
}

bool contained_probe(void)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	int fd = call_openat2(AT_FDCWD, ".", &how);

	if (fd >= 0)
		close(fd);
	return !contained_probe_is_missing(fd);
}

/* EAGAIN: something was renamed while a link with `..` was resolved, and the kernel can't say where it led. */
static int open_patiently(int root_fd, const char *below, struct open_how *how)
{
	int fd = -EAGAIN;

	for (int i = 0; i < AGAIN_LIMIT && (fd == -EAGAIN || fd == -EINTR); i++)
		fd = call_openat2(root_fd, below, how);
	return fd;
}

int contained_step_openat2(int root_fd, const char *below, enum contained_links links)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (links == CONTAINED_FOLLOW_ALL ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
			(links == CONTAINED_FOLLOW_NONE ? RESOLVE_NO_SYMLINKS : 0),
	};

	return open_patiently(root_fd, below, &how);
}

int contained_step_openat2_file(int root_fd, const char *below)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	return open_patiently(root_fd, below, &how);
}

/* The next component in `name`; *at moves behind it and its slashes. */
static int next_component(const char **at, char *name)
{
	size_t len = strcspn(*at, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, *at, len);
	name[len] = '\0';
	*at += len;
	*at += strspn(*at, "/");
	return 0;
}

/* What a component may be: a directory where more follows, never a link that would have to be followed. */
static int judge_component(int fd, bool is_last, bool wants_directory, enum contained_links links)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	if (S_ISLNK(status.st_mode))
		return is_last && !wants_directory && links == CONTAINED_FOLLOW_ABOVE ? 0 : -ELOOP;
	return (is_last && !wants_directory) || S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

static int step_into(int fd, const char *name, bool is_last, bool wants_directory, enum contained_links links)
{
	int next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int r = next < 0 ? -errno : judge_component(next, is_last, wants_directory, links);

	if (r != 0 && next >= 0)
		close(next);
	return r != 0 ? r : next;
}

int contained_step_walk(int root_fd, const char *below, enum contained_links links)
{
	bool wants_directory = below[0] != '\0' && below[strlen(below) - 1] == '/';
	int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	const char *at = below;
	char name[NAME_MAX + 1];

	if (fd < 0)
		return -errno;
	while (*at != '\0') {
		int next = next_component(&at, name);

		if (next == 0)
			next = step_into(fd, name, *at == '\0', wants_directory, links);
		close(fd);
		if (next < 0)
			return next;
		fd = next;
	}
	return fd;
}
