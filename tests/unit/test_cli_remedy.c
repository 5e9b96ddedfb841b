/* Actions of the API as commands that can be run (chapter 4.2, `actions`; 4.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "cli/remedy.h"

static void assert_command(const char *action_text, bool takes_plan, const char *expected)
{
	const struct remedy_context context = {.takes_plan = takes_plan};
	json_t *action = json_loads(action_text, 0, NULL);
	struct buf out;
	bool is_there;

	assert_non_null(action);
	buf_init(&out, 4096);
	is_there = remedy_command(&out, action, &context);
	assert_int_equal(is_there, expected != NULL);
	assert_string_equal(buf_str(&out).bytes, expected == NULL ? "" : expected);
	buf_release(&out);
	json_decref(action);
}

static void a_package_is_approved_on_what_was_seen(void **state)
{
	(void)state;
	assert_command(
		"{\"id\":\"approve_once\",\"href\":\"/v1/packages/pkg_6f1x0c2v8m/grants\",\"body\":{\"decision\":"
		"\"approved\",\"capabilities\":[\"filesystem.project.read\"],\"expectedRevision\":\"0\","
		"\"rootRevision\":\"1\"}}",
		false, "admitctl grant pkg_6f1x0c2v8m --expected-revision 0 --root-revision 1");
}

static void a_project_is_approved_by_name_of_each_capability(void **state)
{
	(void)state;
	assert_command("{\"id\":\"approve_always\",\"href\":\"/v1/projects/tracker/grants\",\"body\":{\"decision\":"
		       "\"approved\",\"capabilities\":[\"filesystem.project.read\",\"filesystem.project.list\"],"
		       "\"expectedRevision\":\"4\",\"rootRevision\":\"1\"}}",
		false,
		"admitctl grant --project tracker --capability filesystem.project.read --capability "
		"filesystem.project.list --expected-revision 4 --root-revision 1");
}

static void a_denial_has_no_root_revision(void **state)
{
	(void)state;
	assert_command("{\"id\":\"deny\",\"href\":\"/v1/packages/pkg_1/grants\",\"body\":{\"decision\":\"denied\","
		       "\"expectedRevision\":\"0\"}}",
		false, "admitctl deny pkg_1 --expected-revision 0");
}

static void a_plan_is_approved_at_its_revision(void **state)
{
	(void)state;
	assert_command(
		"{\"id\":\"approve\",\"href\":\"/v1/tasks/tracker-43/approval\",\"body\":{\"planRevision\":\"2\"}}",
		false, "admitctl approve tracker-43 --plan-revision 2");
}

static void a_missing_folder_is_set(void **state)
{
	(void)state;
	assert_command("{\"id\":\"set_root\",\"href\":\"/v1/projects/tracker\",\"body\":{}}", false,
		"admitctl project set tracker --root DIR");
}

static void a_plan_is_sent_again_only_where_that_is_taken(void **state)
{
	const char *action = "{\"id\":\"request_changes\",\"href\":\"/v1/tasks/tracker-42/changes\",\"body\":{"
			     "\"planRevision\":\"2\"}}";

	(void)state;
	assert_command(action, true, "admitctl task submit PLAN --id tracker-42");
	assert_command(action, false, "admitctl changes tracker-42 --plan-revision 2");
}

static void what_is_done_to_plans_and_packages_has_its_command(void **state)
{
	(void)state;
	assert_command("{\"id\":\"reject\",\"href\":\"/v1/tasks/t/rejection\",\"body\":{\"planRevision\":\"1\"}}", true,
		"admitctl reject t --plan-revision 1");
	assert_command("{\"id\":\"cancel_task\",\"href\":\"/v1/tasks/t/cancellation\",\"body\":{}}", false,
		"admitctl cancel t");
	assert_command(
		"{\"id\":\"cancel_package\",\"href\":\"/v1/packages/pkg_1/cancellation\",\"body\":{\"cascade\":true}}",
		false, "admitctl cancel pkg_1 --cascade");
	assert_command(
		"{\"id\":\"retry\",\"href\":\"/v1/packages/pkg_1/retry\",\"body\":{}}", false, "admitctl retry pkg_1");
	assert_command("{\"id\":\"retry\",\"href\":\"/v1/tasks/t/retry\",\"body\":{}}", false, NULL);
}

static void an_unknown_action_gives_no_command(void **state)
{
	(void)state;
	assert_command("{\"id\":\"format_disk\",\"href\":\"/v1/packages/pkg_1/grants\"}", true, NULL);
	assert_command("{\"id\":\"approve_once\",\"href\":\"https://elsewhere.example/\",\"body\":{\"decision\":"
		       "\"approved\"}}",
		true, NULL);
	assert_command(
		"{\"id\":\"approve_once\",\"href\":\"/v1/packages//grants\",\"body\":{\"decision\":\"approved\"}}",
		true, NULL);
	assert_command("{}", true, NULL);
	assert_command("[]", true, NULL);
}

static void hostile_words_are_quoted_for_a_shell(void **state)
{
	(void)state;
	assert_command("{\"id\":\"approve_always\",\"href\":\"/v1/projects/a;rm -rf ~/grants\",\"body\":{\"decision\":"
		       "\"approved\",\"capabilities\":[\"x'$(id)\"],\"expectedRevision\":\"0\"}}",
		false, "admitctl grant --project 'a;rm -rf ~' --capability 'x'\\''$(id)' --expected-revision 0");
}

static void assert_why_not(const char *action_text, const char *expected)
{
	json_t *action = json_loads(action_text, 0, NULL);
	struct buf out;

	buf_init(&out, 4096);
	remedy_why_not(&out, action);
	assert_string_equal(buf_str(&out).bytes, expected);
	buf_release(&out);
	json_decref(action);
}

static void what_this_token_may_not_do_says_who_may(void **state)
{
	(void)state;
	assert_why_not("{\"allowed\":true,\"roleNeeded\":[\"approver\"]}", "");
	assert_why_not("{\"allowed\":false,\"whyNot\":\"role_missing\",\"roleNeeded\":[\"approver\",\"operator\"]}",
		" (needs role approver or operator)");
	assert_why_not("{\"allowed\":false,\"whyNot\":\"self_approval\"}", " (somebody else must: you sent this plan)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_is_approved_on_what_was_seen),
		cmocka_unit_test(a_project_is_approved_by_name_of_each_capability),
		cmocka_unit_test(a_denial_has_no_root_revision),
		cmocka_unit_test(a_plan_is_approved_at_its_revision),
		cmocka_unit_test(a_missing_folder_is_set),
		cmocka_unit_test(a_plan_is_sent_again_only_where_that_is_taken),
		cmocka_unit_test(what_is_done_to_plans_and_packages_has_its_command),
		cmocka_unit_test(an_unknown_action_gives_no_command),
		cmocka_unit_test(hostile_words_are_quoted_for_a_shell),
		cmocka_unit_test(what_this_token_may_not_do_says_who_may),
	};

	return cmocka_run_group_tests_name("cli remedy", tests, NULL, NULL);
}
