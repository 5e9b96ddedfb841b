/* sandbox.h - what admitd gives up before its first thread: most of the file system, and every program (chapter 3.2 "Processes").
 *
 * In this order: the prober's launcher is started, which nothing could start later; then Landlock, then seccomp. What the kernel
 * lacks is no failure: it is said at the start and in /v1/version. May use confine and policy. Prints nothing. Once, from the
 * main thread, before any other.
 */
#ifndef ADMITD_DAEMON_SANDBOX_H
#define ADMITD_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

enum { SANDBOX_MISSING_PATHS = 64 };

struct sandbox_config {
	const char *state;            /* read and written; it must be there */
	const char *port_file;        /* its folder is written; NULL: none */
	const char *export_folder;    /* of the log; read and written; NULL: none */
	const char *certificate_file; /* read, with what is put in their place, as is the next; NULL: none */
	const char *certificate_key_file;
	char *const *roots; /* [roots] allow, read; none: everything is */
	size_t root_count;
};

struct sandbox {
	bool has_landlock; /* in force */
	bool has_seccomp;
	int landlock_error; /* -errno of what failed, where the kernel has it */
	int seccomp_error;
	size_t missing_roots[SANDBOX_MISSING_PATHS]; /* positions of those that aren't there, and can't be read later */
	size_t missing_count;
};

void sandbox_enter(const struct sandbox_config *config, struct sandbox *ret);

/* Starts `admitd-prober`, beside this program or where it is installed; *ret_control is the control socket. 0, or -errno (-ENOENT:
 * there is none). The launcher ends when the socket is closed. */
int sandbox_start_prober(int *ret_control) MUST_USE;

#endif
