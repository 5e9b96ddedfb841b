#include "config.h"

#include "tests/lib/lifecycle_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/store/event.h"

enum { START_MS_OF_DAY = 9 * 3600 * 1000, ARENA_BYTES = 64 * 1024 * 1024 };

/* 2026-11-30T09:00:00Z */
#define START_MS INT64_C(1796029200000)

struct str lifecycle_fixture_str(const char *text)
{
	return text != NULL ? (struct str){text, strlen(text)} : (struct str){0};
}

static int64_t clock_of(void *arg)
{
	struct lifecycle_fixture *fixture = arg;

	return atomic_load(&fixture->now);
}

static int64_t monotonic_of(void *arg)
{
	struct lifecycle_fixture *fixture = arg;

	return atomic_load(&fixture->monotonic);
}

void lifecycle_fixture_pass(struct lifecycle_fixture *fixture, int64_t ms)
{
	atomic_fetch_add(&fixture->now, ms);
	if (ms > 0)
		atomic_fetch_add(&fixture->monotonic, ms);
}

static struct fixture_arena *add_arena(struct lifecycle_fixture *fixture)
{
	struct fixture_arena *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	arena_init(&node->arena, ARENA_BYTES);
	node->next = fixture->arenas;
	fixture->arenas = node;
	return node;
}

struct arena *lifecycle_fixture_arena(struct lifecycle_fixture *fixture)
{
	return &add_arena(fixture)->arena;
}

static void open_lifecycle(struct lifecycle_fixture *fixture)
{
	struct catalog_fault fault;

	fixture->config.store = fixture->store->store;
	assert_int_equal(lifecycle_new(&fixture->config, &fixture->lifecycle, &fault), 0);
}

void lifecycle_fixture_reopen(struct lifecycle_fixture *fixture)
{
	lifecycle_free(fixture->lifecycle);
	fixture->lifecycle = NULL;
	assert_int_equal(store_fixture_reopen(fixture->store), 0);
	open_lifecycle(fixture);
}

static void make_folders(struct lifecycle_fixture *fixture)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(
		fixture->folder, sizeof(fixture->folder), "%.40s/admitd-root-XXXXXX", base != NULL ? base : "/tmp");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(fixture->root, sizeof(fixture->root), "%s/root", fixture->folder);
	(void)snprintf(fixture->other, sizeof(fixture->other), "%s/other", fixture->folder);
	assert_int_equal(mkdir(fixture->root, 0700), 0);
	assert_int_equal(mkdir(fixture->other, 0700), 0);
}

int lifecycle_fixture_setup(void **state)
{
	struct lifecycle_fixture *fixture = calloc(1, sizeof(*fixture));
	struct lifecycle_project_put put;
	void *store = NULL;

	if (fixture == NULL || store_fixture_setup(&store) != 0)
		return -1;
	fixture->store = store;
	make_folders(fixture);
	atomic_store(&fixture->now, START_MS);
	fixture->config = (struct lifecycle_config){.state_folder = fixture->store->folder,
		.clock_ms = clock_of,
		.monotonic_ms = monotonic_of,
		.clock_arg = fixture};
	open_lifecycle(fixture);
	*state = fixture;
	return lifecycle_fixture_set_root(fixture, fixture->root, &put);
}

int lifecycle_fixture_teardown(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	void *store = fixture->store;

	lifecycle_free(fixture->lifecycle);
	(void)store_fixture_teardown(&store);
	(void)rmdir(fixture->root);
	(void)rmdir(fixture->other);
	(void)rmdir(fixture->folder);
	while (fixture->arenas != NULL) {
		struct fixture_arena *next = fixture->arenas->next;

		arena_release(&fixture->arenas->arena);
		json_decref(fixture->arenas->json);
		free(fixture->arenas);
		fixture->arenas = next;
	}
	free(fixture);
	return 0;
}

/* ---- calls */

struct lifecycle_call lifecycle_fixture_call(struct lifecycle_fixture *fixture, const char *who)
{
	struct arena *arena = lifecycle_fixture_arena(fixture);
	struct str token = arena_printf(arena, "tok_%s", who);
	struct arena *outcome = lifecycle_fixture_arena(fixture);

	return (struct lifecycle_call){.actor = {.token = token, .principal = lifecycle_fixture_str(who)},
		.scope.is_all = true,
		.arena = outcome};
}

struct lifecycle_reader lifecycle_fixture_reader(struct lifecycle_fixture *fixture)
{
	return (struct lifecycle_reader){
		.lifecycle = fixture->lifecycle, .arena = lifecycle_fixture_arena(fixture), .scope.is_all = true};
}

const char *lifecycle_fixture_package(struct lifecycle_fixture *fixture, const char *label, const char *depends_on,
	const char *requirements, const char *subtasks)
{
	return arena_printf(lifecycle_fixture_arena(fixture),
		"{\"label\":\"%s\",\"agent\":\"dev\",\"dependsOn\":[%s],\"document\":{\"mcpRequirements\":[%s],"
		"\"mcpAwareSubtasks\":[%s]},\"promptOverlays\":{}}",
		label, depends_on, requirements, subtasks)
		.bytes;
}

const char *lifecycle_fixture_body(struct lifecycle_fixture *fixture, const char *packages)
{
	return arena_printf(lifecycle_fixture_arena(fixture),
		"{\"project\":\"tracker\",\"title\":\"Due dates\",\"packages\":[%s]}", packages)
		.bytes;
}

struct plan *lifecycle_fixture_plan(struct lifecycle_fixture *fixture, const char *body)
{
	struct fixture_arena *node = add_arena(fixture);
	struct plan *plan = ARENA_NEW(&node->arena, struct plan);
	struct lifecycle_refusal refusal = {0};

	node->json = json_loads(body, 0, NULL);
	assert_non_null(node->json);
	assert_non_null(plan);
	assert_int_equal(plan_read(&node->arena, node->json, PLAN_FORM_TASK, plan, &refusal), 0);
	return plan;
}

int lifecycle_fixture_put(
	struct lifecycle_fixture *fixture, const char *task, const char *body, struct lifecycle_plan_put *ret)
{
	*ret = (struct lifecycle_plan_put){
		.call = lifecycle_fixture_call(fixture, "planner"),
		.task = lifecycle_fixture_str(task),
		.plan = lifecycle_fixture_plan(fixture, body),
	};
	return lifecycle_plan_put(fixture->lifecycle, ret);
}

int lifecycle_fixture_preview(struct lifecycle_fixture *fixture, const char *task, struct lifecycle_preview *ret)
{
	*ret = (struct lifecycle_preview){
		.call = lifecycle_fixture_call(fixture, "planner"), .task = lifecycle_fixture_str(task)};
	return lifecycle_preview(fixture->lifecycle, ret);
}

int lifecycle_fixture_approve(
	struct lifecycle_fixture *fixture, const char *task, int64_t revision, struct lifecycle_approval *ret)
{
	*ret = (struct lifecycle_approval){
		.call = lifecycle_fixture_call(fixture, "approver"),
		.task = lifecycle_fixture_str(task),
		.plan_revision = revision,
		.root_revision = -1,
		.reason = STR("sprint 12"),
	};
	return lifecycle_approve(fixture->lifecycle, ret);
}

int lifecycle_fixture_handoff(struct lifecycle_fixture *fixture, struct str package, struct lifecycle_handoff *ret)
{
	*ret = (struct lifecycle_handoff){
		.call = lifecycle_fixture_call(fixture, "executor"), .package = package, .worker = STR("runner-3")};
	return lifecycle_handoff(fixture->lifecycle, ret);
}

int lifecycle_fixture_outcome(struct lifecycle_fixture *fixture, struct str run, enum store_run_outcome outcome,
	struct lifecycle_outcome *ret)
{
	*ret = (struct lifecycle_outcome){
		.call = lifecycle_fixture_call(fixture, "executor"), .run = run, .outcome = outcome};
	return lifecycle_report_outcome(fixture->lifecycle, ret);
}

struct lifecycle_package lifecycle_fixture_view(struct lifecycle_fixture *fixture, struct str package)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_package view = {0};

	assert_int_equal(lifecycle_view_package(&reader, package, &view), 0);
	return view;
}

struct lifecycle_task lifecycle_fixture_task(struct lifecycle_fixture *fixture, const char *task)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_task view = {0};

	assert_int_equal(lifecycle_view_task(&reader, lifecycle_fixture_str(task), &view), 0);
	return view;
}

struct lifecycle_project lifecycle_fixture_project(struct lifecycle_fixture *fixture)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_project view = {0};

	assert_int_equal(lifecycle_view_project(&reader, STR("tracker"), &view), 0);
	return view;
}

static int64_t package_revision(struct lifecycle_fixture *fixture, struct str package)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct store_grant_filter filter = {.package = package, .latest_only = true};
	struct store_grant_list list = {0};

	assert_int_equal(lifecycle_list_grants(&reader, filter, 0, 1, &list), 0);
	return list.count > 0 ? list.items[0].revision : 0;
}

int lifecycle_fixture_decide(struct lifecycle_fixture *fixture, struct str package, enum store_grant_decision decision,
	struct lifecycle_grant *ret)
{
	*ret = (struct lifecycle_grant){
		.call = lifecycle_fixture_call(fixture, "approver"),
		.package = package,
		.decision = decision,
		.expected_revision = package_revision(fixture, package),
		.root_revision = lifecycle_fixture_project(fixture).row.root_revision,
		.reason = STR("because"),
	};
	return lifecycle_grant(fixture->lifecycle, ret);
}

int lifecycle_fixture_allow(
	struct lifecycle_fixture *fixture, const char *capability, bool replace, struct lifecycle_grant *ret)
{
	struct lifecycle_project project = lifecycle_fixture_project(fixture);
	struct str *name = ARENA_NEW(lifecycle_fixture_arena(fixture), struct str);

	*name = lifecycle_fixture_str(capability);
	*ret = (struct lifecycle_grant){
		.call = lifecycle_fixture_call(fixture, "approver"),
		.project = STR("tracker"),
		.decision = capability != NULL ? STORE_GRANT_APPROVED : STORE_GRANT_REVOKED,
		.capabilities = name,
		.capability_count = capability != NULL,
		.has_capabilities = capability != NULL,
		.replace = replace,
		.expected_revision = capability != NULL ? project.row.decision_revision : project.grant.revision,
		.root_revision = project.row.root_revision,
	};
	return lifecycle_grant(fixture->lifecycle, ret);
}

int lifecycle_fixture_move_task(struct lifecycle_fixture *fixture, const char *task,
	int (*move)(struct lifecycle *lifecycle, struct lifecycle_task_move *call), struct lifecycle_task_move *ret)
{
	*ret = (struct lifecycle_task_move){
		.call = lifecycle_fixture_call(fixture, "operator"),
		.task = lifecycle_fixture_str(task),
		.plan_revision = lifecycle_fixture_task(fixture, task).row.plan_revision,
		.reason = STR("because"),
	};
	return move(fixture->lifecycle, ret);
}

int lifecycle_fixture_move_package(struct lifecycle_fixture *fixture, struct str package, bool cascade,
	int (*move)(struct lifecycle *lifecycle, struct lifecycle_package_move *call),
	struct lifecycle_package_move *ret)
{
	*ret = (struct lifecycle_package_move){
		.call = lifecycle_fixture_call(fixture, "operator"),
		.package = package,
		.reason = STR("because"),
		.cascade = cascade,
		.is_operator = true,
	};
	return move(fixture->lifecycle, ret);
}

int lifecycle_fixture_set_root(struct lifecycle_fixture *fixture, const char *path, struct lifecycle_project_put *ret)
{
	*ret = (struct lifecycle_project_put){
		.call = lifecycle_fixture_call(fixture, "operator"),
		.id = STR("tracker"),
		.root = LIFECYCLE_ROOT_SET,
		.root_path = lifecycle_fixture_str(path),
	};
	return lifecycle_project_put(fixture->lifecycle, ret);
}

size_t lifecycle_fixture_events(struct lifecycle_fixture *fixture, const char *type, struct str package)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct store_event_filter filter = {.type = lifecycle_fixture_str(type), .package = package};
	struct lifecycle_told told = {0};
	size_t count = 0;

	assert_int_equal(lifecycle_list_events(&reader, filter, 0, 500, &told), 0);
	for (size_t i = 0; i < told.events.count; i++) {
		const struct store_event *event = &told.events.items[i];

		/* A package's story has events of others in it. */
		count += (type == NULL || str_is(event->type, type)) &&
			(package.bytes == NULL || (event->package.bytes != NULL && str_equal(event->package, package)));
	}
	return count;
}

static int do_nothing(struct store_tx *tx, void *arg)
{
	(void)tx;
	(void)arg;
	return 0;
}

void lifecycle_fixture_settle(struct lifecycle_fixture *fixture)
{
	/* The first may find a batch with the store and one behind it; operations are answered in order. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(store_fixture_write(fixture->store, do_nothing, NULL), 0);
}
