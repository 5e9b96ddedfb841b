#include "daemon/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"
#include "policy/cleanup.h"

enum { CONTROL = 3 };

static const char program[] = "admitd-prober";

/* ---- giving up */

static int allow_roots(const struct sandbox_config *config, struct confine_paths *paths, struct sandbox *ret)
{
	int r = 0;

	if (config->root_count == 0)
		return confine_paths_allow(paths, "/", CONFINE_READ);
	for (size_t i = 0; r == 0 && i < config->root_count; i++) {
		r = confine_paths_allow(paths, config->roots[i], CONFINE_READ);
		if (r == 0 || ret->missing_count == SANDBOX_MISSING_PATHS)
			continue;
		ret->missing_roots[ret->missing_count++] = i;
		r = 0;
	}
	return r;
}

static int allow_folder_of(struct confine_paths *paths, const char *file, unsigned rights)
{
	CLEANUP(free_drop) char *copy = strdup(file);

	return copy != NULL ? confine_paths_allow(paths, dirname(copy), rights) : -ENOMEM;
}

/* The folder, not the file, which is replaced by another one; and where a link leads now, as renewers keep their files elsewhere. */
static int allow_replaced(struct confine_paths *paths, const char *file)
{
	CLEANUP(free_drop) char *real = file != NULL ? realpath(file, NULL) : NULL;
	int r = file != NULL ? allow_folder_of(paths, file, CONFINE_READ) : 0;

	return r == 0 && real != NULL ? allow_folder_of(paths, real, CONFINE_READ) : r;
}

/* What libraries look at by themselves. */
static int allow_devices(struct confine_paths *paths)
{
	static const char *const devices[] = {"/dev/urandom", "/dev/null", "/proc/self", "/sys/devices/system/cpu"};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		int r = confine_paths_allow(paths, devices[i], CONFINE_READ);

		if (r != 0 && r != -ENOENT && r != -EACCES)
			return r;
	}
	return 0;
}

static int enter_landlock(const struct sandbox_config *config, struct sandbox *ret)
{
	struct confine_paths paths;
	int r = confine_paths_open(&paths, false);

	if (r == 0)
		r = confine_paths_allow(&paths, config->state, CONFINE_READ | CONFINE_WRITE);
	if (r == 0 && config->export_folder != NULL)
		r = confine_paths_allow(&paths, config->export_folder, CONFINE_READ | CONFINE_WRITE);
	if (r == 0 && config->port_file != NULL)
		r = allow_folder_of(&paths, config->port_file, CONFINE_READ | CONFINE_WRITE);
	if (r == 0)
		r = allow_replaced(&paths, config->certificate_file);
	if (r == 0)
		r = allow_replaced(&paths, config->certificate_key_file);
	if (r == 0)
		r = allow_devices(&paths);
	if (r == 0)
		r = allow_roots(config, &paths, ret);
	if (r == 0)
		r = confine_paths_enforce(&paths);
	confine_paths_close(&paths);
	return r;
}

void sandbox_enter(const struct sandbox_config *config, struct sandbox *ret)
{
	int landlock = 0;

	*ret = (struct sandbox){0};
	landlock = enter_landlock(config, ret);
	ret->has_landlock = landlock == 0;
	ret->landlock_error = landlock < 0 ? landlock : 0;
	ret->seccomp_error = confine_calls(CONFINE_CALLS_SERVER);
	ret->has_seccomp = ret->seccomp_error == 0;
}

/* ---- the prober */

static int find_program(char ret_path[static PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int printed = 0;

	if (len > 0) {
		self[len] = '\0';
		printed = snprintf(ret_path, PATH_MAX, "%s/%s", dirname(self), program);
		if (printed > 0 && printed < PATH_MAX && access(ret_path, X_OK) == 0)
			return 0;
	}
	(void)snprintf(ret_path, PATH_MAX, "%s/%s", ADMITD_LIBEXECDIR, program);
	return access(ret_path, X_OK) == 0 ? 0 : -errno;
}

/* In the new process: only what a signal handler might call. */
static _Noreturn void be_launcher(const char *path, int control, int fault)
{
	char *const argv[] = {(char *)(uintptr_t)program, NULL};
	char *const environment[] = {NULL};
	int error = 0;

	/* The fault's descriptor goes out of the way of the control socket's fixed number. */
	fault = fcntl(fault, F_DUPFD_CLOEXEC, CONTROL + 1);
	if (control == CONTROL)
		(void)fcntl(control, F_SETFD, 0);
	else
		(void)dup2(control, CONTROL);
	(void)syscall(SYS_close_range, (unsigned)CONTROL + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (chdir("/") == 0)
		(void)execve(path, argv, environment);
	error = errno;
	(void)!write(fault, &error, sizeof(error));
	_exit(127);
}

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			(void)close(pair[i]);
}

static int start(const char *path, int control[2], int fault[2])
{
	int error = 0;
	ssize_t got = 0;
	pid_t launcher = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0 || pipe2(fault, O_CLOEXEC) != 0)
		return -errno;
	launcher = fork();
	if (launcher < 0)
		return -errno;
	if (launcher == 0)
		be_launcher(path, control[1], fault[1]);
	(void)close(fault[1]);
	fault[1] = -1;
	do
		got = read(fault[0], &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(error))
		return 0;
	while (waitpid(launcher, NULL, 0) < 0 && errno == EINTR)
		continue;
	return -error;
}

int sandbox_start_prober(int *ret_control)
{
	int control[2] = {-1, -1};
	int fault[2] = {-1, -1};
	char path[PATH_MAX];
	int r = find_program(path);

	if (r == 0)
		r = start(path, control, fault);
	if (r == 0) {
		*ret_control = control[0];
		control[0] = -1;
	}
	close_pair(control);
	close_pair(fault);
	return r;
}
