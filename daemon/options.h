/* options.h - admitd's command line (chapter 4.3). Prints help, version and what is wrong with it.
 */
#ifndef ADMITD_DAEMON_OPTIONS_H
#define ADMITD_DAEMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

enum options_command {
	OPTIONS_SERVE = 0,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_TOKEN_RESET,
	OPTIONS_ROUTES,
	OPTIONS_AUDIT_KEY,
	OPTIONS_AUDIT_VERIFY,
	OPTIONS_RESTORE,
	OPTIONS_DOCTOR,
};

enum { OPTIONS_KEYS_MAX = 16 };

/* NULL: not given. All point into argv. */
struct options {
	enum options_command command;
	const char *config;
	const char *state;
	const char *listen;
	const char *catalog;
	const char *port_file;
	const char *file;  /* of audit-key and restore */
	const char *store; /* of audit-verify, as the next three */
	const char *exported;
	const char *keys[OPTIONS_KEYS_MAX];
	size_t key_count;
	bool is_json;
};

enum options_result {
	OPTIONS_ANSWERED = 1, /* --help or --version: exit 0 */
	OPTIONS_USAGE,        /* said what is wrong: exit 2 */
};

/* 0 or a result above. */
int options_read(int argc, char *const *argv, struct options *ret) MUST_USE;

#endif
