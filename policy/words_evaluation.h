/* words_evaluation.h - what the words of a state may take from one evaluation (words.h). Pure, any thread. */
#ifndef ADMITD_POLICY_WORDS_EVALUATION_H
#define ADMITD_POLICY_WORDS_EVALUATION_H

#include "policy/words.h"

/* "a, b, c"; absent for none. 0 or -ENOMEM. */
int words_phrase(struct arena *arena, const struct str *names, size_t count, struct str *ret_phrase) MUST_USE;

/* Sets capabilities, server and its health, the engine's reason, and whether the package goes on without it; leaves the rest. What a
 * ledger knows beside it (who, when, a person's reason) is the caller's to add. 0 or -ENOMEM.
 */
int words_evaluation_facts(
	struct arena *arena, const struct evaluation *evaluation, struct words_facts *facts) MUST_USE;

#endif
