/* remedy.h - an action of the API (chapter 4.2, `actions`) as a command line that can be copied and run.
 *
 * The daemon says what may be done, with which body; this only spells it. Nothing is decided here.
 */
#ifndef ADMITD_CLI_REMEDY_H
#define ADMITD_CLI_REMEDY_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/buf.h"

/* What an action does not say itself. */
struct remedy_context {
	const char *task; /* NULL: not known */
	bool takes_plan;  /* the task is proposed or sent back: a changed plan may simply be submitted */
};

/* Appends the command; false, and nothing appended, for an action that this program has no command for. */
bool remedy_command(struct buf *out, const json_t *action, const struct remedy_context *context);

/* Appends a word quoted for a shell, where that is needed. */
void remedy_quote(struct buf *out, const char *word);

/* The first action: the one that frees what is held. NULL when there is none. */
const json_t *remedy_first(const json_t *actions);

/* Appends " (needs role approver)" and the like for an action that this token may not do; nothing for one it may. */
void remedy_why_not(struct buf *out, const json_t *action);

#endif
