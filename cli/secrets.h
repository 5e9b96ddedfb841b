/* secrets.h - the secrets that a person or a run names, for the filter of what a child prints (chapter 5.7).
 *
 * A file of them is a JSON array of texts. What is wrong is said without quoting any. One thread at a time.
 */
#ifndef ADMITD_CLI_SECRETS_H
#define ADMITD_CLI_SECRETS_H

#include "agents/secret_mask.h"
#include "cli/cli.h"

enum { SECRETS_MOST = 1024 };

struct secrets {
	struct str items[SECRETS_MOST]; /* in the run's arena */
	size_t count;
};

/* Adds a copy. 0, or CLI_USAGE after saying that it is too short, or one too many; `what` says whose. */
int secrets_add(struct cli *cli, struct secrets *secrets, struct str secret, const char *what) MUST_USE;

/* Adds what a file holds. 0, or an exit code after saying why not. */
int secrets_add_file(struct cli *cli, struct secrets *secrets, const char *path) MUST_USE;

/* The mask of all of them, in the run's arena. 0, or an exit code after saying why. */
int secrets_mask(struct cli *cli, const struct secrets *secrets, struct secret_mask *ret) MUST_USE;

#endif
