/* catalog_put.h - another catalog while the daemon runs (chapters 1.3, 2.4, 4.2).
 *
 * Replacing is one row, an epoch, and the event `catalog.replaced`. What asks the engine after the commit asks it with the new one;
 * holds that older catalogs gave are judged again by a thread of the lifecycle, in bounded transactions, and carry
 * `rejudging` until then (rejudge.h). A catalog that doesn't load leaves the old one in force. What was replaced is freed by the last call
 * that was judged by it.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CATALOG_PUT_H
#define ADMITD_DAEMON_LIFECYCLE_CATALOG_PUT_H

#include "daemon/lifecycle/lifecycle.h"

struct catalog;

struct lifecycle_catalog_put {
	struct lifecycle_call call;
	struct str bytes;     /* JSON */
	struct str if_digest; /* the one that must be in force; absent: any */

	struct str digest; /* out */
	struct str previous;
	int64_t epoch;
	bool is_changed; /* false: it was in force already, and nothing was written */

	/* the lifecycle's own */
	struct catalog *catalog;
	lifecycle_done_fn *done;
};

/* INVALID_DOCUMENT: refusal.faults is the one entry at fault; PRECONDITION_FAILED: another catalog is in force. */
int lifecycle_catalog_put(struct lifecycle *lifecycle, struct lifecycle_catalog_put *call) MUST_USE;

#endif
