/* What the tools take and refuse, with JSON as it comes over MCP (chapters 5.2, 5.3; cases K43, K44, C55). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/json_parse.h"
#include "reader/tools.h"
#include "reader/tools_arguments.h"
#include "tests/reader/tree.h"

/* What a call answers; its answer is parsed into *ret, or NULL. */
static int call(
	const struct tree *tree, const char *name, json_t *arguments, struct tools_refusal *refusal, json_t **ret)
{
	struct tools_scope scope = {.root = &tree->root};
	const struct tools_tool *tool = strcmp(name, "repo_search") == 0 ? &tools_table[1] : &tools_table[0];
	struct buf answer;
	int r = 0;

	assert_string_equal(tool->name, name);
	*ret = NULL;
	buf_init(&answer, TOOLS_ANSWER_BYTES);
	r = tool->run(&scope, arguments, &answer, refusal);
	if (r == 0)
		assert_int_equal(json_parse(buf_str(&answer), ret, NULL), 0);
	buf_release(&answer);
	json_decref(arguments);
	return r;
}

static void refuses(const struct tree *tree, const char *name, const char *arguments, const char *words)
{
	struct tools_refusal refusal = {0};
	json_t *answer = NULL;
	json_t *parsed = json_loads(arguments, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert_non_null(parsed);
	assert_int_equal(call(tree, name, parsed, &refusal, &answer), TOOLS_REFUSED);
	if (strstr(refusal.message, words) == NULL)
		fail_msg("%s said: %s", arguments, refusal.message);
}

static void k43_what_a_tool_does_not_take_is_refused(void **state)
{
	static const char *const searches[][2] = {
		{"{\"pattern\":\"x\",\"bogus\":1}", "doesn't know"},
		{"{\"pattern\":\"\"}", "pattern is empty"},
		{"{}", "pattern is missing"},
		{"{\"pattern\":1}", "pattern is a text"},
		{"{\"pattern\":null}", "pattern is a text"},
		{"{\"pattern\":\"x\",\"paths\":[]}", "paths is empty"},
		{"{\"pattern\":\"x\",\"paths\":\".\"}", "paths is a list"},
		{"{\"pattern\":\"x\",\"paths\":[1]}", "paths is a list"},
		{"{\"pattern\":\"x\",\"max\":-1}", "from 0 to 100000"},
		{"{\"pattern\":\"x\",\"max\":100001}", "from 0 to 100000"},
		{"{\"pattern\":\"x\",\"max\":1.5}", "whole number"},
		{"{\"pattern\":\"x\",\"max\":\"1\"}", "whole number"},
		{"{\"pattern\":\"x\",\"max\":true}", "whole number"},
		{"{\"pattern\":\"x\",\"max\":1e300}", "whole number"},
		{"{\"pattern\":\"x\",\"maxBytes\":67108865}", "from 0 to 67108864"},
		{"{\"pattern\":\"x\",\"maxTotalBytes\":4294967297}", "from 0 to 4294967296"},
		{"[]", "object"},
		{"\"x\"", "object"},
	};
	static const char *const inventories[][2] = {
		{"{}", "paths is missing"},
		{"{\"paths\":[]}", "paths is empty"},
		{"{\"paths\":[\"a\"],\"contents\":1}", "true or false"},
		{"{\"paths\":[\"a\"],\"maxContentBytes\":16777217}", "from 0 to 16777216"},
		{"{\"paths\":[\"a\"],\"maxEntries\":20001}", "from 0 to 20000"},
		{"{\"paths\":[\"a\"],\"maxTotalBytes\":67108865}", "from 0 to 67108864"},
		{"{\"paths\":[\"a\"],\"maxTotalEntries\":200001}", "from 0 to 200000"},
		{"{\"paths\":[\"a\"],\"path\":\"a\"}", "doesn't know"},
	};

	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++)
		refuses(*state, "repo_search", searches[i][0], searches[i][1]);
	for (size_t i = 0; i < sizeof(inventories) / sizeof(inventories[0]); i++)
		refuses(*state, "path_inventory", inventories[i][0], inventories[i][1]);
}

static void exact_limits_are_taken(void **state)
{
	static const char *const taken[][2] = {
		{"repo_search",
			"{\"pattern\":\"x\",\"max\":100000,\"maxBytes\":67108864,\"maxTotalBytes\":4294967296}"},
		{"repo_search", "{\"pattern\":\"x\",\"max\":0,\"maxBytes\":0,\"maxTotalBytes\":0}"},
		{"repo_search", "{\"pattern\":\"x\",\"max\":3.0}"},
		{"path_inventory",
			"{\"paths\":[\".\"],\"contents\":true,\"maxContentBytes\":16777216,\"maxEntries\":20000,"
			"\"maxTotalBytes\":67108864,\"maxTotalEntries\":200000}"},
		{"path_inventory",
			"{\"paths\":[\".\"],\"maxContentBytes\":0,\"maxEntries\":0,\"maxTotalBytes\":0,"
			"\"maxTotalEntries\":0}"},
	};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct tools_refusal refusal = {0};
		json_t *answer = NULL;

		assert_int_equal(call(*state, taken[i][0], json_loads(taken[i][1], 0, NULL), &refusal, &answer), 0);
		json_decref(answer);
	}
}

static json_t *many_paths(size_t count, bool is_same)
{
	json_t *paths = json_array();
	char name[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "p%zu", is_same ? 0 : i);
		json_array_append_new(paths, json_string(name));
	}
	return json_pack("{s:s,s:o}", "pattern", "x", "paths", paths);
}

static void k44_paths_are_counted_without_those_that_are_the_same(void **state)
{
	struct tools_refusal refusal = {0};
	json_t *answer = NULL;

	assert_int_equal(call(*state, "repo_search", many_paths(5001, false), &refusal, &answer), TOOLS_REFUSED);
	assert_non_null(strstr(refusal.message, "too many"));
	assert_int_equal(call(*state, "repo_search", many_paths(5000, false), &refusal, &answer), 0);
	json_decref(answer);
	assert_int_equal(call(*state, "repo_search", many_paths(5001, true), &refusal, &answer), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "notSearched")), 1);
	json_decref(answer);
}

/* C55: a NUL never cuts a name, in the bytes or in their escape. */
static void c55_a_nul_in_a_target_is_refused(void **state)
{
	const struct tree *tree = *state;

	tree_file(tree, "root/secret.env", TREE_LOOT);
	refuses(tree, "repo_search", "{\"pattern\":\"C\",\"paths\":[\"secret.env\\u0000.md\"]}", "holds a NUL");
	refuses(tree, "repo_search", "{\"pattern\":\"C\",\"paths\":[\"secret.env\\\\x00.md\"]}", "holds a NUL");
}

static void a_refusal_names_the_target_as_it_was_written_and_not_the_root(void **state)
{
	const struct tree *tree = *state;
	static const char *const targets[] = {
		"../out/loot.txt", "..", "", "/etc/passwd", "d/loot.txt", "../\\u001b[31m"};

	tree_link(tree, "root/d", "../out");
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct tools_refusal refusal = {0};
		json_t *answer = NULL;
		char text[256];

		snprintf(text, sizeof(text), "{\"pattern\":\"x\",\"paths\":[\"%s\"]}", targets[i]);
		assert_int_equal(
			call(tree, "repo_search", json_loads(text, 0, NULL), &refusal, &answer), TOOLS_REFUSED);
		if (strchr(targets[i], '\\') == NULL)
			assert_non_null(strstr(refusal.message, targets[i]));
		assert_null(strstr(refusal.message, tree->folder));
		assert_null(strchr(refusal.message, 0x1b));
	}
}

static void a_long_target_is_cut_between_characters(void **state)
{
	struct tools_refusal refusal = {0};
	char target[4000];
	json_t *value = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(target); i += 2) {
		target[i] = (char)0xc3;
		target[i + 1] = (char)0xbc;
	}
	memcpy(target, "../x", 4);
	(void)!tools_refuse_target(&refusal, (struct str){target, sizeof(target)}, CONTAINED_HAS_PARENT);
	value = json_string(refusal.message);
	assert_non_null(value);
	json_decref(value);
}

static void limits_are_as_told(const char *schema, const struct arguments_rule *rules, size_t count)
{
	json_t *parsed = json_loads(schema, 0, NULL);
	const json_t *properties = json_object_get(parsed, "properties");
	size_t required = 0;

	assert_non_null(parsed);
	assert_int_equal(json_object_size(properties), count);
	assert_true(json_is_false(json_object_get(parsed, "additionalProperties")));
	for (size_t i = 0; i < count; i++) {
		const json_t *property = json_object_get(properties, rules[i].name);

		assert_non_null(property);
		required += rules[i].is_required;
		if (rules[i].type != ARGUMENTS_INTEGER)
			continue;
		assert_int_equal(json_integer_value(json_object_get(property, "minimum")), rules[i].least);
		assert_int_equal(json_integer_value(json_object_get(property, "maximum")), rules[i].most);
	}
	assert_int_equal(json_array_size(json_object_get(parsed, "required")), required);
	json_decref(parsed);
}

static void the_schemas_say_what_the_tables_check(void **state)
{
	(void)state;
	limits_are_as_told(tools_table[0].input_schema, tools_inventory_rules, TOOLS_INVENTORY_RULES);
	limits_are_as_told(tools_table[1].input_schema, tools_search_rules, TOOLS_SEARCH_RULES);
	for (size_t i = 0; i < TOOLS_COUNT; i++) {
		json_t *output = json_loads(tools_table[i].output_schema, JSON_REJECT_DUPLICATES, NULL);

		assert_non_null(output);
		assert_true(strlen(tools_table[i].description) < 2048);
		json_decref(output);
	}
}

/* What an answer has is what its schema requires, no member more or less. */
static void answers_have_the_members_of_their_schemas(void **state)
{
	static const char *const arguments[TOOLS_COUNT] = {"{\"paths\":[\".\"]}", "{\"pattern\":\"x\"}"};

	for (size_t i = 0; i < TOOLS_COUNT; i++) {
		json_t *schema = json_loads(tools_table[i].output_schema, 0, NULL);
		const json_t *required = json_object_get(schema, "required");
		struct tools_refusal refusal = {0};
		json_t *answer = NULL;
		const json_t *name = NULL;
		size_t at = 0;

		assert_int_equal(
			call(*state, tools_table[i].name, json_loads(arguments[i], 0, NULL), &refusal, &answer), 0);
		json_array_foreach(required, at, name)
			assert_non_null(json_object_get(answer, json_string_value(name)));
		assert_int_equal(json_object_size(answer), json_array_size(required));
		json_decref(schema);
		json_decref(answer);
	}
}

/* C69: a harmless name that leads to it doesn't help. */
static void a_file_with_credentials_is_not_read_through_a_link(void **state)
{
	const struct tree *tree = *state;
	struct tools_refusal refusal = {0};
	json_t *answer = NULL;
	const json_t *target = NULL;

	tree_directory(tree, "root/.git");
	tree_file(tree, "root/.git/config", "needle\n");
	tree_link(tree, "root/g", ".git");
	tree_link(tree, "root/notes", ".git/config");
	assert_int_equal(
		call(tree, "path_inventory", json_loads("{\"paths\":[\"g/config\"],\"contents\":true}", 0, NULL),
			&refusal, &answer),
		0);
	target = json_array_get(json_object_get(answer, "targets"), 0);
	assert_string_equal(json_string_value(json_object_get(target, "withheld")), "credential_file");
	json_decref(answer);
	assert_int_equal(
		call(tree, "repo_search",
			json_loads("{\"pattern\":\"needle\",\"paths\":[\"notes\",\"g/config\",\"g\"]}", 0, NULL),
			&refusal, &answer),
		0);
	assert_int_equal(json_array_size(json_object_get(answer, "matches")), 0);
	json_decref(answer);
}

/* What an inventory of these paths says, each asked for alone. */
static json_t *one_by_one(const struct tree *tree, const json_t *paths)
{
	json_t *targets = json_array();
	const json_t *path = NULL;
	size_t at = 0;

	json_array_foreach(paths, at, path)
	{
		struct tools_refusal refusal = {0};
		json_t *answer = NULL;
		json_t *arguments = json_pack("{s:[s],s:b}", "paths", json_string_value(path), "contents", true);

		assert_int_equal(call(tree, "path_inventory", arguments, &refusal, &answer), 0);
		json_array_append(targets, json_array_get(json_object_get(answer, "targets"), 0));
		json_decref(answer);
	}
	return targets;
}

static void make_folder_of_everything(const struct tree *tree)
{
	tree_directory(tree, "root/d");
	tree_directory(tree, "root/e");
	tree_directory(tree, "root/.git");
	tree_directory(tree, "root/d/inner");
	tree_file(tree, "root/d/a", "of d\n");
	tree_file(tree, "root/e/a", "of e\nand more\n");
	tree_file(tree, "root/d/.env", "SECRET\n");
	tree_file(tree, "root/.git/config", "SECRET\n");
	tree_fifo(tree, "root/d/fifo");
	tree_link(tree, "root/d/link", "a");
	tree_link(tree, "root/d/dangling", "nothing");
	tree_link(tree, "root/d/out", "../../out/loot.txt");
	tree_link(tree, "root/g", ".git");
}

/* A folder that several targets lie in is read, and what it says replaces no check (ADR 0024). */
static void many_targets_of_a_folder_are_told_as_each_alone(void **state)
{
	static const char text[] = "[\"d/1\",\"d/2\",\"d/3\",\"d/4\",\"d/a\",\"d//a\",\"d/.env\",\"d/fifo\",\"d/"
				   "link\",\"d/dangling\",\"d/out\","
				   "\"d/inner\",\"d/.\",\"d/a/\",\"e/a\",\"g/1\",\"g/2\",\"g/3\",\"g/4\",\"g/"
				   "config\",\"d/inner/x\",\"d\",\"g\"]";
	const struct tree *tree = *state;
	struct tools_refusal refusal = {0};
	json_t *paths = json_loads(text, 0, NULL);
	json_t *answer = NULL;
	json_t *alone = NULL;

	make_folder_of_everything(tree);
	alone = one_by_one(tree, paths);
	assert_int_equal(call(tree, "path_inventory", json_pack("{s:o,s:b}", "paths", paths, "contents", true),
				 &refusal, &answer),
		0);
	assert_true(json_equal(json_object_get(answer, "targets"), alone));
	assert_string_equal(json_string_value(json_object_get(json_array_get(alone, 4), "contents")), "of d\n");
	json_decref(answer);
	json_decref(alone);
}

static void without_openat2_the_tools_answer_and_refuse_every_link(void **state)
{
	struct tree *tree = *state;
	struct tools_refusal refusal = {0};
	json_t *answer = NULL;
	const json_t *targets = NULL;

	tree_file(tree, "root/a", "needle\n");
	tree_link(tree, "root/l", "a");
	tree_link(tree, "root/d", "../out");
	assert_int_equal(call(tree, "path_inventory",
				 json_loads("{\"paths\":[\"a\",\"l\",\"d/loot.txt\"],\"contents\":true}", 0, NULL),
				 &refusal, &answer),
		0);
	targets = json_object_get(answer, "targets");
	assert_string_equal(json_string_value(json_object_get(json_array_get(targets, 0), "type")), "file");
	assert_string_equal(json_string_value(json_object_get(json_array_get(targets, 1), "type")), "symlink");
	assert_true(json_is_null(json_object_get(json_array_get(targets, 1), "resolves")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(targets, 2), "reason")), "link_refused");
	json_decref(answer);
	assert_int_equal(
		call(tree, "repo_search", json_loads("{\"pattern\":\"needle\",\"paths\":[\"l\",\"a\"]}", 0, NULL),
			&refusal, &answer),
		0);
	assert_int_equal(json_array_size(json_object_get(answer, "matches")), 1);
	assert_int_equal(json_array_size(json_object_get(answer, "notSearched")), 1);
	json_decref(answer);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(k43_what_a_tool_does_not_take_is_refused),
		IN_TREE(exact_limits_are_taken),
		IN_TREE(k44_paths_are_counted_without_those_that_are_the_same),
		IN_TREE(c55_a_nul_in_a_target_is_refused),
		IN_TREE(a_refusal_names_the_target_as_it_was_written_and_not_the_root),
		cmocka_unit_test(a_long_target_is_cut_between_characters),
		cmocka_unit_test(the_schemas_say_what_the_tables_check),
		IN_TREE(answers_have_the_members_of_their_schemas),
		IN_TREE(a_file_with_credentials_is_not_read_through_a_link),
		IN_TREE(many_targets_of_a_folder_are_told_as_each_alone),
		cmocka_unit_test_setup_teardown(without_openat2_the_tools_answer_and_refuse_every_link,
			tree_setup_without_openat2, tree_teardown),
	};

	return cmocka_run_group_tests_name("what the reading tools take", tests, NULL, NULL);
}
