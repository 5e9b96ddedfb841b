#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine/confine.h"
#include "policy/cleanup.h"

/* The kernel's numbers, which headers older than the kernel don't have. */
enum { NET_VERSION = 4, ENTRIES_LIMIT = 20000, DEPTH_LIMIT = 40 };

#define FS_REFER ((uint64_t)1 << 13)     /* version 2 */
#define FS_TRUNCATE ((uint64_t)1 << 14)  /* version 3 */
#define FS_IOCTL_DEV ((uint64_t)1 << 15) /* version 5 */
#define NET_CONNECT_TCP ((uint64_t)1 << 1)

struct ruleset_attributes {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
};

#define RIGHTS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_WRITE                                                                                          \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |     \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |    \
		LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
		LANDLOCK_ACCESS_FS_MAKE_SYM | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV)
/* What can be asked of a file; the rest is of folders. */
#define RIGHTS_FILE                                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | \
		FS_IOCTL_DEV)

static uint64_t known(int version)
{
	uint64_t rights = RIGHTS_READ | RIGHTS_WRITE | LANDLOCK_ACCESS_FS_EXECUTE;

	if (version < 2)
		rights &= ~FS_REFER;
	if (version < 3)
		rights &= ~FS_TRUNCATE;
	if (version < 5)
		rights &= ~FS_IOCTL_DEV;
	return rights;
}

static uint64_t rights_of(unsigned rights)
{
	uint64_t access = 0;

	if (rights & (CONFINE_READ | CONFINE_EXECUTE))
		access |= RIGHTS_READ;
	if (rights & CONFINE_WRITE)
		access |= RIGHTS_WRITE;
	if (rights & CONFINE_EXECUTE)
		access |= LANDLOCK_ACCESS_FS_EXECUTE;
	return access;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static void close_folder(DIR **folder)
{
	if (*folder != NULL)
		(void)closedir(*folder);
}

int confine_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

int confine_paths_open(struct confine_paths *paths, bool keeps_connect)
{
	struct ruleset_attributes attributes = {0};
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);

	*paths = (struct confine_paths){.ruleset = -1};
	if (version < 1)
		return CONFINE_MISSING;
	attributes.handled_access_fs = known((int)version);
	attributes.handled_access_net = version >= NET_VERSION && !keeps_connect ? NET_CONNECT_TCP : 0;
	paths->ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes,
		version >= NET_VERSION ? sizeof(attributes) : sizeof(attributes.handled_access_fs), 0);
	paths->version = (int)version;
	return paths->ruleset >= 0 ? 0 : -errno;
}

static int allow_fd(struct confine_paths *paths, int fd, unsigned rights)
{
	struct landlock_path_beneath_attr beneath = {
		.allowed_access = rights_of(rights) & known(paths->version), .parent_fd = fd};
	struct stat found;

	if (fstat(fd, &found) != 0)
		return -errno;
	if (!S_ISDIR(found.st_mode))
		beneath.allowed_access &= RIGHTS_FILE;
	return syscall(SYS_landlock_add_rule, paths->ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0 ? 0
													    : -errno;
}

int confine_paths_allow(struct confine_paths *paths, const char *path, unsigned rights)
{
	CLEANUP(close_fd) int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : allow_fd(paths, fd, rights);
}

/* ---- everything but some paths */

struct around {
	struct confine_paths *paths;
	const char *const *hidden;
	size_t count;
	unsigned rights;
	unsigned entries;
};

enum place { PLACE_APART = 0, PLACE_HIDDEN, PLACE_ABOVE };

static enum place place_of(const struct around *around, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < around->count; i++) {
		const char *hidden = around->hidden[i];

		if (strcmp(path, hidden) == 0)
			return PLACE_HIDDEN;
	}
	for (size_t i = 0; i < around->count; i++)
		if (strncmp(path, around->hidden[i], len) == 0 && around->hidden[i][len] == '/')
			return PLACE_ABOVE;
	return PLACE_APART;
}

static int allow_folder(struct around *around, const char *path, unsigned depth);

/* Links need no right of their own, and one that is followed here could lead to what is hidden. */
static int allow_entry(struct around *around, const char *path, unsigned depth)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat found;
	enum place place = place_of(around, path);

	if (place == PLACE_HIDDEN)
		return 0;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &found) != 0 || S_ISLNK(found.st_mode))
		return 0;
	if (place == PLACE_ABOVE)
		return allow_folder(around, path, depth + 1);
	return allow_fd(around->paths, fd, around->rights);
}

static int allow_folder(struct around *around, const char *path, unsigned depth)
{
	CLEANUP(close_folder) DIR *folder = opendir(path);
	const struct dirent *entry = NULL;
	char below[PATH_MAX];
	int r = 0;

	if (folder == NULL)
		return errno == EACCES || errno == ENOENT ? 0 : -errno;
	if (depth > DEPTH_LIMIT)
		return -ELOOP;
	while (r == 0 && (entry = readdir(folder)) != NULL) {
		int len = snprintf(below, sizeof(below), "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (len < 0 || (size_t)len >= sizeof(below))
			continue;
		if (++around->entries > ENTRIES_LIMIT)
			return -E2BIG;
		r = allow_entry(around, below, depth);
	}
	return r;
}

int confine_paths_allow_around(struct confine_paths *paths, const char *const *hidden, size_t count, unsigned rights)
{
	struct around around = {.paths = paths, .hidden = hidden, .count = count, .rights = rights};

	return count == 0 ? confine_paths_allow(paths, "/", rights) : allow_folder(&around, "/", 0);
}

int confine_paths_enforce(struct confine_paths *paths)
{
	int r = confine_no_new_privileges();

	if (r == 0 && syscall(SYS_landlock_restrict_self, paths->ruleset, 0) != 0)
		r = -errno;
	return r;
}

void confine_paths_close(struct confine_paths *paths)
{
	close_fd(&paths->ruleset);
	paths->ruleset = -1;
}
