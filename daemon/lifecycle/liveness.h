/* liveness.h - which prohibitions have ever matched anything (chapter 2.7 "before a catalog change is rolled out"); not for other rooms.
 *
 * A prohibition that never matched is a rule nobody needs, or one that is spelled past what it means.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_LIVENESS_H
#define ADMITD_DAEMON_LIFECYCLE_LIVENESS_H

#include <jansson.h>

#include "daemon/store/decision.h"
#include "policy/admission.h"
#include "policy/decision_id.h"
#include "policy/json_out.h"

enum { LIVENESS_MOST = 4096 }; /* capabilities; more than any catalog of a size that a person reads */

struct liveness_row {
	struct str capability;               /* canonical */
	uint64_t declared;                   /* decisions whose package prohibits it */
	uint64_t matched;                    /* those in which something asked for it */
	char last_matched[DIGEST_TEXT_SIZE]; /* decision; "": never */
	int64_t last_at;
};

struct liveness {
	struct liveness_row *rows; /* sorted by capability */
	size_t count;
};

/* Counts one decision. Names are copied into `kept`, which lives as long as the counts; `scratch` may go. 0 or -ENOMEM. */
int liveness_add(struct liveness *liveness, struct arena *kept, struct arena *scratch,
	const struct admission *admission, const json_t *document, const struct store_decision *decision) MUST_USE;

/* The member `prohibitions`: [{capability, declared, matched, lastMatched {decisionId, createdAt} or null}]. */
void liveness_write(const struct liveness *liveness, struct json_out *out);

#endif
