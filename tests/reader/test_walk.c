/* Names as they are shown, and the order and bounds of a walk (chapter 5.1; public cases C59 and C61). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reader/name.h"
#include "reader/walk.h"
#include "tests/reader/tree.h"

static void shown_is(struct str name, const char *shown)
{
	struct arena arena;
	struct str back = {0};
	struct buf out;

	arena_init(&arena, 65536);
	buf_init(&out, 65536);
	name_show(&out, name);
	assert_string_equal(buf_str(&out).bytes, shown);
	assert_int_equal(name_read(&arena, buf_str(&out), &back), 0);
	assert_int_equal(back.len, name.len);
	assert_memory_equal(back.bytes, name.bytes, name.len);
	buf_release(&out);
	arena_release(&arena);
}

static void an_odd_name_is_escaped_and_reads_back(void **state)
{
	(void)state;
	shown_is(STR("plain.txt"), "plain.txt");
	shown_is(STR("a b'\"q"), "a b'\"q");
	shown_is(STR("caf\xc3\xa9"), "caf\xc3\xa9");
	shown_is(STR("cafe\xcc\x81"), "cafe\xcc\x81");
	shown_is(STR("line\nbreak"), "line\\x0abreak");
	shown_is(STR("esc\x1b[31m"), "esc\\x1b[31m");
	shown_is(STR("del\x7f"), "del\\x7f");
	shown_is(STR("bad-\xff"), "bad-\\xff");
	shown_is(STR("caf\xe9.txt"), "caf\\xe9.txt");
	shown_is(STR("sur-\xed\xa0\x80"), "sur-\\xed\\xa0\\x80");
	shown_is(STR("c1\xc2\x9b"), "c1\\xc2\\x9b");
	shown_is(STR("bidi\xe2\x80\xae"), "bidi\\xe2\\x80\\xae");
	shown_is(STR("back\\slash"), "back\\slash");
}

static void a_name_that_looks_escaped_is_told_from_one_that_is(void **state)
{
	(void)state;
	shown_is(STR("a\\x0ab"), "a\\x5cx0ab");
	shown_is(STR("a\\x5cx0ab"), "a\\x5cx5cx0ab");
	shown_is(STR("a\\x41"), "a\\x41");
	shown_is(STR("a\\x0"), "a\\x0");
	shown_is(STR("a\\x0A"), "a\\x0A");
	shown_is(STR("\\"), "\\");
}

struct seen {
	char text[4096];
	int step; /* for the entry named `at` */
	const char *at;
	size_t failed;
};

static int note(void *arg, const struct walk_entry *entry)
{
	struct seen *seen = arg;
	size_t len = strlen(seen->text);

	snprintf(seen->text + len, sizeof(seen->text) - len, "%s%s ", entry->path.bytes,
		entry->kind == CONTAINED_LINK ? "@" : "");
	return seen->at != NULL && str_is(entry->path, seen->at) ? seen->step : WALK_ON;
}

static void note_failure(void *arg, struct str path, int result)
{
	struct seen *seen = arg;

	(void)path;
	(void)result;
	seen->failed++;
}

static void run(const struct tree *tree, struct walk *walk, const char *target, struct seen *seen)
{
	struct contained_node node = CONTAINED_NODE_NONE;

	walk->visit = note;
	walk->failed = note_failure;
	walk->arg = seen;
	assert_int_equal(contained_open(&tree->root, tree_str(target), CONTAINED_FOLLOW_NONE, &node), 0);
	assert_int_equal(walk_run(walk, &node, tree_str(target)), 0);
	contained_node_close(&node);
}

static void make_tree(const struct tree *tree)
{
	tree_file(tree, "root/b.txt", "");
	tree_directory(tree, "root/a");
	tree_file(tree, "root/a.txt", "");
	tree_file(tree, "root/a/z", "");
	tree_directory(tree, "root/a/m");
	tree_file(tree, "root/a/m/q", "");
	tree_link(tree, "root/a/l", "m");
	tree_file(tree, "root/a-", "");
}

static void the_order_is_that_of_the_bytes_of_paths(void **state)
{
	const struct tree *tree = *state;
	struct seen seen = {0};
	struct walk walk;

	make_tree(tree);
	walk_init(&walk, &tree->root);
	run(tree, &walk, ".", &seen);
	assert_string_equal(seen.text, "a- a.txt a a/l@ a/m a/m/q a/z b.txt ");
	assert_int_equal(walk.entries, 8);
	assert_false(walk.reached_entries || walk.reached_depth);
	walk_release(&walk);
}

static void a_walk_below_a_directory_names_paths_from_the_root(void **state)
{
	const struct tree *tree = *state;
	struct seen seen = {0};
	struct walk walk;

	make_tree(tree);
	walk_init(&walk, &tree->root);
	run(tree, &walk, "a", &seen);
	assert_string_equal(seen.text, "a/l@ a/m a/m/q a/z ");
	walk_release(&walk);
}

static void a_visitor_skips_and_stops(void **state)
{
	const struct tree *tree = *state;
	struct seen skips = {.at = "a", .step = WALK_SKIP};
	struct seen stops = {.at = "a/m", .step = WALK_STOP};
	struct seen fails = {.at = "a/m", .step = -EIO};
	struct contained_node node = CONTAINED_NODE_NONE;
	struct walk walk;

	make_tree(tree);
	walk_init(&walk, &tree->root);
	run(tree, &walk, ".", &skips);
	assert_string_equal(skips.text, "a- a.txt a b.txt ");
	walk_release(&walk);
	walk_init(&walk, &tree->root);
	run(tree, &walk, ".", &stops);
	assert_string_equal(stops.text, "a- a.txt a a/l@ a/m ");
	walk_release(&walk);
	walk_init(&walk, &tree->root);
	walk.visit = note;
	walk.arg = &fails;
	assert_int_equal(contained_open(&tree->root, STR("."), CONTAINED_FOLLOW_NONE, &node), 0);
	assert_int_equal(walk_run(&walk, &node, STR(".")), -EIO);
	contained_node_close(&node);
	walk_release(&walk);
}

static void a_bound_is_named_and_what_came_before_it_is_the_first_of_the_order(void **state)
{
	const struct tree *tree = *state;
	struct walk walk;

	make_tree(tree);
	for (size_t limit = 0; limit <= 8; limit++) {
		static const char all[] = "a- a.txt a a/l@ a/m a/m/q a/z b.txt ";
		struct seen seen = {0};

		walk_init(&walk, &tree->root);
		walk.max_entries = limit;
		run(tree, &walk, ".", &seen);
		assert_int_equal(walk.entries, limit);
		assert_int_equal(walk.reached_entries, limit < 8);
		assert_memory_equal(seen.text, all, strlen(seen.text));
		walk_release(&walk);
	}
}

static void a_tree_that_is_too_deep_is_named_and_the_rest_is_told(void **state)
{
	const struct tree *tree = *state;
	struct seen seen = {0};
	struct walk walk;

	make_tree(tree);
	walk_init(&walk, &tree->root);
	walk.max_depth = 2;
	run(tree, &walk, ".", &seen);
	assert_string_equal(seen.text, "a- a.txt a a/l@ a/m a/z b.txt ");
	assert_true(walk.reached_depth);
	walk_release(&walk);
}

/* More entries than one block of the kernel's, made backwards, of which few are wanted. */
static void of_a_crowded_directory_the_first_are_kept(void **state)
{
	const struct tree *tree = *state;
	struct seen seen = {0};
	struct walk walk;
	char name[64];

	for (int i = 9000; i > 0; i--) {
		snprintf(name, sizeof(name), "root/n%05d", i);
		tree_file(tree, name, "");
	}
	walk_init(&walk, &tree->root);
	walk.max_entries = 3;
	run(tree, &walk, ".", &seen);
	assert_string_equal(seen.text, "n00001 n00002 n00003 ");
	assert_true(walk.reached_entries);
	walk_release(&walk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_odd_name_is_escaped_and_reads_back),
		cmocka_unit_test(a_name_that_looks_escaped_is_told_from_one_that_is),
		cmocka_unit_test_setup_teardown(the_order_is_that_of_the_bytes_of_paths, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_walk_below_a_directory_names_paths_from_the_root, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(a_visitor_skips_and_stops, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_bound_is_named_and_what_came_before_it_is_the_first_of_the_order, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_tree_that_is_too_deep_is_named_and_the_rest_is_told, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(of_a_crowded_directory_the_first_are_kept, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests_name("names and walks", tests, NULL, NULL);
}
