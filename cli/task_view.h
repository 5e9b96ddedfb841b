/* task_view.h - tasks and packages as tables (chapter 4.2, their representations).
 */
#ifndef ADMITD_CLI_TASK_VIEW_H
#define ADMITD_CLI_TASK_VIEW_H

#include <jansson.h>

#include "cli/cli.h"

/* Appends what a task is: id, title, status, plan revision, who sent it. */
void task_view_head(struct cli *cli, const json_t *task);

/* Appends the table of a task's packages. 0 or an exit code after saying why. */
int task_view_packages(struct cli *cli, const json_t *packages) MUST_USE;

/* A hold in words: "needs grant, never approved"; "-" for none. In the run's arena. */
const char *task_view_hold(struct cli *cli, const json_t *hold);

#endif
