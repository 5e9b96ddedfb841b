/* The three surfaces on one state: what they refuse, what they leave behind, who wins (chapters 2.3, 2.5). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")
#define NO_PACKAGE ((struct str){0})

static struct lifecycle_task put(struct lifecycle_fixture *fixture, const char *task, const char *packages)
{
	struct lifecycle_plan_put put;

	assert_int_equal(lifecycle_fixture_put(fixture, task, lifecycle_fixture_body(fixture, packages), &put), 0);
	return put.view;
}

static const char *package(
	struct lifecycle_fixture *fixture, const char *label, const char *on, const char *requirements)
{
	return lifecycle_fixture_package(fixture, label, on, requirements, "");
}

/* "a" needs nothing, "b" depends on it. */
static struct lifecycle_task put_chain(struct lifecycle_fixture *fixture, const char *task)
{
	return put(fixture, task,
		arena_printf(lifecycle_fixture_arena(fixture), "%s,%s", package(fixture, "a", "", ""),
			package(fixture, "b", "\"a\"", ""))
			.bytes);
}

static struct str approved_package(struct lifecycle_fixture *fixture, const char *task, const char *requirements)
{
	struct lifecycle_task view = put(fixture, task, package(fixture, "a", "", requirements));
	struct lifecycle_approval approval;
	struct lifecycle_grant grant;

	if (view.packages[0].is_held)
		assert_int_equal(
			lifecycle_fixture_decide(fixture, view.packages[0].row.id, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, task, 1, &approval), 0);
	return view.packages[0].row.id;
}

static int next(struct lifecycle_fixture *fixture, const char *task, const char *agent, struct lifecycle_handoff *ret)
{
	*ret = (struct lifecycle_handoff){
		.call = lifecycle_fixture_call(fixture, "executor"),
		.task = lifecycle_fixture_str(task),
		.agent = lifecycle_fixture_str(agent),
	};
	return lifecycle_handoff(fixture->lifecycle, ret);
}

static int end_run(struct lifecycle_fixture *fixture, const struct lifecycle_handoff *handoff,
	enum store_run_outcome outcome, struct lifecycle_outcome *ret)
{
	return lifecycle_fixture_outcome(fixture, handoff->run.row.id, outcome, ret);
}

/* ---- approval */

static void one_blocked_package_of_three_changes_nothing(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_approval approval;
	struct lifecycle_task task = put(fixture, "t",
		arena_printf(lifecycle_fixture_arena(fixture), "%s,%s,%s", package(fixture, "a", "", ""),
			package(fixture, "b", "", READ), package(fixture, "c", "", ""))
			.bytes);

	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), LIFECYCLE_ADMISSION_BLOCKED);
	assert_int_equal(approval.judgement.package_count, 3);
	assert_int_equal(approval.judgement.counts[ADMISSION_BLOCKED], 1);
	task = lifecycle_fixture_task(fixture, "t");
	assert_int_equal(task.row.status, STORE_TASK_PROPOSED);
	assert_int_equal(task.row.approved_at, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(task.packages[i].status, PACKAGE_DRAFT);
	assert_int_equal(lifecycle_fixture_events(fixture, "package.status", NO_PACKAGE), 0);
	assert_int_equal(lifecycle_fixture_events(fixture, "surface.approval", NO_PACKAGE), 3);
}

static void an_approval_must_name_the_current_plan_and_root(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_approval approval;
	struct lifecycle_plan_put put;

	(void)put_chain(fixture, "t");
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), LIFECYCLE_PLAN_REVISION_CONFLICT);
	assert_int_equal(approval.call.refusal.revision, 1);
	assert_int_equal(lifecycle_fixture_approve(fixture, "u", 1, &approval), LIFECYCLE_NOT_FOUND);
	approval = (struct lifecycle_approval){.call = lifecycle_fixture_call(fixture, "approver"),
		.task = STR("t"),
		.plan_revision = 1,
		.root_revision = 7};
	assert_int_equal(lifecycle_approve(fixture->lifecycle, &approval), LIFECYCLE_ROOT_CHANGED);
	assert_int_equal(approval.call.refusal.revision, 1);
	assert_int_equal(lifecycle_fixture_put(fixture, "t",
				 lifecycle_fixture_body(fixture,
					 lifecycle_fixture_package(fixture, "other", "",
						 FIXTURE_READ("fs", "filesystem.project.read"), "")),
				 &put),
		0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), LIFECYCLE_PLAN_REVISION_CONFLICT);
	assert_int_equal(approval.call.refusal.revision, 2);
}

#define SUBTASK(id, capabilities) "{\"id\":\"" id "\",\"agent\":\"dev\",\"mcpCapabilities\":[" capabilities "]}"

static void a_handoff_names_every_admitted_subtask_once(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	const char *requirements = READ "," FIXTURE_OPTIONAL("ls", "filesystem", "filesystem.project.list");
	const char *subtasks = SUBTASK("one", "\"filesystem.project.read\"") "," SUBTASK(
		"two", "\"filesystem.project.read\",\"filesystem.project.list\"");
	struct lifecycle_task view =
		put(fixture, "t", lifecycle_fixture_package(fixture, "a", "", requirements, subtasks));
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_decide(fixture, view.packages[0].row.id, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_handoff(fixture, view.packages[0].row.id, &handoff), 0);
	assert_int_equal(handoff.subtask_count, 2);
	assert_true(str_is(handoff.subtasks[0], "one"));
	assert_true(str_is(handoff.subtasks[1], "two"));
}

static void every_package_of_a_plan_is_judged_with_its_own_grant(void **state)
{
	enum { PACKAGES = 5 };
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_approval approval;
	struct lifecycle_grant grant;
	struct lifecycle_task task;
	const char *packages = "";
	char label[2] = "a";

	for (size_t i = 0; i < PACKAGES; i++, label[0]++)
		packages = arena_printf(lifecycle_fixture_arena(fixture), "%s%s%s", packages, i == 0 ? "" : ",",
			package(fixture, label, "", READ))
				   .bytes;
	task = put(fixture, "t", packages);
	for (size_t i = 0; i < PACKAGES; i++) {
		assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), LIFECYCLE_ADMISSION_BLOCKED);
		assert_int_equal(approval.judgement.counts[ADMISSION_ALLOWED], i);
		assert_int_equal(
			lifecycle_fixture_decide(fixture, task.packages[i].row.id, STORE_GRANT_APPROVED, &grant), 0);
		assert_int_equal(lifecycle_fixture_events(fixture, "hold.cleared", NO_PACKAGE), i + 1);
	}
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
}

/* ---- several at once */

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned done;
	int results[4];
};

static void note_done(struct lifecycle_call *call, int result)
{
	struct waiting *waiting = call->arg;

	(void)pthread_mutex_lock(&waiting->lock);
	waiting->results[waiting->done++] = result;
	(void)pthread_cond_broadcast(&waiting->changed);
	(void)pthread_mutex_unlock(&waiting->lock);
}

static void wait_for(struct waiting *waiting, unsigned count)
{
	(void)pthread_mutex_lock(&waiting->lock);
	while (waiting->done < count)
		(void)pthread_cond_wait(&waiting->changed, &waiting->lock);
	(void)pthread_mutex_unlock(&waiting->lock);
}

static struct lifecycle_call later(struct lifecycle_fixture *fixture, const char *who, struct waiting *waiting)
{
	struct lifecycle_call call = lifecycle_fixture_call(fixture, who);

	call.done = note_done;
	call.arg = waiting;
	return call;
}

static struct waiting new_waiting(void)
{
	return (struct waiting){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
}

static void two_approvals_at_once_both_succeed_and_one_was_already(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct waiting waiting = new_waiting();
	struct lifecycle_approval approvals[2];

	(void)put_chain(fixture, "t");
	store_fixture_hold_writer(fixture->store);
	for (size_t i = 0; i < 2; i++) {
		approvals[i] = (struct lifecycle_approval){.call = later(fixture, i == 0 ? "ana" : "marek", &waiting),
			.task = STR("t"),
			.plan_revision = 1,
			.root_revision = -1};
		assert_int_equal(lifecycle_approve(fixture->lifecycle, &approvals[i]), 0);
	}
	store_fixture_let_go(fixture->store);
	wait_for(&waiting, 2);
	assert_int_equal(waiting.results[0], 0);
	assert_int_equal(waiting.results[1], 0);
	assert_false(approvals[0].already_approved);
	assert_true(approvals[1].already_approved);
	assert_true(str_is(approvals[1].approved_by.principal, "ana"));
	assert_int_equal(approvals[0].answer.len, approvals[1].answer.len + 1);
	assert_non_null(strstr(approvals[1].answer.bytes, "\"alreadyApproved\":true}"));
	assert_int_equal(lifecycle_fixture_events(fixture, "task.status", NO_PACKAGE), 2);
}

static void of_two_claims_one_wins(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct waiting waiting = new_waiting();
	struct lifecycle_handoff handoffs[2];
	struct str id = approved_package(fixture, "t", READ);

	store_fixture_hold_writer(fixture->store);
	for (size_t i = 0; i < 2; i++) {
		handoffs[i] = (struct lifecycle_handoff){
			.call = later(fixture, i == 0 ? "one" : "two", &waiting), .package = id};
		assert_int_equal(lifecycle_handoff(fixture->lifecycle, &handoffs[i]), 0);
	}
	store_fixture_let_go(fixture->store);
	wait_for(&waiting, 2);
	assert_int_equal(waiting.results[0], 0);
	assert_int_equal(waiting.results[1], LIFECYCLE_PACKAGE_STATUS);
	assert_true(str_is(handoffs[1].call.refusal.status, "running"));
	assert_int_equal(lifecycle_fixture_events(fixture, "run.claimed", NO_PACKAGE), 1);
}

/* ---- handoff */

static void a_package_that_is_not_approved_or_waits_is_not_handed_off(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_task task = put_chain(fixture, "t");
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_handoff(fixture, task.packages[0].row.id, &handoff), LIFECYCLE_TASK_STATUS);
	assert_true(str_is(handoff.call.refusal.status, "proposed"));
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(
		lifecycle_fixture_handoff(fixture, task.packages[1].row.id, &handoff), LIFECYCLE_PACKAGE_STATUS);
	assert_true(str_is(handoff.call.refusal.status, "pending"));
	assert_int_equal(lifecycle_fixture_handoff(fixture, STR("pkg_none"), &handoff), LIFECYCLE_NOT_FOUND);
}

static void a_completed_dependency_frees_its_dependents_and_at_last_the_task(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_task task = put_chain(fixture, "t");
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;
	struct lifecycle_outcome outcome;

	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_handoff(fixture, task.packages[0].row.id, &handoff), 0);
	assert_int_equal(end_run(fixture, &handoff, STORE_RUN_SUCCEEDED, &outcome), 0);
	assert_int_equal(outcome.view.status, PACKAGE_COMPLETED);
	assert_int_equal(outcome.task.status, STORE_TASK_APPROVED);
	assert_int_equal(lifecycle_fixture_view(fixture, task.packages[1].row.id).status, PACKAGE_READY);
	assert_int_equal(lifecycle_fixture_events(fixture, "package.status", task.packages[1].row.id), 2);
	assert_int_equal(lifecycle_fixture_handoff(fixture, task.packages[1].row.id, &handoff), 0);
	assert_int_equal(end_run(fixture, &handoff, STORE_RUN_SUCCEEDED, &outcome), 0);
	assert_int_equal(outcome.task.status, STORE_TASK_COMPLETED);
	assert_int_equal(
		lifecycle_fixture_handoff(fixture, task.packages[1].row.id, &handoff), LIFECYCLE_PACKAGE_STATUS);
	assert_true(str_is(handoff.call.refusal.status, "completed"));
}

static void the_next_package_is_the_first_that_can_go_and_blocked_ones_are_passed_over(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str held = approved_package(fixture, "held", READ);
	struct str free_one = NO_PACKAGE;
	struct lifecycle_handoff handoff;
	struct lifecycle_grant grant;
	size_t events = 0;

	assert_int_equal(lifecycle_fixture_decide(fixture, held, STORE_GRANT_REVOKED, &grant), 0);
	lifecycle_fixture_pass(fixture, 1000);
	free_one = approved_package(fixture, "free", "");
	assert_int_equal(next(fixture, NULL, "dev", &handoff), 0);
	assert_true(str_equal(handoff.run.row.package, free_one));
	assert_int_equal(next(fixture, NULL, NULL, &handoff), LIFECYCLE_NOTHING_READY);
	assert_int_equal(next(fixture, "held", NULL, &handoff), LIFECYCLE_NOTHING_READY);
	assert_int_equal(next(fixture, NULL, "ops", &handoff), LIFECYCLE_NOTHING_READY);
	events = lifecycle_fixture_events(fixture, NULL, NO_PACKAGE);
	assert_int_equal(lifecycle_fixture_events(fixture, "surface.handoff", held), 1);
	/* Asking again and again tells nothing new. */
	assert_int_equal(next(fixture, NULL, NULL, &handoff), LIFECYCLE_NOTHING_READY);
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, NO_PACKAGE), events);
	assert_int_equal(next(fixture, "none", NULL, &handoff), LIFECYCLE_NOT_FOUND);
}

static void the_oldest_approval_goes_first(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;

	(void)put_chain(fixture, "first");
	(void)put_chain(fixture, "second");
	assert_int_equal(lifecycle_fixture_approve(fixture, "second", 1, &approval), 0);
	lifecycle_fixture_pass(fixture, 1000);
	assert_int_equal(lifecycle_fixture_approve(fixture, "first", 1, &approval), 0);
	assert_int_equal(next(fixture, NULL, NULL, &handoff), 0);
	assert_true(str_is(handoff.run.row.task, "second"));
	assert_int_equal(next(fixture, NULL, NULL, &handoff), 0);
	assert_true(str_is(handoff.run.row.task, "first"));
}

/* ---- outcomes */

static void a_one_time_grant_is_used_up_whatever_became_of_the_run(void **state)
{
	static const enum store_run_outcome ends[] = {STORE_RUN_FAILED, STORE_RUN_RELEASED};
	struct lifecycle_fixture *fixture = *state;

	for (size_t i = 0; i < 2; i++) {
		struct str id = approved_package(fixture, i == 0 ? "t0" : "t1", READ);
		struct lifecycle_handoff handoff;
		struct lifecycle_outcome outcome;
		struct lifecycle_grant grant;

		assert_int_equal(lifecycle_fixture_handoff(fixture, id, &handoff), 0);
		assert_int_equal(end_run(fixture, &handoff, ends[i], &outcome), 0);
		assert_int_equal(lifecycle_fixture_decide(fixture, id, STORE_GRANT_REVOKED, &grant),
			LIFECYCLE_NOTHING_TO_REVOKE);
		assert_int_equal(outcome.view.row.attempts, ends[i] == STORE_RUN_FAILED);
		assert_int_equal(outcome.view.hold.arm, ARM_USED_UP);
		assert_int_equal(lifecycle_fixture_decide(fixture, id, STORE_GRANT_APPROVED, &grant), 0);
		assert_int_equal(lifecycle_fixture_handoff(fixture, id, &handoff), 0);
		assert_int_equal(handoff.run.row.attempt, ends[i] == STORE_RUN_FAILED ? 2 : 1);
	}
}

static void a_project_grant_is_not_used_up(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str id = NO_PACKAGE;
	struct lifecycle_handoff handoff;
	struct lifecycle_outcome outcome;
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), 0);
	id = approved_package(fixture, "t", READ);
	assert_int_equal(lifecycle_fixture_handoff(fixture, id, &handoff), 0);
	assert_int_equal(handoff.run.grants[0].mode, STORE_GRANT_ALWAYS_ALLOW);
	assert_int_equal(end_run(fixture, &handoff, STORE_RUN_FAILED, &outcome), 0);
	assert_int_equal(outcome.view.status, PACKAGE_READY);
	assert_int_equal(lifecycle_fixture_handoff(fixture, id, &handoff), 0);
}

static void the_third_failure_ends_a_package_and_its_task(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_task task = put_chain(fixture, "t");
	struct lifecycle_approval approval;
	struct lifecycle_outcome outcome;

	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	for (int attempt = 1; attempt <= RUN_ATTEMPT_LIMIT; attempt++) {
		struct lifecycle_handoff handoff;

		assert_int_equal(lifecycle_fixture_handoff(fixture, task.packages[0].row.id, &handoff), 0);
		assert_int_equal(handoff.run.row.attempt, attempt);
		assert_int_equal(end_run(fixture, &handoff, STORE_RUN_FAILED, &outcome), 0);
		assert_int_equal(outcome.view.attempts_left, RUN_ATTEMPT_LIMIT - attempt);
	}
	assert_int_equal(outcome.view.status, PACKAGE_FAILED);
	assert_int_equal(outcome.task.status, STORE_TASK_FAILED);
}

static void an_outcome_is_reported_once_by_who_may(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str id = approved_package(fixture, "t", "");
	struct lifecycle_handoff handoff;
	struct lifecycle_outcome outcome;
	size_t events = 0;

	assert_int_equal(lifecycle_fixture_handoff(fixture, id, &handoff), 0);
	outcome = (struct lifecycle_outcome){.call = lifecycle_fixture_call(fixture, "somebody"),
		.run = handoff.run.row.id,
		.outcome = STORE_RUN_SUCCEEDED};
	assert_int_equal(lifecycle_report_outcome(fixture->lifecycle, &outcome), LIFECYCLE_FORBIDDEN);
	outcome.has_run_token = true;
	assert_int_equal(lifecycle_report_outcome(fixture->lifecycle, &outcome), 0);
	events = lifecycle_fixture_events(fixture, NULL, NO_PACKAGE);
	assert_int_equal(end_run(fixture, &handoff, STORE_RUN_SUCCEEDED, &outcome), 0);
	assert_int_equal(outcome.run_view.row.outcome, STORE_RUN_SUCCEEDED);
	assert_int_equal(end_run(fixture, &handoff, STORE_RUN_FAILED, &outcome), LIFECYCLE_OUTCOME_CONFLICT);
	assert_true(str_is(outcome.call.refusal.status, "succeeded"));
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, NO_PACKAGE), events);
	assert_int_equal(
		lifecycle_fixture_outcome(fixture, STR("run_none"), STORE_RUN_FAILED, &outcome), LIFECYCLE_NOT_FOUND);
}

/* ---- previews and their records */

static void a_preview_is_recorded_after_it_and_the_same_again_is_not(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_task task = put(fixture, "t", package(fixture, "a", "", READ));
	struct str id = task.packages[0].row.id;
	struct lifecycle_preview preview;
	struct lifecycle_stats stats;

	for (int i = 0; i < 3; i++)
		assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_fixture_settle(fixture);
	assert_int_equal(lifecycle_fixture_events(fixture, "surface.preview", id), 1);
	lifecycle_stats_read(fixture->lifecycle, &stats);
	assert_int_equal(stats.previews_written, 1);
	assert_int_equal(stats.previews_folded, 2);
	assert_int_equal(stats.previews_lost, 0);
	assert_true(str_equal(
		lifecycle_fixture_view(fixture, id).row.preview_decision, preview.judgement.packages[0].decision_id));
	lifecycle_fixture_pass(fixture, 60000);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_fixture_settle(fixture);
	assert_int_equal(lifecycle_fixture_events(fixture, "surface.preview", id), 2);
}

static void a_durable_preview_is_on_disk_when_it_is_answered(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct str id = put(fixture, "t", package(fixture, "a", "", READ)).packages[0].row.id;

	fixture->config.durable_previews = true;
	lifecycle_fixture_reopen(fixture);
	lifecycle_fixture_pass(fixture, 31000);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	id = lifecycle_fixture_task(fixture, "t").packages[0].row.id;
	assert_int_equal(lifecycle_fixture_events(fixture, "surface.preview", id), 1);
}

static void a_plan_that_is_not_stored_gets_the_decisions_that_it_would_get(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	const char *body = lifecycle_fixture_body(fixture, package(fixture, "a", "", READ));
	struct lifecycle_plan_put put;
	struct lifecycle_preview stored;
	struct lifecycle_preview preview = {
		.call = lifecycle_fixture_call(fixture, "planner"), .plan = lifecycle_fixture_plan(fixture, body)};

	assert_int_equal(lifecycle_preview(fixture->lifecycle, &preview), 0);
	assert_int_equal(preview.plan_revision, 0);
	assert_null(preview.judgement.packages[0].id.bytes);
	assert_int_equal(preview.judgement.packages[0].actions.count, 0);
	assert_int_equal(preview.judgement.packages[0].status, ADMISSION_BLOCKED);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &stored), 0);
	assert_true(str_equal(preview.judgement.packages[0].decision_id, stored.judgement.packages[0].decision_id));
	assert_int_equal(lifecycle_fixture_preview(fixture, "none", &stored), LIFECYCLE_NOT_FOUND);
}

static void an_asynchronous_preview_ends_once(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct waiting waiting = new_waiting();
	struct lifecycle_preview preview = {.call = later(fixture, "planner", &waiting), .task = STR("t")};

	(void)put_chain(fixture, "t");
	(void)put(fixture, "t", package(fixture, "a", "", READ));
	lifecycle_fixture_pass(fixture, 31000);
	assert_int_equal(lifecycle_preview(fixture->lifecycle, &preview), 0);
	wait_for(&waiting, 1);
	assert_int_equal(waiting.results[0], 0);
	assert_int_equal(preview.judgement.package_count, 1);
}

static void compiled_packages_are_compiled_once(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_preview preview;
	struct lifecycle_stats before;
	struct lifecycle_stats after;

	(void)put_chain(fixture, "t");
	lifecycle_stats_read(fixture->lifecycle, &before);
	/* Both packages have the same document. */
	assert_int_equal(before.cache_misses, 1);
	assert_int_equal(before.cache_packages, 1);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	lifecycle_stats_read(fixture->lifecycle, &after);
	assert_int_equal(after.cache_misses, before.cache_misses);
	assert_true(after.cache_hits > before.cache_hits);
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFECYCLE_TEST(one_blocked_package_of_three_changes_nothing),
		LIFECYCLE_TEST(an_approval_must_name_the_current_plan_and_root),
		LIFECYCLE_TEST(a_handoff_names_every_admitted_subtask_once),
		LIFECYCLE_TEST(every_package_of_a_plan_is_judged_with_its_own_grant),
		LIFECYCLE_TEST(two_approvals_at_once_both_succeed_and_one_was_already),
		LIFECYCLE_TEST(of_two_claims_one_wins),
		LIFECYCLE_TEST(a_package_that_is_not_approved_or_waits_is_not_handed_off),
		LIFECYCLE_TEST(a_completed_dependency_frees_its_dependents_and_at_last_the_task),
		LIFECYCLE_TEST(the_next_package_is_the_first_that_can_go_and_blocked_ones_are_passed_over),
		LIFECYCLE_TEST(the_oldest_approval_goes_first),
		LIFECYCLE_TEST(a_one_time_grant_is_used_up_whatever_became_of_the_run),
		LIFECYCLE_TEST(a_project_grant_is_not_used_up),
		LIFECYCLE_TEST(the_third_failure_ends_a_package_and_its_task),
		LIFECYCLE_TEST(an_outcome_is_reported_once_by_who_may),
		LIFECYCLE_TEST(a_preview_is_recorded_after_it_and_the_same_again_is_not),
		LIFECYCLE_TEST(a_durable_preview_is_on_disk_when_it_is_answered),
		LIFECYCLE_TEST(a_plan_that_is_not_stored_gets_the_decisions_that_it_would_get),
		LIFECYCLE_TEST(an_asynchronous_preview_ends_once),
		LIFECYCLE_TEST(compiled_packages_are_compiled_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
