/* Making a run's folder, and its end. */
#include "agents/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/cleanup.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, ID_BYTES = 8 };

static const char prefix[] = "run-";

static void descriptor_drop(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

/* ---- the base */

/* Ours, and closed to everybody else: else they could put links there, or read. */
static int check_private(int descriptor)
{
	struct stat info;

	if (fstat(descriptor, &info) != 0)
		return -errno;
	return info.st_uid == geteuid() && (info.st_mode & 077) == 0 ? 0 : RUN_FOLDER_UNSAFE;
}

static int open_base(const char *path, bool makes, int *ret)
{
	int r = 0;

	if (makes && mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	*ret = open(path, FOLDER_FLAGS);
	if (*ret < 0)
		return errno == ELOOP || errno == ENOTDIR ? RUN_FOLDER_UNSAFE : -errno;
	r = check_private(*ret);
	if (r != 0)
		descriptor_drop(ret);
	return r;
}

/* ---- one folder */

void run_folder_close(struct run_folder *folder)
{
	descriptor_drop(&folder->descriptor);
	descriptor_drop(&folder->base);
}

/* Between making and locking nobody may sweep: the base is locked for that long. */
static int make_locked(struct run_folder *folder)
{
	unsigned char random[ID_BYTES];
	char hex[2 * ID_BYTES + 1];

	if (sodium_init() < 0)
		return -ENOSYS;
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(hex, sizeof(hex), random, sizeof(random));
	(void)snprintf(folder->name, sizeof(folder->name), "%s%s", prefix, hex);
	if (flock(folder->base, LOCK_EX) != 0 || mkdirat(folder->base, folder->name, 0700) != 0)
		return -errno;
	folder->descriptor = openat(folder->base, folder->name, FOLDER_FLAGS);
	if (folder->descriptor < 0 || fchmod(folder->descriptor, 0700) != 0 ||
		flock(folder->descriptor, LOCK_EX | LOCK_NB) != 0)
		return -errno;
	return flock(folder->base, LOCK_UN) == 0 ? 0 : -errno;
}

int run_folder_make(const char *base, struct run_folder *ret)
{
	int r = 0;

	*ret = (struct run_folder){.base = -1, .descriptor = -1};
	r = open_base(base, true, &ret->base);
	if (r == 0)
		r = make_locked(ret);
	if (r != 0)
		run_folder_close(ret);
	return r;
}

int run_folder_open(const char *path, struct run_folder *ret)
{
	CLEANUP(free_drop) char *copy = strdup(path);
	char *slash = NULL;
	size_t len = copy != NULL ? strlen(copy) : 0;
	int r = 0;

	*ret = (struct run_folder){.base = -1, .descriptor = -1};
	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	slash = copy != NULL ? strrchr(copy, '/') : NULL;
	if (copy == NULL)
		return -ENOMEM;
	if (strlen(slash != NULL ? slash + 1 : copy) >= sizeof(ret->name))
		return -ENOENT;
	(void)snprintf(
		ret->name, sizeof(ret->name), "%.*s", RUN_FOLDER_NAME_SIZE - 1, slash != NULL ? slash + 1 : copy);
	if (slash != NULL)
		slash[slash == copy] = '\0';
	r = open_base(slash != NULL ? copy : ".", false, &ret->base);
	if (r == 0) {
		ret->descriptor = openat(ret->base, ret->name, FOLDER_FLAGS);
		r = ret->descriptor >= 0                     ? check_private(ret->descriptor)
			: errno == ELOOP || errno == ENOTDIR ? RUN_FOLDER_UNSAFE
							     : -errno;
	}
	if (r != 0)
		run_folder_close(ret);
	return r;
}

/* ---- removing */

static int clear_below(int folder, const char *name, unsigned depth);

static int clear_entries(int folder, unsigned depth)
{
	DIR *stream = fdopendir(folder);
	struct dirent *entry;
	int first = 0;

	if (stream == NULL) {
		first = -errno;
		close(folder);
		return first;
	}
	while ((entry = readdir(stream)) != NULL) {
		int r = 0;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		r = clear_below(dirfd(stream), entry->d_name, depth + 1);
		first = first != 0 ? first : r;
	}
	(void)closedir(stream);
	return first;
}

static int clear_below(int folder, const char *name, unsigned depth)
{
	int below = -1;
	int r = 0;

	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > RUN_FOLDER_DEPTH_LIMIT)
		return -ELOOP;
	below = openat(folder, name, FOLDER_FLAGS);
	if (below < 0)
		return -errno;
	r = clear_entries(below, depth);
	if (unlinkat(folder, name, AT_REMOVEDIR) != 0 && r == 0)
		r = -errno;
	return r;
}

int run_folder_clear(int folder, const char *name)
{
	return clear_below(folder, name, 0);
}

int run_folder_remove(struct run_folder *folder)
{
	int r = run_folder_clear(folder->base, folder->name);

	run_folder_close(folder);
	return r;
}

/* ---- what a crash left */

/* Removes one that nobody holds and nobody wants. 1: removed. */
static int sweep_one(int base, const char *name, bool (*is_wanted)(int descriptor))
{
	CLEANUP(descriptor_drop) int folder = openat(base, name, FOLDER_FLAGS);

	if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) != 0 || is_wanted(folder))
		return 0;
	return run_folder_clear(base, name) == 0;
}

int run_folder_sweep(const char *base, bool (*is_wanted)(int descriptor), size_t *ret_removed)
{
	CLEANUP(descriptor_drop) int descriptor = -1;
	struct dirent *entry;
	DIR *stream = NULL;
	int r = open_base(base, false, &descriptor);

	*ret_removed = 0;
	if (r == -ENOENT)
		return 0;
	if (r != 0)
		return r;
	if (flock(descriptor, LOCK_EX) != 0)
		return -errno;
	stream = fdopendir(dup(descriptor));
	if (stream == NULL)
		return -errno;
	while ((entry = readdir(stream)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			*ret_removed += (size_t)sweep_one(descriptor, entry->d_name, is_wanted);
	(void)closedir(stream);
	return 0;
}
