/* What the lifecycle leaves in the store and takes from it: all or nothing, records of time, work that was done before (chapters 2.1,
 * 2.2, 3.2).
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/store/token.h"
#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")
#define NO_PACKAGE ((struct str){0})

static const char *package(struct lifecycle_fixture *fixture, const char *label, const char *requirements)
{
	return lifecycle_fixture_package(fixture, label, "", requirements, "");
}

static struct str put(struct lifecycle_fixture *fixture, const char *task, const char *requirements)
{
	struct lifecycle_plan_put put;

	assert_int_equal(lifecycle_fixture_put(fixture, task,
				 lifecycle_fixture_body(fixture, package(fixture, "a", requirements)), &put),
		0);
	return put.view.packages[0].row.id;
}

/* ---- what is recorded with a call */

static int remember(struct store_tx *tx, struct lifecycle_call *call)
{
	const struct lifecycle_grant *grant = (const struct lifecycle_grant *)call;
	struct store_answer answer = {
		.token = call->actor.token,
		.route = STR("POST /grants"),
		.key = STR("key"),
		.body_digest = STR("digest"),
		.status = 201,
		.answer_json = grant->grant.capabilities_json,
		.at = call->now,
	};

	return store_answer_insert(tx, &answer);
}

static int read_answer(struct store_tx *tx, void *arg)
{
	return store_answer_find(tx, STR("tok_approver"), STR("POST /grants"), STR("key"), arg);
}

static void an_answer_is_remembered_in_the_transaction_that_it_answers(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct store_answer answer = {0};
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1};

	grant.package = put(fixture, "t", READ);
	grant.call.record = remember;
	grant.dry_run = true;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	assert_int_equal(store_fixture_read(fixture->store, read_answer, &answer), STORE_ABSENT);
	grant.dry_run = false;
	grant.root_revision = 9;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_ROOT_CHANGED);
	assert_int_equal(store_fixture_read(fixture->store, read_answer, &answer), STORE_ABSENT);
	grant.root_revision = 1;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	assert_int_equal(store_fixture_read(fixture->store, read_answer, &answer), 0);
	assert_true(str_is(answer.answer_json, "[\"filesystem.project.read\"]"));
}

static int fail_to_remember(struct store_tx *tx, struct lifecycle_call *call)
{
	(void)tx;
	(void)call;
	return -ENOMEM;
}

static void an_answer_that_cannot_be_remembered_undoes_what_it_answers(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str id = put(fixture, "t", READ);
	size_t events = lifecycle_fixture_events(fixture, NULL, NO_PACKAGE);
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.package = id,
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1};

	grant.call.record = fail_to_remember;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), -ENOMEM);
	assert_true(lifecycle_fixture_view(fixture, id).is_held);
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, NO_PACKAGE), events);
	assert_int_equal(lifecycle_fixture_project(fixture).row.decision_revision, 0);
}

struct counting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned done;
};

static void count_done(struct lifecycle_call *call, int result)
{
	struct counting *counting = call->arg;

	assert_int_equal(result, 0);
	(void)pthread_mutex_lock(&counting->lock);
	counting->done++;
	(void)pthread_cond_broadcast(&counting->changed);
	(void)pthread_mutex_unlock(&counting->lock);
}

static void a_full_queue_is_told_and_nothing_accepted_is_lost(void **state)
{
	enum { CALLS = 8, LIMIT = 3 };
	struct lifecycle_fixture *fixture = *state;
	struct counting counting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct lifecycle_plan_put puts[CALLS];
	struct plan *plan =
		lifecycle_fixture_plan(fixture, lifecycle_fixture_body(fixture, package(fixture, "a", READ)));
	static const char *const names[CALLS] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};
	unsigned accepted = 0;

	fixture->store->config.queue_limit = LIMIT;
	lifecycle_fixture_reopen(fixture);
	store_fixture_hold_writer(fixture->store);
	for (size_t i = 0; i < CALLS; i++) {
		int r = 0;

		puts[i] = (struct lifecycle_plan_put){.call = lifecycle_fixture_call(fixture, "planner"),
			.task = lifecycle_fixture_str(names[i]),
			.plan = plan};
		puts[i].call.done = count_done;
		puts[i].call.arg = &counting;
		r = lifecycle_plan_put(fixture->lifecycle, &puts[i]);
		assert_true(r == 0 || r == LIFECYCLE_QUEUE_FULL);
		accepted += r == 0;
	}
	assert_int_equal(accepted, LIMIT);
	store_fixture_let_go(fixture->store);
	(void)pthread_mutex_lock(&counting.lock);
	while (counting.done < accepted)
		(void)pthread_cond_wait(&counting.changed, &counting.lock);
	(void)pthread_mutex_unlock(&counting.lock);
	assert_int_equal(lifecycle_fixture_events(fixture, "task.status", NO_PACKAGE), accepted);
}

/* ---- time, as records */

static void a_grant_ends_at_its_end_and_a_clock_set_back_revives_nothing(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1};
	struct lifecycle_preview preview;
	struct lifecycle_approval approval;

	grant.package = put(fixture, "t", READ);
	grant.expires_at = atomic_load(&fixture->now) + 1000;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	lifecycle_fixture_pass(fixture, 999);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_int_equal(preview.judgement.status, ADMISSION_ALLOWED);
	lifecycle_fixture_pass(fixture, 1);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_int_equal(preview.judgement.packages[0].hold.arm, ARM_EXPIRED);
	assert_true(str_is(preview.judgement.packages[0].state.words.body, "approver approved it until 09:00 UTC."));
	lifecycle_fixture_pass(fixture, -1000);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), LIFECYCLE_ADMISSION_BLOCKED);
	assert_int_equal(approval.judgement.packages[0].hold.arm, ARM_EXPIRED);
}

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_done;
	int result;
};

static void note_result(struct lifecycle_call *call, int result)
{
	struct waiting *waiting = call->arg;

	(void)pthread_mutex_lock(&waiting->lock);
	waiting->is_done = true;
	waiting->result = result;
	(void)pthread_cond_broadcast(&waiting->changed);
	(void)pthread_mutex_unlock(&waiting->lock);
}

static void what_waited_for_the_disk_is_judged_at_the_time_it_runs(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1};
	struct lifecycle_approval approval = {.call = lifecycle_fixture_call(fixture, "approver"),
		.task = STR("t"),
		.plan_revision = 1,
		.root_revision = -1};

	grant.package = put(fixture, "t", READ);
	grant.expires_at = atomic_load(&fixture->now) + 1000;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	store_fixture_hold_writer(fixture->store);
	approval.call.done = note_result;
	approval.call.arg = &waiting;
	assert_int_equal(lifecycle_approve(fixture->lifecycle, &approval), 0);
	lifecycle_fixture_pass(fixture, 1000);
	store_fixture_let_go(fixture->store);
	(void)pthread_mutex_lock(&waiting.lock);
	while (!waiting.is_done)
		(void)pthread_cond_wait(&waiting.changed, &waiting.lock);
	(void)pthread_mutex_unlock(&waiting.lock);
	assert_int_equal(waiting.result, LIFECYCLE_ADMISSION_BLOCKED);
	assert_int_equal(approval.judgement.packages[0].hold.arm, ARM_EXPIRED);
}

/* ---- work that was done before a new plan */

static int send_back(struct store_tx *tx, void *arg)
{
	struct store_task task;
	int r = store_task_find(tx, STR("t"), &task);

	(void)arg;
	if (r != 0)
		return r;
	task.status = STORE_TASK_CHANGES_REQUESTED;
	return store_task_update(tx, &task);
}

/* Task "t" of "a", which is completed, and "b"; sent back. */
static struct str complete_one_of_two(struct lifecycle_fixture *fixture)
{
	const char *packages = arena_printf(
		lifecycle_fixture_arena(fixture), "%s,%s", package(fixture, "a", ""), package(fixture, "b", ""))
				       .bytes;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;
	struct lifecycle_outcome outcome;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", lifecycle_fixture_body(fixture, packages), &put), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_handoff(fixture, put.view.packages[0].row.id, &handoff), 0);
	assert_int_equal(lifecycle_fixture_outcome(fixture, handoff.run.row.id, STORE_RUN_SUCCEEDED, &outcome), 0);
	assert_int_equal(store_fixture_write(fixture->store, send_back, NULL), 0);
	return put.view.packages[0].row.id;
}

static int put_again(struct lifecycle_fixture *fixture, const char *packages, struct lifecycle_plan_put *ret)
{
	*ret = (struct lifecycle_plan_put){
		.call = lifecycle_fixture_call(fixture, "other-planner"),
		.task = STR("t"),
		.plan = lifecycle_fixture_plan(fixture, lifecycle_fixture_body(fixture, packages)),
	};
	return lifecycle_plan_put(fixture->lifecycle, ret);
}

static void a_completed_package_stays_in_a_new_plan_and_brings_its_contributor(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str done = complete_one_of_two(fixture);
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	const char *packages = arena_printf(
		lifecycle_fixture_arena(fixture), "%s,%s", package(fixture, "c", ""), package(fixture, "a", ""))
				       .bytes;

	assert_int_equal(put_again(fixture, packages, &put), 0);
	assert_int_equal(put.view.row.status, STORE_TASK_PROPOSED);
	assert_int_equal(put.view.row.plan_revision, 2);
	assert_true(str_is(put.view.row.contributors_json, "[\"other-planner\",\"planner\"]"));
	assert_int_equal(put.view.package_count, 2);
	assert_true(str_equal(put.view.packages[1].row.id, done));
	assert_int_equal(put.view.packages[1].status, PACKAGE_COMPLETED);
	assert_int_equal(put.superseded_count, 1);
	approval = (struct lifecycle_approval){.call = lifecycle_fixture_call(fixture, "planner"),
		.task = STR("t"),
		.plan_revision = 2,
		.root_revision = -1};
	assert_int_equal(lifecycle_approve(fixture->lifecycle, &approval), LIFECYCLE_SELF_APPROVAL);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), 0);
	assert_int_equal(approval.judgement.package_count, 1);
}

static void redo_makes_a_new_package_of_a_completed_one(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str done = complete_one_of_two(fixture);
	struct lifecycle_plan_put put;

	assert_int_equal(
		put_again(fixture,
			"{\"label\":\"a\",\"agent\":\"dev\",\"redo\":true,\"document\":{\"mcpRequirements\":[],"
			"\"mcpAwareSubtasks\":[]}}",
			&put),
		0);
	assert_false(str_equal(put.view.packages[0].row.id, done));
	assert_int_equal(put.view.packages[0].status, PACKAGE_DRAFT);
	assert_int_equal(put.superseded_count, 2);
}

static void a_plan_of_which_all_is_done_is_completed_by_its_approval(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;

	(void)complete_one_of_two(fixture);
	assert_int_equal(put_again(fixture, package(fixture, "a", ""), &put), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), 0);
	assert_int_equal(lifecycle_fixture_task(fixture, "t").row.status, STORE_TASK_COMPLETED);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 2, &approval), 0);
	assert_true(approval.already_approved);
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFECYCLE_TEST(an_answer_is_remembered_in_the_transaction_that_it_answers),
		LIFECYCLE_TEST(an_answer_that_cannot_be_remembered_undoes_what_it_answers),
		LIFECYCLE_TEST(a_full_queue_is_told_and_nothing_accepted_is_lost),
		LIFECYCLE_TEST(a_grant_ends_at_its_end_and_a_clock_set_back_revives_nothing),
		LIFECYCLE_TEST(what_waited_for_the_disk_is_judged_at_the_time_it_runs),
		LIFECYCLE_TEST(a_completed_package_stays_in_a_new_plan_and_brings_its_contributor),
		LIFECYCLE_TEST(redo_makes_a_new_package_of_a_completed_one),
		LIFECYCLE_TEST(a_plan_of_which_all_is_done_is_completed_by_its_approval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
