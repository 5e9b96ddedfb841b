#include "reader/contained.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/contained_steps.h"

enum { FD_NAME_SIZE = 16 };

static pthread_once_t probe_once = PTHREAD_ONCE_INIT;
static bool probe_found;

static void probe(void)
{
	probe_found = contained_probe();
}

void contained_fd_drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A path as text that outlives the caller's, without slashes at its end. */
static int copy_path(const char *path, struct str *ret)
{
	size_t len = strlen(path);
	char *copy = NULL;

	while (len > 1 && path[len - 1] == '/')
		len--;
	copy = strndup(path, len);
	*ret = (struct str){copy, copy != NULL ? len : 0};
	return copy != NULL ? 0 : -ENOMEM;
}

static int open_directory(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int root_fill(struct contained_root *root, const char *given, const char *resolved)
{
	struct stat status;
	int r = copy_path(given, &root->given);

	if (r == 0)
		r = copy_path(resolved, &root->path);
	if (r != 0)
		return r;
	root->fd = open_directory(resolved);
	if (root->fd < 0)
		return root->fd;
	root->self_fd = open_directory("/proc/self/fd");
	if (root->self_fd < 0)
		return -ENOSYS;
	if (fstat(root->fd, &status) != 0)
		return -errno;
	root->device = (uint64_t)status.st_dev;
	root->inode = (uint64_t)status.st_ino;
	root->process = getpid();
	pthread_once(&probe_once, probe);
	root->has_openat2 = probe_found;
	return 0;
}

static void root_drop(struct contained_root *root)
{
	contained_fd_drop(&root->fd);
	contained_fd_drop(&root->self_fd);
	free((void *)(uintptr_t)root->given.bytes);
	free((void *)(uintptr_t)root->path.bytes);
	*root = (struct contained_root){0};
}

int contained_root_open(struct contained_root *ret, const char *path)
{
	struct contained_root root = {.fd = -1, .self_fd = -1};
	CLEANUP(free_drop) char *resolved = realpath(path, NULL);
	int r = resolved != NULL ? root_fill(&root, path, resolved) : -errno;

	if (r != 0) {
		root_drop(&root);
		return r;
	}
	*ret = root;
	return 0;
}

void contained_root_close(struct contained_root *root)
{
	if (root->path.bytes != NULL)
		root_drop(root);
}

static int copy_below(struct str root, struct str below, struct str *ret)
{
	char *copy = NULL;
	int len = asprintf(&copy, "%.*s/%.*s", (int)root.len, root.bytes, (int)below.len, below.bytes);

	*ret = (struct str){copy, len < 0 ? 0 : (size_t)len};
	return len < 0 ? -ENOMEM : 0;
}

static int root_fill_below(struct contained_root *ret, const struct contained_root *root,
	const struct contained_node *node, struct str below)
{
	int r = copy_below(root->given, below, &ret->given);

	if (r == 0)
		r = copy_below(root->path, below, &ret->path);
	if (r != 0)
		return r;
	ret->fd = fcntl(node->fd, F_DUPFD_CLOEXEC, 0);
	if (ret->fd < 0)
		return -errno;
	ret->self_fd = fcntl(root->self_fd, F_DUPFD_CLOEXEC, 0);
	if (ret->self_fd < 0)
		return -errno;
	ret->process = root->process;
	ret->has_openat2 = root->has_openat2;
	ret->device = node->device;
	ret->inode = node->inode;
	return 0;
}

int contained_root_below(const struct contained_root *root, const struct contained_node *directory, struct str below,
	struct contained_root *ret)
{
	struct contained_root inner = {.fd = -1, .self_fd = -1};
	int r = directory->kind == CONTAINED_DIRECTORY ? root_fill_below(&inner, root, directory, below)
						       : CONTAINED_NOT_REGULAR;

	if (r != 0) {
		root_drop(&inner);
		return r;
	}
	*ret = inner;
	return 0;
}

void contained_node_close(struct contained_node *node)
{
	contained_fd_drop(&node->fd);
}

/* What an errno says of the target; what it says of us is passed on. */
static int result_under(int error, enum contained_links links)
{
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
		return CONTAINED_ABSENT;
	case EXDEV:
		return CONTAINED_OUTSIDE;
	case ELOOP:
		return links == CONTAINED_FOLLOW_NONE ? CONTAINED_LINKED : CONTAINED_LOOP;
	case EACCES:
	case EPERM:
		return CONTAINED_DENIED;
	case ENAMETOOLONG:
		return CONTAINED_TOO_LONG;
	case EIO:
	case EAGAIN:
	case ESTALE:
	case ENXIO:
	case ENODEV:
	case EBUSY:
	case ETIMEDOUT:
		return CONTAINED_FAILED;
	default:
		return error;
	}
}

int contained_result_of(int error)
{
	return result_under(error, CONTAINED_FOLLOW_ALL);
}

static enum contained_kind kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return CONTAINED_FILE;
	case S_IFDIR:
		return CONTAINED_DIRECTORY;
	case S_IFLNK:
		return CONTAINED_LINK;
	case S_IFIFO:
		return CONTAINED_FIFO;
	case S_IFSOCK:
		return CONTAINED_SOCKET;
	case S_IFCHR:
		return CONTAINED_CHARACTER_DEVICE;
	case S_IFBLK:
		return CONTAINED_BLOCK_DEVICE;
	default:
		return CONTAINED_UNKNOWN;
	}
}

static struct contained_node node_of(int fd, const struct stat *status)
{
	return (struct contained_node){
		.fd = fd,
		.kind = kind_of(status->st_mode),
		.device = (uint64_t)status->st_dev,
		.inode = (uint64_t)status->st_ino,
		.size = (int64_t)status->st_size,
		.changed_ns = (int64_t)status->st_ctim.tv_sec * 1000000000 + status->st_ctim.tv_nsec,
	};
}

/* Takes the descriptor, also when it fails. */
static int classify(int fd, struct contained_node *ret)
{
	struct stat status;

	if (fstat(fd, &status) != 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	*ret = node_of(fd, &status);
	return 0;
}

/* Without openat2() a link is refused wherever it would have been followed, and says so. */
static int open_below(
	const struct contained_root *root, const char *below, enum contained_links links, struct contained_node *ret)
{
	int fd = root->has_openat2 ? contained_step_openat2(root->fd, below, links)
				   : contained_step_walk(root->fd, below, links);

	if (fd < 0)
		return result_under(fd, root->has_openat2 ? links : CONTAINED_FOLLOW_NONE);
	return classify(fd, ret);
}

/* The part of a target below the root, ended by NUL. */
static int copy_target(const struct contained_root *root, struct str target, char path[static PATH_MAX])
{
	struct str below = {0};
	int r = contained_target(root, target, &below);

	if (r == 0 && below.len >= PATH_MAX)
		r = CONTAINED_TOO_LONG;
	if (r != 0)
		return r;
	memcpy(path, below.bytes, below.len);
	path[below.len] = '\0';
	return 0;
}

int contained_open(
	const struct contained_root *root, struct str target, enum contained_links links, struct contained_node *ret)
{
	char path[PATH_MAX];
	int r = copy_target(root, target, path);

	if (r != 0)
		return r;
	r = open_below(root, path, links, ret);
	if (r == 0 && links == CONTAINED_FOLLOW_NONE && ret->kind == CONTAINED_LINK) {
		contained_node_close(ret);
		return CONTAINED_LINKED;
	}
	return r;
}

int contained_open_entry(int directory_fd, const char *name, struct contained_node *ret)
{
	int fd = openat(directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? result_under(-errno, CONTAINED_FOLLOW_NONE) : classify(fd, ret);
}

int contained_look_entry(int directory_fd, const char *name, struct contained_node *ret)
{
	struct stat status;

	if (fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
		return result_under(-errno, CONTAINED_FOLLOW_NONE);
	*ret = node_of(-1, &status);
	return 0;
}

/* A descriptor's name in /proc/self/fd, ended by NUL at the end of `text`. */
static const char *name_of(int fd, char text[static FD_NAME_SIZE])
{
	char *at = text + FD_NAME_SIZE - 1;

	*at = '\0';
	do
		*--at = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	return at;
}

/* A descriptor that reads, or -errno: told what it is, and only a file is read through it. */
static int classify_reader(int fd, struct contained_node *ret)
{
	int r = fd < 0 ? result_under(fd, CONTAINED_FOLLOW_NONE) : classify(fd, ret);

	if (r == 0)
		ret->is_readable = ret->kind == CONTAINED_FILE;
	return r;
}

int contained_open_file_entry(int directory_fd, const char *name, struct contained_node *ret)
{
	int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return classify_reader(fd < 0 ? -errno : fd, ret);
}

int contained_open_file(const struct contained_root *root, struct str target, struct contained_node *ret)
{
	char path[PATH_MAX];
	int r = root->has_openat2 ? copy_target(root, target, path) : CONTAINED_LINKED;

	if (r == 0)
		r = classify_reader(contained_step_openat2_file(root->fd, path), ret);
	if (r != 0 || ret->is_readable)
		return r;
	contained_node_close(ret);
	return CONTAINED_NOT_REGULAR;
}

/* The kernel's own way from a handle to its inode: no name is looked up again. */
int contained_reader_open(const struct contained_root *root, const struct contained_node *node, int *ret_fd)
{
	char name[FD_NAME_SIZE];
	int fd = -1;

	if (node->kind != CONTAINED_FILE)
		return CONTAINED_NOT_REGULAR;
	if (root->process != getpid())
		return CONTAINED_FAILED;
	fd = openat(root->self_fd, name_of(node->fd, name), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return contained_result_of(-errno);
	*ret_fd = fd;
	return 0;
}

int contained_directory_open(const struct contained_node *node, int *ret_fd)
{
	int fd = -1;

	if (node->kind != CONTAINED_DIRECTORY)
		return CONTAINED_NOT_REGULAR;
	fd = openat(node->fd, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return contained_result_of(-errno);
	*ret_fd = fd;
	return 0;
}

/* `expected`: what the file system says there is; with that much a call that would only find the end is saved. */
static int read_up_to(int fd, char *bytes, size_t size, size_t expected, size_t *ret_len)
{
	size_t len = 0;

	while (len < size) {
		ssize_t some = pread(fd, bytes + len, size - len, (off_t)len);

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return -errno;
		len += (size_t)some;
		if (some == 0 || (len == expected && len < size))
			break;
	}
	*ret_len = len;
	return 0;
}

int contained_read(int fd, char *bytes, size_t size, size_t *ret_len)
{
	return read_up_to(fd, bytes, size, SIZE_MAX, ret_len);
}

int contained_read_node(
	const struct contained_root *root, const struct contained_node *node, char *bytes, size_t size, size_t *ret_len)
{
	CLEANUP(contained_fd_drop) int fd = -1;
	int r = node->is_readable ? 0 : contained_reader_open(root, node, &fd);

	if (r != 0)
		return r;
	r = read_up_to(node->is_readable ? node->fd : fd, bytes, size, node->size > 0 ? (size_t)node->size : SIZE_MAX,
		ret_len);
	return r < 0 ? contained_result_of(r) : r;
}

int contained_real_path(const struct contained_root *root, const struct contained_node *node,
	char path[static PATH_MAX], struct str *ret)
{
	static const struct str gone = {" (deleted)", 10};
	struct str real = {path, 0};
	char name[FD_NAME_SIZE];
	ssize_t len = 0;

	if (root->process != getpid())
		return -ECHILD;
	len = readlinkat(root->self_fd, name_of(node->fd, name), path, PATH_MAX);
	if (len < 0)
		return -errno;
	real.len = (size_t)len;
	if (real.len > gone.len && memcmp(path + real.len - gone.len, gone.bytes, gone.len) == 0)
		real.len -= gone.len;
	if (contained_target(root, real, ret) != 0)
		*ret = (struct str){0};
	return 0;
}
