#include "agents/project_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "policy/cleanup.h"

/* A file beside the target: ".NAME.admitd-0123456789abcdef.tmp". */
#define BESIDE_PREFIX ".admitd-"
#define BESIDE_SUFFIX ".tmp"
enum { BESIDE_SIZE = 96, LOCK_TRIES = 500, LOCK_PAUSE_MS = 20 };

static void file_drop(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void project_folder_drop(int *folder)
{
	file_drop(folder);
}

const char *project_file_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "folder";
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "FIFO";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

/* ---- folders */

int project_folder_open(int parent, const char *name, int *ret_folder)
{
	struct stat seen;
	int folder;

	if (fstatat(parent, name, &seen, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (S_ISLNK(seen.st_mode))
		return -ELOOP;
	if (!S_ISDIR(seen.st_mode))
		return -ENOTDIR;
	folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	*ret_folder = folder;
	return 0;
}

int project_folder_lock(int folder)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(folder, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		(void)poll(NULL, 0, LOCK_PAUSE_MS);
	}
	return -EBUSY;
}

static bool is_beside(const char *entry, const char *name)
{
	size_t len = strlen(name);
	size_t entry_len = strlen(entry);

	return entry[0] == '.' && entry_len > len + sizeof(BESIDE_PREFIX BESIDE_SUFFIX) &&
		strncmp(entry + 1, name, len) == 0 &&
		strncmp(entry + 1 + len, BESIDE_PREFIX, strlen(BESIDE_PREFIX)) == 0 &&
		strcmp(entry + entry_len - strlen(BESIDE_SUFFIX), BESIDE_SUFFIX) == 0;
}

void project_folder_sweep(int folder, const char *name)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (entries == NULL) {
		file_drop(&copy);
		return;
	}
	while ((entry = readdir(entries)) != NULL)
		if (is_beside(entry->d_name, name))
			(void)unlinkat(folder, entry->d_name, 0);
	closedir(entries);
}

/* ---- reading */

static enum project_file_class class_of(mode_t mode)
{
	if (S_ISREG(mode))
		return PROJECT_FILE_REGULAR;
	return S_ISLNK(mode) || S_ISDIR(mode) ? PROJECT_FILE_ODD : PROJECT_FILE_SPECIAL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
		a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int read_bytes(struct arena *arena, int file, size_t limit, struct str *ret_text)
{
	struct stat seen;
	size_t room;
	size_t len = 0;
	char *bytes;

	if (fstat(file, &seen) != 0)
		return -errno;
	room = seen.st_size > (off_t)limit ? limit + 1 : (size_t)seen.st_size + 1;
	bytes = arena_alloc(arena, room + 1);
	if (bytes == NULL)
		return -ENOMEM;
	while (len < room) {
		ssize_t got = read(file, bytes + len, room - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	*ret_text = (struct str){bytes, len};
	return 0;
}

int project_file_read(struct arena *arena, int folder, const char *name, size_t limit, struct project_file *ret)
{
	CLEANUP(file_drop) int file = -1;
	struct stat opened;
	int r;

	*ret = (struct project_file){.name = name, .class = PROJECT_FILE_ABSENT, .kind = "absent"};
	if (folder < 0)
		return 0;
	if (fstatat(folder, name, &ret->seen, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -errno;
	ret->class = class_of(ret->seen.st_mode);
	ret->kind = project_file_kind(ret->seen.st_mode);
	if (ret->class != PROJECT_FILE_REGULAR)
		return 0;
	/* What takes its place now is not waited for and not followed, and told by the comparison. */
	file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENXIO ? PROJECT_FILE_CHANGED : -errno;
	if (fstat(file, &opened) != 0)
		return -errno;
	if (!is_same(&opened, &ret->seen))
		return PROJECT_FILE_CHANGED;
	r = read_bytes(arena, file, limit, &ret->text);
	if (r != 0)
		return r;
	if (fstat(file, &opened) != 0)
		return -errno;
	return is_same(&opened, &ret->seen) ? 0 : PROJECT_FILE_CHANGED;
}

/* ---- writing */

/* Whether `name` is the same file with the same text as `file` was. */
static int compare(int folder, const char *name, const struct project_file *file)
{
	struct project_file now;
	struct arena arena;
	int r;

	arena_init(&arena, 4 * file->text.len + 65536);
	r = project_file_read(&arena, folder, name, file->text.len, &now);
	if (r == 0 &&
		(now.class != file->class || now.seen.st_ino != file->seen.st_ino ||
			now.seen.st_dev != file->seen.st_dev || !str_equal(now.text, file->text)))
		r = PROJECT_FILE_CHANGED;
	arena_release(&arena);
	return r;
}

static int name_beside(const char *name, char beside[static BESIDE_SIZE])
{
	unsigned long long number = 0;
	int len;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	len = snprintf(beside, BESIDE_SIZE, ".%s" BESIDE_PREFIX "%016llx" BESIDE_SUFFIX, name, number);
	return len < BESIDE_SIZE ? 0 : -ENAMETOOLONG;
}

static int write_bytes(int file, struct str text)
{
	size_t len = 0;

	while (len < text.len) {
		ssize_t put = write(file, text.bytes + len, text.len - len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		len += (size_t)put;
	}
	return fsync(file) == 0 ? 0 : -errno;
}

/* A new file beside the target with the text and the target's mode, synced. */
static int write_beside(int folder, const struct project_file *file, const char *beside, struct str text)
{
	bool is_new = file->class == PROJECT_FILE_ABSENT;
	CLEANUP(file_drop)
	int out = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, is_new ? 0666 : 0600);

	if (out < 0)
		return -errno;
	/* Only root may give a file away; another's becomes ours, as with any editor that replaces files. */
	if (!is_new && fchown(out, file->seen.st_uid, file->seen.st_gid) != 0 && errno != EPERM)
		return -errno;
	if (!is_new && fchmod(out, file->seen.st_mode & 07777) != 0)
		return -errno;
	return write_bytes(out, text);
}

/* Puts a new file in place, never over another. */
static int place_new(int folder, const char *beside, const char *name)
{
	if (renameat2(folder, beside, folder, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno == EEXIST ? PROJECT_FILE_CHANGED : -errno;
	if (linkat(folder, beside, folder, name, 0) != 0)
		return errno == EEXIST ? PROJECT_FILE_CHANGED : -errno;
	return unlinkat(folder, beside, 0) == 0 ? 0 : -errno;
}

/* A hold on whatever has this name: while it lasts, its inode's number is nobody else's. */
static int hold(int folder, const char *name)
{
	int file = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return file < 0 ? -errno : file;
}

static int is_held(int folder, const char *name, int held, bool *ret)
{
	struct stat a;
	struct stat b;

	if (fstatat(folder, name, &a, AT_SYMLINK_NOFOLLOW) != 0 || fstat(held, &b) != 0)
		return -errno;
	*ret = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return 0;
}

/* Theirs came out of the place that ours, `*put`, is in now. They change back. If what comes out then isn't what was put in, others
 * went on writing, and theirs is newer than what was put back: again, until the newest is in the place. */
static int give_back(int folder, const char *beside, const char *name, int *put)
{
	bool is_back = false;
	int r = 0;

	while (r == 0 && !is_back) {
		int next = hold(folder, beside);

		if (next < 0)
			return next;
		r = renameat2(folder, beside, folder, name, RENAME_EXCHANGE) == 0 ? 0 : -errno;
		if (r == 0)
			r = is_held(folder, beside, *put, &is_back);
		file_drop(put);
		*put = next;
	}
	return r == 0 ? PROJECT_FILE_CHANGED : r;
}

/* Two files change places in one step, so nobody's text is gone before it was looked at. */
static int place_over(int folder, const char *beside, const struct project_file *file)
{
	CLEANUP(file_drop) int ours = -1;
	int r = compare(folder, file->name, file);

	if (r != 0)
		return r;
	ours = hold(folder, beside);
	if (ours < 0)
		return ours;
	if (renameat2(folder, beside, folder, file->name, RENAME_EXCHANGE) != 0) {
		if (errno == ENOENT)
			return PROJECT_FILE_CHANGED;
		if (errno != EINVAL && errno != ENOSYS)
			return -errno;
		return renameat(folder, beside, folder, file->name) == 0 ? 0 : -errno;
	}
	r = compare(folder, beside, file);
	return r == 0 ? 0 : give_back(folder, beside, file->name, &ours);
}

int project_file_publish(int folder, const struct project_file *file, struct str text)
{
	char beside[BESIDE_SIZE];
	int r = name_beside(file->name, beside);

	if (r != 0)
		return r;
	r = write_beside(folder, file, beside, text);
	if (r == 0)
		r = file->class == PROJECT_FILE_ABSENT ? place_new(folder, beside, file->name)
						       : place_over(folder, beside, file);
	(void)unlinkat(folder, beside, 0);
	if (r == 0 && fsync(folder) != 0)
		r = -errno;
	return r;
}

int project_file_delete(int folder, const struct project_file *file)
{
	char beside[BESIDE_SIZE];
	int r = name_beside(file->name, beside);

	if (r != 0)
		return r;
	if (renameat(folder, file->name, folder, beside) != 0)
		return errno == ENOENT ? PROJECT_FILE_CHANGED : -errno;
	r = compare(folder, beside, file);
	if (r != 0) {
		int back = place_new(folder, beside, file->name);

		/* A newer one stands there already. */
		if (back == PROJECT_FILE_CHANGED)
			(void)unlinkat(folder, beside, 0);
		return back < 0 ? back : PROJECT_FILE_CHANGED;
	}
	if (unlinkat(folder, beside, 0) != 0 || fsync(folder) != 0)
		return -errno;
	return 0;
}
