/* Submitting plans: every fault with its pointer, replacing, the same plan again (chapters 2.2, 4.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/cleanup.h"
#include "tests/lib/lifecycle_fixture.h"

enum { ARENA_BYTES = 16 * 1024 * 1024 };

#define READ FIXTURE_READ("fs", "filesystem.project.read")

/* ---- faults */

static void expect_faults(const char *body, enum plan_form form, const char *const *pointers)
{
	CLEANUP(json_drop) json_t *json = json_loads(body, JSON_DECODE_ANY, NULL);
	struct lifecycle_refusal refusal = {0};
	struct arena arena;
	struct plan plan;
	size_t count = 0;

	assert_non_null(json);
	arena_init(&arena, ARENA_BYTES);
	assert_int_equal(plan_read(&arena, json, form, &plan, &refusal), LIFECYCLE_INVALID_DOCUMENT);
	for (; pointers[count] != NULL; count++) {
		bool found = false;

		for (size_t i = 0; i < refusal.fault_count; i++)
			found = found || str_is(refusal.faults[i].pointer, pointers[count]);
		if (!found)
			print_message("no fault at %s\n", pointers[count]);
		assert_true(found);
	}
	assert_int_equal(refusal.fault_count, count);
	arena_release(&arena);
}

#define EXPECT_FAULTS(body, ...) expect_faults((body), PLAN_FORM_TASK, (const char *const[]){__VA_ARGS__, NULL})
#define PLAN(packages) "{\"project\":\"tracker\",\"title\":\"t\",\"packages\":[" packages "]}"
#define PACKAGE(label, more) "{\"label\":\"" label "\",\"agent\":\"dev\",\"document\":{}" more "}"

static void faults_of_the_frame_are_told(void **state)
{
	(void)state;
	EXPECT_FAULTS("[]", "");
	EXPECT_FAULTS("{}", "/project", "/title", "/packages");
	EXPECT_FAULTS("{\"project\":\"Tracker\",\"title\":\"\",\"packages\":[],\"pakages\":1}", "/project", "/title",
		"/packages", "/pakages");
	EXPECT_FAULTS("{\"project\":\"tracker\",\"title\":\"t\",\"packages\":[1,{}]}", "/packages/0",
		"/packages/1/label", "/packages/1/agent", "/packages/1/document");
	EXPECT_FAULTS("{\"project\":\"tracker\",\"title\":\"t\",\"packages\":[" PACKAGE("a", ",\"a~/b\":1") "]}",
		"/packages/0/a~0~1b");
}

static void faults_of_packages_are_all_told(void **state)
{
	(void)state;
	EXPECT_FAULTS(PLAN("{\"label\":\"-a\",\"agent\":\"unknown\",\"document\":[],\"redo\":1,\"promptOverlays\":[]}"),
		"/packages/0/label", "/packages/0/agent", "/packages/0/document", "/packages/0/redo",
		"/packages/0/promptOverlays");
	EXPECT_FAULTS(PLAN(PACKAGE("a", "") "," PACKAGE("b", "") "," PACKAGE("a", "")), "/packages/2/label");
	EXPECT_FAULTS(PLAN(PACKAGE("a", ",\"promptOverlays\":{\"k\":\"\",\"b k\":\"x\",\"n\":1}")),
		"/packages/0/promptOverlays/k", "/packages/0/promptOverlays/b k", "/packages/0/promptOverlays/n");
}

static void faults_of_dependencies_are_told(void **state)
{
	(void)state;
	EXPECT_FAULTS(PLAN(PACKAGE("a", ",\"dependsOn\":[\"a\",\"z\",\"b\",\"b\",7]") "," PACKAGE("b", "")),
		"/packages/0/dependsOn/0", "/packages/0/dependsOn/1", "/packages/0/dependsOn/3",
		"/packages/0/dependsOn/4");
	EXPECT_FAULTS(PLAN(PACKAGE("a", ",\"dependsOn\":\"b\"") "," PACKAGE("b", "")), "/packages/0/dependsOn");
	EXPECT_FAULTS(PLAN(PACKAGE("a", ",\"dependsOn\":[\"b\"]") "," PACKAGE(
			      "b", ",\"dependsOn\":[\"c\"]") "," PACKAGE("c", ",\"dependsOn\":[\"a\"]")),
		"/packages/2/dependsOn");
}

/* `count` packages p0, p1, …; each overlay of the first is `characters` long in code points of two bytes. */
static json_t *make_body(size_t count, size_t overlays, size_t characters)
{
	json_t *packages = json_array();
	char name[32];
	char text[2 * (PLAN_OVERLAY_CHARACTERS + 1) + 1];

	for (size_t i = 0; i < characters; i++)
		memcpy(text + 2 * i, "é", 2);
	text[2 * characters] = '\0';
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "p%zu", i);
		json_array_append_new(packages,
			json_pack("{s:s,s:s,s:{},s:{}}", "label", name, "agent", "dev", "document", "promptOverlays"));
	}
	for (size_t i = 0; i < overlays; i++) {
		(void)snprintf(name, sizeof(name), "key%zu", i);
		json_object_set_new(
			json_object_get(json_array_get(packages, 0), "promptOverlays"), name, json_string(text));
	}
	return json_pack("{s:s,s:s,s:o}", "project", "tracker", "title", "t", "packages", packages);
}

static void expect_size(size_t count, size_t overlays, size_t characters, int result)
{
	CLEANUP(json_drop) json_t *body = make_body(count, overlays, characters);
	struct lifecycle_refusal refusal = {0};
	struct arena arena;
	struct plan plan;

	arena_init(&arena, ARENA_BYTES);
	assert_int_equal(plan_read(&arena, body, PLAN_FORM_TASK, &plan, &refusal), result);
	arena_release(&arena);
}

static void limits_are_met_and_not_passed(void **state)
{
	(void)state;
	expect_size(PLAN_PACKAGE_LIMIT, 0, 0, 0);
	expect_size(PLAN_PACKAGE_LIMIT + 1, 0, 0, LIFECYCLE_INVALID_DOCUMENT);
	expect_size(1, PLAN_OVERLAY_LIMIT, 1, 0);
	expect_size(1, PLAN_OVERLAY_LIMIT + 1, 1, LIFECYCLE_INVALID_DOCUMENT);
	expect_size(1, 1, PLAN_OVERLAY_CHARACTERS, 0);
	expect_size(1, 1, PLAN_OVERLAY_CHARACTERS + 1, LIFECYCLE_INVALID_DOCUMENT);
}

static void a_lone_document_is_a_plan_for_previews_only(void **state)
{
	static const char body[] = "{\"project\":\"tracker\",\"document\":{}}";
	CLEANUP(json_drop) json_t *json = json_loads(body, 0, NULL);
	struct lifecycle_refusal refusal = {0};
	struct arena arena;
	struct plan plan;

	(void)state;
	arena_init(&arena, ARENA_BYTES);
	assert_int_equal(plan_read(&arena, json, PLAN_FORM_PREVIEW, &plan, &refusal), 0);
	assert_int_equal(plan.package_count, 1);
	assert_int_equal(plan_read(&arena, json, PLAN_FORM_TASK, &plan, &refusal), LIFECYCLE_INVALID_DOCUMENT);
	arena_release(&arena);
	expect_faults("{\"project\":\"tracker\",\"document\":{},\"label\":\"x\"}", PLAN_FORM_PREVIEW,
		(const char *const[]){"/label", NULL});
}

/* ---- putting */

static const char *body_of(struct lifecycle_fixture *fixture, const char *label, const char *requirements)
{
	return lifecycle_fixture_body(fixture, lifecycle_fixture_package(fixture, label, "", requirements, ""));
}

static void the_same_plan_again_changes_nothing_whatever_the_status(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	const char *body = body_of(fixture, "a", "");
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	size_t events = 0;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	events = lifecycle_fixture_events(fixture, NULL, (struct str){0});
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_UNCHANGED);
	assert_int_equal(put.view.row.plan_revision, 1);
	assert_int_equal(lifecycle_fixture_events(fixture, NULL, (struct str){0}), events);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_UNCHANGED);
	assert_int_equal(put.view.row.status, STORE_TASK_APPROVED);
}

static void another_plan_replaces_a_proposed_one_and_supersedes_its_packages(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_plan_put first;
	struct lifecycle_plan_put second;
	struct lifecycle_package view;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", READ), &first), 0);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", ""), &second), 0);
	assert_int_equal(second.effect, LIFECYCLE_PLAN_REPLACED);
	assert_int_equal(second.view.row.plan_revision, 2);
	assert_int_equal(second.superseded_count, 1);
	assert_true(str_equal(second.superseded[0], first.view.packages[0].row.id));
	assert_false(str_equal(second.view.packages[0].row.id, first.view.packages[0].row.id));
	view = lifecycle_fixture_view(fixture, first.view.packages[0].row.id);
	assert_int_equal(view.status, PACKAGE_SUPERSEDED);
	assert_false(view.is_held);
	assert_int_equal(lifecycle_fixture_events(fixture, "hold.cleared", view.row.id), 1);
}

static void another_plan_for_an_approved_task_is_refused_with_the_status(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", ""), &put), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "b", ""), &put), LIFECYCLE_TASK_STATUS);
	assert_true(str_is(put.call.refusal.status, "approved"));
	assert_true(str_is(put.call.refusal.actor.principal, "approver"));
	assert_int_equal(lifecycle_fixture_task(fixture, "t").row.plan_revision, 1);
}

static void projects_and_ids_are_checked(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_plan_put put;
	struct lifecycle_project_put other = {
		.call = lifecycle_fixture_call(fixture, "operator"), .id = STR("second"), .name = STR("Second")};
	const char *elsewhere =
		"{\"project\":\"second\",\"title\":\"x\",\"packages\":[{\"label\":\"a\",\"agent\":\"dev\","
		"\"document\":{}}]}";
	const char *nowhere = "{\"project\":\"third\",\"title\":\"x\",\"packages\":[{\"label\":\"a\",\"agent\":\"dev\","
			      "\"document\":{}}]}";

	assert_int_equal(lifecycle_project_put(fixture->lifecycle, &other), 0);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", ""), &put), 0);
	assert_int_equal(lifecycle_fixture_put(fixture, "t", elsewhere, &put), LIFECYCLE_TASK_EXISTS);
	assert_int_equal(lifecycle_fixture_put(fixture, "u", nowhere, &put), LIFECYCLE_NOT_FOUND);
	assert_int_equal(lifecycle_fixture_put(fixture, "T", elsewhere, &put), LIFECYCLE_INVALID_DOCUMENT);
	assert_int_equal(put.call.refusal.fault_count, 1);
}

static void preconditions_are_kept(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_plan_put put;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", ""), &put), 0);
	put = (struct lifecycle_plan_put){.call = lifecycle_fixture_call(fixture, "planner"),
		.task = STR("t"),
		.plan = lifecycle_fixture_plan(fixture, body_of(fixture, "b", "")),
		.condition = {.only_new = true}};
	assert_int_equal(lifecycle_plan_put(fixture->lifecycle, &put), LIFECYCLE_PRECONDITION_FAILED);
	assert_int_equal(put.call.refusal.revision, 1);
	put.condition.only_new = false;
	put.condition.has_revision = true;
	put.condition.revision = 2;
	assert_int_equal(lifecycle_plan_put(fixture->lifecycle, &put), LIFECYCLE_PRECONDITION_FAILED);
	put.condition.revision = 1;
	assert_int_equal(lifecycle_plan_put(fixture->lifecycle, &put), 0);
	assert_int_equal(put.view.row.plan_revision, 2);
}

static void what_is_outside_the_scope_is_not_found(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_task task;
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval = {.call = lifecycle_fixture_call(fixture, "approver"),
		.task = STR("t"),
		.plan_revision = 1,
		.root_revision = -1};
	struct str second = STR("second");

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body_of(fixture, "a", ""), &put), 0);
	approval.call.scope = (struct lifecycle_scope){.projects = &second, .project_count = 1};
	assert_int_equal(lifecycle_approve(fixture->lifecycle, &approval), LIFECYCLE_NOT_FOUND);
	reader.scope = approval.call.scope;
	assert_int_equal(lifecycle_view_task(&reader, STR("t"), &task), LIFECYCLE_NOT_FOUND);
	put.call.scope = approval.call.scope;
	assert_int_equal(lifecycle_plan_put(fixture->lifecycle, &put), LIFECYCLE_NOT_FOUND);
}

static void overlays_are_the_only_proof_of_prompt_context(void **state)
{
	static const char with_overlay[] =
		"{\"project\":\"tracker\",\"title\":\"x\",\"packages\":[{\"label\":\"a\",\"agent\":\"dev\","
		"\"document\":{"
		"\"mcpRequirements\":[" FIXTURE_OPTIONAL("gh", "github",
			"github.issues.read") "],"
					      "\"mcpGrants\":[{\"decisionId\":\"d1\",\"requirementKey\":\"gh\","
					      "\"agent\":\"dev\",\"mcpId\":\"github\","
					      "\"sourceRequirementIndex\":1,\"promptOverlayPresent\":true,"
					      "\"assignment\":{\"type\":\"agent\",\"targetId\":\"dev\"}}]},"
					      "\"promptOverlays\":{%s}}]}";
	struct lifecycle_fixture *fixture = *state;
	struct arena *arena = lifecycle_fixture_arena(fixture);
	struct lifecycle_plan_put put;
	struct lifecycle_preview preview;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", arena_printf(arena, with_overlay, "").bytes, &put), 0);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.packages[0].result.bytes, "\"promptOverlayPresent\":false"));
	assert_int_equal(lifecycle_fixture_put(fixture, "t",
				 arena_printf(arena, with_overlay, "\"gh\":\"see the issues\"").bytes, &put),
		0);
	assert_int_equal(put.effect, LIFECYCLE_PLAN_REPLACED);
	assert_int_equal(lifecycle_fixture_preview(fixture, "t", &preview), 0);
	assert_non_null(strstr(preview.judgement.packages[0].result.bytes, "\"promptOverlayPresent\":true"));
}

#define LIFECYCLE_TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_of_the_frame_are_told),
		cmocka_unit_test(faults_of_packages_are_all_told),
		cmocka_unit_test(faults_of_dependencies_are_told),
		cmocka_unit_test(limits_are_met_and_not_passed),
		cmocka_unit_test(a_lone_document_is_a_plan_for_previews_only),
		LIFECYCLE_TEST(the_same_plan_again_changes_nothing_whatever_the_status),
		LIFECYCLE_TEST(another_plan_replaces_a_proposed_one_and_supersedes_its_packages),
		LIFECYCLE_TEST(another_plan_for_an_approved_task_is_refused_with_the_status),
		LIFECYCLE_TEST(projects_and_ids_are_checked),
		LIFECYCLE_TEST(preconditions_are_kept),
		LIFECYCLE_TEST(what_is_outside_the_scope_is_not_found),
		LIFECYCLE_TEST(overlays_are_the_only_proof_of_prompt_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
