/* run_config.h - what a run's agent may have, by the run's decision (chapters 2.5, 5.7). Reads only, on one snapshot.
 *
 * The config is the grant: of all that a plan asks for, a decision admits today bounded reads of the project's files, for which our own
 * reader stands, narrowed to just these capabilities below the project's root. Everything else is withheld, each with its reason.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RUN_CONFIG_H
#define ADMITD_DAEMON_LIFECYCLE_RUN_CONFIG_H

#include "daemon/lifecycle/view.h"

struct lifecycle_withheld {
	const char *kind; /* "requirement" or "server" */
	struct str name;
	struct str reason; /* a word */
	struct str detail; /* for people */
};

struct lifecycle_run_config {
	struct store_run run;
	struct str root; /* absent: nothing may be read */
	struct str *capabilities;
	size_t capability_count;
	struct lifecycle_withheld *withheld;
	size_t withheld_count;

	struct lifecycle_refusal refusal;
};

/* For whoever may use the run: with its own token, or with the one that claimed it. 0, LIFECYCLE_NOT_FOUND, LIFECYCLE_FORBIDDEN,
 * LIFECYCLE_RUN_ENDED with its refusal, LIFECYCLE_NOT_STORED (the store is busy), or -errno. */
int lifecycle_view_run_config(const struct lifecycle_reader *reader, struct str run, bool has_run_token,
	struct lifecycle_run_config *ret) MUST_USE;

/* Not for other rooms: fills in the rest for config->run, in the transaction that began it too. 0 or -errno. */
int run_config_make(struct store_tx *tx, struct arena *arena, struct lifecycle_run_config *config) MUST_USE;

#endif
