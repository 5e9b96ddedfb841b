/* root_health.h - the built-in file server: a project's root opens, and is the directory it was (chapters 2.3, 2.4).
 *
 * These wait for the file system, so they are never called inside a transaction; a file system that doesn't answer is given up
 * after a time, and only so many may hang at once. They read nothing in the directory and follow the path as the kernel
 * does; what it is, is known by device and inode. May use policy only. Any thread.
 */
#ifndef ADMITD_DAEMON_HEALTH_ROOT_HEALTH_H
#define ADMITD_DAEMON_HEALTH_ROOT_HEALTH_H

#include <limits.h>
#include <stdint.h>

#include "policy/check.h"
#include "policy/health_row.h"

/* Chapter 2.3: 3 s each. */
enum { ROOT_HEALTH_TIMEOUT_MS = 3000, ROOT_HEALTH_HANGING_LIMIT = 16 };

struct root_found {
	uint64_t device;
	uint64_t inode;
	char real_path[PATH_MAX]; /* without links */
};

/* Opens a directory for reading, and closes it: 0, or -errno (-ENOTDIR, -ENOENT, -EACCES, …; -ETIMEDOUT: no answer within
 * `timeout_ms`; -EBUSY: too many hang already; -ENAMETOOLONG).
 */
int root_health_open(const char *path, int timeout_ms, struct root_found *ret) MUST_USE;

/* What is seen of a root now: HEALTH_HEALTHY, or HEALTH_CONFIGURATION_REQUIRED and a literal that says why. `path` NULL: the
 * project has none.
 */
enum health_status root_health_observe(
	const char *path, uint64_t device, uint64_t inode, const char **ret_error) MUST_USE;

#endif
