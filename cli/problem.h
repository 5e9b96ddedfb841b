/* problem.h - a refusal as a person reads it (RFC 9457 problem documents, chapters 4.1 and 4.4).
 */
#ifndef ADMITD_CLI_PROBLEM_H
#define ADMITD_CLI_PROBLEM_H

#include "cli/client.h"

/* Says on standard error what was refused and why: title, detail, faults with their pointers, who holds the record, which role
 * is missing, what to do about the code, and the request's id. An answer that is no problem document is told by its
 * status alone.
 */
void problem_say(const struct client_reply *reply);

/* What to do about a code of 4.4, one sentence; NULL for a code that says it itself. */
const char *problem_advice(const char *code);

#endif
