/* What a context packet holds and what it leaves out (chapters 5.2, 2.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/json_parse.h"
#include "reader/credential_file.h"
#include "reader/ignore.h"
#include "reader/packet.h"
#include "reader/secret_name.h"
#include "tests/reader/tree.h"

/* ---- names */

static void a_name_looks_secret_by_whole_words(void **state)
{
	static const char *const secret[] = {"api_token.txt", "token", "Tokens.json", "my-secret", "dbPassword.json",
		"APIKey.ts", "private_key.txt", "client_secret.json", "aws-credentials", "TOKEN2",
		"service-account.yaml", "user.passwd"};
	static const char *const plain[] = {"tokenizer.c", "secretary.md", "keyboard.c", "monkey.txt",
		"passwordless.md", "api.md", "key.c", "private.h", "README.md", "tokenize_test.go", "accesskeyboard",
		""};

	(void)state;
	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		if (!secret_name_is(tree_str(secret[i])))
			fail_msg("%s is not seen", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (secret_name_is(tree_str(plain[i])))
			fail_msg("%s is taken for a secret", plain[i]);
}

static void credential_files_are_known_by_their_names(void **state)
{
	static const char *const held[] = {".env", "a/.env.local", "keys/id_rsa", ".git/config",
		"sub/.git/modules/m/config", "server.PEM", "x/.aws/credentials", ".npmrc"};
	static const char *const plain[] = {".env.example", "env", "id_rsa.pub", "config", "a/config", "credentials",
		"pem", ".key", "environment.ts", ".git/HEAD", "token.c"};

	(void)state;
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		if (!credential_file_is(tree_str(held[i])))
			fail_msg("%s is not seen", held[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (credential_file_is(tree_str(plain[i])))
			fail_msg("%s is taken for credentials", plain[i]);
}

/* ---- .gitignore: each line is a file's text, a path (with a slash at its end: a directory), and whether it is excluded */

static bool is_excluded(const char *text, const char *path)
{
	struct ignore_list list;
	struct arena arena;
	size_t len = strlen(path);
	bool is_directory = path[len - 1] == '/';
	enum ignore_verdict verdict = IGNORE_NOTHING_SAID;

	arena_init(&arena, 1 << 20);
	assert_int_equal(ignore_read(&arena, STR(""), tree_str(text), &list), 0);
	verdict = ignore_judge(&list, (struct str){path, len - is_directory}, is_directory);
	arena_release(&arena);
	return verdict == IGNORE_EXCLUDED;
}

static void gitignore_lines_mean_what_git_means(void **state)
{
	static const struct {
		const char *text;
		const char *path;
		bool is_excluded;
	} cases[] = {
		{"*.o\n", "a.o", true},
		{"*.o\n", "d/a.o", true},
		{"*.o\n", "a.oo", false},
		{"build/\n", "build/", true},
		{"build/\n", "build", false},
		{"build/\n", "d/build/", true},
		{"/build\n", "build", true},
		{"/build\n", "d/build", false},
		{"a/b\n", "a/b", true},
		{"a/b\n", "x/a/b", false},
		{"**/b\n", "b", true},
		{"**/b\n", "x/y/b", true},
		{"a/**/b\n", "a/b", true},
		{"a/**/b\n", "a/x/y/b", true},
		{"a/**/b\n", "a/x", false},
		{"a/**\n", "a/x/y", true},
		{"a/**\n", "a/", false},
		{"a/*\n", "a/x", true},
		{"a/*\n", "a/x/y", false},
		{"*\n!keep\n", "keep", false},
		{"*\n!keep\n", "drop", true},
		{"!x\nx\n", "x", true},
		{"# x\n", "# x", false},
		{"\\#x\n", "#x", true},
		{"\\!x\n", "!x", true},
		{"x  \n", "x", true},
		{"x\\ \n", "x ", true},
		{"x\r\n", "x", true},
		{"\n\n", "x", false},
		{"[ab].c\n", "a.c", true},
		{"[!ab].c\n", "a.c", false},
		{"[^ab].c\n", "c.c", true},
		{"[a-c]x\n", "bx", true},
		{"[]]x\n", "]x", true},
		{"[a-]x\n", "-x", true},
		{"[[:digit:]]x\n", "7x", true},
		{"[[:digit:]]x\n", "ax", false},
		{"[x\n", "[x", false},
		{"a?c\n", "abc", true},
		{"a?c\n", "a/c", false},
		{"a*c\n", "a/c", false},
		{"foo", "foo", true},
		{"**\n", "any/thing", true},
		{"a**b\n", "axxb", true},
		{"/\n", "x", false},
		{"!\n", "x", false},
		{"\\a\n", "a", true},
		{"a*a*a*a*a*a*a*a*a*a*b\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
		{"**/a/**/a/**/a/**/b\n", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (is_excluded(cases[i].text, cases[i].path) != cases[i].is_excluded)
			fail_msg("%s with %s", cases[i].path, cases[i].text);
}

static void a_gitignore_of_a_folder_speaks_of_what_is_below_it(void **state)
{
	struct ignore_list list;
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 20);
	assert_int_equal(ignore_read(&arena, STR("a/b"), STR("/x\ny/z\n"), &list), 0);
	assert_int_equal(ignore_judge(&list, STR("a/b/x"), false), IGNORE_EXCLUDED);
	assert_int_equal(ignore_judge(&list, STR("a/b/y/z"), false), IGNORE_EXCLUDED);
	assert_int_equal(ignore_judge(&list, STR("a/b/c/x"), false), IGNORE_NOTHING_SAID);
	arena_release(&arena);
}

/* ---- contents */

static void body_is(struct str text, const char *redacted)
{
	struct redact_report report;
	struct buf once;
	struct buf twice;

	buf_init(&once, 1 << 20);
	buf_init(&twice, 1 << 20);
	assert_int_equal(redact_body(text, &once, &report), 0);
	assert_string_equal(buf_str(&once).bytes, redacted);
	assert_int_equal(redact_body(buf_str(&once), &twice, &report), 0);
	assert_string_equal(buf_str(&twice).bytes, redacted);
	buf_release(&once);
	buf_release(&twice);
}

static void secrets_in_a_file_are_masked_and_lines_stay(void **state)
{
	(void)state;
	body_is(STR("a\n\n\tb  c \r\n"), "a\n\n\tb  c \r\n");
	body_is(STR("  password = hunter2hunter2\nnext\n"), "  password = ***\nnext\n");
	body_is(STR("x\n-----BEGIN PRIVATE KEY-----\nMIIB\nAAAA\n-----END PRIVATE KEY-----\nlast\n"),
		"x\n***\n\n\n\nlast\n");
	body_is(STR("url: postgres://u:p@h/db\n\tok\n"), "url: postgres://***\n\tok\n");
	body_is(STR("a \x1b[31mred\x1b[0m\n"), "a red\n");
	body_is(STR("bad \xff byte\n"), "bad \xef\xbf\xbd byte\n");
	body_is(STR(""), "");
	body_is(STR("\n\n"), "\n\n");
}

/* ---- packets */

static json_t *make(const struct tree *tree, const struct packet_request *request, struct packet_facts *facts)
{
	json_t *parsed = NULL;
	struct buf packet;

	buf_init(&packet, PACKET_ANSWER_BYTES);
	assert_int_equal(packet_make(&tree->root, request, &packet, facts), 0);
	assert_int_equal(json_parse(buf_str(&packet), &parsed, NULL), 0);
	assert_null(strstr(buf_str(&packet).bytes, "CANARY"));
	assert_null(strstr(buf_str(&packet).bytes, tree->folder));
	buf_release(&packet);
	return parsed;
}

/* The paths of a section, each followed by a blank. */
static const char *paths_of(const json_t *packet, const char *section, const char *key)
{
	static char text[4096];
	const json_t *item;
	size_t index;
	size_t used = 0;

	json_array_foreach(json_object_get(packet, section), index, item)
	{
		const char *path = json_string_value(json_object_get(item, key));
		size_t len = strlen(path);

		assert_true(used + len + 2 < sizeof(text));
		memcpy(text + used, path, len);
		text[used + len] = ' ';
		used += len + 1;
	}
	text[used] = '\0';
	return text;
}

static void make_tree(const struct tree *tree)
{
	tree_file(tree, "root/b.c", "int b;\n");
	tree_file(tree, "root/a.c", "int a; /* needle */\n");
	tree_directory(tree, "root/src");
	tree_file(tree, "root/src/tokenizer.c", "needle in tokenizer\npassword = CANARYhunter2\n");
	tree_file(tree, "root/src/api_token.txt", "CANARY");
	tree_file(tree, "root/.env", "K=CANARY");
	tree_bytes(tree, "root/logo.png", "\x89PNG\0\0CANARY", 12);
	tree_link(tree, "root/link", "a.c");
	tree_link(tree, "root/out", "../out");
	tree_fifo(tree, "root/pipe");
	tree_directory(tree, "root/.git");
	tree_file(tree, "root/.git/HEAD", "CANARY");
	tree_directory(tree, "root/node_modules");
	tree_file(tree, "root/node_modules/m.js", "CANARY");
	tree_directory(tree, "root/build");
	tree_file(tree, "root/build/o.txt", "CANARY");
	tree_file(tree, "root/.gitignore", "*.log\n/tmp/\n");
	tree_file(tree, "root/x.log", "CANARY");
	tree_directory(tree, "root/tmp");
	tree_file(tree, "root/tmp/t", "CANARY");
	tree_file(tree, "root/src/.gitignore", "!kept.log\n");
	tree_file(tree, "root/src/kept.log", "kept\n");
}

static void what_is_left_out_is_counted_by_kind(void **state)
{
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	json_t *packet = NULL;

	make_tree(tree);
	packet_request_init(&request);
	request.lists = request.reads = true;
	packet = make(tree, &request, &facts);
	assert_string_equal(paths_of(packet, "inventory", "path"),
		".gitignore a.c b.c logo.png src src/.gitignore src/kept.log src/tokenizer.c ");
	assert_string_equal(
		paths_of(packet, "files", "path"), ".gitignore a.c b.c src/.gitignore src/kept.log src/tokenizer.c ");
	assert_int_equal(facts.omitted[PACKET_SECRET_NAME], 1);
	assert_int_equal(facts.omitted[PACKET_CREDENTIAL_FILE], 1);
	assert_int_equal(facts.omitted[PACKET_BINARY], 1);
	assert_int_equal(facts.omitted[PACKET_SYMLINK], 2);
	assert_int_equal(facts.omitted[PACKET_SPECIAL], 1);
	assert_int_equal(facts.omitted[PACKET_IGNORED_FOLDER], 3);
	assert_int_equal(facts.omitted[PACKET_GITIGNORED], 2);
	assert_int_equal(facts.redactions[REDACT_KEY_VALUE], 1);
	assert_int_equal(facts.included, 6);
	assert_int_equal(strlen(facts.digest), 71);
	json_decref(packet);
}

static void hits_are_literal_and_without_secrets(void **state)
{
	static const struct str patterns[] = {{"needle", 6}, {"password", 8}, {"CANARY", 6}};
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	const json_t *hit = NULL;
	json_t *packet = NULL;

	make_tree(tree);
	packet_request_init(&request);
	request.searches = true;
	request.patterns = patterns;
	request.pattern_count = 3;
	packet = make(tree, &request, &facts);
	assert_string_equal(paths_of(packet, "hits", "file"), "a.c src/tokenizer.c src/tokenizer.c ");
	hit = json_array_get(json_object_get(packet, "hits"), 2);
	assert_string_equal(json_string_value(json_object_get(hit, "snippet")), "password = ***");
	assert_int_equal(json_integer_value(json_object_get(hit, "line")), 2);
	assert_null(json_object_get(packet, "files"));
	assert_null(json_object_get(packet, "inventory"));
	json_decref(packet);
}

static void paths_that_are_asked_for_are_given_in_their_order_or_told_why_not(void **state)
{
	static const struct str paths[] = {{"src/tokenizer.c", 15}, {"./b.c", 5}, {"src/api_token.txt", 17},
		{"link", 4}, {"out/loot.txt", 12}, {"../out/loot.txt", 15}, {"none", 4}, {"build/o.txt", 11},
		{"tmp/t", 5}, {".env", 4}, {"pipe", 4}, {"src", 3}, {"logo.png", 8}};
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	json_t *packet = NULL;

	make_tree(tree);
	packet_request_init(&request);
	request.reads = true;
	request.paths = paths;
	request.path_count = sizeof(paths) / sizeof(paths[0]);
	packet = make(tree, &request, &facts);
	assert_string_equal(paths_of(packet, "files", "path"), "src/tokenizer.c b.c src/.gitignore src/kept.log ");
	assert_string_equal(paths_of(packet, "notGiven", "reason"),
		"secretName link_refused link_refused target_has_parent absent ignoredFolder gitignored credentialFile "
		"special "
		"binary ");
	json_decref(packet);
}

static void the_root_itself_may_be_asked_for(void **state)
{
	static const struct str paths[] = {{".", 1}};
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	json_t *packet = NULL;

	make_tree(tree);
	packet_request_init(&request);
	request.reads = true;
	request.paths = paths;
	request.path_count = 1;
	packet = make(tree, &request, &facts);
	assert_string_equal(
		paths_of(packet, "files", "path"), ".gitignore a.c b.c src/.gitignore src/kept.log src/tokenizer.c ");
	json_decref(packet);
}

static void each_bound_is_named(void **state)
{
	static const struct {
		struct packet_limits limits;
		const char *bound;
		const char *files;
	} cases[] = {
		{{2, 1000, 100, 6, 5000}, "files", "a b "},
		{{50, 25, 100, 6, 5000}, "bytes", "a b "},
		{{50, 1000, 9, 6, 5000}, "file-bytes", ""},
		{{50, 1000, 100, 1, 5000}, "depth", "a b c d/e "},
		{{50, 1000, 100, 6, 3}, "entries", "a b c "},
	};
	const struct tree *tree = *state;

	tree_file(tree, "root/c", "0123456789");
	tree_file(tree, "root/b", "0123456789");
	tree_file(tree, "root/a", "0123456789");
	tree_directory(tree, "root/d");
	tree_file(tree, "root/d/e", "0123456789");
	tree_directory(tree, "root/d/f");
	tree_file(tree, "root/d/f/g", "0123456789");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct packet_request request;
		struct packet_facts facts;
		json_t *packet = NULL;
		const json_t *bounds = NULL;

		packet_request_init(&request);
		request.reads = true;
		request.limits = cases[i].limits;
		packet = make(tree, &request, &facts);
		bounds = json_object_get(packet, "bounds");
		assert_int_equal(json_array_size(bounds), 1);
		assert_string_equal(json_string_value(json_array_get(bounds, 0)), cases[i].bound);
		assert_string_equal(paths_of(packet, "files", "path"), cases[i].files);
		json_decref(packet);
	}
}

static void make_many(const struct tree *tree, const char *folder, bool is_backwards)
{
	char name[64];

	tree_directory(tree, folder);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%s/f%03d", folder, is_backwards ? 199 - i : i);
		tree_file(tree, name, "some text\n");
	}
}

/* Two folders with the same files, made in opposite orders. */
static void the_same_tree_gives_the_same_bytes_whatever_the_order_it_was_made_in(void **state)
{
	const struct tree *tree = *state;
	static const char *const folders[] = {"one", "two"};
	char digests[2][PACKET_DIGEST_SIZE];

	for (size_t i = 0; i < 2; i++) {
		struct contained_root root = {0};
		struct packet_request request;
		struct packet_facts facts;
		struct buf packet;

		make_many(tree, folders[i], i == 1);
		packet_request_init(&request);
		request.lists = request.reads = true;
		buf_init(&packet, PACKET_ANSWER_BYTES);
		assert_int_equal(contained_root_open(&root, tree_path(tree, folders[i])), 0);
		assert_int_equal(packet_make(&root, &request, &packet, &facts), 0);
		memcpy(digests[i], facts.digest, PACKET_DIGEST_SIZE);
		assert_int_equal(facts.included, PACKET_FILES_USUAL);
		assert_int_equal(facts.omitted[PACKET_BEYOND_FILES], 150);
		contained_root_close(&root);
		buf_release(&packet);
	}
	assert_string_equal(digests[0], digests[1]);
}

static void a_gitignore_that_cannot_be_followed_excludes_everything_below_it(void **state)
{
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	json_t *packet = NULL;

	tree_file(tree, "root/a", "x");
	tree_directory(tree, "root/d");
	tree_link(tree, "root/d/.gitignore", "../../out/loot.txt");
	tree_file(tree, "root/d/b", "CANARY");
	packet_request_init(&request);
	request.reads = true;
	packet = make(tree, &request, &facts);
	assert_string_equal(paths_of(packet, "files", "path"), "a ");
	assert_int_equal(facts.omitted[PACKET_GITIGNORED], 2);
	json_decref(packet);
}

static void the_facts_name_nothing(void **state)
{
	const struct tree *tree = *state;
	struct packet_request request;
	struct packet_facts facts;
	struct json_out out;
	struct buf text;
	json_t *packet = NULL;

	make_tree(tree);
	packet_request_init(&request);
	request.lists = request.reads = true;
	packet = make(tree, &request, &facts);
	buf_init(&text, 65536);
	json_out_init(&out, &text);
	json_out_begin_object(&out);
	packet_facts_write(&facts, &out);
	json_out_end_object(&out);
	assert_null(strstr(buf_str(&text).bytes, "token"));
	assert_null(strstr(buf_str(&text).bytes, ".c"));
	assert_non_null(strstr(buf_str(&text).bytes, "\"redactions\":{\"key_value\":1}"));
	buf_release(&text);
	json_decref(packet);
}

static int setup(void **state)
{
	(void)state;
	return sodium_init() < 0 ? -1 : redact_init();
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_looks_secret_by_whole_words),
		cmocka_unit_test(credential_files_are_known_by_their_names),
		cmocka_unit_test(gitignore_lines_mean_what_git_means),
		cmocka_unit_test(a_gitignore_of_a_folder_speaks_of_what_is_below_it),
		cmocka_unit_test(secrets_in_a_file_are_masked_and_lines_stay),
		IN_TREE(what_is_left_out_is_counted_by_kind),
		IN_TREE(hits_are_literal_and_without_secrets),
		IN_TREE(paths_that_are_asked_for_are_given_in_their_order_or_told_why_not),
		IN_TREE(the_root_itself_may_be_asked_for),
		IN_TREE(each_bound_is_named),
		IN_TREE(the_same_tree_gives_the_same_bytes_whatever_the_order_it_was_made_in),
		IN_TREE(a_gitignore_that_cannot_be_followed_excludes_everything_below_it),
		IN_TREE(the_facts_name_nothing),
	};

	return cmocka_run_group_tests_name("context packets", tests, setup, NULL);
}
