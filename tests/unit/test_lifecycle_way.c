/* The whole way once, step by step as examples/1 to 8 have it: plan, preview, refused approval, grant, approval, handoff, failed
 * outcome, refused handoff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/cleanup.h"
#include "tests/lib/lifecycle_fixture.h"

#define EXPIRY INT64_C(1796601600000) /* 2026-12-07T00:00:00Z */

static const char subtask[] = "{\"id\":\"schema\",\"agent\":\"dev\",\"mcpCapabilities\":[\"filesystem.project.read\"]}";

/* What one step leaves for the next. */
struct way {
	struct lifecycle_fixture *fixture;
	struct str backend, docs;
	struct str preview_decision; /* of backend */
	struct str docs_decision;
	struct str approved_decision;
	struct str grant;
	struct str run;
};

static void expect_str(struct str text, const char *expected)
{
	assert_non_null(text.bytes);
	assert_int_equal(text.len, strlen(expected));
	assert_memory_equal(text.bytes, expected, text.len);
}

static void expect_same(struct str a, struct str b)
{
	assert_true(a.bytes != NULL && b.bytes != NULL);
	assert_true(str_equal(a, b));
}

static bool contains(struct str text, const char *part)
{
	return text.bytes != NULL && memmem(text.bytes, text.len, part, strlen(part)) != NULL;
}

static void put_the_task(struct way *way)
{
	struct lifecycle_fixture *fixture = way->fixture;
	const char *packages = arena_printf(lifecycle_fixture_arena(fixture), "%s,%s",
		lifecycle_fixture_package(
			fixture, "backend", "", FIXTURE_READ("fs-backend", "filesystem.project.read"), subtask),
		lifecycle_fixture_package(fixture, "docs", "\"backend\"",
			FIXTURE_OPTIONAL("gh-docs", "github", "github.issues.create"), ""))
				       .bytes;
	struct lifecycle_plan_put put;

	assert_int_equal(
		lifecycle_fixture_put(fixture, "tracker-42", lifecycle_fixture_body(fixture, packages), &put), 0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_CREATED);
	assert_int_equal(put.view.row.status, STORE_TASK_PROPOSED);
	assert_int_equal(put.view.row.plan_revision, 1);
	expect_str(put.view.row.submitted_by.principal, "planner");
	assert_int_equal(put.view.package_count, 2);
	assert_int_equal(put.superseded_count, 0);
	way->backend = put.view.packages[0].row.id;
	way->docs = put.view.packages[1].row.id;
	assert_memory_equal(way->backend.bytes, "pkg_", 4);
	assert_int_equal(put.view.packages[0].status, PACKAGE_DRAFT);
	assert_true(put.view.packages[0].is_held);
	assert_int_equal(put.view.packages[0].hold.kind, HOLD_NEEDS_GRANT);
	assert_int_equal(put.view.packages[0].hold.arm, ARM_NEVER_APPROVED);
	expect_str(put.view.packages[0].hold.requirement_key, "fs-backend");
	assert_false(put.view.packages[1].is_held);
	assert_int_equal(put.view.packages[1].depends_on_count, 1);
	expect_same(put.view.packages[1].depends_on[0], way->backend);
	assert_true(put.view.is_blocked);
}

static void expect_grant_actions(const struct lifecycle_action_list *actions, int64_t expected, int64_t project)
{
	assert_true(actions->count >= 4);
	assert_int_equal(actions->items[0].id, ACTION_APPROVE_ONCE);
	assert_int_equal(actions->items[0].target, LIFECYCLE_TARGET_PACKAGE_GRANTS);
	assert_string_equal(actions->items[0].body.decision, "approved");
	assert_int_equal(actions->items[0].body.capability_count, 1);
	expect_str(actions->items[0].body.capabilities[0], "filesystem.project.read");
	assert_int_equal(actions->items[0].body.expected_revision, expected);
	assert_int_equal(actions->items[0].body.root_revision, 1);
	assert_int_equal(actions->items[1].id, ACTION_APPROVE_ALWAYS);
	expect_str(actions->items[1].label, "Always allow in tracker…");
	expect_str(actions->items[1].target_id, "tracker");
	assert_int_equal(actions->items[1].body.expected_revision, project);
	assert_int_equal(actions->items[2].id, ACTION_DENY);
	assert_int_equal(actions->items[2].body.capability_count, 0);
	assert_int_equal(actions->items[2].body.root_revision, -1);
	assert_int_equal(actions->items[3].id, ACTION_REQUEST_CHANGES);
	assert_int_equal(actions->items[3].body.plan_revision, 1);
	assert_int_equal(actions->items[3].roles, LIFECYCLE_APPROVER | LIFECYCLE_OPERATOR);
}

static void preview_it(struct way *way)
{
	struct lifecycle_preview preview;
	const struct lifecycle_judged *backend = NULL;
	const struct lifecycle_judged *docs = NULL;

	assert_int_equal(lifecycle_fixture_preview(way->fixture, "tracker-42", &preview), 0);
	assert_int_equal(preview.plan_revision, 1);
	assert_int_equal(preview.judgement.status, ADMISSION_BLOCKED);
	assert_int_equal(preview.judgement.counts[ADMISSION_BLOCKED], 1);
	assert_int_equal(preview.judgement.counts[ADMISSION_WARNING], 1);
	assert_int_equal(preview.judgement.counts[ADMISSION_ALLOWED], 0);
	assert_true(contains(preview.judgement.health, "\"mcpId\":\"filesystem\""));
	assert_true(contains(preview.judgement.health, "\"status\":\"healthy\""));
	assert_true(contains(preview.judgement.health, "\"observed\":false,\"mcpId\":\"github\""));
	assert_int_equal(preview.judgement.package_count, 2);
	backend = &preview.judgement.packages[0];
	docs = &preview.judgement.packages[1];
	way->preview_decision = backend->decision_id;
	way->docs_decision = docs->decision_id;
	assert_int_equal(backend->status, ADMISSION_BLOCKED);
	assert_int_equal(backend->compared_surface, STORE_SURFACE_NONE);
	expect_str(backend->changed_inputs, "[]");
	assert_int_equal(backend->state.key, OPERATOR_NEEDS_PROJECT_CONTEXT);
	expect_str(backend->state.words.headline, "Waiting for read access");
	expect_str(backend->state.words.body,
		"backend asks to read filesystem.project.read in tracker; nobody has decided.");
	assert_int_equal(backend->primary_mode, MODE_BLOCKED);
	assert_int_equal(backend->primary_recovery, RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT);
	assert_false(backend->retryable);
	assert_int_equal(backend->actions.count, 4);
	expect_grant_actions(&backend->actions, 0, 0);
	/* Who asks contributed to the plan: the others may approve, he may deny. */
	assert_true(backend->actions.items[0].is_self_approval);
	assert_true(backend->actions.items[1].is_self_approval);
	assert_false(backend->actions.items[2].is_self_approval);
	assert_true(contains(backend->result, "\"phase\":\"proposed\""));
	assert_int_equal(docs->status, ADMISSION_WARNING);
	assert_int_equal(docs->state.key, OPERATOR_DEFERRED_BOUNDARY);
	assert_int_equal(docs->actions.count, 0);
}

static void approval_is_refused(struct way *way)
{
	struct lifecycle_approval approval;
	const struct lifecycle_judged *backend = NULL;

	assert_int_equal(
		lifecycle_fixture_approve(way->fixture, "tracker-42", 1, &approval), LIFECYCLE_ADMISSION_BLOCKED);
	backend = &approval.judgement.packages[0];
	expect_same(backend->decision_id, way->preview_decision);
	assert_int_equal(backend->compared_surface, STORE_SURFACE_PREVIEW);
	expect_same(backend->compared_decision, way->preview_decision);
	expect_str(backend->changed_inputs, "[]");
	assert_true(contains(backend->primary, "\"subtaskId\":\"schema\""));
	assert_false(backend->actions.items[0].is_self_approval);
	expect_str(backend->hold.requirement_key, "fs-backend");
	expect_str(backend->hold.mcp_id, "filesystem");
	assert_int_equal(backend->hold.mode, MODE_BOUNDED_CONTEXT_REQUIRED);
	assert_int_equal(backend->hold.arm, ARM_NEVER_APPROVED);
	expect_grant_actions(&backend->actions, 0, 0);
	assert_int_equal(lifecycle_fixture_task(way->fixture, "tracker-42").row.status, STORE_TASK_PROPOSED);
	assert_int_equal(lifecycle_fixture_events(way->fixture, "surface.approval", way->backend), 1);
	assert_int_equal(lifecycle_fixture_events(way->fixture, "task.status", (struct str){0}), 1);
}

static void grant_it_once(struct way *way)
{
	static const struct str capability = {"filesystem.read", 15};
	struct lifecycle_grant grant = {
		.call = lifecycle_fixture_call(way->fixture, "approver"),
		.package = way->backend,
		.decision = STORE_GRANT_APPROVED,
		.capabilities = &capability,
		.capability_count = 1,
		.has_capabilities = true,
		.reason = STR("read only, one run"),
		.expires_at = EXPIRY,
		.root_revision = 1,
	};

	lifecycle_fixture_pass(way->fixture, 251020);
	assert_int_equal(lifecycle_grant(way->fixture->lifecycle, &grant), 0);
	way->grant = grant.grant.id;
	assert_int_equal(grant.grant.mode, STORE_GRANT_ALLOW_ONCE);
	assert_int_equal(grant.grant.revision, 1);
	assert_int_equal(grant.grant.root_revision, 1);
	assert_int_equal(grant.grant.expires_at, EXPIRY);
	expect_str(grant.grant.capabilities_json, "[\"filesystem.project.read\"]");
	assert_null(grant.grant.replaces.bytes);
	assert_int_equal(grant.granted_count, 1);
	assert_int_equal(grant.impact.open_count, 1);
	expect_same(grant.impact.opens[0], way->backend);
	assert_int_equal(grant.impact.hold_count + grant.impact.stay_count, 0);
	assert_int_equal(grant.impact.override_count + grant.impact.plan_count, 0);
	assert_int_equal(grant.impact.revision, 1);
	assert_int_equal(grant.view.status, PACKAGE_DRAFT);
	assert_false(grant.view.is_held);
}

static void approve_it(struct way *way)
{
	struct lifecycle_approval approval;
	const struct lifecycle_judged *backend = NULL;
	struct lifecycle_task task;

	lifecycle_fixture_pass(way->fixture, 4880);
	assert_int_equal(lifecycle_fixture_approve(way->fixture, "tracker-42", 1, &approval), 0);
	assert_false(approval.already_approved);
	expect_str(approval.approved_by.principal, "approver");
	backend = &approval.judgement.packages[0];
	way->approved_decision = backend->decision_id;
	assert_int_equal(backend->status, ADMISSION_ALLOWED);
	assert_false(str_equal(backend->decision_id, way->preview_decision));
	expect_same(backend->compared_decision, way->preview_decision);
	assert_true(contains(backend->changed_inputs, "\"path\":\"/grants/fs-backend\""));
	assert_true(contains(backend->changed_inputs, "\"before\":{\"phase\":\"proposed\"}"));
	assert_true(contains(backend->changed_inputs, way->grant.bytes));
	assert_true(contains(approval.answer, "\"alreadyApproved\":false"));
	assert_true(contains(approval.answer, "\"status\":\"approved\""));
	assert_true(contains(approval.answer, "\"warnings\":[{"));
	assert_true(contains(approval.answer, "\"recoveryAction\":\"defer_live_mcp_feature\""));
	expect_same(approval.judgement.packages[1].decision_id, way->docs_decision);
	task = lifecycle_fixture_task(way->fixture, "tracker-42");
	assert_int_equal(task.row.status, STORE_TASK_APPROVED);
	assert_int_equal(task.packages[0].status, PACKAGE_READY);
	assert_int_equal(task.packages[1].status, PACKAGE_PENDING);
}

static void hand_it_off(struct way *way)
{
	struct lifecycle_handoff handoff;

	lifecycle_fixture_pass(way->fixture, 44100);
	assert_int_equal(lifecycle_fixture_handoff(way->fixture, way->backend, &handoff), 0);
	way->run = handoff.run.row.id;
	expect_same(handoff.judged.decision_id, way->approved_decision);
	expect_same(handoff.judged.compared_decision, way->approved_decision);
	assert_int_equal(handoff.judged.compared_surface, STORE_SURFACE_APPROVAL);
	expect_str(handoff.judged.changed_inputs, "[]");
	assert_int_equal(handoff.judged.status, ADMISSION_ALLOWED);
	assert_int_equal(handoff.run.row.attempt, 1);
	assert_int_equal(handoff.run.grant_count, 1);
	expect_same(handoff.run.grants[0].grant, way->grant);
	expect_str(handoff.run.grants[0].requirement_key, "fs-backend");
	assert_int_equal(handoff.run.row.lease_expires_at, handoff.call.now + 60000);
	assert_memory_equal(handoff.run_token.bytes, "art_", 4);
	assert_int_equal(handoff.run_token.len, 4 + 64);
	expect_same(handoff.run_token,
		lifecycle_run_token(way->fixture->lifecycle, lifecycle_fixture_arena(way->fixture), way->run));
	assert_int_equal(handoff.view.status, PACKAGE_RUNNING);
	expect_str(handoff.overlays, "{}");
	assert_int_equal(handoff.subtask_count, 1);
	expect_str(handoff.subtasks[0], "schema");
	assert_int_equal(handoff.read_scope_count, 1);
	expect_str(handoff.read_scope[0].requirement_key, "fs-backend");
	expect_str(handoff.read_scope[0].capabilities[0], "filesystem.project.read");
}

static void the_run_fails(struct way *way)
{
	struct lifecycle_outcome outcome = {
		.call = lifecycle_fixture_call(way->fixture, "executor"),
		.run = way->run,
		.outcome = STORE_RUN_FAILED,
		.summary = STR("migration did not apply"),
	};

	lifecycle_fixture_pass(way->fixture, 31442);
	assert_int_equal(lifecycle_report_outcome(way->fixture->lifecycle, &outcome), 0);
	assert_int_equal(outcome.run_view.row.outcome, STORE_RUN_FAILED);
	assert_int_equal(outcome.run_view.row.ended_at, outcome.call.now);
	assert_int_equal(outcome.view.status, PACKAGE_BLOCKED);
	assert_int_equal(outcome.view.row.attempts, 1);
	assert_int_equal(outcome.view.attempts_left, 2);
	assert_int_equal(outcome.view.hold.kind, HOLD_NEEDS_GRANT);
	assert_int_equal(outcome.view.hold.arm, ARM_USED_UP);
	assert_int_equal(outcome.view.hold.mode, MODE_BOUNDED_CONTEXT_REQUIRED);
	assert_int_equal(outcome.view.hold.since, outcome.call.now);
	assert_int_equal(outcome.view.hold.facts.attempt, 1);
	assert_int_equal(outcome.task.status, STORE_TASK_APPROVED);
}

static void the_next_handoff_is_refused(struct way *way)
{
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_handoff(way->fixture, way->backend, &handoff), LIFECYCLE_ADMISSION_BLOCKED);
	expect_same(handoff.judged.compared_decision, way->approved_decision);
	expect_str(handoff.judged.changed_inputs,
		"[{\"path\":\"/grants/fs-backend/consumed\",\"before\":false,\"after\":true}]");
	assert_int_equal(handoff.judged.hold.arm, ARM_USED_UP);
	expect_str(handoff.judged.state.words.headline, "One-time access is used up");
	expect_str(
		handoff.judged.state.words.body, "The approval of 09:04 UTC was for one attempt; attempt 1 used it.");
	expect_grant_actions(&handoff.judged.actions, 1, 1);
	expect_str(handoff.judged.actions.items[0].label, "Approve once more…");
	assert_int_equal(handoff.judged.actions.count, 5);
	assert_int_equal(handoff.judged.actions.items[4].id, ACTION_CANCEL_PACKAGE);
	assert_true(handoff.judged.actions.items[4].body.cascade);
	assert_int_equal(lifecycle_fixture_events(way->fixture, "run.claimed", way->backend), 1);
}

static void the_whole_way_goes_as_the_examples_say(void **state)
{
	struct way way = {.fixture = *state};

	put_the_task(&way);
	preview_it(&way);
	approval_is_refused(&way);
	grant_it_once(&way);
	approve_it(&way);
	hand_it_off(&way);
	the_run_fails(&way);
	the_next_handoff_is_refused(&way);
}

static void a_store_that_is_opened_again_shows_all_of_it(void **state)
{
	struct way way = {.fixture = *state};
	struct lifecycle_task task;
	struct lifecycle_package view;
	struct lifecycle_reader reader;
	struct lifecycle_run run;
	struct store_grant grant;

	the_whole_way_goes_as_the_examples_say(state);
	task = lifecycle_fixture_task(way.fixture, "tracker-42");
	lifecycle_fixture_reopen(way.fixture);
	task = lifecycle_fixture_task(way.fixture, "tracker-42");
	assert_int_equal(task.row.status, STORE_TASK_APPROVED);
	view = lifecycle_fixture_view(way.fixture, task.packages[0].row.id);
	assert_int_equal(view.status, PACKAGE_BLOCKED);
	assert_int_equal(view.hold.arm, ARM_USED_UP);
	assert_int_equal(view.hold.facts.project_revision, 1);
	assert_int_equal(view.last_surface, STORE_SURFACE_HANDOFF);
	assert_true(view.has_state);
	expect_grant_actions(&view.actions, 1, 1);
	reader = lifecycle_fixture_reader(way.fixture);
	{
		struct store_run_list runs = {0};
		struct store_grant_list grants = {0};

		assert_int_equal(
			lifecycle_list_runs(&reader, (struct store_run_filter){.package = view.row.id}, 0, 10, &runs),
			0);
		assert_int_equal(runs.count, 1);
		assert_int_equal(lifecycle_view_run(&reader, runs.items[0].id, &run), 0);
		assert_int_equal(run.grant_count, 1);
		assert_int_equal(lifecycle_list_grants(
					 &reader, (struct store_grant_filter){.package = view.row.id}, 0, 10, &grants),
			0);
		assert_int_equal(grants.count, 1);
		assert_int_equal(lifecycle_view_grant(&reader, grants.items[0].id, &grant), 0);
		expect_same(grant.used_by, run.row.id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_whole_way_goes_as_the_examples_say, lifecycle_fixture_setup, lifecycle_fixture_teardown),
		cmocka_unit_test_setup_teardown(a_store_that_is_opened_again_shows_all_of_it, lifecycle_fixture_setup,
			lifecycle_fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
