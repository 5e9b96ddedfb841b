#include "daemon/health/root_health.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/monotonic.h"
#include "policy/cleanup.h"

enum { STACK_BYTES = 256 * 1024 };

/* One look at a folder. A thread of its own does it, since nothing ends an open() that hangs; whoever is last frees this. */
struct look {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;
	bool is_given_up;
	int result;
	struct root_found found;
	char path[PATH_MAX];
};

static atomic_uint looking;

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

static int look_at(const char *path, struct root_found *ret)
{
	CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		return -errno;
	ret->device = (uint64_t)status.st_dev;
	ret->inode = (uint64_t)status.st_ino;
	return read_real_path(fd, ret->real_path, sizeof(ret->real_path));
}

static void look_free(struct look *look)
{
	pthread_cond_destroy(&look->changed);
	pthread_mutex_destroy(&look->lock);
	free(look);
}

static void *look_main(void *arg)
{
	struct look *look = arg;
	struct root_found found = {0};
	int r = look_at(look->path, &found);
	bool is_given_up = false;

	pthread_mutex_lock(&look->lock);
	look->found = found;
	look->result = r;
	look->is_over = true;
	is_given_up = look->is_given_up;
	pthread_cond_broadcast(&look->changed);
	pthread_mutex_unlock(&look->lock);
	atomic_fetch_sub(&looking, 1);
	if (is_given_up)
		look_free(look);
	return NULL;
}

static struct look *look_new(const char *path)
{
	struct look *look = calloc(1, sizeof(*look));

	if (look == NULL)
		return NULL;
	memcpy(look->path, path, strlen(path) + 1);
	pthread_mutex_init(&look->lock, NULL);
	monotonic_cond_init(&look->changed);
	return look;
}

static int look_start(struct look *look)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = pthread_create(&thread, &attributes, look_main, look);
	pthread_attr_destroy(&attributes);
	return -r;
}

/* Waits for the end or gives up; the thread frees what was given up. */
static int look_wait(struct look *look, int timeout_ms, struct root_found *ret)
{
	struct timespec deadline = monotonic_in(timeout_ms);
	bool is_over = false;
	int r = 0;

	pthread_mutex_lock(&look->lock);
	while (!look->is_over && r == 0)
		r = pthread_cond_timedwait(&look->changed, &look->lock, &deadline);
	is_over = look->is_over;
	look->is_given_up = !is_over;
	if (is_over)
		*ret = look->found;
	r = is_over ? look->result : -ETIMEDOUT;
	pthread_mutex_unlock(&look->lock);
	if (is_over)
		look_free(look);
	return r;
}

int root_health_open(const char *path, int timeout_ms, struct root_found *ret)
{
	struct look *look = NULL;
	int r = 0;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (atomic_fetch_add(&looking, 1) >= ROOT_HEALTH_HANGING_LIMIT) {
		atomic_fetch_sub(&looking, 1);
		return -EBUSY;
	}
	look = look_new(path);
	r = look != NULL ? look_start(look) : -ENOMEM;
	if (r != 0) {
		atomic_fetch_sub(&looking, 1);
		if (look != NULL)
			look_free(look);
		return r;
	}
	return look_wait(look, timeout_ms, ret);
}

enum health_status root_health_observe(const char *path, uint64_t device, uint64_t inode, const char **ret_error)
{
	struct root_found found;
	int r = path != NULL ? root_health_open(path, ROOT_HEALTH_TIMEOUT_MS, &found) : 0;

	*ret_error = NULL;
	if (path == NULL)
		*ret_error = "the project has no folder";
	else if (r == -ETIMEDOUT || r == -EBUSY)
		*ret_error = "the project's folder doesn't answer";
	else if (r != 0)
		*ret_error = "the project's folder can't be opened";
	else if (found.device != device || found.inode != inode)
		*ret_error = "the project's folder isn't the directory that was set";
	return *ret_error == NULL ? HEALTH_HEALTHY : HEALTH_CONFIGURATION_REQUIRED;
}
