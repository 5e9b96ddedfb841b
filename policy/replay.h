/* replay.h - a decision made once more from what was recorded of it (chapters 2.1 and 2.7).
 *
 * A decision's record is its canonical inputs (decision_id.h) and the document they name. With the catalog and the engine revision it was
 * made with, deciding again gives the same bytes; with another catalog it says what that one would have decided. What a grant
 * covers and another catalog no longer reads through a packet is left out, as the daemon does with its ledger. Evidence that
 * the record doesn't hold, because it made no difference then, is not made up. Pure, any thread.
 */
#ifndef ADMITD_POLICY_REPLAY_H
#define ADMITD_POLICY_REPLAY_H

#include <jansson.h>

#include "policy/admission.h"
#include "policy/buf.h"
#include "policy/decision_id.h"

enum replay_result { REPLAY_UNREADABLE = 1 /* the record isn't one of inputs */ };

struct replay {
	struct arena arena;
	struct package *package;
	struct admission_inputs inputs;
	struct admission admission;
};

/* Decides `document` by `record`, an object as decision_inputs_write() writes it. Everything that was passed must outlive *ret, which
 * is released by replay_release(), also after a failure. 0, REPLAY_UNREADABLE, -ENOMEM or -EMSGSIZE.
 */
int replay_decide(
	const struct catalog *catalog, const json_t *document, const json_t *record, struct replay *ret) MUST_USE;
void replay_release(struct replay *replay);

/* The id that this decision has, and the digest of its result in the stored form. 0, -ENOMEM or -EMSGSIZE. */
int replay_digests(const struct replay *replay, char ret_id[static DIGEST_TEXT_SIZE],
	char ret_result[static DIGEST_TEXT_SIZE]) MUST_USE;

#endif
