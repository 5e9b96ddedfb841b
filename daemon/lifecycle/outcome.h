/* outcome.h - the end of a run, as its executor reports it (chapter 2.5).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_OUTCOME_H
#define ADMITD_DAEMON_LIFECYCLE_OUTCOME_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

enum { RUN_ATTEMPT_LIMIT = 3 };

struct lifecycle_outcome {
	struct lifecycle_call call;
	struct str run;
	bool has_run_token; /* the request carried this run's token; else the actor must be who claimed it */
	enum store_run_outcome outcome; /* SUCCEEDED, FAILED or RELEASED */
	struct str summary;             /* absent: none */

	struct lifecycle_run run_view; /* out */
	struct lifecycle_package view;
	struct store_task task;
};

/* NOT_FOUND, FORBIDDEN, OUTCOME_CONFLICT, RUN_ENDED. The same outcome again is DONE and changes nothing. */
int lifecycle_report_outcome(struct lifecycle *lifecycle, struct lifecycle_outcome *call) MUST_USE;

/* SUCCEEDED, FAILED, RELEASED by their words; false: another word. */
bool lifecycle_outcome_find(struct str word, enum store_run_outcome *ret_outcome);

#endif
