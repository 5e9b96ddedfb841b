/* view.h - what is stored, as people and programs read it (chapter 4.2). Reads only, on one snapshot each.
 *
 * Every function returns 0, LIFECYCLE_NOT_FOUND (unknown or outside the scope), LIFECYCLE_NOT_STORED (the store is busy) or -errno. What
 * it gives lives in the arena, which isn't reset. Lists page as the store's do.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_VIEW_H
#define ADMITD_DAEMON_LIFECYCLE_VIEW_H

#include "daemon/lifecycle/hold.h"
#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/package_status.h"
#include "daemon/store/event.h"
#include "daemon/store/grant.h"
#include "daemon/store/health.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/run.h"
#include "daemon/store/task.h"
#include "policy/words_event.h"

/* A package that another one waits for. */
struct lifecycle_before {
	struct str package;
	struct str label;
	enum package_status status;
};

struct lifecycle_package {
	struct store_package row;
	enum package_status status;
	int64_t attempts_left;
	const struct str *depends_on; /* package ids, in plan order */
	size_t depends_on_count;
	bool is_held;
	struct lifecycle_hold hold; /* when is_held */
	bool is_rejudging;          /* its stamp is of an older catalog, and it will be judged again (2.4) */

	enum store_surface last_surface; /* the last decision and where it was made; NONE: none yet */
	struct str last_decision;

	/* only in views of a package or a task, not in answers of operations */
	bool has_state;     /* it waits to be claimed */
	bool is_unreadable; /* its record is damaged: it can't be judged, its other facts stand */
	struct lifecycle_state state;
	struct lifecycle_action_list actions;

	/* only in views of a package */
	bool has_opens; /* an approval may free it */
	struct lifecycle_opens opens;
	struct str title;                      /* of its task */
	const struct lifecycle_before *before; /* as depends_on */
};

struct lifecycle_task {
	struct store_task row;
	struct lifecycle_package *packages; /* by position, superseded ones left out */
	size_t package_count;
	bool is_blocked;                      /* proposed, and a package of it is held */
	struct lifecycle_action_list actions; /* of the task itself */
};

struct lifecycle_reader {
	struct lifecycle *lifecycle;
	struct arena *arena;
	struct lifecycle_scope scope;
	struct store_actor actor; /* for is_self_approval of actions */
};

int lifecycle_view_task(const struct lifecycle_reader *reader, struct str id, struct lifecycle_task *ret) MUST_USE;
int lifecycle_view_package(
	const struct lifecycle_reader *reader, struct str id, struct lifecycle_package *ret) MUST_USE;

struct lifecycle_run {
	struct store_run row;
	struct str package_label;
	const struct store_run_grant *grants; /* by requirement key */
	size_t grant_count;
};

int lifecycle_view_run(const struct lifecycle_reader *reader, struct str id, struct lifecycle_run *ret) MUST_USE;
/* For http's look-up of a run's token, by the hash that auth_hash() gives: the row of the run, ended or not. */
int lifecycle_find_run_token(
	struct lifecycle *lifecycle, struct arena *arena, const unsigned char hash[32], struct store_run *ret) MUST_USE;

struct lifecycle_project {
	struct store_project row;
	struct store_health_list health;
	struct store_server_list servers;
	bool has_grant;
	struct store_grant grant; /* the latest record of the project */

	/* only in views, not in answers of operations; an archived project offers nothing */
	struct lifecycle_action_list actions;
	struct lifecycle_action_list *server_actions; /* as `servers` */
	struct lifecycle_action_list *health_actions; /* as `health` */
};

int lifecycle_view_project(
	const struct lifecycle_reader *reader, struct str id, struct lifecycle_project *ret) MUST_USE;
/* The same without `actions`, for who wants its parts. */
int lifecycle_view_project_parts(
	const struct lifecycle_reader *reader, struct str id, struct lifecycle_project *ret) MUST_USE;

int lifecycle_view_grant(const struct lifecycle_reader *reader, struct str id, struct store_grant *ret) MUST_USE;

/* Lists. A filter's projects_json is set from the scope. */
int lifecycle_list_projects(
	const struct lifecycle_reader *reader, struct str after, size_t limit, struct store_project_list *ret) MUST_USE;
int lifecycle_list_tasks(const struct lifecycle_reader *reader, struct store_task_filter filter, int64_t before,
	size_t limit, struct store_task_list *ret) MUST_USE;
int lifecycle_list_runs(const struct lifecycle_reader *reader, struct store_run_filter filter, int64_t before,
	size_t limit, struct store_run_list *ret) MUST_USE;
/* The ledger. */
int lifecycle_list_grants(const struct lifecycle_reader *reader, struct store_grant_filter filter, int64_t before,
	size_t limit, struct store_grant_list *ret) MUST_USE;
/* What was seen of a tool server of the project, newest first: `health.changed` events. */
int lifecycle_list_health_history(const struct lifecycle_reader *reader, struct str project, struct str mcp_id,
	size_t limit, struct store_event_list *ret) MUST_USE;
/* Events with what they say to people. */
struct lifecycle_told {
	struct store_event_list events;
	const struct event_words *words; /* one each */
};

/* Finds the words of what was read in `tx`; `package`: in the story of this one, absent for none's. 0 or -errno. */
int lifecycle_tell(struct store_tx *tx, const struct store_event_list *events, struct str package,
	struct lifecycle_told *ret) MUST_USE;
/* What people call the package, plan or project that each of them is about; absent: it has no name. 0 or -errno. */
int lifecycle_name_events(struct store_tx *tx, const struct store_event_list *events, struct str **ret) MUST_USE;
/* A timeline: filter.package or filter.task; LIFECYCLE_NOT_FOUND where the named one isn't seen. A package's is its story (event.h). */
int lifecycle_list_events(const struct lifecycle_reader *reader, struct store_event_filter filter, int64_t from,
	size_t limit, struct lifecycle_told *ret) MUST_USE;

#endif
