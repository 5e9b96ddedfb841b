/* lifecycle_fixture.h - a lifecycle on a store of its own, a project with a folder, a clock that stands still, for tests of and
 * above the lifecycle.
 *
 * Every helper waits for its call and keeps its outcome in an arena of its own until teardown.
 */
#ifndef ADMITD_TESTS_LIB_LIFECYCLE_FIXTURE_H
#define ADMITD_TESTS_LIB_LIFECYCLE_FIXTURE_H

#include <jansson.h>
#include <stdatomic.h>

#include "daemon/lifecycle/grant.h"
#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/move.h"
#include "daemon/lifecycle/outcome.h"
#include "daemon/lifecycle/plan.h"
#include "daemon/lifecycle/project.h"
#include "daemon/lifecycle/report.h"
#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/view.h"
#include "tests/lib/store_fixture.h"

struct fixture_arena {
	struct arena arena;
	json_t *json; /* a body that what lies in the arena borrows from */
	struct fixture_arena *next;
};

struct lifecycle_fixture {
	struct store_fixture *store;
	struct lifecycle_config config; /* a test may change it and reopen */
	struct lifecycle *lifecycle;
	atomic_int_fast64_t now;
	atomic_int_fast64_t monotonic;
	char folder[64]; /* holds the two below */
	char root[80];   /* the project's folder */
	char other[80];  /* another one */
	struct fixture_arena *arenas;
};

/* cmocka's setup and teardown: the project "tracker" with its folder. */
int lifecycle_fixture_setup(void **state);
int lifecycle_fixture_teardown(void **state);
/* Closes lifecycle and store, and opens both again. */
void lifecycle_fixture_reopen(struct lifecycle_fixture *fixture);

/* A fresh arena, until teardown. */
struct arena *lifecycle_fixture_arena(struct lifecycle_fixture *fixture);
/* Moves both clocks on; a negative time sets back the one that can be. */
void lifecycle_fixture_pass(struct lifecycle_fixture *fixture, int64_t ms);
/* A call by this principal, whose token is `tok_` and the principal, that sees all projects and waits. */
struct lifecycle_call lifecycle_fixture_call(struct lifecycle_fixture *fixture, const char *who);
struct lifecycle_reader lifecycle_fixture_reader(struct lifecycle_fixture *fixture);
struct str lifecycle_fixture_str(const char *text);

/* A plan from its body; fails the test when it has faults. */
struct plan *lifecycle_fixture_plan(struct lifecycle_fixture *fixture, const char *body);
/* One package of a body. Requirements are JSON objects with commas between them; subtasks the same; both may be "". */
const char *lifecycle_fixture_package(struct lifecycle_fixture *fixture, const char *label, const char *depends_on,
	const char *requirements, const char *subtasks);
/* The body of a plan in "tracker", of packages with commas between them. */
const char *lifecycle_fixture_body(struct lifecycle_fixture *fixture, const char *packages);

/* A requirement of agent "dev". */
#define FIXTURE_READ(key, capability)                                                                              \
	"{\"requirementKey\":\"" key "\",\"sourceRequirementIndex\":0,\"mcpId\":\"filesystem\",\"agent\":\"dev\"," \
	"\"requirement\":\"required\",\"capabilities\":[\"" capability "\"],\"fallback\":{\"action\":\"block\"},"  \
	"\"assignment\":{\"type\":\"agent\",\"targetId\":\"dev\"}}"
#define FIXTURE_OPTIONAL(key, mcp, capability)                                                                  \
	"{\"requirementKey\":\"" key "\",\"sourceRequirementIndex\":1,\"mcpId\":\"" mcp "\",\"agent\":\"dev\"," \
	"\"requirement\":\"optional\",\"capabilities\":[\"" capability                                          \
	"\"],\"fallback\":{\"action\":\"continue_without_mcp\"},"                                               \
	"\"assignment\":{\"type\":\"agent\",\"targetId\":\"dev\"}}"

/* Calls by a planner, an approver, an executor, an operator; each returns the result. */
int lifecycle_fixture_put(
	struct lifecycle_fixture *fixture, const char *task, const char *body, struct lifecycle_plan_put *ret);
int lifecycle_fixture_preview(struct lifecycle_fixture *fixture, const char *task, struct lifecycle_preview *ret);
int lifecycle_fixture_approve(
	struct lifecycle_fixture *fixture, const char *task, int64_t revision, struct lifecycle_approval *ret);
int lifecycle_fixture_handoff(struct lifecycle_fixture *fixture, struct str package, struct lifecycle_handoff *ret);
int lifecycle_fixture_outcome(struct lifecycle_fixture *fixture, struct str run, enum store_run_outcome outcome,
	struct lifecycle_outcome *ret);
/* For a package, as the action would: of everything it asks, at its current revision. */
int lifecycle_fixture_decide(struct lifecycle_fixture *fixture, struct str package, enum store_grant_decision decision,
	struct lifecycle_grant *ret);
/* For the project: an approval of `capability` (NULL: a revocation), at the current revision. */
int lifecycle_fixture_allow(
	struct lifecycle_fixture *fixture, const char *capability, bool replace, struct lifecycle_grant *ret);
/* Of a task at its current plan revision, and of a package with what depends on it; by an operator. */
int lifecycle_fixture_move_task(struct lifecycle_fixture *fixture, const char *task,
	int (*move)(struct lifecycle *lifecycle, struct lifecycle_task_move *call), struct lifecycle_task_move *ret);
int lifecycle_fixture_move_package(struct lifecycle_fixture *fixture, struct str package, bool cascade,
	int (*move)(struct lifecycle *lifecycle, struct lifecycle_package_move *call),
	struct lifecycle_package_move *ret);
int lifecycle_fixture_set_root(struct lifecycle_fixture *fixture, const char *path, struct lifecycle_project_put *ret);

/* Fails the test unless they answer 0. */
struct lifecycle_package lifecycle_fixture_view(struct lifecycle_fixture *fixture, struct str package);
struct lifecycle_task lifecycle_fixture_task(struct lifecycle_fixture *fixture, const char *task);
struct lifecycle_project lifecycle_fixture_project(struct lifecycle_fixture *fixture);
/* How many events of this type there are, of a package (absent: of all). */
size_t lifecycle_fixture_events(struct lifecycle_fixture *fixture, const char *type, struct str package);

/* Waits until what previews have left is on disk. */
void lifecycle_fixture_settle(struct lifecycle_fixture *fixture);

#endif
