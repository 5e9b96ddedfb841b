#include "daemon/main_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/audit/audit_file.h"
#include "daemon/log.h"
#include "daemon/main_first.h"
#include "policy/cleanup.h"

static const char *const left_behind[] = {
	STORE_FILE, STORE_FILE "-wal", STORE_FILE "-shm", "admitd.lock", MAIN_ADMIN_FILE};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int say(const char *what, const char *why)
{
	log_line(LOG_LINE_ERROR, "restore", "%s: %s", what, why);
	return EXIT_FAILURE;
}

static int path_in(const char *folder, const char *name, char ret_path[static PATH_MAX])
{
	size_t folder_len = strlen(folder);
	size_t name_len = strlen(name);

	if (folder_len + name_len + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(ret_path, folder, folder_len);
	ret_path[folder_len] = '/';
	memcpy(ret_path + folder_len + 1, name, name_len + 1);
	return 0;
}

/* ---- what is there */

/* Opened and closed once as a daemon would, so that its log is in its file; a damaged one is replaced all the same. */
static int look_at_present(struct main_restore *restore)
{
	const struct store_config config = {.state_folder = restore->state};
	CLEANUP(store_drop) struct store *store = NULL;
	char path[PATH_MAX];
	int r = path_in(restore->state, STORE_FILE, path);

	if (r != 0)
		return say(restore->state, main_first_fault(r));
	if (access(path, F_OK) != 0)
		return 0;
	r = store_open(&config, &store);
	if (r == STORE_OPEN_ELSEWHERE)
		return say(restore->state, main_first_fault(r));
	if (r == 0)
		r = store_inspect(store, false, &restore->replaced);
	if (r != 0)
		log_line(LOG_LINE_WARNING, "restore",
			"the store that is replaced can't be read (%s); its head is unknown", main_first_fault(r));
	return 0;
}

/* What was exported may be all that is known of a store that was lost. */
static void look_at_export(struct main_restore *restore, struct store *store, const char *export_folder)
{
	struct store_checkpoint last = {0};

	if (export_folder == NULL || restore->replaced.sequence != 0 ||
		audit_file_last(export_folder, store_identity(store), &last) != 0)
		return;
	restore->replaced.sequence = last.sequence;
	memcpy(restore->replaced.hash, last.hash, sizeof(last.hash));
}

/* ---- the backup */

static int copy_bytes(int from, int to)
{
	char piece[64 * 1024];
	ssize_t got = 0;

	while ((got = read(from, piece, sizeof(piece))) > 0) {
		for (ssize_t at = 0; at < got;) {
			ssize_t wrote = write(to, piece + at, (size_t)(got - at));

			if (wrote < 0)
				return -errno;
			at += wrote;
		}
	}
	if (got < 0)
		return -errno;
	return fsync(to) == 0 ? 0 : -errno;
}

static void empty_folder(const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(left_behind) / sizeof(left_behind[0]); i++)
		if (path_in(folder, left_behind[i], path) == 0)
			(void)unlink(path);
}

static int copy_backup(struct main_restore *restore, const char *file)
{
	CLEANUP(close_fd) int from = open(file, O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int to = -1;
	char path[PATH_MAX];
	int r = path_in(restore->folder, STORE_FILE, path);

	if (from < 0)
		return say(file, strerrordesc_np(errno));
	if (mkdir(restore->folder, 0700) != 0 && errno != EEXIST)
		return say(restore->folder, strerrordesc_np(errno));
	empty_folder(restore->folder);
	if (r == 0)
		to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r == 0)
		r = to < 0 ? -errno : copy_bytes(from, to);
	return r != 0 ? say(restore->folder, strerrordesc_np(-r)) : 0;
}

static int refuse_verdict(const char *file, const struct audit_verdict *verdict)
{
	for (size_t i = 0; i < verdict->fault_count; i++)
		log_line(LOG_LINE_ERROR, "restore", "%s: %s: %s", file, audit_fault_kind_text(verdict->faults[i].kind),
			verdict->faults[i].text);
	return verdict->fault_count != 0 ? say(file, "its log is not sound; nothing was restored") : 0;
}

static int check_backup(
	struct main_restore *restore, const char *file, const char *export_folder, const struct audit_trust *trust)
{
	CLEANUP(store_drop) struct store *store = NULL;
	CLEANUP(free_drop) struct audit_verdict *verdict = calloc(1, sizeof(*verdict));
	struct audit_verify verify = {.trust = trust};
	char path[PATH_MAX];
	int r = path_in(restore->folder, STORE_FILE, path);

	if (verdict == NULL)
		return say(file, strerrordesc_np(ENOMEM));
	if (r == 0)
		r = store_open_file(path, &store);
	if (r == 0)
		r = store_inspect(store, true, &restore->restored);
	if (r != 0)
		return say(file, main_first_fault(r));
	look_at_export(restore, store, export_folder);
	verify.store = store;
	r = audit_verify_store(&verify, verdict);
	return r != 0 ? say(file, main_first_fault(r)) : refuse_verdict(file, verdict);
}

int main_restore_begin(struct main_restore *restore, const char *state, const char *file, const char *export_folder,
	const struct audit_trust *trust)
{
	int r = 0;

	*restore = (struct main_restore){.state = state, .lock_fd = -1};
	r = path_in(state, "restore.tmp", restore->folder);
	if (r != 0)
		return say(state, strerrordesc_np(-r));
	r = look_at_present(restore);
	if (r != 0)
		return r;
	r = store_lock(state, &restore->lock_fd);
	if (r != 0)
		return say(state, main_first_fault(r));
	r = copy_backup(restore, file);
	return r != 0 ? r : check_backup(restore, file, export_folder, trust);
}

/* ---- in place */

/* The log of a damaged store must not be taken for the new one's, so it goes first. */
static int set_aside(const struct main_restore *restore, const char *name, long long at)
{
	char from[PATH_MAX];
	char aside[NAME_MAX];
	char to[PATH_MAX];
	bool is_log = strcmp(name, STORE_FILE) != 0;

	(void)snprintf(aside, sizeof(aside), "%s.replaced-%lld", name, at);
	if (path_in(restore->state, name, from) != 0 || path_in(restore->state, aside, to) != 0)
		return -ENAMETOOLONG;
	if ((is_log ? rename(from, to) : link(from, to)) != 0 && errno != ENOENT)
		return -errno;
	return 0;
}

static int put(const struct main_restore *restore, const char *name)
{
	char from[PATH_MAX];
	char to[PATH_MAX];

	if (path_in(restore->folder, name, from) != 0 || path_in(restore->state, name, to) != 0)
		return -ENAMETOOLONG;
	return rename(from, to) == 0 ? 0 : -errno;
}

static int sync_folder(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && fsync(fd) == 0 ? 0 : -errno;
}

int main_restore_swap(struct main_restore *restore, const char *token_file)
{
	long long at = (long long)time(NULL);
	char key[PATH_MAX];
	int r = path_in(restore->state, MAIN_KEY_FILE, key);

	for (int i = 2; r == 0 && i >= 0; i--)
		r = set_aside(restore, left_behind[i], at);
	if (r == 0)
		r = put(restore, token_file);
	if (r == 0 && unlink(key) != 0 && errno != ENOENT)
		r = -errno;
	if (r == 0)
		r = put(restore, STORE_FILE);
	if (r == 0)
		r = sync_folder(restore->state);
	if (r != 0)
		return say(restore->state, strerrordesc_np(-r));
	if (restore->replaced.sequence != 0)
		log_line(LOG_LINE_INFO, "restore", "the store that was there is kept as %s.replaced-%lld", STORE_FILE,
			at);
	return 0;
}

void main_restore_end(struct main_restore *restore)
{
	if (restore->lock_fd >= 0) {
		empty_folder(restore->folder);
		(void)rmdir(restore->folder);
	}
	close_fd(&restore->lock_fd);
	restore->lock_fd = -1;
}
