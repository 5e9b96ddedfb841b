/* name_check.h - the names that callers choose (chapters 2.1, 2.2). Pure, any thread.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_NAME_CHECK_H
#define ADMITD_DAEMON_LIFECYCLE_NAME_CHECK_H

#include <stdbool.h>

#include "policy/arena.h"

/* Projects and tasks: [a-z0-9][a-z0-9._-]{0,63}. */
bool name_check_id(struct str name);
/* Packages: [A-Za-z0-9][A-Za-z0-9._-]{0,63}. */
bool name_check_label(struct str name);

#endif
