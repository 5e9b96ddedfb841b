/* admitd_exec.h - commands that admitd itself does without a daemon: this program becomes it (chapter 4.3).
 *
 * So that there is one check of a log and one way to restore, and this room needs no store. admitd is looked for beside this program,
 * then where it is installed, then in PATH.
 */
#ifndef ADMITD_CLI_ADMITD_EXEC_H
#define ADMITD_CLI_ADMITD_EXEC_H

#include "cli/cli.h"

enum { ADMITD_EXEC_WORDS = 48 };

struct admitd_exec {
	const char *words[ADMITD_EXEC_WORDS + 1];
	size_t count;
};

/* Adds a word; a NULL is none. */
void admitd_exec_add(struct admitd_exec *exec, const char *word);
/* Adds an option and its value, unless that is NULL. */
void admitd_exec_option(struct admitd_exec *exec, const char *name, const char *value);
/* Adds --json if it was given, and becomes admitd. Returns only when it can't, with an exit code, after saying why. */
int admitd_exec_run(struct cli *cli, struct admitd_exec *exec);

#endif
