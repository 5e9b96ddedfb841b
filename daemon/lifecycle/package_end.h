/* package_end.h - packages that people end, or take up again (chapter 2.2); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PACKAGE_END_H
#define ADMITD_DAEMON_LIFECYCLE_PACKAGE_END_H

#include "daemon/lifecycle/world.h"

/* Ends a package as cancelled or superseded, with its live run (outcome `cancelled`) and its hold, and tells of it. `reason` may be
 * absent. 0 or -errno.
 */
int package_end(struct world *world, struct store_package *row, enum store_package_end end, struct str reason) MUST_USE;
/* Takes the hold away from a package that nobody will judge any more. 0 or -errno. */
int package_end_hold(struct world *world, struct store_package *row) MUST_USE;

/* Makes an ended package unfinished, as `attempts` and `attempt_limit` in `row` say. Its task's status is stored already; telling of it and
 * reconciling are the caller's: package_end_tell_again(). 0 or -errno.
 */
int package_end_undo(struct world *world, struct store_package *row) MUST_USE;
/* Tells what the package has become, and looks at its hold; `before`: what it was. */
int package_end_tell_again(
	struct world *world, struct str package, enum store_package_end before, struct str reason) MUST_USE;

/* Live packages of its task that depend on this one, directly or not, and whose end is `end`, by position. 0 or -errno. */
int package_end_dependents(struct world *world, const struct store_package *row, enum store_package_end end,
	struct store_package_list *ret) MUST_USE;
/* The same, whatever their end. */
int package_end_all_dependents(
	struct world *world, const struct store_package *row, struct store_package_list *ret) MUST_USE;

#endif
