/* scope_json.h - a scope as the store's filters take it; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_SCOPE_JSON_H
#define ADMITD_DAEMON_LIFECYCLE_SCOPE_JSON_H

#include "daemon/lifecycle/lifecycle.h"

/* A JSON array of the projects, absent for all. 0 or -ENOMEM. */
int scope_json(struct arena *arena, const struct lifecycle_scope *scope, struct str *ret_json) MUST_USE;

#endif
