/* claim.h - a run, its lease and the grants that admitted it, in the transaction of the handoff (chapters 2.3, 2.5); not for other
 * rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CLAIM_H
#define ADMITD_DAEMON_LIFECYCLE_CLAIM_H

#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/world.h"

/* Claims an admitted package for the call's actor: writes run, run grants (an allow_once is used up by it) and `run.claimed`, and fills
 * the outcome's run, run_token, overlays, subtasks and read_scope. The decision is stored already. 0 or -errno.
 */
int claim_package(struct world *world, struct store_package *row, const struct verdict *verdict,
	struct lifecycle_handoff *handoff) MUST_USE;

#endif
