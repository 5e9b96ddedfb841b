/* grant_make.h - the pieces of a decision on read access: capabilities, records; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_MAKE_H

#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/grant.h"
#include "daemon/lifecycle/world.h"

/* A growing set of capabilities with room for every one of the catalog. */
struct grant_set {
	const struct catalog_capability **items;
	size_t count;
};

int grant_make_set(struct world *world, struct grant_set *ret) MUST_USE;
void grant_make_add(struct grant_set *set, const struct precedence_set *more);
void grant_make_remove(struct grant_set *set, const struct precedence_set *less);
struct precedence_set grant_make_view(const struct grant_set *set);
/* Sorts by name and writes a JSON array and the names. 0 or -ENOMEM. */
int grant_make_names(struct world *world, struct grant_set *set, struct str *ret_json, const struct str **ret_names,
	size_t *ret_count) MUST_USE;

/* The capability that this text names and that is read through a packet; NULL: none. 0 or -ENOMEM. */
int grant_make_find(struct world *world, struct str text, const struct catalog_capability **ret_capability) MUST_USE;

/* Adds what is wrong with a request whatever it is for: expiry, root revision, what doesn't go together. */
void grant_make_check(const struct lifecycle_grant *grant, int64_t now, struct fault_list *faults);

/* Appends the record, tells of it and reads the world again. `task` absent for a project's. 0 or -errno; LIFECYCLE_REVISION_CONFLICT. */
int grant_make_append(struct world *world, struct lifecycle_grant *grant, struct str task, struct str dropped_json,
	int64_t root_revision) MUST_USE;

/* Whether the project's latest record is an approval that counts now. */
bool grant_make_is_live(const struct world *world);
/* Whether this package's latest record is an approval that an attempt used up. */
bool grant_make_is_spent(const struct subject *subject);
/* Whether a package's latest record is an approval that still counts for something and so can be taken back: not a denial, not what is
 * spent. */
bool grant_make_is_revocable(const struct world *world, const struct subject *subject);

/* For one package, and for a project: `run` of the call. */
int grant_package_run(struct store_tx *tx, struct lifecycle_call *call) MUST_USE;
int grant_project_run(struct store_tx *tx, struct lifecycle_call *call) MUST_USE;

/* Fills a refusal with the record that is in the way; NULL: there is none. Gives `result` back. */
int grant_make_refusal(struct world *world, const struct store_grant *record, int64_t revision, int result) MUST_USE;

#endif
