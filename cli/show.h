/* show.h - what a surface said of a package, as a block that a person reads (chapter 4.3).
 *
 *	BLOCKED  backend  pkg_6f1x0c2v8m
 *	  Waiting for read access
 *	  backend asks to read filesystem.project.read in tracker; nobody has decided.
 *	  why        filesystem.project.read needs an operator's grant
 *	  changed    since preview:
 *	             grants/fs-backend: approved -> revoked
 *	  to free    admitctl grant pkg_6f1x0c2v8m --expected-revision 0 --root-revision 1
 *
 * Words and actions are the daemon's. Commands are never cut or wrapped: they are there to be copied.
 */
#ifndef ADMITD_CLI_SHOW_H
#define ADMITD_CLI_SHOW_H

#include <jansson.h>

#include "cli/cli.h"
#include "cli/remedy.h"

/* Appends the block of `item`, which has the members of 4.2 (label, packageId, operatorState, reason, comparedWith,
 * changedInputs, actions). `status` is its word where the item does not say it.
 */
void show_package(struct cli *cli, const json_t *item, const char *status, const struct remedy_context *context);

/* One line "  label     text", painted, wrapped behind its label; nothing for a NULL or empty text. */
void show_line(struct cli *cli, const char *label, const char *text);
/* The same for a command: neither wrapped nor cut. */
void show_command(struct cli *cli, const char *label, const char *command);

/* What changed since the surface before: comparedWith and changedInputs of `item`. */
void show_changes(struct cli *cli, const json_t *item);

/* Which of the actions frees what is held, as a command, and the one that does so for the whole project. */
void show_remedies(struct cli *cli, const json_t *actions, const struct remedy_context *context);

/* "2026-11-30T09:04:15.900Z" as "2026-11-30 09:04:15 UTC", in the run's arena; "" for NULL. */
const char *show_time(struct cli *cli, const char *time);

/* The head of a block: the status as a word, then label and id. */
void show_head(struct cli *cli, const char *status, const char *label, const char *id);

#endif
