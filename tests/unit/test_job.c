/* The lenient door: what a job's body brings along, and what is dropped of it (chapter 5.6; cases H01 to H13, H31). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agents/job.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/redact.h"

struct fixture {
	struct arena arena;
	json_t *body;
	struct job job;
};

static int setup(void **state)
{
	static struct fixture fixture;

	assert_int_equal(redact_init(), 0);
	fixture = (struct fixture){0};
	arena_init(&fixture.arena, (size_t)64 << 20);
	*state = &fixture;
	return 0;
}

static void drop_job(struct fixture *fixture)
{
	job_release(&fixture->job);
	json_decref(fixture->body);
	fixture->body = NULL;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	drop_job(fixture);
	arena_release(&fixture->arena);
	return 0;
}

static void reads(struct fixture *fixture, const char *body)
{
	drop_job(fixture);
	assert_int_equal(json_parse((struct str){body, strlen(body)}, &fixture->body, NULL), 0);
	assert_int_equal(job_read(&fixture->arena, fixture->body, &fixture->job), 0);
}

static void is_text(struct buf *found, const char *wanted)
{
	assert_int_equal(buf_error(found), 0);
	assert_string_equal(buf_str(found).bytes, wanted);
	buf_release(found);
}

/* Exactly these were dropped, in their order, separated by blanks; "!" behind one that took its server or skill along. */
static void dropped(const struct fixture *fixture, const char *wanted)
{
	struct buf found;

	buf_init(&found, 1 << 16);
	for (size_t i = 0; i < fixture->job.drop_count; i++) {
		buf_printf(&found, "%s%s%s", i > 0 ? " " : "", fixture->job.drops[i].pointer.bytes,
			fixture->job.drops[i].is_whole ? "!" : "");
		assert_true(fixture->job.drops[i].reason.len > 0);
	}
	is_text(&found, wanted);
}

static void ids_are(const struct fixture *fixture, const char *wanted)
{
	struct buf found;

	buf_init(&found, 1 << 16);
	for (size_t i = 0; i < fixture->job.server_count; i++)
		buf_printf(&found, "%s%s", i > 0 ? " " : "", fixture->job.servers[i].id.bytes);
	is_text(&found, wanted);
}

static void skills_are(const struct fixture *fixture, const char *wanted)
{
	struct buf found;

	buf_init(&found, 1 << 16);
	for (size_t i = 0; i < fixture->job.skill_count; i++)
		buf_printf(&found, "%s%s", i > 0 ? " " : "", fixture->job.skills[i].name.bytes);
	is_text(&found, wanted);
}

/* ---- tool servers */

#define STDIO(id) "{\"id\":\"" id "\",\"transport\":\"stdio\",\"command\":\"/x\"}"

static void a_bad_id_drops_its_server_and_no_other(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"servers\":[" STDIO("Bad Id") "," STDIO("") "," STDIO("-x") "," STDIO(
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaaa") "," STDIO("ok\\n") "," STDIO("a__b") "," STDIO("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
										  "aaaaaaaaaaaaaaaaaaaaa"
										  "aaaaaaa") "," STDIO("0-_a") ",{"
													       "\"comma"
													       "nd\":"
													       "\"/"
													       "x\"},7]"
													       "}");
	ids_are(fixture, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0-_a");
	dropped(fixture,
		"/servers/0! /servers/1! /servers/2! /servers/3! /servers/4! /servers/5! /servers/8! /servers/9!");
}

static void a_server_without_its_command_goes_and_a_missing_transport_is_told_by_what_is_there(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"servers\":[{\"id\":\"a\",\"transport\":\"stdio\"},{\"id\":\"b\",\"transport\":\"stdio\","
		"\"command\":\"\"},{\"id\":\"c\",\"command\":\"/x\"},{\"id\":\"d\",\"url\":\"https://x.example/\"},"
		"{\"id\":\"e\",\"transport\":\"sse\",\"url\":\"https://x.example/\"},{\"id\":\"f\"}]}");
	ids_are(fixture, "c d");
	assert_int_equal(fixture->job.servers[0].transport, SPEC_STDIO);
	assert_int_equal(fixture->job.servers[1].transport, SPEC_HTTP);
	dropped(fixture, "/servers/0/command! /servers/1/command! /servers/4! /servers/5!");
}

static void values_that_are_no_texts_go_and_the_others_stay(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"servers\":[{\"id\":\"a\",\"command\":\"/x\",\"env\":{\"A\":\"1\",\"B\":3,\"C\":null,\"D=\":\"x\"}},"
		"{\"id\":\"b\",\"command\":\"/x\",\"env\":{\"B\":3}},{\"id\":\"c\",\"command\":\"/x\",\"env\":[]}]}");
	ids_are(fixture, "a b c");
	assert_int_equal(fixture->job.servers[0].value_count, 1);
	assert_string_equal(fixture->job.servers[0].values[0].name.bytes, "A");
	assert_int_equal(fixture->job.servers[1].value_count, 0);
	dropped(fixture, "/servers/0/env/B /servers/0/env/C /servers/0/env/D= /servers/1/env/B /servers/2/env");
}

static void the_first_of_an_id_wins(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"servers\":[{\"id\":\"ok\"},{\"id\":\"ok\",\"command\":\"x\"},{\"id\":\"ok\",\"command\":\"y\"}],"
		"\"mcpServers\":{\"ok\":{\"command\":\"z\"},\"more\":{\"type\":\"stdio\",\"command\":\"z\"}}}");
	ids_are(fixture, "ok more");
	assert_string_equal(fixture->job.servers[0].command.bytes, "x");
	dropped(fixture, "/servers/0! /servers/2! /mcpServers/ok!");
}

static void bad_names_of_tools_go_and_a_list_without_a_good_one_takes_the_server(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"servers\":[{\"id\":\"a\",\"command\":\"/x\",\"allowedTools\":[\"a,b\",\"list\",\"list\"]},"
		"{\"id\":\"b\",\"command\":\"/x\",\"allowedTools\":[\"a,b\"]},"
		"{\"id\":\"c\",\"command\":\"/x\",\"allowedTools\":[\"get_*\",\" x\",\"\",7]},"
		"{\"id\":\"d\",\"command\":\"/x\",\"allowedTools\":\"list\"},"
		"{\"id\":\"e\",\"command\":\"/x\",\"allowedTools\":[]}]}");
	ids_are(fixture, "a");
	assert_int_equal(fixture->job.servers[0].allowed_tool_count, 1);
	assert_string_equal(fixture->job.servers[0].allowed_tools[0].bytes, "list");
	dropped(fixture,
		"/servers/0/allowedTools/0 /servers/0/allowedTools/2 /servers/1/allowedTools/0 "
		"/servers/1/allowedTools! "
		"/servers/2/allowedTools/0 /servers/2/allowedTools/1 /servers/2/allowedTools/2 "
		"/servers/2/allowedTools/3 /servers/2/allowedTools! /servers/3/allowedTools! "
		"/servers/4/allowedTools!");
}

static void an_address_that_the_rule_refuses_drops_its_server_and_no_other(void **state)
{
	static const char *const refused[] = {"http://mcp.example.com/", "http://127.1/", "http://0177.0.0.1/",
		"http://evil.example\\\\@127.0.0.1/", "http://127.0.0.1@evil.example/", "file:///etc/passwd", "//h/x",
		"", "not a url", "http://[", "https://x.example/a b", "ws://127.0.0.1/"};
	struct fixture *fixture = *state;
	char body[512];

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		(void)snprintf(body, sizeof(body),
			"{\"servers\":[{\"id\":\"bad\",\"transport\":\"http\",\"url\":\"%s\"},"
			"{\"id\":\"good\",\"transport\":\"http\",\"url\":\"http://localhost:3000/mcp\"}]}",
			refused[i]);
		reads(fixture, body);
		ids_are(fixture, "good");
		dropped(fixture, "/servers/0/url!");
	}
}

static void what_nobody_judged_is_left_out_and_said(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"mcpServers\":{\"linked\":{\"link\":\"https://x.example/repo.git\"},"
		"\"hosted\":{\"link\":\"https://x.example/repo.git\",\"url\":\"https://x.example/mcp?project_ref=a\","
		"\"oauth\":{\"clientId\":\"1234567890.0987654321\"}}}}");
	ids_are(fixture, "hosted");
	assert_string_equal(fixture->job.servers[0].url.bytes, "https://x.example/mcp?project_ref=a");
	dropped(fixture, "/mcpServers/linked! /mcpServers/hosted/link /mcpServers/hosted/oauth");
}

static void no_report_quotes_a_credential(void **state)
{
	static const char canary[] = "ghp_canary0123456789canary0123456789";
	struct fixture *fixture = *state;
	char body[1024];

	(void)snprintf(body, sizeof(body),
		"{\"servers\":[{\"id\":\"a\",\"command\":\"/x\",\"args\":[\"--token=%s\"]},"
		"{\"id\":\"b\",\"command\":\"/x\",\"env\":{\"%s\":7},\"%s\":1},"
		"{\"id\":\"%s\",\"command\":\"/x\"},{\"id\":\"c\",\"command\":\"/x\",\"env\":{\"T\":\"abc\"},"
		"\"secretKeys\":[\"T\"]}],\"mcpServers\":{\"%s\":{}}}",
		canary, canary, canary, canary, canary);
	reads(fixture, body);
	ids_are(fixture, "b");
	for (size_t i = 0; i < fixture->job.drop_count; i++) {
		assert_null(strstr(fixture->job.drops[i].pointer.bytes, "canary"));
		assert_null(strstr(fixture->job.drops[i].reason.bytes, "canary"));
	}
	dropped(fixture,
		"/servers/0/args/0! /servers/1/env/*** /servers/1/*** /servers/2! /servers/3/env/T! /mcpServers/***!");
}

static void there_are_64_servers_and_no_more(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(buf_release) struct buf body = {0};

	buf_init(&body, 1 << 20);
	buf_puts(&body, "{\"servers\":[");
	for (int i = 0; i < 66; i++)
		buf_printf(&body, "%s{\"id\":\"s%d\",\"command\":\"/x\"}", i > 0 ? "," : "", i);
	buf_puts(&body, "]}");
	reads(fixture, body.bytes);
	assert_int_equal(fixture->job.server_count, 64);
	dropped(fixture, "/servers/64! /servers/65!");
}

/* ---- skills */

static void a_skill_keeps_its_resources_in_their_order(void **state)
{
	struct fixture *fixture = *state;
	const struct skill *skill = fixture->job.skills;

	reads(fixture,
		"{\"skills\":[{\"name\":\"bug-triage\",\"instructions\":\"x\",\"resources\":["
		"{\"relPath\":\"templates/"
		"report.md\",\"content\":\"r\"},{\"relPath\":\"checklist.md\",\"content\":\"\"}]}]}");
	skills_are(fixture, "bug-triage");
	skill = fixture->job.skills;
	assert_int_equal(skill->resource_count, 2);
	assert_string_equal(skill->resources[0].path.bytes, "templates/report.md");
	assert_string_equal(skill->resources[1].path.bytes, "checklist.md");
	assert_int_equal(skill->description.len, 0);
	dropped(fixture, "");
}

static void paths_of_resources_are_cleaned_or_refused(void **state)
{
	static const struct {
		const char *given;
		const char *wanted; /* NULL: refused */
	} paths[] = {
		{"../../etc/passwd", NULL},
		{"/abs/path.md", NULL},
		{"a\\b", NULL},
		{"./a//b", "a/b"},
		{".git/x", NULL},
		{"a/.env", NULL},
		{"a b.md", "ab.md"},
		{"a/../b", NULL},
		{"", NULL},
		{".", NULL},
		{"a/", "a"},
		{"\xe6\x97\xa5", NULL},
		{"\xe6\x97\xa5.x", NULL},
		{"a/\xe6\x97\xa5/b", NULL},
		{"SKILL.md", NULL},
		{"skill.MD", NULL},
		{"./SKILL.md", NULL},
		{"S KILL.md", NULL},
		{"sub/SKILL.md", "sub/SKILL.md"},
		{"a\nb", "ab"},
		{". ./x", NULL},
		{"a..b", "a..b"},
		{"x~", "x"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const char *why = NULL;
		struct str path = {0};
		int r = skill_path(&fixture->arena, (struct str){paths[i].given, strlen(paths[i].given)}, &path, &why);

		assert_int_equal(r, paths[i].wanted != NULL ? 0 : SKILL_PATH_REFUSED);
		if (paths[i].wanted != NULL)
			assert_string_equal(path.bytes, paths[i].wanted);
		else
			assert_non_null(why);
	}
}

static void names_of_skills_are_one_clean_segment(void **state)
{
	static const char *const names[][2] = {{"..", "skill"}, {"\xe6\x97\xa5\xe6\x9c\xac", "skill"},
		{"a/b/", "skill"}, {"x/../y z", "yz"}, {"", "skill"}, {".hidden", "hidden"}, {"a/b", "b"},
		{"ok-1_x.y", "ok-1_x.y"}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(
			skill_name(&fixture->arena, (struct str){names[i][0], strlen(names[i][0])}).bytes, names[i][1]);
	reads(fixture, "{\"skills\":[{\"name\":42,\"instructions\":\"x\"},{\"instructions\":\"y\"}]}");
	skills_are(fixture, "skill");
	dropped(fixture, "/skills/1!");
}

static void a_skill_without_instructions_goes_and_the_first_of_a_name_wins(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"skills\":[{\"name\":\"a\"},{\"name\":\"a\",\"instructions\":\"\"},"
		"{\"name\":\"dup\",\"description\":\"one\",\"instructions\":\"x\"},"
		"{\"name\":\"dup\",\"description\":\"two\",\"instructions\":\"x\"},7]}");
	skills_are(fixture, "dup");
	assert_string_equal(fixture->job.skills[0].description.bytes, "one");
	dropped(fixture, "/skills/0! /skills/1! /skills/3! /skills/4!");
}

static void the_first_of_a_path_wins_and_no_file_is_a_folder_too(void **state)
{
	struct fixture *fixture = *state;

	reads(fixture,
		"{\"skills\":[{\"name\":\"a\",\"instructions\":\"x\",\"resources\":["
		"{\"relPath\":\"a b.md\",\"content\":\"1\"},{\"relPath\":\"ab.md\",\"content\":\"2\"},"
		"{\"relPath\":\"ab.md/c\",\"content\":\"3\"},{\"relPath\":\"d\",\"content\":4},"
		"{\"relPath\":\"SKILL.md\",\"content\":\"5\"},7]}]}");
	assert_int_equal(fixture->job.skills[0].resource_count, 1);
	assert_string_equal(fixture->job.skills[0].resources[0].content.bytes, "1");
	dropped(fixture,
		"/skills/0/resources/1/relPath /skills/0/resources/2/relPath /skills/0/resources/3/content "
		"/skills/0/resources/4/relPath /skills/0/resources/5/relPath");
}

static void what_is_no_list_holds_nothing(void **state)
{
	static const char *const bodies[][2] = {{"{}", ""}, {"{\"skills\":null,\"servers\":null}", ""},
		{"{\"skills\":{}}", "/skills!"}, {"{\"skills\":\"x\"}", "/skills!"}, {"{\"servers\":{}}", "/servers!"},
		{"{\"mcpServers\":[]}", "/mcpServers!"}, {"[]", "!"}, {"7", "!"}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		reads(fixture, bodies[i][0]);
		ids_are(fixture, "");
		skills_are(fixture, "");
		dropped(fixture, bodies[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_bad_id_drops_its_server_and_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_server_without_its_command_goes_and_a_missing_transport_is_told_by_what_is_there, setup,
			teardown),
		cmocka_unit_test_setup_teardown(values_that_are_no_texts_go_and_the_others_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_of_an_id_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(
			bad_names_of_tools_go_and_a_list_without_a_good_one_takes_the_server, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_address_that_the_rule_refuses_drops_its_server_and_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_judged_is_left_out_and_said, setup, teardown),
		cmocka_unit_test_setup_teardown(no_report_quotes_a_credential, setup, teardown),
		cmocka_unit_test_setup_teardown(there_are_64_servers_and_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(a_skill_keeps_its_resources_in_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(paths_of_resources_are_cleaned_or_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_skills_are_one_clean_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_skill_without_instructions_goes_and_the_first_of_a_name_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_of_a_path_wins_and_no_file_is_a_folder_too, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_list_holds_nothing, setup, teardown),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
