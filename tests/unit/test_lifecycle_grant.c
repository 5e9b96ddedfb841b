/* Deciding on read access: what is refused, what it opens, and what counts afterwards (chapter 2.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")
#define LIST FIXTURE_READ("fs", "filesystem.project.list")
#define BOTH READ "," FIXTURE_READ("fs2", "filesystem.project.list")

#define NO_PACKAGE ((struct str){0})

/* A proposed task of one package with these requirements; its package. */
static struct str put(struct lifecycle_fixture *fixture, const char *task, const char *requirements)
{
	struct lifecycle_plan_put put;
	const char *package = lifecycle_fixture_package(fixture, "a", "", requirements, "");

	assert_int_equal(lifecycle_fixture_put(fixture, task, lifecycle_fixture_body(fixture, package), &put), 0);
	return put.view.packages[0].row.id;
}

static enum hold_arm arm_of(struct lifecycle_fixture *fixture, struct str package)
{
	struct lifecycle_package view = lifecycle_fixture_view(fixture, package);

	return view.is_held ? view.hold.arm : ARM_NONE;
}

/* An approval for a package; the caller changes what the test is about, and calls. */
static struct lifecycle_grant approval(struct lifecycle_fixture *fixture, struct str package)
{
	return (struct lifecycle_grant){
		.call = lifecycle_fixture_call(fixture, "approver"),
		.package = package,
		.decision = STORE_GRANT_APPROVED,
		.root_revision = 1,
	};
}

static void a_package_approval_covers_everything_when_nothing_is_named(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", BOTH);
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(grant.granted_count, 2);
	assert_true(str_is(grant.grant.capabilities_json, "[\"filesystem.project.list\",\"filesystem.project.read\"]"));
	assert_int_equal(arm_of(fixture, package), ARM_NONE);
}

static void a_package_approval_that_leaves_something_out_is_refused(void **state)
{
	static const struct str only_read = {"filesystem.project.read", 23};
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", BOTH);
	struct lifecycle_grant grant = approval(fixture, package);

	grant.capabilities = &only_read;
	grant.capability_count = 1;
	grant.has_capabilities = true;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_GRANT_INSUFFICIENT);
	assert_int_equal(grant.call.refusal.id_count, 1);
	assert_true(str_is(grant.call.refusal.ids[0], "filesystem.project.list"));
	assert_int_equal(lifecycle_fixture_project(fixture).row.decision_revision, 0);
}

static void a_package_approval_of_what_was_not_asked_is_refused(void **state)
{
	static const struct str names[] = {{"filesystem.project.read", 23}, {"filesystem.project.search", 25}};
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_grant grant = approval(fixture, put(fixture, "t", READ));

	grant.capabilities = names;
	grant.capability_count = 2;
	grant.has_capabilities = true;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_GRANT_NOT_ASKED);
	assert_int_equal(grant.call.refusal.id_count, 1);
	assert_true(str_is(grant.call.refusal.ids[0], "filesystem.project.search"));
	grant = approval(fixture, put(fixture, "nothing", ""));
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_GRANT_NOT_ASKED);
}

static void revisions_that_were_not_seen_are_refused_with_the_current_record(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;
	struct lifecycle_grant late = approval(fixture, package);

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &late), LIFECYCLE_REVISION_CONFLICT);
	assert_int_equal(late.call.refusal.revision, 1);
	assert_true(str_is(late.call.refusal.actor.principal, "approver"));
	assert_true(str_is(late.call.refusal.reason, "because"));
	late.expected_revision = 1;
	late.root_revision = 2;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &late), LIFECYCLE_ROOT_CHANGED);
	assert_int_equal(late.call.refusal.revision, 1);
	late.root_revision = 1;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &late), 0);
	assert_int_equal(late.grant.revision, 2);
	assert_true(str_equal(late.grant.replaces, grant.grant.id));
}

static void a_project_approval_needs_to_have_seen_every_record(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	static const struct str name = {"filesystem.project.read", 23};
	struct lifecycle_grant deny;
	struct lifecycle_grant allow = {.call = lifecycle_fixture_call(fixture, "approver"),
		.project = STR("tracker"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities = &name,
		.capability_count = 1,
		.has_capabilities = true,
		.root_revision = 1};

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &deny), 0);
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &allow), LIFECYCLE_REVISION_CONFLICT);
	assert_int_equal(allow.call.refusal.revision, 1);
}

static void bad_requests_name_every_fault(void **state)
{
	static const struct str names[] = {{"filesystem.project.read", 23}, {"filesystem.project.write", 24}};
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_grant grant = approval(fixture, put(fixture, "t", READ));

	grant.root_revision = -1;
	grant.expires_at = atomic_load(&fixture->now);
	grant.replace = true;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_INVALID_DOCUMENT);
	assert_int_equal(grant.call.refusal.fault_count, 3);
	grant = (struct lifecycle_grant){.call = lifecycle_fixture_call(fixture, "approver"),
		.project = STR("tracker"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities = names,
		.capability_count = 2,
		.has_capabilities = true,
		.root_revision = 1};
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_INVALID_DOCUMENT);
	assert_int_equal(grant.call.refusal.fault_count, 1);
	assert_true(str_is(grant.call.refusal.faults[0].pointer, "/capabilities/1"));
	grant.decision = STORE_GRANT_DENIED;
	grant.has_capabilities = false;
	grant.capability_count = 0;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_INVALID_DOCUMENT);
}

static void a_denial_holds_and_a_later_project_grant_overrides_it(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(grant.impact.stay_count, 1);
	assert_int_equal(arm_of(fixture, package), ARM_DENIED);
	assert_int_equal(lifecycle_fixture_view(fixture, package).actions.items[2].id, ACTION_REQUEST_CHANGES);
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), 0);
	assert_int_equal(grant.grant.mode, STORE_GRANT_ALWAYS_ALLOW);
	assert_int_equal(grant.impact.open_count, 1);
	assert_int_equal(grant.impact.override_count, 1);
	assert_true(str_equal(grant.impact.overrides[0], package));
	assert_int_equal(grant.impact.plan_count, 1);
	assert_true(str_is(grant.impact.plans[0], "t"));
	assert_int_equal(arm_of(fixture, package), ARM_NONE);
	/* A denial after it counts again. */
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(grant.impact.hold_count, 1);
	assert_int_equal(arm_of(fixture, package), ARM_DENIED);
}

static void what_the_project_covers_needs_no_package_approval(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), 0);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), LIFECYCLE_ALREADY_COVERED);
	assert_int_equal(grant.call.refusal.revision, 1);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(arm_of(fixture, package), ARM_NONE);
}

static void taking_back_needs_an_approval_that_could_still_count(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;

	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_REVOKED, &grant), LIFECYCLE_NOTHING_TO_REVOKE);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_REVOKED, &grant), 0);
	assert_int_equal(grant.impact.hold_count, 1);
	assert_int_equal(arm_of(fixture, package), ARM_TAKEN_BACK);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_REVOKED, &grant), LIFECYCLE_NOTHING_TO_REVOKE);
	assert_int_equal(lifecycle_fixture_allow(fixture, NULL, false, &grant), LIFECYCLE_NOTHING_TO_REVOKE);
}

static void project_approvals_add_and_replacing_narrows(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str reader = put(fixture, "reads", READ);
	struct str lister = put(fixture, "lists", LIST);
	struct lifecycle_package view;
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.read", false, &grant), 0);
	assert_int_equal(arm_of(fixture, lister), ARM_NEVER_APPROVED);
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.list", false, &grant), 0);
	assert_int_equal(grant.granted_count, 2);
	assert_int_equal(arm_of(fixture, lister), ARM_NONE);
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.list", true, &grant), 0);
	assert_int_equal(grant.granted_count, 1);
	assert_true(str_is(grant.grant.dropped_json, "[\"filesystem.project.read\"]"));
	assert_int_equal(grant.impact.hold_count, 1);
	assert_true(str_equal(grant.impact.holds[0], reader));
	view = lifecycle_fixture_view(fixture, reader);
	assert_int_equal(view.hold.arm, ARM_NARROWED);
	assert_int_equal(view.hold.facts.left_count, 1);
	assert_int_equal(view.hold.facts.missing_count, 1);
	assert_true(str_is(view.state.words.headline, "Project access no longer covers this"));
	assert_true(str_is(view.actions.items[1].label, "Widen project access…"));
	assert_int_equal(lifecycle_fixture_allow(fixture, NULL, false, &grant), 0);
	assert_int_equal(arm_of(fixture, reader), ARM_REMOVED);
	assert_int_equal(arm_of(fixture, lister), ARM_REMOVED);
	/* What the project once had and has no more stays dropped. */
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.list", false, &grant), 0);
	assert_int_equal(arm_of(fixture, reader), ARM_NARROWED);
}

static void a_dry_run_answers_the_impact_and_writes_nothing(void **state)
{
	static const struct str name = {"filesystem.project.read", 23};
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	size_t events = lifecycle_fixture_events(fixture, NULL, NO_PACKAGE);
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "approver"),
		.project = STR("tracker"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities = &name,
		.capability_count = 1,
		.has_capabilities = true,
		.root_revision = 1,
		.dry_run = true};

	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	assert_int_equal(grant.impact.open_count, 1);
	assert_int_equal(grant.impact.revision, 1);
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, NO_PACKAGE), events);
	assert_int_equal(lifecycle_fixture_project(fixture).row.decision_revision, 0);
	assert_int_equal(arm_of(fixture, package), ARM_NEVER_APPROVED);
}

static void contributors_do_not_approve_for_themselves_but_may_deny(void **state)
{
	static const struct str name = {"filesystem.project.read", 23};
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant = approval(fixture, package);
	struct lifecycle_approval plan = {.call = lifecycle_fixture_call(fixture, "planner"),
		.task = STR("t"),
		.plan_revision = 1,
		.root_revision = -1};

	grant.call = lifecycle_fixture_call(fixture, "planner");
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_SELF_APPROVAL);
	grant.package = (struct str){0};
	grant.project = STR("tracker");
	grant.capabilities = &name;
	grant.capability_count = 1;
	grant.has_capabilities = true;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), LIFECYCLE_SELF_APPROVAL);
	assert_int_equal(lifecycle_approve(fixture->lifecycle, &plan), LIFECYCLE_SELF_APPROVAL);
	grant = approval(fixture, package);
	grant.call = lifecycle_fixture_call(fixture, "planner");
	grant.decision = STORE_GRANT_DENIED;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
	fixture->config.allow_self_approval = true;
	lifecycle_fixture_reopen(fixture);
	grant = approval(fixture, lifecycle_fixture_task(fixture, "t").packages[0].row.id);
	grant.call = lifecycle_fixture_call(fixture, "planner");
	grant.expected_revision = 1;
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
}

static void a_contributor_may_allow_a_project_what_his_plan_does_not_ask(void **state)
{
	static const struct str name = {"filesystem.project.list", 23};
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_grant grant = {.call = lifecycle_fixture_call(fixture, "planner"),
		.project = STR("tracker"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities = &name,
		.capability_count = 1,
		.has_capabilities = true,
		.root_revision = 1};

	(void)put(fixture, "t", READ);
	assert_int_equal(lifecycle_grant(fixture->lifecycle, &grant), 0);
}

static void approving_needs_a_root_and_denying_does_not(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_project_put gone = {.call = lifecycle_fixture_call(fixture, "operator"),
		.id = STR("tracker"),
		.root = LIFECYCLE_ROOT_REMOVE};
	struct str package = put(fixture, "t", READ);
	struct lifecycle_package view;
	struct lifecycle_grant grant;

	assert_int_equal(lifecycle_project_put(fixture->lifecycle, &gone), 0);
	assert_int_equal(gone.view.row.root_revision, 0);
	view = lifecycle_fixture_view(fixture, package);
	assert_int_equal(view.hold.arm, ARM_NO_ROOT);
	assert_int_equal(view.actions.items[0].id, ACTION_SET_ROOT);
	assert_int_equal(view.actions.items[1].id, ACTION_DENY);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), LIFECYCLE_ROOT_MISSING);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
}

static void a_superseded_package_takes_no_grant(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;

	(void)put(fixture, "t", LIST);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, package, STORE_GRANT_APPROVED, &grant), LIFECYCLE_PACKAGE_STATUS);
	assert_true(str_is(grant.call.refusal.status, "superseded"));
}

static void the_same_state_writes_no_hold_twice(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct str package = put(fixture, "t", READ);
	struct lifecycle_grant grant;
	int64_t since = lifecycle_fixture_view(fixture, package).hold.since;

	lifecycle_fixture_pass(fixture, 1000);
	assert_int_equal(lifecycle_fixture_allow(fixture, "filesystem.project.list", false, &grant), 0);
	assert_int_equal(lifecycle_fixture_events(fixture, "hold.changed", package), 0);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(lifecycle_fixture_events(fixture, "hold.changed", package), 1);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.since, since + 1000);
	lifecycle_fixture_pass(fixture, 1000);
	assert_int_equal(lifecycle_fixture_decide(fixture, package, STORE_GRANT_DENIED, &grant), 0);
	assert_int_equal(lifecycle_fixture_view(fixture, package).hold.since, since + 1000);
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIFECYCLE_TEST(a_package_approval_covers_everything_when_nothing_is_named),
		LIFECYCLE_TEST(a_package_approval_that_leaves_something_out_is_refused),
		LIFECYCLE_TEST(a_package_approval_of_what_was_not_asked_is_refused),
		LIFECYCLE_TEST(revisions_that_were_not_seen_are_refused_with_the_current_record),
		LIFECYCLE_TEST(a_project_approval_needs_to_have_seen_every_record),
		LIFECYCLE_TEST(bad_requests_name_every_fault),
		LIFECYCLE_TEST(a_denial_holds_and_a_later_project_grant_overrides_it),
		LIFECYCLE_TEST(what_the_project_covers_needs_no_package_approval),
		LIFECYCLE_TEST(taking_back_needs_an_approval_that_could_still_count),
		LIFECYCLE_TEST(project_approvals_add_and_replacing_narrows),
		LIFECYCLE_TEST(a_dry_run_answers_the_impact_and_writes_nothing),
		LIFECYCLE_TEST(contributors_do_not_approve_for_themselves_but_may_deny),
		LIFECYCLE_TEST(a_contributor_may_allow_a_project_what_his_plan_does_not_ask),
		LIFECYCLE_TEST(approving_needs_a_root_and_denying_does_not),
		LIFECYCLE_TEST(a_superseded_package_takes_no_grant),
		LIFECYCLE_TEST(the_same_state_writes_no_hold_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
