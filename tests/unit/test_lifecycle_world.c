/* The world that decisions stand on: folders, health, time, and what changes under a call (chapters 1.6, 2.3, 2.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/cleanup.h"
#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")

static struct str put(struct lifecycle_fixture *fixture, const char *task, const char *requirements)
{
	struct lifecycle_plan_put put;
	const char *package = lifecycle_fixture_package(fixture, "a", "", requirements, "");

	assert_int_equal(lifecycle_fixture_put(fixture, task, lifecycle_fixture_body(fixture, package), &put), 0);
	return put.view.packages[0].row.id;
}

static struct str approved(struct lifecycle_fixture *fixture, const char *task)
{
	struct str package = put(fixture, task, READ);
	struct lifecycle_grant grant;
	struct lifecycle_approval approval;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, task, 1, &approval), 0);
	return package;
}

/* ---- roots */

static void the_same_folder_is_no_change_and_another_one_is(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_project_put change;

	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->root, &change), 0);
	assert_false(change.root_changed);
	assert_false(change.created);
	assert_int_equal(change.view.row.root_revision, 1);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->other, &change), 0);
	assert_true(change.root_changed);
	assert_int_equal(change.view.row.root_revision, 2);
	assert_int_equal(change.view.health.count, 1);
	assert_true(str_is(change.view.health.items[0].status, "healthy"));
}

static void a_root_change_makes_grants_count_no_more_and_going_back_revives_nothing(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct str by_project = put(fixture, "u", FIXTURE_READ("fs", "filesystem.project.list"));
	struct lifecycle_project_put change;
	struct lifecycle_grant grant;
	struct lifecycle_package view;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.list", false, &grant), 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->other, &change), 0);
	view = lifecycle_fixture_view(fixture, package);
	assert_int_equal(view.hold.arm, ARM_ROOT_CHANGED);
	assert_true(
		str_is(view.state.words.body, "Decisions for the folder before (revision 1, now 2) don't carry over."));
	assert_int_equal(view.actions.items[0].body.root_revision, 2);
	assert_int_equal(lifecycle_fixture_view(fixture, by_project).hold.arm, ARM_ROOT_CHANGED);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->root, &change), 0);
	assert_int_equal(change.view.row.root_revision, 3);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.arm, ARM_ROOT_CHANGED);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_false(lifecycle_fixture_view(fixture, package).is_held);
}

static void folders_that_may_not_be_a_root_are_refused(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str prefix = lifecycle_fixture_str(fixture->root);
	struct lifecycle_project_put change;
	char inside[128];

	assert_int_equal(lifecycle_fixture_set_root(fixture, "relative", &change), LIFECYCLE_INVALID_DOCUMENT);
	assert_int_equal(lifecycle_fixture_set_root(fixture, "/nowhere/at/all", &change), LIFECYCLE_ROOT_NOT_ALLOWED);
	assert_int_equal(lifecycle_fixture_set_root(fixture, store_fixture_path(fixture->store, "admitd.db"), &change),
		LIFECYCLE_ROOT_NOT_ALLOWED);
	assert_int_equal(
		lifecycle_fixture_set_root(fixture, fixture->store->folder, &change), LIFECYCLE_ROOT_NOT_ALLOWED);
	assert_int_equal(lifecycle_fixture_set_root(fixture, "/", &change), LIFECYCLE_ROOT_NOT_ALLOWED);
	fixture->config.root_prefixes = &prefix;
	fixture->config.root_prefix_count = 1;
	lifecycle_fixture_reopen(fixture);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->other, &change), LIFECYCLE_ROOT_NOT_ALLOWED);
	(void)snprintf(inside, sizeof(inside), "%s/inside", fixture->root);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, inside, &change), 0);
	assert_int_equal(rmdir(inside), 0);
	/* A link out of the prefix is judged by where it leads. */
	assert_int_equal(symlink(fixture->other, inside), 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, inside, &change), LIFECYCLE_ROOT_NOT_ALLOWED);
	assert_int_equal(unlink(inside), 0);
}

static void a_root_in_use_by_a_run_stays(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approved(fixture, "t");
	struct lifecycle_project_put change;
	struct lifecycle_handoff handoff;
	struct lifecycle_outcome outcome;

	assert_int_equal(lifecycle_fixture_handoff(fixture, package, &handoff), 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->other, &change), LIFECYCLE_RUN_ACTIVE);
	assert_int_equal(change.call.refusal.id_count, 1);
	assert_true(str_equal(change.call.refusal.ids[0], handoff.run.row.id));
	assert_int_equal(lifecycle_fixture_outcome(fixture, handoff.run.row.id, STORE_RUN_RELEASED, &outcome), 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->other, &change), 0);
}

/* ---- health of the folder */

static void another_directory_at_the_path_is_no_longer_healthy_until_it_is_set_again(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approved(fixture, "t");
	struct lifecycle_handoff handoff;
	struct lifecycle_project_put change;
	char aside[128];

	(void)snprintf(aside, sizeof(aside), "%s-aside", fixture->root);
	assert_int_equal(rename(fixture->root, aside), 0);
	assert_int_equal(mkdir(fixture->root, 0700), 0);
	lifecycle_fixture_pass(fixture, 30000);
	assert_int_equal(lifecycle_fixture_handoff(fixture, package, &handoff), LIFECYCLE_ADMISSION_BLOCKED);
	assert_int_equal(handoff.judged.hold.kind, HOLD_NEEDS_SETUP);
	assert_true(handoff.judged.hold.retryable);
	assert_int_equal(handoff.judged.actions.items[0].id, ACTION_CHECK_SERVER);
	assert_non_null(strstr(handoff.health.bytes, "configuration_required"));
	assert_int_equal(lifecycle_fixture_view(fixture, package).status, PACKAGE_BLOCKED);
	assert_int_equal(lifecycle_fixture_events(fixture, "health.changed", (struct str){0}), 3);
	/* The path is the same, the directory isn't: that is a change. */
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->root, &change), 0);
	assert_true(change.root_changed);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.arm, ARM_ROOT_CHANGED);
	assert_int_equal(rmdir(aside), 0);
}

static void health_is_asked_again_only_when_it_is_older_than_the_limit(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct lifecycle_stats stats;

	(void)put(fixture, "t", READ);
	lifecycle_fixture_pass(fixture, 29999);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.health_asked, 0);
	lifecycle_fixture_pass(fixture, 1);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_fixture_settle(fixture);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.health_asked, 1);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"checkedAt\":\"2026-11-30T09:00:30.000Z\""));
	/* Only its time changed: nobody needs to be told. */
	assert_int_equal(lifecycle_fixture_events(fixture, "health.changed", (struct str){0}), 2);
	/* A clock that is set back by an hour makes it too old, not young for an hour. */
	lifecycle_fixture_pass(fixture, -3600000);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.health_asked, 2);
}

static void expect_daemon_saw_it(struct lifecycle_fixture *fixture)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct store_event_filter filter = {.type = STR("health.changed"), .newest_first = true};
	struct lifecycle_told told = {0};

	assert_int_equal(lifecycle_list_events(&reader, filter, 0, 1, &told), 0);
	assert_int_equal(told.events.count, 1);
	assert_null(told.events.items[0].actor.principal.bytes);
	assert_non_null(strstr(told.events.items[0].payload_json.bytes, "\"source\":\"builtin\""));
}

static void health_is_stored_as_an_approval_saw_it(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;
	struct lifecycle_approval approval;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	lifecycle_fixture_pass(fixture, 45000);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_non_null(strstr(approval.answer.bytes, "\"checkedAt\":\"2026-11-30T09:00:45.000Z\""));
	assert_int_equal(lifecycle_fixture_project(fixture).health.items[0].checked_at, atomic_load(&fixture->now));
}

static int put_row_of_another_root(struct store_tx *tx, void *arg)
{
	struct lifecycle_fixture *fixture = arg;
	struct store_health row = {.project = STR("tracker"),
		.mcp_id = STR("filesystem"),
		.install_state = STR("installed"),
		.status = STR("healthy"),
		.enabled = true,
		.checked_at = atomic_load(&fixture->now),
		.source = STORE_HEALTH_BUILTIN,
		.root_revision = 99};

	return store_health_put(tx, &row);
}

static void health_that_was_taken_for_another_root_is_asked_again(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct lifecycle_stats stats;

	(void)put(fixture, "t", READ);
	assert_int_equal(store_fixture_write(fixture->store, put_row_of_another_root, fixture), 0);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.health_asked, 1);
}

static void a_preview_that_sees_a_lost_folder_opens_the_holds_that_follow(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct lifecycle_grant grant;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_package view;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(rmdir(fixture->root), 0);
	lifecycle_fixture_pass(fixture, 30000);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_int_equal(preview.judgement.packages[0].hold.kind, HOLD_NEEDS_SETUP);
	assert_true(str_is(preview.judgement.packages[0].state.words.body,
		"Last seen 0 s ago: the project's folder can't be opened."));
	lifecycle_fixture_settle(fixture);
	expect_daemon_saw_it(fixture);
	view = lifecycle_fixture_view(fixture, package);
	assert_true(view.is_held);
	assert_int_equal(view.hold.kind, HOLD_NEEDS_SETUP);
	assert_true(str_is(view.hold.facts.error, "the project's folder can't be opened"));
}

/* ---- what changes under a call */

struct meddler {
	struct lifecycle_fixture *fixture;
	unsigned skips;  /* readings of the clock before the first change */
	unsigned rounds; /* how often the root is still to change */
	bool is_busy;
};

/* The clock is read before each transaction and after each look at the folder, so this changes the root between what was seen
 * and the transaction that would use it.
 */
static int64_t meddling_clock(void *arg)
{
	struct meddler *meddler = arg;
	struct lifecycle_fixture *fixture = meddler->fixture;

	if (!meddler->is_busy && meddler->rounds > 0 && meddler->skips > 0) {
		meddler->skips--;
	} else if (!meddler->is_busy && meddler->rounds > 0) {
		struct lifecycle_project_put change;

		meddler->is_busy = true;
		meddler->rounds--;
		assert_int_equal(lifecycle_fixture_set_root(
					 fixture, meddler->rounds % 2 == 0 ? fixture->other : fixture->root, &change),
			0);
		meddler->is_busy = false;
	}
	return atomic_load(&fixture->now);
}

static void expect_meddled(struct lifecycle_fixture *fixture, unsigned rounds, int result, uint64_t conflicts)
{
	struct meddler meddler = {.fixture = fixture};
	struct lifecycle_preview preview;
	struct lifecycle_stats stats;

	fixture->config.clock_ms = meddling_clock;
	fixture->config.clock_arg = &meddler;
	lifecycle_fixture_reopen(fixture);
	lifecycle_fixture_pass(fixture, 31000);
	meddler.skips = 1;
	meddler.rounds = rounds;
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), result);
	meddler.rounds = 0;
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.inputs_changed, conflicts);
	lifecycle_free(fixture->lifecycle);
	fixture->lifecycle = NULL;
}

static void inputs_that_change_under_a_call_are_asked_again(void **state)
{
	struct lifecycle_fixture *fixture = *state;

	(void)put(fixture, "t", READ);
	expect_meddled(fixture, 1, 0, 1);
}

static void inputs_that_never_hold_still_are_told_after_three_times(void **state)
{
	struct lifecycle_fixture *fixture = *state;

	(void)put(fixture, "t", READ);
	expect_meddled(fixture, 100, LIFECYCLE_INPUTS_CHANGED, 3);
}

/* ---- what others report */

static struct lifecycle_report report(struct lifecycle_fixture *fixture, const char *mcp, const char *at)
{
	return (struct lifecycle_report){
		.call = lifecycle_fixture_call(fixture, "operator"),
		.project = STR("tracker"),
		.mcp_id = lifecycle_fixture_str(mcp),
		.row = {.mcp_id = lifecycle_fixture_str(mcp),
			.observed = true,
			.enabled = true,
			.install_state = HEALTH_INSTALLED,
			.status = HEALTH_HEALTHY,
			.checked_at = lifecycle_fixture_str(at)},
	};
}

static void a_reported_row_is_what_the_engine_sees(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_report seen = report(fixture, "github", "2026-11-30T09:00:00.000Z");
	struct lifecycle_preview preview;

	(void)put(fixture, "t", FIXTURE_OPTIONAL("gh", "github", "github.issues.read"));
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"observed\":false"));
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), 0);
	assert_int_equal(seen.health.source, STORE_HEALTH_REPORTED);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"observed\":true"));
	assert_non_null(strstr(preview.judgement.health.bytes, "\"status\":\"healthy\""));
}

static void a_report_whose_end_has_come_is_none(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_report seen = report(fixture, "github", "2026-11-30T09:00:00.000Z");
	struct lifecycle_preview preview;

	(void)put(fixture, "t", FIXTURE_OPTIONAL("gh", "github", "github.issues.read"));
	seen.valid_seconds = 60;
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), 0);
	lifecycle_fixture_pass(fixture, 59999);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"observed\":true"));
	lifecycle_fixture_pass(fixture, 1);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"observed\":false"));
	/* A new word holds again. */
	seen = report(fixture, "github", "2026-11-30T09:01:00.000Z");
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), 0);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.health.bytes, "\"observed\":true"));
}

static void older_reports_and_bad_ones_are_refused(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_report seen = report(fixture, "github", "2026-11-30T09:00:00.000Z");

	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), 0);
	seen = report(fixture, "github", "2026-11-30T08:59:59.999Z");
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), LIFECYCLE_STALE_OBSERVATION);
	assert_int_equal(seen.call.refusal.at, atomic_load(&fixture->now));
	seen = report(fixture, "github", "2026-11-30T10:00:00.000Z");
	seen.valid_seconds = REPORT_VALID_SECONDS_LIMIT + 1;
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), LIFECYCLE_INVALID_DOCUMENT);
	assert_int_equal(seen.call.refusal.fault_count, 2);
	seen = report(fixture, "filesystem", "2026-11-30T09:00:00.000Z");
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), LIFECYCLE_INVALID_DOCUMENT);
	seen = report(fixture, "gitlab", "2026-11-30T09:00:00.000Z");
	assert_int_equal(lifecycle_report_health(fixture->lifecycle, &seen), LIFECYCLE_NOT_FOUND);
}

/* ---- the catalog */

/* The default catalog, but for one safe read and what is spelt for it. */
static struct str catalog_without_read(struct lifecycle_fixture *fixture)
{
	struct str bytes = catalog_default_bytes();
	CLEANUP(json_drop) json_t *catalog = json_loadb(bytes.bytes, bytes.len, 0, NULL);
	json_t *filesystem = json_object_get(json_object_get(catalog, "mcps"), "filesystem");
	json_t *reads = json_object_get(json_object_get(filesystem, "runtime"), "capabilities");
	CLEANUP(free_drop) char *text = NULL;

	assert_non_null(filesystem);
	assert_int_equal(json_array_remove(reads, 0), 0);
	assert_int_equal(json_object_del(json_object_get(filesystem, "aliases"), "filesystem.read"), 0);
	text = json_dumps(catalog, 0);
	assert_non_null(text);
	return arena_str(lifecycle_fixture_arena(fixture), (struct str){text, strlen(text)});
}

static void another_catalog_judges_every_package_anew(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = arena_str(lifecycle_fixture_arena(fixture), put(fixture, "t", READ));
	struct lifecycle_package view;

	fixture->config.catalog = catalog_without_read(fixture);
	lifecycle_fixture_reopen(fixture);
	view = lifecycle_fixture_view(fixture, package);
	assert_false(view.is_rejudging);
	assert_int_equal(view.hold.kind, HOLD_NEEDS_PLAN_CHANGE);
	assert_int_equal(view.state.key, OPERATOR_PLAN_NEEDS_CHANGES);
	assert_int_equal(view.actions.items[0].id, ACTION_REQUEST_CHANGES);
	assert_int_equal(lifecycle_fixture_events(fixture, "catalog.replaced", (struct str){0}), 2);
	fixture->config.catalog = (struct str){0};
	lifecycle_fixture_reopen(fixture);
	view = lifecycle_fixture_view(fixture, package);
	assert_int_equal(view.hold.arm, ARM_NEVER_APPROVED);
	assert_int_equal(lifecycle_fixture_events(fixture, "hold.changed", package), 2);
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFECYCLE_TEST(the_same_folder_is_no_change_and_another_one_is),
		LIFECYCLE_TEST(a_root_change_makes_grants_count_no_more_and_going_back_revives_nothing),
		LIFECYCLE_TEST(folders_that_may_not_be_a_root_are_refused),
		LIFECYCLE_TEST(a_root_in_use_by_a_run_stays),
		LIFECYCLE_TEST(another_directory_at_the_path_is_no_longer_healthy_until_it_is_set_again),
		LIFECYCLE_TEST(health_is_asked_again_only_when_it_is_older_than_the_limit),
		LIFECYCLE_TEST(health_is_stored_as_an_approval_saw_it),
		LIFECYCLE_TEST(health_that_was_taken_for_another_root_is_asked_again),
		LIFECYCLE_TEST(a_preview_that_sees_a_lost_folder_opens_the_holds_that_follow),
		LIFECYCLE_TEST(inputs_that_change_under_a_call_are_asked_again),
		LIFECYCLE_TEST(inputs_that_never_hold_still_are_told_after_three_times),
		LIFECYCLE_TEST(a_reported_row_is_what_the_engine_sees),
		LIFECYCLE_TEST(a_report_whose_end_has_come_is_none),
		LIFECYCLE_TEST(older_reports_and_bad_ones_are_refused),
		LIFECYCLE_TEST(another_catalog_judges_every_package_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
