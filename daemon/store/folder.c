#include "config.h"

#include "daemon/store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/migrate.h"
#include "daemon/store/store.h"
#include "policy/cleanup.h"

static const char database_name[] = STORE_FILE;
static const char lock_name[] = "admitd.lock";

/* SQLite's file format: where the first page says what it is. */
enum { HEADER_BYTES = 100, VERSION_AT = 60, APPLICATION_AT = 68 };

static void fd_drop(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* Others must not read what is stored here, whoever made the folder or file. */
static int tighten(int fd, mode_t mode)
{
	struct stat facts;

	if (fstat(fd, &facts) < 0)
		return -errno;
	if ((facts.st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		return -errno;
	return 0;
}

static int open_folder(const char *path)
{
	int fd;
	int r;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = tighten(fd, 0700);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

/* flock, not POSIX locks: those of SQLite's own files would go when any descriptor of the file is closed. */
static int take_lock(int folder_fd)
{
	int fd = openat(folder_fd, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	error = errno;
	(void)close(fd);
	errno = error;
	return error == EWOULDBLOCK ? -EWOULDBLOCK : -error;
}

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Looked at before SQLite opens it: opening alone may write beside a file that isn't ours. */
static int look_at(int fd, bool *ret_is_new)
{
	unsigned char header[HEADER_BYTES];
	struct stat facts;
	ssize_t got;

	if (fstat(fd, &facts) < 0)
		return -errno;
	if (!S_ISREG(facts.st_mode))
		return STORE_NOT_A_DATABASE;
	*ret_is_new = facts.st_size == 0;
	if (*ret_is_new)
		return 0;
	got = pread(fd, header, sizeof(header), 0);
	if (got < 0)
		return -errno;
	if (got != sizeof(header) || memcmp(header, "SQLite format 3", 16) != 0)
		return STORE_NOT_A_DATABASE;
	if (big_endian(header + APPLICATION_AT) != FOLDER_APPLICATION_ID)
		return STORE_FOREIGN;
	return big_endian(header + VERSION_AT) > migrate_latest() ? STORE_NEWER : 0;
}

static int open_database(int folder_fd, bool *ret_is_new)
{
	CLEANUP(fd_drop)
	int fd = openat(folder_fd, database_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = look_at(fd, ret_is_new);
	if (r)
		return r;
	r = tighten(fd, 0600);
	if (r == 0 && *ret_is_new && fsync(folder_fd) < 0)
		r = -errno;
	return r;
}

int folder_open(const char *path, struct folder *ret)
{
	CLEANUP(fd_drop) int folder_fd = open_folder(path);
	CLEANUP(fd_drop) int lock_fd = -1;
	CLEANUP(free_drop) char *database = NULL;
	bool is_new = false;
	int r;

	if (folder_fd < 0)
		return folder_fd;
	lock_fd = take_lock(folder_fd);
	if (lock_fd == -EWOULDBLOCK)
		return STORE_OPEN_ELSEWHERE;
	if (lock_fd < 0)
		return lock_fd;
	r = open_database(folder_fd, &is_new);
	if (r)
		return r;
	if (asprintf(&database, "%s/%s", path, database_name) < 0) {
		database = NULL; /* asprintf leaves it undefined */
		return -ENOMEM;
	}
	*ret = (struct folder){.lock_fd = lock_fd, .database = TAKE(database), .is_new = is_new};
	lock_fd = -1;
	return 0;
}

int store_lock(const char *state_folder, int *ret_fd)
{
	CLEANUP(fd_drop) int folder_fd = open_folder(state_folder);
	int fd = folder_fd < 0 ? folder_fd : take_lock(folder_fd);

	if (fd == -EWOULDBLOCK)
		return STORE_OPEN_ELSEWHERE;
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

void folder_close(struct folder *folder)
{
	fd_drop(&folder->lock_fd);
	free_drop(&folder->database);
}
