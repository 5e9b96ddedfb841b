/* plan_revision.h - which revision of a plan a command is about: the one that was read, or the current one, which is said.
 */
#ifndef ADMITD_CLI_PLAN_REVISION_H
#define ADMITD_CLI_PLAN_REVISION_H

#include "cli/cli.h"

/* What --plan-revision names, else what the daemon says of the task now; `doing` is a word for people ("approving"). 0 and
 * *ret_revision, which lives as long as the run, or an exit code after saying why.
 */
int plan_revision_find(struct cli *cli, const char *task, const char *doing, const char **ret_revision) MUST_USE;

#endif
