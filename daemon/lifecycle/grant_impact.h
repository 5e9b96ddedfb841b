/* grant_impact.h - what a decision on read access does; a rehearsal is told in words too (chapters 2.4, 7.5); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_IMPACT_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_IMPACT_H

#include "daemon/lifecycle/grant.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/world.h"

/* Reconciles what the decision concerns, and says in grant->impact what that did. The record is there. 0 or -errno. */
int grant_impact_find(struct world *world, const struct reconcile_scope *scope, struct lifecycle_grant *grant) MUST_USE;

/* Whether nothing of this plan is held now. 0 or -errno. */
int grant_impact_frees(struct world *world, struct str task, bool *ret) MUST_USE;

/* The members of a rehearsal: a line for each thing that happens, cut at a length that a person reads, and what it comes to. `overrides`:
 * the packages whose denial is overridden. 0 or -errno.
 */
int grant_impact_tell(struct world *world, const struct reconcile_effect *effect,
	const struct lifecycle_named *overrides, struct lifecycle_grant *grant) MUST_USE;

#endif
