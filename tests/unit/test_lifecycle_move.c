/* What people do to plans and packages (chapter 2.2): rejecting, sending back, cancelling, retrying, reworking, archiving; each from
 * every status, and what it leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")
#define FREE FIXTURE_OPTIONAL("gh", "github", "github.issues.create")

typedef int task_move_fn(struct lifecycle *lifecycle, struct lifecycle_task_move *call);

/* Task "t": a, b after a, c after b; nothing holds them. */
struct chain {
	struct str a, b, c;
};

static const char *chain_body(struct lifecycle_fixture *fixture, const char *requirements)
{
	return lifecycle_fixture_body(fixture,
		arena_printf(lifecycle_fixture_arena(fixture), "%s,%s,%s",
			lifecycle_fixture_package(fixture, "a", "", requirements, ""),
			lifecycle_fixture_package(fixture, "b", "\"a\"", FREE, ""),
			lifecycle_fixture_package(fixture, "c", "\"b\"", FREE, ""))
			.bytes);
}

static struct chain put_chain(struct lifecycle_fixture *fixture, const char *requirements)
{
	struct lifecycle_plan_put put;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", chain_body(fixture, requirements), &put), 0);
	return (struct chain){put.view.packages[0].row.id, put.view.packages[1].row.id, put.view.packages[2].row.id};
}

static struct chain approve_chain(struct lifecycle_fixture *fixture)
{
	struct chain chain = put_chain(fixture, FREE);
	struct lifecycle_approval approval;

	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	return chain;
}

static struct str claim(struct lifecycle_fixture *fixture, struct str package)
{
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_handoff(fixture, package, &handoff), 0);
	return handoff.run.row.id;
}

static void run_to(struct lifecycle_fixture *fixture, struct str package, enum store_run_outcome outcome)
{
	struct lifecycle_outcome reported;

	assert_int_equal(
		lifecycle_fixture_outcome(fixture, claim(fixture, package), outcome, &reported), LIFECYCLE_DONE);
}

static void fail_thrice(struct lifecycle_fixture *fixture, struct str package)
{
	for (int i = 0; i < RUN_ATTEMPT_LIMIT; i++)
		run_to(fixture, package, STORE_RUN_FAILED);
}

static void expect_status(struct lifecycle_fixture *fixture, struct str package, enum package_status status)
{
	assert_string_equal(
		package_status_name(lifecycle_fixture_view(fixture, package).status), package_status_name(status));
}

static void expect_task(struct lifecycle_fixture *fixture, enum store_task_status status)
{
	assert_string_equal(store_task_status_text(lifecycle_fixture_task(fixture, "t").row.status),
		store_task_status_text(status));
}

static enum store_run_outcome outcome_of(struct lifecycle_fixture *fixture, struct str run)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_run view = {0};

	assert_int_equal(lifecycle_view_run(&reader, run, &view), 0);
	return view.row.outcome;
}

/* ---- every move of a task from every status */

static void reach_proposed(struct lifecycle_fixture *fixture)
{
	(void)put_chain(fixture, FREE);
}

static void reach_approved(struct lifecycle_fixture *fixture)
{
	(void)approve_chain(fixture);
}

static void reach_rejected(struct lifecycle_fixture *fixture)
{
	struct lifecycle_task_move move;

	(void)put_chain(fixture, FREE);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_reject, &move), 0);
}

static void reach_changes_requested(struct lifecycle_fixture *fixture)
{
	struct lifecycle_task_move move;

	(void)put_chain(fixture, FREE);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_request_changes, &move), 0);
}

static void reach_completed(struct lifecycle_fixture *fixture)
{
	struct chain chain = approve_chain(fixture);

	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	run_to(fixture, chain.b, STORE_RUN_SUCCEEDED);
	run_to(fixture, chain.c, STORE_RUN_SUCCEEDED);
}

static void reach_failed(struct lifecycle_fixture *fixture)
{
	fail_thrice(fixture, approve_chain(fixture).a);
}

static void reach_cancelled(struct lifecycle_fixture *fixture)
{
	struct lifecycle_task_move move;

	(void)put_chain(fixture, FREE);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_cancel_task, &move), 0);
}

static void (*const reach[STORE_TASK_STATUS_COUNT])(struct lifecycle_fixture *fixture) = {
	[STORE_TASK_PROPOSED] = reach_proposed,
	[STORE_TASK_APPROVED] = reach_approved,
	[STORE_TASK_REJECTED] = reach_rejected,
	[STORE_TASK_CHANGES_REQUESTED] = reach_changes_requested,
	[STORE_TASK_COMPLETED] = reach_completed,
	[STORE_TASK_FAILED] = reach_failed,
	[STORE_TASK_CANCELLED] = reach_cancelled,
};

static void expect_from(
	void **state, enum store_task_status from, task_move_fn *move, bool is_allowed, enum store_task_status to)
{
	struct lifecycle_task_move moved;
	struct lifecycle_fixture *fixture = NULL;
	int r = 0;

	assert_int_equal(lifecycle_fixture_setup(state), 0);
	fixture = *state;
	reach[from](fixture);
	expect_task(fixture, from);
	r = lifecycle_fixture_move_task(fixture, "t", move, &moved);
	assert_int_equal(r, is_allowed ? LIFECYCLE_DONE : LIFECYCLE_TASK_STATUS);
	expect_task(fixture, is_allowed ? to : from);
	if (is_allowed) {
		assert_true(str_is(moved.view.row.status_by.principal, "operator"));
		assert_true(str_is(moved.view.row.status_reason, "because"));
		assert_int_equal(moved.view.row.status_at, moved.call.now);
	} else {
		assert_true(str_is(moved.call.refusal.status, store_task_status_text(from)));
	}
	assert_int_equal(lifecycle_fixture_teardown(state), 0);
}

static void only_a_proposed_plan_is_rejected(void **state)
{
	for (enum store_task_status from = 0; from < STORE_TASK_STATUS_COUNT; from++)
		expect_from(state, from, lifecycle_reject, from == STORE_TASK_PROPOSED, STORE_TASK_REJECTED);
}

static void a_plan_is_sent_back_from_proposed_approved_failed_and_rejected(void **state)
{
	for (enum store_task_status from = 0; from < STORE_TASK_STATUS_COUNT; from++)
		expect_from(state, from, lifecycle_request_changes,
			from == STORE_TASK_PROPOSED || from == STORE_TASK_APPROVED || from == STORE_TASK_FAILED ||
				from == STORE_TASK_REJECTED,
			STORE_TASK_CHANGES_REQUESTED);
}

static void a_task_is_cancelled_unless_it_is_completed_rejected_or_cancelled(void **state)
{
	for (enum store_task_status from = 0; from < STORE_TASK_STATUS_COUNT; from++)
		expect_from(state, from, lifecycle_cancel_task,
			from != STORE_TASK_COMPLETED && from != STORE_TASK_REJECTED && from != STORE_TASK_CANCELLED,
			STORE_TASK_CANCELLED);
}

static void a_move_names_the_plan_that_was_read(void **state)
{
	static task_move_fn *const moves[] = {lifecycle_reject, lifecycle_request_changes, lifecycle_cancel_task};
	struct lifecycle_fixture *fixture = *state;

	(void)put_chain(fixture, FREE);
	for (size_t i = 0; i < 3; i++) {
		struct lifecycle_task_move move = {
			.call = lifecycle_fixture_call(fixture, "operator"), .task = STR("t"), .plan_revision = 2};

		assert_int_equal(moves[i](fixture->lifecycle, &move), LIFECYCLE_PLAN_REVISION_CONFLICT);
		assert_int_equal(move.call.refusal.revision, 1);
		move.task = STR("nobody's");
		assert_int_equal(moves[i](fixture->lifecycle, &move), LIFECYCLE_NOT_FOUND);
		move.task = STR("t");
		move.call.scope.is_all = false;
		assert_int_equal(moves[i](fixture->lifecycle, &move), LIFECYCLE_NOT_FOUND);
	}
	expect_task(fixture, STORE_TASK_PROPOSED);
}

/* ---- rejected, sent back, planned anew */

static void a_rejected_plan_has_no_holds_and_its_packages_stay_drafts(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = put_chain(fixture, READ);
	struct lifecycle_grant grant;
	struct lifecycle_task_move move;

	assert_true(lifecycle_fixture_view(fixture, chain.a).is_held);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_reject, &move), 0);
	assert_false(lifecycle_fixture_view(fixture, chain.a).is_held);
	expect_status(fixture, chain.a, PACKAGE_DRAFT);
	assert_int_equal(lifecycle_fixture_events(fixture, "hold.cleared", chain.a), 1);
	/* What happens to the project afterwards gives it none. */
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.list", false, &grant), 0);
	assert_false(lifecycle_fixture_view(fixture, chain.a).is_held);
}

static void sending_back_ends_live_runs_and_supersedes_all_but_what_is_completed(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_task_move move;
	struct lifecycle_outcome late;
	struct str run;

	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	run = claim(fixture, chain.b);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_request_changes, &move), 0);
	assert_int_equal(move.ended_count, 2);
	assert_int_equal(outcome_of(fixture, run), STORE_RUN_CANCELLED);
	expect_status(fixture, chain.a, PACKAGE_COMPLETED);
	expect_status(fixture, chain.b, PACKAGE_SUPERSEDED);
	expect_status(fixture, chain.c, PACKAGE_SUPERSEDED);
	assert_int_equal(lifecycle_fixture_view(fixture, chain.b).row.attempts, 0);
	/* Whatever its executor says now comes too late. */
	assert_int_equal(lifecycle_fixture_outcome(fixture, run, STORE_RUN_SUCCEEDED, &late), LIFECYCLE_RUN_ENDED);
	assert_true(str_is(late.call.refusal.status, "cancelled"));
	assert_true(str_is(late.call.refusal.actor.principal, "operator"));
}

static void a_plan_after_sending_back_keeps_what_is_completed_and_asks_again_for_the_rest(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_task_move move;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	const char *body = NULL;

	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_request_changes, &move), 0);
	/* The same plan again changes nothing: it was sent back for a reason. */
	assert_int_equal(lifecycle_fixture_put(fixture, "t", chain_body(fixture, FREE), &put), 0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_UNCHANGED);
	expect_task(fixture, STORE_TASK_CHANGES_REQUESTED);
	body = lifecycle_fixture_body(fixture,
		arena_printf(lifecycle_fixture_arena(fixture), "%s,%s",
			lifecycle_fixture_package(fixture, "a", "", FREE, ""),
			lifecycle_fixture_package(fixture, "d", "\"a\"", FREE, ""))
			.bytes);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_REPLACED);
	assert_true(str_equal(put.view.packages[0].row.id, chain.a));
	assert_int_equal(put.view.packages[0].status, PACKAGE_COMPLETED);
	assert_int_equal(put.view.packages[1].status, PACKAGE_DRAFT);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), 0);
	expect_status(fixture, put.view.packages[1].row.id, PACKAGE_READY);
}

static void what_a_kept_package_depended_on_is_said_by_the_new_plan_alone(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_task_move move;
	struct lifecycle_package_move rework;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	const char *body = NULL;

	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	run_to(fixture, chain.b, STORE_RUN_SUCCEEDED);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_request_changes, &move), 0);
	body = lifecycle_fixture_body(fixture,
		arena_printf(lifecycle_fixture_arena(fixture), "%s,%s",
			lifecycle_fixture_package(fixture, "b", "", FREE, ""),
			lifecycle_fixture_package(fixture, "e", "", FREE, ""))
			.bytes);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(put.view.packages[0].depends_on_count, 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), 0);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.b, true, lifecycle_rework, &rework), 0);
	expect_status(fixture, chain.b, PACKAGE_READY);
}

/* ---- cancelling */

static void cancelling_a_task_ends_its_runs_without_an_attempt(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct str run = claim(fixture, chain.a);
	struct lifecycle_task_move move;

	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_cancel_task, &move), 0);
	assert_int_equal(move.ended_count, 3);
	assert_int_equal(outcome_of(fixture, run), STORE_RUN_CANCELLED);
	assert_int_equal(lifecycle_fixture_view(fixture, chain.a).row.attempts, 0);
	expect_status(fixture, chain.a, PACKAGE_CANCELLED);
	expect_status(fixture, chain.c, PACKAGE_CANCELLED);
}

static void a_package_with_dependents_is_cancelled_with_them_or_not_at_all(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_package_move move;
	size_t events = lifecycle_fixture_events(fixture, NULL, chain.a);

	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_cancel_package, &move),
		LIFECYCLE_HAS_DEPENDENTS);
	assert_int_equal(move.call.refusal.id_count, 2);
	assert_true(str_equal(move.call.refusal.ids[0], chain.b) && str_equal(move.call.refusal.ids[1], chain.c));
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, chain.a), events);
	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.b, true, lifecycle_cancel_package, &move), 0);
	assert_int_equal(move.along_count, 1);
	expect_status(fixture, chain.b, PACKAGE_CANCELLED);
	expect_status(fixture, chain.c, PACKAGE_CANCELLED);
	/* All that is left is completed. */
	assert_int_equal(move.task.status, STORE_TASK_COMPLETED);
}

static void cancelling_the_last_package_cancels_the_task(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct str run = claim(fixture, chain.a);
	struct lifecycle_package_move move;

	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, true, lifecycle_cancel_package, &move), 0);
	assert_int_equal(outcome_of(fixture, run), STORE_RUN_CANCELLED);
	assert_int_equal(move.task.status, STORE_TASK_CANCELLED);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, true, lifecycle_cancel_package, &move),
		LIFECYCLE_PACKAGE_STATUS);
	assert_true(str_is(move.call.refusal.status, "cancelled"));
}

static void a_cancelled_draft_takes_no_part_in_the_approval(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = put_chain(fixture, FREE);
	struct lifecycle_package_move move;
	struct lifecycle_approval approval;

	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.b, true, lifecycle_cancel_package, &move), 0);
	assert_int_equal(move.task.status, STORE_TASK_PROPOSED);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(approval.judgement.package_count, 1);
	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	expect_task(fixture, STORE_TASK_COMPLETED);
}

/* ---- retry */

static void a_retry_gives_three_more_attempts_and_the_failed_task_goes_on(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_package_move move;

	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_retry, &move),
		LIFECYCLE_NOT_RETRYABLE);
	assert_true(str_is(move.call.refusal.status, "ready"));
	fail_thrice(fixture, chain.a);
	expect_task(fixture, STORE_TASK_FAILED);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_retry, &move), 0);
	assert_int_equal(move.task.status, STORE_TASK_APPROVED);
	assert_true(str_is(move.task.status_by.principal, "operator"));
	assert_int_equal(move.view.status, PACKAGE_READY);
	assert_int_equal(move.view.attempts_left, 3);
	fail_thrice(fixture, chain.a);
	expect_task(fixture, STORE_TASK_FAILED);
	assert_int_equal(lifecycle_fixture_view(fixture, chain.a).row.attempts, 6);
}

static void a_retry_finds_a_used_grant_used_up(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = put_chain(fixture, READ);
	struct lifecycle_approval approval;
	struct lifecycle_grant grant;
	struct lifecycle_package_move move;

	for (int i = 0; i < RUN_ATTEMPT_LIMIT; i++) {
		assert_int_equal(lifecycle_fixture_decide(fixture, chain.a, STORE_GRANT_APPROVED, &grant), 0);
		if (i == 0)
			assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
		run_to(fixture, chain.a, STORE_RUN_FAILED);
	}
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_retry, &move), 0);
	assert_int_equal(move.view.status, PACKAGE_BLOCKED);
	assert_int_equal(move.view.hold.arm, ARM_USED_UP);
}

static void what_failed_in_a_cancelled_task_is_not_retried(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_task_move task;
	struct lifecycle_package_move move;

	fail_thrice(fixture, chain.a);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_cancel_task, &task), 0);
	assert_int_equal(task.ended_count, 2);
	assert_int_equal(
		lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_retry, &move), LIFECYCLE_TASK_STATUS);
}

/* ---- rework */

static void rework_returns_a_package_with_its_completed_dependents(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_package_move move;
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_rework, &move),
		LIFECYCLE_PACKAGE_STATUS);
	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	run_to(fixture, chain.b, STORE_RUN_SUCCEEDED);
	expect_status(fixture, chain.c, PACKAGE_READY);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, false, lifecycle_rework, &move),
		LIFECYCLE_HAS_DEPENDENTS);
	assert_int_equal(move.call.refusal.id_count, 1);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, true, lifecycle_rework, &move), 0);
	assert_int_equal(move.along_count, 1);
	assert_int_equal(move.view.status, PACKAGE_READY);
	expect_status(fixture, chain.b, PACKAGE_PENDING);
	expect_status(fixture, chain.c, PACKAGE_PENDING);
	assert_int_equal(lifecycle_fixture_handoff(fixture, chain.a, &handoff), 0);
	assert_int_equal(handoff.run.row.attempt, 2);
	assert_int_equal(lifecycle_fixture_view(fixture, chain.a).attempts_left, 3);
}

static void rework_of_a_finished_task_is_refused(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_package_move move;

	reach_completed(fixture);
	assert_int_equal(
		lifecycle_fixture_move_package(fixture, lifecycle_fixture_task(fixture, "t").packages[0].row.id, true,
			lifecycle_rework, &move),
		LIFECYCLE_TASK_STATUS);
	assert_true(str_is(move.call.refusal.status, "completed"));
}

static void an_executor_reworks_only_what_it_depended_on(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = approve_chain(fixture);
	struct lifecycle_package_move move = {.call = lifecycle_fixture_call(fixture, "other"), .package = chain.a};
	struct str run;

	run_to(fixture, chain.a, STORE_RUN_SUCCEEDED);
	move.call.actor = lifecycle_fixture_call(fixture, "executor").actor;
	/* It ran the package itself, which is no reason. */
	assert_int_equal(lifecycle_rework(fixture->lifecycle, &move), LIFECYCLE_NOT_EXECUTOR);
	run = claim(fixture, chain.b);
	move.call.actor = lifecycle_fixture_call(fixture, "other").actor;
	assert_int_equal(lifecycle_rework(fixture->lifecycle, &move), LIFECYCLE_NOT_EXECUTOR);
	move.call.actor = lifecycle_fixture_call(fixture, "executor").actor;
	assert_int_equal(lifecycle_rework(fixture->lifecycle, &move), 0);
	expect_status(fixture, chain.a, PACKAGE_READY);
	/* Its own run goes on until it says how it ended. */
	expect_status(fixture, chain.b, PACKAGE_RUNNING);
	assert_int_equal(outcome_of(fixture, run), STORE_RUN_LIVE);
}

/* ---- archiving */

static int archive(struct lifecycle_fixture *fixture, bool is_archive, struct lifecycle_project_move *ret)
{
	*ret = (struct lifecycle_project_move){
		.call = lifecycle_fixture_call(fixture, "admin"), .id = STR("tracker"), .reason = STR("over")};
	return is_archive ? lifecycle_project_archive(fixture->lifecycle, ret)
			  : lifecycle_project_unarchive(fixture->lifecycle, ret);
}

static void archiving_takes_the_root_cancels_open_tasks_and_keeps_the_ledger(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = put_chain(fixture, READ);
	struct lifecycle_approval approval;
	struct lifecycle_project_move move;
	struct lifecycle_grant grant;
	struct str run;

	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	run = claim(fixture, chain.a);
	assert_int_equal(archive(fixture, true, &move), 0);
	assert_int_equal(move.cancelled_count, 1);
	assert_int_equal(move.view.row.root_revision, 0);
	assert_true(move.view.row.archived_at != 0);
	assert_true(move.view.has_grant && str_equal(move.view.grant.id, grant.grant.id));
	assert_int_equal(outcome_of(fixture, run), STORE_RUN_CANCELLED);
	expect_task(fixture, STORE_TASK_CANCELLED);
	assert_true(str_is(lifecycle_fixture_task(fixture, "t").row.status_reason, "over"));
	/* Again: no change, and nothing is told. */
	assert_int_equal(archive(fixture, true, &move), 0);
	assert_int_equal(move.cancelled_count, 0);
	assert_int_equal(lifecycle_fixture_events(fixture, "project.changed", (struct str){0}), 4);
}

static void in_an_archived_project_nothing_is_decided(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct chain chain = put_chain(fixture, READ);
	struct lifecycle_project_move project;
	struct lifecycle_project_put root;
	struct lifecycle_plan_put put;
	struct lifecycle_grant grant;
	struct lifecycle_task_move task;
	struct lifecycle_package_move move;

	assert_int_equal(archive(fixture, true, &project), 0);
	assert_int_equal(
		lifecycle_fixture_put(fixture, "new", chain_body(fixture, FREE), &put), LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->root, &root), LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, chain.a, STORE_GRANT_DENIED, &grant), LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(
		lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(lifecycle_fixture_move_task(fixture, "t", lifecycle_request_changes, &task),
		LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(lifecycle_fixture_move_package(fixture, chain.a, true, lifecycle_retry, &move),
		LIFECYCLE_PROJECT_ARCHIVED);
	assert_int_equal(archive(fixture, false, &project), 0);
	assert_int_equal(project.view.row.archived_at, 0);
	assert_int_equal(project.view.row.root_revision, 0);
	assert_int_equal(lifecycle_fixture_set_root(fixture, fixture->root, &root), 0);
	/* Another number than before, though the path is the same. */
	assert_int_equal(root.view.row.root_revision, 2);
	assert_int_equal(lifecycle_fixture_put(fixture, "new", chain_body(fixture, FREE), &put), 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_proposed_plan_is_rejected),
		cmocka_unit_test(a_plan_is_sent_back_from_proposed_approved_failed_and_rejected),
		cmocka_unit_test(a_task_is_cancelled_unless_it_is_completed_rejected_or_cancelled),
		WITH(a_move_names_the_plan_that_was_read),
		WITH(a_rejected_plan_has_no_holds_and_its_packages_stay_drafts),
		WITH(sending_back_ends_live_runs_and_supersedes_all_but_what_is_completed),
		WITH(a_plan_after_sending_back_keeps_what_is_completed_and_asks_again_for_the_rest),
		WITH(what_a_kept_package_depended_on_is_said_by_the_new_plan_alone),
		WITH(cancelling_a_task_ends_its_runs_without_an_attempt),
		WITH(a_package_with_dependents_is_cancelled_with_them_or_not_at_all),
		WITH(cancelling_the_last_package_cancels_the_task),
		WITH(a_cancelled_draft_takes_no_part_in_the_approval),
		WITH(a_retry_gives_three_more_attempts_and_the_failed_task_goes_on),
		WITH(a_retry_finds_a_used_grant_used_up),
		WITH(what_failed_in_a_cancelled_task_is_not_retried),
		WITH(rework_returns_a_package_with_its_completed_dependents),
		WITH(rework_of_a_finished_task_is_refused),
		WITH(an_executor_reworks_only_what_it_depended_on),
		WITH(archiving_takes_the_root_cancels_open_tasks_and_keeps_the_ledger),
		WITH(in_an_archived_project_nothing_is_decided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
