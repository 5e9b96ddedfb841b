/* restore.h - the new epoch that a restored backup begins (chapter 2.8).
 *
 * What a backup brings back must not be used twice: who held a token may have lost it since, a one-time grant that is unused here may
 * have been used, a run may have ended. So all tokens are dead, live runs end as `cancelled` (no attempt), one-time grants
 * that no run has used are taken back, and everything is judged again. A row of the log names both heads.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RESTORE_H
#define ADMITD_DAEMON_LIFECYCLE_RESTORE_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/store/audit.h"

struct lifecycle_restored {
	int64_t epoch;
	struct store_chain from; /* the backup's head */
	int64_t tokens;          /* that were alive */
	int64_t runs;
	int64_t grants;
};

/* Once, on a store that nobody serves, by whoever started this lifecycle (keeps_time false). `replaced`: the head of the store that is given
 * up, sequence 0 if none is known. Afterwards the caller issues a token. 0 or -errno: then the store is thrown away.
 */
int lifecycle_restore(
	struct lifecycle *lifecycle, const struct store_chain *replaced, struct lifecycle_restored *ret) MUST_USE;

#endif
