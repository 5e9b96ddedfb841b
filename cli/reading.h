/* reading.h - what the commands that read a folder by themselves share: the root, names, the answer (chapters 5.2, 5.3).
 *
 * They need no daemon. What is shown with --json is byte for byte what the tool of the same name answers over MCP. One thread.
 */
#ifndef ADMITD_CLI_READING_H
#define ADMITD_CLI_READING_H

#include <jansson.h>

#include "cli/cli.h"
#include "reader/arguments.h"
#include "reader/contained.h"
#include "reader/tools.h"

/* --root, or the folder where the command runs. 0 or an exit code after saying why; the caller closes it. */
int reading_root(struct cli *cli, struct contained_root *ret) MUST_USE;

/* The words from that place on as names, each once; escapes that an answer showed are read back. 0 or an exit code after saying why. */
int reading_names(struct cli *cli, size_t first, size_t most, struct arguments_names *ret) MUST_USE;

/* A limit, where it is given. 0 or CLI_USAGE after saying the range. */
int reading_limit(struct cli *cli, const char *option, int64_t most, int64_t *ret) MUST_USE;

/* With --json shows the answer and leaves *ret NULL; else parses it, for the caller to show and to release. 0 or an exit code. */
int reading_answer(struct cli *cli, struct str answer, json_t **ret) MUST_USE;

/* A line that names the bounds that cut the answer; nothing where none did. */
void reading_show_bounds(struct cli *cli, const json_t *answer);

#endif
