/* Runs and their leases (chapter 2.5): renewed, ended by time, by the daemon, and after a restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/lifecycle/heartbeat.h"
#include "daemon/lifecycle/lease_timer.h"
#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")
#define FREE FIXTURE_OPTIONAL("gh", "github", "github.issues.create")

enum { TERM_MS = LEASE_USUAL_MS };

static struct str approve_one(struct lifecycle_fixture *fixture, const char *requirements)
{
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	struct lifecycle_grant grant;
	const char *body =
		lifecycle_fixture_body(fixture, lifecycle_fixture_package(fixture, "a", "", requirements, ""));

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	if (put.view.is_blocked)
		assert_int_equal(
			lifecycle_fixture_decide(fixture, put.view.packages[0].row.id, STORE_GRANT_APPROVED, &grant),
			0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	return put.view.packages[0].row.id;
}

static struct str claim(struct lifecycle_fixture *fixture, struct str package)
{
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_handoff(fixture, package, &handoff), 0);
	return handoff.run.row.id;
}

static int beat(struct lifecycle_fixture *fixture, struct str run, const char *who, struct lifecycle_heartbeat *ret)
{
	*ret = (struct lifecycle_heartbeat){.call = lifecycle_fixture_call(fixture, who), .run = run};
	return lifecycle_renew(fixture->lifecycle, ret);
}

/* Both clocks go on, and what is over ends. */
static void pass(struct lifecycle_fixture *fixture, int64_t ms)
{
	int64_t next = 0;

	lifecycle_fixture_pass(fixture, ms);
	assert_int_equal(lease_timer_expire(fixture->lifecycle, &next), 0);
}

static struct lifecycle_run view(struct lifecycle_fixture *fixture, struct str run)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_run found = {0};

	assert_int_equal(lifecycle_view_run(&reader, run, &found), 0);
	return found;
}

static void a_heartbeat_renews_to_a_full_term(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run = claim(fixture, approve_one(fixture, FREE));
	struct lifecycle_heartbeat heartbeat;
	size_t events = lifecycle_fixture_events(fixture, NULL, (struct str){0});

	for (int i = 0; i < 5; i++) {
		pass(fixture, TERM_MS - 1);
		assert_int_equal(beat(fixture, run, "executor", &heartbeat), 0);
		assert_int_equal(heartbeat.run_view.row.lease_expires_at, atomic_load(&fixture->now) + TERM_MS);
	}
	assert_int_equal(heartbeat.run_view.row.renewals, 5);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_LIVE);
	/* A sign of life is no event. */
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, (struct str){0}), events);
}

static void a_silent_run_expires_which_is_an_attempt(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, FREE);
	struct str run = claim(fixture, package);
	struct lifecycle_outcome late;
	struct lifecycle_heartbeat heartbeat;
	struct lifecycle_run found;

	pass(fixture, TERM_MS - 1);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_LIVE);
	pass(fixture, 1);
	found = view(fixture, run);
	assert_int_equal(found.row.outcome, STORE_RUN_EXPIRED);
	assert_null(found.row.ended_by.principal.bytes);
	assert_int_equal(lifecycle_fixture_view(fixture, package).row.attempts, 1);
	assert_int_equal(lifecycle_fixture_view(fixture, package).status, PACKAGE_READY);
	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_SUCCEEDED, &late), LIFECYCLE_RUN_ENDED);
	assert_true(str_is(late.call.refusal.status, "expired"));
	assert_int_equal(beat(fixture, run, "executor", &heartbeat), LIFECYCLE_RUN_ENDED);
	assert_true(str_is(heartbeat.call.refusal.status, "expired"));
	assert_int_equal(lifecycle_fixture_events(fixture, "run.ended", package), 1);
}

static void three_silent_runs_fail_the_package_and_its_task(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, FREE);

	for (int i = 0; i < RUN_ATTEMPT_LIMIT; i++) {
		(void)claim(fixture, package);
		pass(fixture, TERM_MS);
	}
	assert_int_equal(lifecycle_fixture_view(fixture, package).status, PACKAGE_FAILED);
	assert_int_equal(lifecycle_fixture_task(fixture, "t").row.status, STORE_TASK_FAILED);
}

static void an_expired_run_leaves_its_grant_used_up(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, READ);

	(void)claim(fixture, package);
	pass(fixture, TERM_MS);
	assert_int_equal(lifecycle_fixture_view(fixture, package).status, PACKAGE_BLOCKED);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.arm, ARM_USED_UP);
}

static void a_used_grant_is_taken_back_while_its_run_is_live_and_not_later(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, READ);
	struct str run = claim(fixture, package);
	struct lifecycle_outcome reported;
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_REVOKED, &grant), 0);
	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_RELEASED, &reported), 0);
	assert_int_equal(reported.view.hold.arm, ARM_TAKEN_BACK);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_outcome(fixture, claim(fixture, package), STORE_RUN_RELEASED, &reported), 0);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_REVOKED, &grant), LIFECYCLE_NOTHING_TO_REVOKE);
}

static void a_clock_that_is_set_ends_no_lease_and_lengthens_none(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run = claim(fixture, approve_one(fixture, FREE));
	int64_t next = 0;

	atomic_fetch_add(&fixture->now, 24 * 3600 * 1000);
	assert_int_equal(lease_timer_expire(fixture->lifecycle, &next), 0);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_LIVE);
	atomic_fetch_add(&fixture->now, -48 * 3600 * 1000);
	atomic_fetch_add(&fixture->monotonic, TERM_MS);
	assert_int_equal(lease_timer_expire(fixture->lifecycle, &next), 0);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_EXPIRED);
}

static void a_start_gives_each_live_lease_one_fresh_term(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run = claim(fixture, approve_one(fixture, FREE));

	pass(fixture, TERM_MS - 1);
	lifecycle_fixture_pass(fixture, 10 * TERM_MS);
	lifecycle_fixture_reopen(fixture);
	assert_int_equal(view(fixture, run).row.lease_expires_at, atomic_load(&fixture->now) + TERM_MS);
	pass(fixture, TERM_MS - 1);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_LIVE);
	pass(fixture, 1);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_EXPIRED);
}

static void the_length_of_a_lease_is_what_was_set(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run;

	fixture->config.lease_ms = 6000;
	lifecycle_fixture_reopen(fixture);
	assert_int_equal(lifecycle_lease_seconds(fixture->lifecycle), 6);
	assert_int_equal(lifecycle_renew_seconds(fixture->lifecycle), 2);
	run = claim(fixture, approve_one(fixture, FREE));
	pass(fixture, 5999);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_LIVE);
	pass(fixture, 1);
	assert_int_equal(view(fixture, run).row.outcome, STORE_RUN_EXPIRED);
}

static void a_run_is_used_by_its_token_and_its_claimer_only(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run = claim(fixture, approve_one(fixture, FREE));
	struct lifecycle_heartbeat heartbeat;

	assert_int_equal(beat(fixture, run, "somebody", &heartbeat), LIFECYCLE_FORBIDDEN);
	assert_int_equal(beat(fixture, STR("run_none"), "executor", &heartbeat), LIFECYCLE_NOT_FOUND);
	heartbeat = (struct lifecycle_heartbeat){
		.call = lifecycle_fixture_call(fixture, "somebody"), .run = run, .has_run_token = true};
	assert_int_equal(lifecycle_renew(fixture->lifecycle, &heartbeat), 0);
}

static void a_reported_outcome_outlives_the_lease(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, FREE);
	struct str run = claim(fixture, package);
	struct lifecycle_outcome reported;
	struct lifecycle_heartbeat heartbeat;

	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_RELEASED, &reported), 0);
	pass(fixture, 2 * TERM_MS);
	assert_int_equal(lifecycle_fixture_view(fixture, package).row.attempts, 0);
	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_RELEASED, &reported), 0);
	assert_int_equal(
		lifecycle_fixture_outcome(fixture, run, STORE_RUN_FAILED, &reported), LIFECYCLE_OUTCOME_CONFLICT);
	assert_int_equal(beat(fixture, run, "executor", &heartbeat), LIFECYCLE_RUN_ENDED);
	assert_true(str_is(heartbeat.call.refusal.status, "released"));
}

static void the_end_of_a_lease_is_on_record(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = approve_one(fixture, FREE);
	int64_t next = 0;

	(void)claim(fixture, package);
	pass(fixture, TERM_MS);
	/* Once: nothing is left to end. */
	assert_int_equal(lease_timer_expire(fixture->lifecycle, &next), 0);
	assert_int_equal(next, INT64_MAX);
	assert_int_equal(lifecycle_fixture_view(fixture, package).row.attempts, 1);
}

static void a_task_says_when_it_came_to_its_end(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str run = claim(fixture, approve_one(fixture, FREE));
	struct lifecycle_outcome outcome;

	lifecycle_fixture_pass(fixture, 5000);
	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_SUCCEEDED, &outcome), 0);
	assert_int_equal(lifecycle_fixture_task(fixture, "t").row.status, STORE_TASK_COMPLETED);
	assert_int_equal(lifecycle_fixture_task(fixture, "t").row.status_at, atomic_load(&fixture->now));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_heartbeat_renews_to_a_full_term),
		WITH(a_silent_run_expires_which_is_an_attempt),
		WITH(three_silent_runs_fail_the_package_and_its_task),
		WITH(an_expired_run_leaves_its_grant_used_up),
		WITH(a_used_grant_is_taken_back_while_its_run_is_live_and_not_later),
		WITH(a_clock_that_is_set_ends_no_lease_and_lengthens_none),
		WITH(a_start_gives_each_live_lease_one_fresh_term),
		WITH(the_length_of_a_lease_is_what_was_set),
		WITH(a_run_is_used_by_its_token_and_its_claimer_only),
		WITH(a_reported_outcome_outlives_the_lease),
		WITH(the_end_of_a_lease_is_on_record),
		WITH(a_task_says_when_it_came_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
