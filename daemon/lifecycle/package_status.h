/* package_status.h - status as a function of facts (chapter 2.2). Pure, any thread; may use the store's enums only.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PACKAGE_STATUS_H
#define ADMITD_DAEMON_LIFECYCLE_PACKAGE_STATUS_H

#include "daemon/store/package.h"
#include "daemon/store/run.h"
#include "daemon/store/task.h"

/* The zero value can be claimed by nobody. */
enum package_status {
	PACKAGE_BLOCKED = 0,
	PACKAGE_DRAFT,
	PACKAGE_PENDING,
	PACKAGE_READY,
	PACKAGE_RUNNING,
	PACKAGE_COMPLETED,
	PACKAGE_FAILED,
	PACKAGE_CANCELLED,
	PACKAGE_SUPERSEDED,
	PACKAGE_STATUS_COUNT
};

struct package_facts {
	enum store_package_end end;
	enum store_task_status task;
	bool is_running; /* a run holds its lease */
	bool is_held;
	bool waits; /* a dependency isn't completed */
};

enum package_status package_status(const struct package_facts *facts);
/* The same from a row. */
enum package_status package_status_of(const struct store_package *row);
const char *package_status_name(enum package_status status);

/* One live package of a task, for the task's own status. */
struct task_member {
	enum package_status status;
	const size_t *depends_on; /* indexes into the same array */
	size_t depends_on_count;
};

/* What an approved task has come to: STORE_TASK_APPROVED while it goes on, else COMPLETED, FAILED or CANCELLED.
 * `scratch` has room for `count` bools. Superseded members count for nothing.
 */
enum store_task_status package_status_of_task(const struct task_member *members, size_t count, bool *scratch);

/* Wire words. */
const char *package_status_run_outcome(enum store_run_outcome outcome); /* "live" is never shown */

#endif
