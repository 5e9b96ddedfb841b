/* child.h - a program that this one runs to its end, with its output filtered (chapter 5.7).
 *
 * What the child prints goes through the filter wherever it isn't a terminal: a person sees what they set themselves, a log doesn't.
 * Signals that ask this program to end are passed on; if this program is killed, the child is told to end. One thread, once at a time.
 */
#ifndef ADMITD_CLI_CHILD_H
#define ADMITD_CLI_CHILD_H

#include "agents/secret_mask.h"
#include "cli/cli.h"

struct child {
	char *const *arguments;  /* ended by NULL; the first is the program, looked for in PATH */
	const char *environment; /* "NAME=VALUE" beside ours; NULL: nothing */
	const struct secret_mask *mask;
};

/* Runs it. Its exit status, 128 and the number of the signal that ended it, or CLI_USAGE after saying why it couldn't be run. */
int child_run(struct cli *cli, const struct child *child) MUST_USE;

#endif
