/* confine.h - what a process gives up for good: paths it will never open, calls it will never make (chapter 3.2 "Processes").
 *
 * Landlock and seccomp bind the thread that asks and all that it starts later, so a program asks before its first thread. What
 * the kernel lacks is said and is no failure: the caller reports it. May use policy, the kernel's Landlock calls and libseccomp.
 */
#ifndef ADMITD_CONFINE_CONFINE_H
#define ADMITD_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

enum confine_right {
	CONFINE_READ = 1,    /* files and folders */
	CONFINE_WRITE = 2,   /* everything that changes them, new ones with it */
	CONFINE_EXECUTE = 4, /* and reading */
};

enum confine_result {
	CONFINE_MISSING = 1, /* the kernel has no Landlock, or it is switched off */
};

/* Paths while they are collected. Zeroed but for `ruleset` -1; released by confine_paths_close(). */
struct confine_paths {
	int ruleset;
	int version; /* of Landlock; 0: none */
};

/* From here on nothing but what is allowed below. `keeps_connect`: TCP connections may still be opened (without it they are forbidden
 * where Landlock knows how). 0, CONFINE_MISSING, or -errno. */
int confine_paths_open(struct confine_paths *paths, bool keeps_connect) MUST_USE;
/* A file or folder with all that is below it. 0, or -errno (-ENOENT: it isn't there, and stays forbidden). */
int confine_paths_allow(struct confine_paths *paths, const char *path, unsigned rights) MUST_USE;
/* All of the file system but the hidden paths, which must be resolved, absolute and not "/". Siblings that are made later beside a hidden
 * path or its parents are hidden with it. 0 or -errno. */
int confine_paths_allow_around(
	struct confine_paths *paths, const char *const *hidden, size_t count, unsigned rights) MUST_USE;
/* Puts them in force for this thread and all later ones. 0 or -errno. */
int confine_paths_enforce(struct confine_paths *paths) MUST_USE;
void confine_paths_close(struct confine_paths *paths);

enum confine_calls {
	CONFINE_CALLS_SERVER = 0, /* never executes, never connects */
	CONFINE_CALLS_CLIENT,     /* never executes */
	CONFINE_CALLS_LAUNCHER,   /* executes and connects; no more than that */
};

/* Forbids calls that no part of ours makes: they answer EPERM. 0 or -errno. */
int confine_calls(enum confine_calls calls) MUST_USE;

/* For a process of one thread that only reads from here on: calls not on a short list answer EPERM. On it are reading and what goes with
 * it, opening for reading, writing to what is open already, time, memory and the end; neither sockets, processes, threads, signals to
 * others nor anything that changes a file by its name. The flags of openat2() lie in memory, where a filter can't see them: there
 * Landlock holds, or nothing where the kernel has none. 0 or -errno. */
int confine_calls_reading(void) MUST_USE;

/* Nothing that is executed gains rights by it. 0 or -errno. */
int confine_no_new_privileges(void) MUST_USE;

#endif
