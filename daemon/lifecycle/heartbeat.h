/* heartbeat.h - an executor that is still at work (chapter 2.5).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_HEARTBEAT_H
#define ADMITD_DAEMON_LIFECYCLE_HEARTBEAT_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

struct lifecycle_heartbeat {
	struct lifecycle_call call;
	struct str run;
	bool has_run_token; /* the request carried this run's token; else the actor must be who claimed it */

	struct lifecycle_run run_view; /* out */
};

/* Renews the lease to a full term. NOT_FOUND, FORBIDDEN, and RUN_ENDED once the run is over, whoever ended it. */
int lifecycle_renew(struct lifecycle *lifecycle, struct lifecycle_heartbeat *call) MUST_USE;

#endif
