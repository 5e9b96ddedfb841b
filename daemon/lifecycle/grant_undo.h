/* grant_undo.h - taking a decision on read access back: a new decision, made ready (chapter 7.6); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_UNDO_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_UNDO_H

#include "daemon/lifecycle/grant_make.h"

/* What counted before the decision. */
struct grant_before {
	bool is_live;                /* an approval that still counted */
	int64_t expires_at;          /* its end */
	struct precedence_set reads; /* what it allowed */
	bool is_own;                 /* the actor may not approve that himself */
	struct str used_up; /* present: a sentence on the attempt that has it, and so it can't be given again */
};

/* Into grant->actions and ->no_undo, when the record is appended: an approval is taken away, or what counted before is put back. Nothing
 * for a rehearsal. 0 or -errno.
 */
int grant_undo(struct world *world, const struct grant_before *before, struct lifecycle_grant *grant) MUST_USE;

#endif
