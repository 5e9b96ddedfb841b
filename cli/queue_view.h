/* queue_view.h - the recovery queue as people read it (chapters 2.6, 7.2).
 */
#ifndef ADMITD_CLI_QUEUE_VIEW_H
#define ADMITD_CLI_QUEUE_VIEW_H

#include <jansson.h>

#include "cli/cli.h"

/* Appends one line: how many wait, of which kinds, and what no executor takes. */
void queue_view_head(struct cli *cli, const json_t *queue);

/* Appends each item as a block, with the commands that free it. */
void queue_view_items(struct cli *cli, const json_t *items);

/* Appends the first `limit` items as a table. 0 or an exit code after saying why. */
int queue_view_table(struct cli *cli, const json_t *items, size_t limit) MUST_USE;

#endif
