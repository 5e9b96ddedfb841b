/* contained_steps.h - the system calls behind contained.h; for this room and its tests.
 *
 * May use the kernel only. Every result is a descriptor (0 or more) or -errno, untranslated. Any thread.
 */
#ifndef ADMITD_READER_CONTAINED_STEPS_H
#define ADMITD_READER_CONTAINED_STEPS_H

#include <stdbool.h>

#include "policy/check.h"
#include "reader/contained.h"

/* Whether openat2() can be used: asked of the kernel on each call. */
bool contained_probe(void) MUST_USE;
/* Whether what openat2() answered means that it isn't there: ENOSYS, E2BIG, EPERM. */
bool contained_probe_is_missing(int error) MUST_USE;

/* O_PATH of `below` (ended by NUL, relative) through openat2(). */
int contained_step_openat2(int root_fd, const char *below, enum contained_links links) MUST_USE;
/* A descriptor of `below` that reads, with no link followed anywhere and nothing waited for. */
int contained_step_openat2_file(int root_fd, const char *below) MUST_USE;
/* O_PATH of `below`, one component at a time; -ELOOP for every link that isn't the last component under CONTAINED_FOLLOW_ABOVE. */
int contained_step_walk(int root_fd, const char *below, enum contained_links links) MUST_USE;

#endif
