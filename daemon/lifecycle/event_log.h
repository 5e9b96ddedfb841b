/* event_log.h - the events of chapter 2.1, written in the transaction of what they tell; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_EVENT_LOG_H
#define ADMITD_DAEMON_LIFECYCLE_EVENT_LOG_H

#include "daemon/lifecycle/package_status.h"
#include "daemon/lifecycle/world.h"

/* One event while its payload is written, an object. */
struct event_log {
	struct world *world;
	struct buf buf;
	struct json_out out;
	struct store_event row;
};

/* Begins an event of the world's project, by the call's actor. `type` and `subject_kind` are literals. */
void event_log_begin(struct event_log *event, struct world *world, const char *type, const char *subject_kind,
	struct str subject_id);
/* Ends the payload and appends the event. 0 or -errno; `event` is released either way. */
int event_log_end(struct event_log *event) MUST_USE;

/* `package.status`, unless before and after are the same. `run` may be absent. */
int event_log_package_status(struct world *world, const struct store_package *row, enum package_status before,
	enum package_status after, struct str run) MUST_USE;
/* The same of what a person did to it; `reason` may be absent. */
int event_log_package_move(struct world *world, const struct store_package *row, enum package_status before,
	enum package_status after, struct str run, struct str reason) MUST_USE;
/* `task.status`; `has_before` false: the task is new. `reason` may be absent. */
int event_log_task_status(struct world *world, const struct store_task *task, bool has_before,
	enum store_task_status before, struct str reason) MUST_USE;
/* `hold.opened`, `.changed`, `.cleared`; `hold_json` as stored and the decision that found it, absent when cleared. */
int event_log_hold(struct world *world, const struct store_package *row, const char *type, struct str hold_json,
	struct str decision) MUST_USE;
/* `grant.recorded`. */
int event_log_grant(struct world *world, const struct store_grant *grant, struct str task) MUST_USE;
/* `health.changed`. */
int event_log_health(struct world *world, const struct store_health *row) MUST_USE;

#endif
