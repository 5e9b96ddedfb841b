/* exchange.h - the three messages of a check, whatever carries them: initialize, initialized, tools/list (MCP, 2025-11-25).
 *
 * Pure but for the arena. One thread.
 */
#ifndef ADMITD_PROBER_EXCHANGE_H
#define ADMITD_PROBER_EXCHANGE_H

#include "prober/finding.h"

/* An answer may be so long, and a check wait so long for what has ended to go. */
enum { EXCHANGE_ANSWER_LIMIT = 1024 * 1024 };

enum exchange_step { EXCHANGE_INITIALIZE = 0, EXCHANGE_INITIALIZED, EXCHANGE_LIST, EXCHANGE_STEPS };

/* The message of a step: one line of JSON without its end. A literal. */
struct str exchange_message(enum exchange_step step);
/* For people: "initialize", "tools/list". */
const char *exchange_name(enum exchange_step step);

enum exchange_result {
	EXCHANGE_GOES_ON = 1, /* it isn't the answer to this step: a notification, a request of the server's */
	EXCHANGE_FAILED,      /* the finding is settled */
};

/* Reads one message of the server's. 0: it is a good answer to this step (*ret_version, which may be NULL, is the protocol's where
 * initialize told it); or a result above. */
int exchange_read(struct finding *finding, enum exchange_step step, struct str text, struct str *ret_version) MUST_USE;

#endif
