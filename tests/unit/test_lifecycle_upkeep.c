/* What the lifecycle does unasked, where the store or one project is in its way: it is told, tried again, and holds up nothing else
 * (chapters 2.1, 2.3, 2.4).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/lifecycle/catalog_put.h"
#include "daemon/lifecycle/rejudge.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/store/package.h"
#include "policy/catalog.h"
#include "tests/lib/lifecycle_fixture.h"

enum { QUEUE_LIMIT = 3 };

#define READ FIXTURE_READ("fs", "filesystem.project.read")

static const char *body(struct lifecycle_fixture *fixture)
{
	return lifecycle_fixture_body(fixture, lifecycle_fixture_package(fixture, "a", "", READ, ""));
}

static struct str put(struct lifecycle_fixture *fixture, const char *task)
{
	struct lifecycle_plan_put call;

	assert_int_equal(lifecycle_fixture_put(fixture, task, body(fixture), &call), 0);
	return call.view.packages[0].row.id;
}

/* ---- a full queue */

struct crowd {
	struct lifecycle_plan_put calls[QUEUE_LIMIT];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned done;
};

static void count_done(struct lifecycle_call *call, int result)
{
	struct crowd *crowd = call->arg;

	assert_int_equal(result, 0);
	(void)pthread_mutex_lock(&crowd->lock);
	crowd->done++;
	(void)pthread_cond_broadcast(&crowd->changed);
	(void)pthread_mutex_unlock(&crowd->lock);
}

/* Keeps the writer, and fills the queue behind it. */
static void fill_queue(struct lifecycle_fixture *fixture, struct crowd *crowd)
{
	static const char *const names[QUEUE_LIMIT] = {"c0", "c1", "c2"};

	*crowd = (struct crowd){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	store_fixture_hold_writer(fixture->store);
	for (size_t i = 0; i < QUEUE_LIMIT; i++) {
		crowd->calls[i] = (struct lifecycle_plan_put){.call = lifecycle_fixture_call(fixture, "planner"),
			.task = lifecycle_fixture_str(names[i]),
			.plan = lifecycle_fixture_plan(fixture, body(fixture))};
		crowd->calls[i].call.done = count_done;
		crowd->calls[i].call.arg = crowd;
		assert_int_equal(lifecycle_plan_put(fixture->lifecycle, &crowd->calls[i]), 0);
	}
}

static void empty_queue(struct lifecycle_fixture *fixture, struct crowd *crowd)
{
	store_fixture_let_go(fixture->store);
	(void)pthread_mutex_lock(&crowd->lock);
	while (crowd->done < QUEUE_LIMIT)
		(void)pthread_cond_wait(&crowd->changed, &crowd->lock);
	(void)pthread_mutex_unlock(&crowd->lock);
}

static void a_preview_that_the_queue_refused_is_written_when_there_is_room(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct lifecycle_stats stats;
	struct crowd crowd;

	fixture->store->config.queue_limit = QUEUE_LIMIT;
	lifecycle_fixture_reopen(fixture);
	(void)put(fixture, "t");
	fill_queue(fixture, &crowd);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.previews_written, 0);
	empty_queue(fixture, &crowd);
	lifecycle_fixture_settle(fixture);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.previews_written, 1);
	assert_int_equal(stats.previews_lost, 0);
}

/* ---- the daemon's own threads */

struct told {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned failed, again;
	struct lifecycle_upkeep first; /* that failed */
};

static void note_told(void *arg, const struct lifecycle_upkeep *upkeep)
{
	struct told *told = arg;

	assert_non_null(upkeep->what);
	(void)pthread_mutex_lock(&told->lock);
	if (upkeep->result != 0 && told->failed == 0)
		told->first = *upkeep;
	told->failed += upkeep->result != 0;
	told->again += upkeep->result == 0;
	(void)pthread_cond_broadcast(&told->changed);
	(void)pthread_mutex_unlock(&told->lock);
}

static void wait_for_failure(struct told *told)
{
	(void)pthread_mutex_lock(&told->lock);
	while (told->failed == 0)
		(void)pthread_cond_wait(&told->changed, &told->lock);
	(void)pthread_mutex_unlock(&told->lock);
}

static bool has_failed(struct told *told)
{
	bool failed = false;

	(void)pthread_mutex_lock(&told->lock);
	failed = told->failed > 0;
	(void)pthread_mutex_unlock(&told->lock);
	return failed;
}

static void what_fails_is_told_once_with_its_projects_and_then_that_it_works(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct told told = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct lifecycle_upkeep facts[LIFECYCLE_UPKEEPS];
	int64_t began = atomic_load(&fixture->now);

	fixture->config.tell = note_told;
	fixture->config.tell_arg = &told;
	lifecycle_fixture_reopen(fixture);
	for (int turn = 0; turn < 3; turn++) {
		upkeep_begin(fixture->lifecycle, UPKEEP_DUE);
		upkeep_fault(fixture->lifecycle, UPKEEP_DUE, STR("first"), -EUCLEAN);
		upkeep_fault(fixture->lifecycle, UPKEEP_DUE, STR("second"), -EBADMSG);
		assert_int_equal(upkeep_end(fixture->lifecycle, UPKEEP_DUE, 0), -EUCLEAN);
		lifecycle_fixture_pass(fixture, 1000);
	}
	assert_int_equal(told.failed, 1);
	assert_string_equal(told.first.name, "due");
	lifecycle_upkeep_read(fixture->lifecycle, facts);
	assert_int_equal(facts[UPKEEP_DUE].result, -EUCLEAN);
	assert_int_equal(facts[UPKEEP_DUE].project_count, 2);
	assert_string_equal(facts[UPKEEP_DUE].project, "first");
	assert_int_equal(facts[UPKEEP_DUE].since, began);
	assert_int_equal(facts[UPKEEP_LEASES].result, 0);
	upkeep_begin(fixture->lifecycle, UPKEEP_DUE);
	assert_int_equal(upkeep_end(fixture->lifecycle, UPKEEP_DUE, 0), 0);
	assert_int_equal(told.again, 1);
	lifecycle_upkeep_read(fixture->lifecycle, facts);
	assert_int_equal(facts[UPKEEP_DUE].since, 0);
	assert_int_equal(facts[UPKEEP_DUE].project_count, 0);
}

static void what_the_store_refuses_is_a_fault_of_no_project(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	static const int refusals[] = {LIFECYCLE_NOT_STORED, -EIO};
	struct lifecycle_upkeep facts[LIFECYCLE_UPKEEPS];

	for (size_t i = 0; i < 2; i++) {
		upkeep_begin(fixture->lifecycle, UPKEEP_LEASES);
		if (refusals[i] > 0)
			upkeep_fault(fixture->lifecycle, UPKEEP_LEASES, STR("first"), -EUCLEAN);
		assert_int_equal(upkeep_end(fixture->lifecycle, UPKEEP_LEASES, refusals[i]), refusals[i]);
		lifecycle_upkeep_read(fixture->lifecycle, facts);
		assert_int_equal(facts[UPKEEP_LEASES].result, refusals[i]);
		assert_int_equal(facts[UPKEEP_LEASES].project_count, 0);
		assert_string_equal(facts[UPKEEP_LEASES].project, "");
	}
}

static void a_project_is_tried_again_more_and_more_seldom_and_the_store_each_second(void **state)
{
	(void)state;
	assert_int_equal(upkeep_again_ms(-EUCLEAN, 1), 1000);
	assert_int_equal(upkeep_again_ms(-EUCLEAN, 2), 2000);
	assert_int_equal(upkeep_again_ms(-EUCLEAN, 7), 64000);
	assert_int_equal(upkeep_again_ms(-EUCLEAN, 1000000), 64000);
	assert_int_equal(upkeep_again_ms(LIFECYCLE_NOT_STORED, 7), 1000);
}

/* Without the timer, which writes it anyway. */
static void an_end_is_written_by_the_next_call_in_its_project_and_by_none_elsewhere(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1,
		.package = put(fixture, "t"),
		.expires_at = atomic_load(&fixture->now) + 1000};
	struct lifecycle_project_put other = {
		.call = lifecycle_fixture_call(fixture, "operator"), .id = STR("other"), .name = STR("Other")};
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_told told = {0};

	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	lifecycle_fixture_pass(fixture, 5000);
	assert_int_equal(lifecycle_project_put(fixture->lifecycle, &other), 0);
	assert_int_equal(lifecycle_fixture_events(fixture, "due.recorded", (struct str){0}), 0);
	(void)put(fixture, "u");
	assert_int_equal(
		lifecycle_list_events(&reader, (struct store_event_filter){.type = STR("due.recorded")}, 0, 9, &told),
		0);
	assert_int_equal(told.events.count, 1);
	assert_int_equal(told.events.items[0].at, atomic_load(&fixture->now));
	assert_int_equal(lifecycle_fixture_view(fixture, grant.package).hold.arm, ARM_EXPIRED);
}

static void the_end_of_what_a_project_allows_is_judged_with_it(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t");
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.project = STR("tracker"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities = (const struct str[]){STR("filesystem.project.read")},
		.capability_count = 1,
		.root_revision = 1,
		.expires_at = atomic_load(&fixture->now) + 1000};

	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	assert_false(lifecycle_fixture_view(fixture, package).is_held);
	lifecycle_fixture_pass(fixture, 5000);
	(void)put(fixture, "u");
	assert_true(lifecycle_fixture_view(fixture, package).is_held);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.arm, ARM_EXPIRED);
}

static void an_end_is_written_though_the_queue_is_full_of_calls(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct told told = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct lifecycle_grant grant = {.decision = STORE_GRANT_APPROVED, .root_revision = 1};
	struct store_stats stats = {0};
	struct lifecycle_reader reader;
	struct store_grant seen = {0};
	struct crowd crowd;

	fixture->store->config.queue_limit = QUEUE_LIMIT;
	fixture->config.keeps_time = true;
	fixture->config.tell = note_told;
	fixture->config.tell_arg = &told;
	lifecycle_fixture_reopen(fixture);
	grant.call = lifecycle_fixture_call(fixture, "approver");
	grant.package = put(fixture, "t");
	grant.expires_at = atomic_load(&fixture->now) + 1;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	fill_queue(fixture, &crowd);
	lifecycle_fixture_pass(fixture, 1);
	while (stats.queued <= QUEUE_LIMIT && !has_failed(&told)) {
		(void)sched_yield();
		store_stats_read(fixture->store->store, &stats);
	}
	empty_queue(fixture, &crowd);
	while (!seen.expired) {
		(void)sched_yield();
		reader = lifecycle_fixture_reader(fixture);
		assert_int_equal(lifecycle_view_grant(&reader, grant.grant.id, &seen), 0);
	}
	assert_false(has_failed(&told));
	lifecycle_free(fixture->lifecycle);
	fixture->lifecycle = NULL;
}

/* ---- another catalog */

static int insert_nonsense(struct store_tx *tx, void *arg)
{
	struct store_package package = {.id = STR("pkg_broken"),
		.task = STR("broken"),
		.plan_revision = 1,
		.label = STR("a"),
		.agent = STR("dev"),
		.document_digest = STR("sha256:nonsense"),
		.created_at = 3,
		.attempt_limit = 3};
	int r = store_fixture_insert_project(tx, (void *)(uintptr_t) "broken");

	(void)arg;
	if (r == 0)
		r = store_fixture_insert_task(tx, "broken", "broken");
	return r != 0 ? r : store_package_insert(tx, &package, STR("nonsense"));
}

/* The default one, in which servers need no health. */
static struct str make_catalog(struct lifecycle_fixture *fixture)
{
	struct str bytes = catalog_default_bytes();
	json_t *catalog = json_loadb(bytes.bytes, bytes.len, 0, NULL);
	json_t *runtime = json_object_get(json_object_get(json_object_get(catalog, "mcps"), "github"), "runtime");
	char *text = NULL;

	assert_int_equal(json_object_set_new(runtime, "healthGated", json_false()), 0);
	text = json_dumps(catalog, JSON_COMPACT);
	assert_non_null(text);
	bytes = arena_str(lifecycle_fixture_arena(fixture), lifecycle_fixture_str(text));
	free(text);
	json_decref(catalog);
	return bytes;
}

static void replace_catalog(struct lifecycle_fixture *fixture)
{
	struct lifecycle_catalog_put call = {
		.call = lifecycle_fixture_call(fixture, "admin"), .bytes = make_catalog(fixture)};

	assert_int_equal(lifecycle_catalog_put(fixture->lifecycle, &call), 0);
	assert_true(call.is_changed);
}

static void a_project_that_cannot_be_judged_holds_up_no_other(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t");

	assert_int_equal(store_fixture_write(fixture->store, insert_nonsense, NULL), 0);
	replace_catalog(fixture);
	assert_true(lifecycle_fixture_view(fixture, package).is_rejudging);
	assert_int_equal(rejudge_all(fixture->lifecycle), -EUCLEAN);
	assert_false(lifecycle_fixture_view(fixture, package).is_rejudging);
}

static void a_start_with_another_catalog_waits_for_no_project(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct told told = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct str package = put(fixture, "t");

	assert_int_equal(store_fixture_write(fixture->store, insert_nonsense, NULL), 0);
	fixture->config.catalog = make_catalog(fixture);
	fixture->config.keeps_time = true;
	fixture->config.tell = note_told;
	fixture->config.tell_arg = &told;
	lifecycle_fixture_reopen(fixture);
	wait_for_failure(&told);
	assert_int_equal(told.first.result, -EUCLEAN);
	assert_string_equal(told.first.project, "broken");
	assert_false(lifecycle_fixture_view(fixture, package).is_rejudging);
	lifecycle_free(fixture->lifecycle);
	fixture->lifecycle = NULL;
}

static void where_nothing_is_to_be_judged_anew_nothing_is_written(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct store_stats before;
	struct store_stats after;

	(void)put(fixture, "t");
	replace_catalog(fixture);
	assert_int_equal(rejudge_all(fixture->lifecycle), 0);
	store_stats_read(fixture->store->store, &before);
	assert_int_equal(rejudge_all(fixture->lifecycle), 0);
	store_stats_read(fixture->store->store, &after);
	assert_int_equal(after.operations, before.operations);
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFECYCLE_TEST(a_preview_that_the_queue_refused_is_written_when_there_is_room),
		LIFECYCLE_TEST(what_fails_is_told_once_with_its_projects_and_then_that_it_works),
		LIFECYCLE_TEST(what_the_store_refuses_is_a_fault_of_no_project),
		cmocka_unit_test(a_project_is_tried_again_more_and_more_seldom_and_the_store_each_second),
		LIFECYCLE_TEST(an_end_is_written_by_the_next_call_in_its_project_and_by_none_elsewhere),
		LIFECYCLE_TEST(the_end_of_what_a_project_allows_is_judged_with_it),
		LIFECYCLE_TEST(an_end_is_written_though_the_queue_is_full_of_calls),
		LIFECYCLE_TEST(a_project_that_cannot_be_judged_holds_up_no_other),
		LIFECYCLE_TEST(a_start_with_another_catalog_waits_for_no_project),
		LIFECYCLE_TEST(where_nothing_is_to_be_judged_anew_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
