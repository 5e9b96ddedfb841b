/* What is opened below a root and what is refused, with openat2() and without it (chapter 5.1; public cases C49 to C58). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/contained.h"
#include "reader/contained_steps.h"
#include "tests/reader/tree.h"

/* What an opening answers; what it opened is closed again. */
static int open_result(const struct tree *tree, const char *target, enum contained_links links)
{
	struct contained_node node = CONTAINED_NODE_NONE;
	int r = contained_open(&tree->root, tree_str(target), links, &node);

	contained_node_close(&node);
	return r;
}

static enum contained_kind kind_of(const struct tree *tree, const char *target)
{
	struct contained_node node = CONTAINED_NODE_NONE;

	assert_int_equal(contained_open(&tree->root, tree_str(target), CONTAINED_FOLLOW_ABOVE, &node), 0);
	contained_node_close(&node);
	return node.kind;
}

static void read_is(const struct tree *tree, const char *target, enum contained_links links, const char *text)
{
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[256];
	size_t len = 0;

	assert_int_equal(contained_open(&tree->root, tree_str(target), links, &node), 0);
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(bytes, text, len);
	contained_node_close(&node);
}

static void refused_everywhere(const struct tree *tree, const char *target, int result)
{
	assert_int_equal(open_result(tree, target, CONTAINED_FOLLOW_NONE), result);
	assert_int_equal(open_result(tree, target, CONTAINED_FOLLOW_ABOVE), result);
	assert_int_equal(open_result(tree, target, CONTAINED_FOLLOW_ALL), result);
}

static void files_and_directories_are_read(void **state)
{
	const struct tree *tree = *state;

	tree_directory(tree, "root/sub");
	tree_file(tree, "root/sub/a.txt", "inside\n");
	read_is(tree, "sub/a.txt", CONTAINED_FOLLOW_NONE, "inside\n");
	read_is(tree, "./sub//a.txt", CONTAINED_FOLLOW_ALL, "inside\n");
	assert_int_equal(kind_of(tree, "sub"), CONTAINED_DIRECTORY);
	assert_int_equal(kind_of(tree, "sub/"), CONTAINED_DIRECTORY);
	assert_int_equal(kind_of(tree, "."), CONTAINED_DIRECTORY);
}

static void what_is_not_there_is_absent(void **state)
{
	const struct tree *tree = *state;

	tree_file(tree, "root/f", "x");
	refused_everywhere(tree, "missing", CONTAINED_ABSENT);
	refused_everywhere(tree, "missing/child", CONTAINED_ABSENT);
	refused_everywhere(tree, "f/child", CONTAINED_ABSENT);
	refused_everywhere(tree, "f/", CONTAINED_ABSENT);
}

static void a_target_is_refused_as_text_before_anything_is_opened(void **state)
{
	const struct tree *tree = *state;
	struct contained_node node = CONTAINED_NODE_NONE;

	refused_everywhere(tree, "", CONTAINED_EMPTY);
	refused_everywhere(tree, "..", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, "../out/loot.txt", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, "./../out/loot.txt", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, "a/../../out/loot.txt", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, ".//a/..//x", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, "a/..", CONTAINED_HAS_PARENT);
	refused_everywhere(tree, "/etc/passwd", CONTAINED_ELSEWHERE);
	refused_everywhere(tree, "//x", CONTAINED_ELSEWHERE);
	assert_int_equal(contained_open(&tree->root, STR("a\0b"), CONTAINED_FOLLOW_NONE, &node), CONTAINED_HAS_NUL);
	assert_int_equal(node.fd, -1);
}

static void two_dots_in_a_name_are_no_parent(void **state)
{
	const struct tree *tree = *state;

	tree_file(tree, "root/..x", "a");
	tree_file(tree, "root/x..", "b");
	tree_file(tree, "root/...", "c");
	read_is(tree, "..x", CONTAINED_FOLLOW_NONE, "a");
	read_is(tree, "x..", CONTAINED_FOLLOW_NONE, "b");
	read_is(tree, "...", CONTAINED_FOLLOW_NONE, "c");
}

/* C49: the root's path as the beginning of another's is no containment. */
static void an_absolute_target_begins_with_the_whole_root(void **state)
{
	const struct tree *tree = *state;
	char path[512];

	tree_directory(tree, "root-secret");
	tree_file(tree, "root-secret/loot.txt", TREE_LOOT);
	tree_file(tree, "root/in.txt", "in");
	snprintf(path, sizeof(path), "%s/root/in.txt", tree->folder);
	read_is(tree, path, CONTAINED_FOLLOW_NONE, "in");
	snprintf(path, sizeof(path), "%s/root", tree->folder);
	assert_int_equal(kind_of(tree, path), CONTAINED_DIRECTORY);
	snprintf(path, sizeof(path), "%s/root-secret/loot.txt", tree->folder);
	refused_everywhere(tree, path, CONTAINED_ELSEWHERE);
	snprintf(path, sizeof(path), "%s/rootx", tree->folder);
	refused_everywhere(tree, path, CONTAINED_ELSEWHERE);
	snprintf(path, sizeof(path), "%s/root/../root-secret/loot.txt", tree->folder);
	refused_everywhere(tree, path, CONTAINED_HAS_PARENT);
}

static void make_links(const struct tree *tree)
{
	char path[512];

	tree_directory(tree, "root/sub");
	tree_file(tree, "root/sub/a.txt", "ok\n");
	tree_link(tree, "root/f-out", "../out/loot.txt");
	tree_link(tree, "root/d-out", "../out");
	tree_link(tree, "root/chain", "f-out");
	snprintf(path, sizeof(path), "%s/out/loot.txt", tree->folder);
	tree_link(tree, "root/abs", path);
	tree_link(tree, "root/inside", "sub/a.txt");
	tree_link(tree, "root/d-inside", "sub");
	tree_link(tree, "root/procroot", "/proc/self/root");
	tree_link(tree, "root/fd0", "/proc/self/fd/0");
	tree_link(tree, "root/loop", "loop");
	tree_link(tree, "root/dangling", "nowhere");
}

/* C50. */
static void no_link_leads_out_of_the_root(void **state)
{
	const struct tree *tree = *state;
	static const char *const out[] = {"f-out", "chain", "abs", "procroot", "fd0", "d-out"};
	int result = tree->root.has_openat2 ? CONTAINED_OUTSIDE : CONTAINED_LINKED;

	make_links(tree);
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
		assert_int_equal(open_result(tree, out[i], CONTAINED_FOLLOW_NONE), CONTAINED_LINKED);
		assert_int_equal(open_result(tree, out[i], CONTAINED_FOLLOW_ALL), result);
		assert_int_equal(kind_of(tree, out[i]), CONTAINED_LINK);
	}
	assert_int_equal(open_result(tree, "d-out/loot.txt", CONTAINED_FOLLOW_NONE), CONTAINED_LINKED);
	assert_int_equal(open_result(tree, "d-out/loot.txt", CONTAINED_FOLLOW_ABOVE), result);
	assert_int_equal(open_result(tree, "d-out/loot.txt", CONTAINED_FOLLOW_ALL), result);
	assert_int_equal(open_result(tree, "d-out/", CONTAINED_FOLLOW_ABOVE), result);
}

static void a_link_that_stays_inside_is_followed_only_where_asked(void **state)
{
	const struct tree *tree = *state;

	make_links(tree);
	assert_int_equal(open_result(tree, "inside", CONTAINED_FOLLOW_NONE), CONTAINED_LINKED);
	assert_int_equal(open_result(tree, "d-inside/a.txt", CONTAINED_FOLLOW_NONE), CONTAINED_LINKED);
	assert_int_equal(kind_of(tree, "inside"), CONTAINED_LINK);
	if (tree->root.has_openat2) {
		read_is(tree, "inside", CONTAINED_FOLLOW_ALL, "ok\n");
		read_is(tree, "d-inside/a.txt", CONTAINED_FOLLOW_ABOVE, "ok\n");
		assert_int_equal(open_result(tree, "loop", CONTAINED_FOLLOW_ALL), CONTAINED_LOOP);
		assert_int_equal(open_result(tree, "loop/x", CONTAINED_FOLLOW_ABOVE), CONTAINED_LOOP);
		assert_int_equal(open_result(tree, "dangling", CONTAINED_FOLLOW_ALL), CONTAINED_ABSENT);
	} else {
		assert_int_equal(open_result(tree, "inside", CONTAINED_FOLLOW_ALL), CONTAINED_LINKED);
		assert_int_equal(open_result(tree, "d-inside/a.txt", CONTAINED_FOLLOW_ABOVE), CONTAINED_LINKED);
		assert_int_equal(open_result(tree, "loop", CONTAINED_FOLLOW_ALL), CONTAINED_LINKED);
	}
}

/* A link to the root's own absolute path would be inside, but where an absolute link leads depends on who looks: it is refused. */
static void an_absolute_link_is_outside_wherever_it_leads(void **state)
{
	const struct tree *tree = *state;
	char path[512];

	tree_file(tree, "root/a", "x");
	snprintf(path, sizeof(path), "%s/root/a", tree->folder);
	tree_link(tree, "root/l", path);
	assert_int_equal(open_result(tree, "l", CONTAINED_FOLLOW_ALL),
		tree->root.has_openat2 ? CONTAINED_OUTSIDE : CONTAINED_LINKED);
}

/* C56: named, and opened for reading by nobody. */
static void what_is_no_file_is_named_and_never_waited_for(void **state)
{
	const struct tree *tree = *state;
	static const char *const names[] = {"pipe", "sock", "dir"};
	static const enum contained_kind kinds[] = {CONTAINED_FIFO, CONTAINED_SOCKET, CONTAINED_DIRECTORY};

	tree_fifo(tree, "root/pipe");
	tree_socket(tree, "root/sock");
	tree_directory(tree, "root/dir");
	for (size_t i = 0; i < 3; i++) {
		struct contained_node node = CONTAINED_NODE_NONE;
		char bytes[8];
		size_t len = 0;

		assert_int_equal(contained_open(&tree->root, tree_str(names[i]), CONTAINED_FOLLOW_NONE, &node), 0);
		assert_int_equal(node.kind, kinds[i]);
		assert_int_equal(
			contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len), CONTAINED_NOT_REGULAR);
		contained_node_close(&node);
	}
}

static void what_was_classified_is_what_is_read(void **state)
{
	const struct tree *tree = *state;
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[64];
	char other[256];
	size_t len = 0;

	tree_file(tree, "root/a", "first");
	tree_file(tree, "root/b", "second");
	assert_int_equal(contained_open(&tree->root, STR("a"), CONTAINED_FOLLOW_NONE, &node), 0);
	snprintf(other, sizeof(other), "%s/root/a", tree->folder);
	assert_int_equal(rename(tree_path(tree, "root/b"), other), 0);
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(bytes, "first", 5);
	contained_node_close(&node);
}

static void reading_ends_at_the_limit_whatever_the_size_is(void **state)
{
	const struct tree *tree = *state;
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[64];
	size_t len = 0;

	tree_file(tree, "root/a", "0123456789");
	assert_int_equal(contained_open(&tree->root, STR("a"), CONTAINED_FOLLOW_NONE, &node), 0);
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, 5, &len), 0);
	assert_int_equal(len, 5);
	node.size = 3;
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, 8, &len), 0);
	assert_int_equal(len, 8);
	node.size = 0;
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(len, 10);
	contained_node_close(&node);
}

/* C51. */
static void a_root_that_is_a_link_is_resolved_once(void **state)
{
	const struct tree *tree = *state;
	struct contained_root root = {0};
	struct contained_node node = CONTAINED_NODE_NONE;
	char path[512];

	tree_file(tree, "root/a.txt", "ok\n");
	tree_link(tree, "link", "root");
	assert_int_equal(contained_root_open(&root, tree_path(tree, "link/")), 0);
	snprintf(path, sizeof(path), "%s/link/a.txt", tree->folder);
	assert_int_equal(contained_open(&root, tree_str(path), CONTAINED_FOLLOW_NONE, &node), 0);
	contained_node_close(&node);
	snprintf(path, sizeof(path), "%s/root/a.txt", tree->folder);
	assert_int_equal(contained_open(&root, tree_str(path), CONTAINED_FOLLOW_NONE, &node), 0);
	contained_node_close(&node);
	assert_int_equal(unlink(tree_path(tree, "link")), 0);
	tree_link(tree, "link", "out");
	assert_int_equal(contained_open(&root, STR("loot.txt"), CONTAINED_FOLLOW_ALL, &node), CONTAINED_ABSENT);
	assert_int_equal(contained_open(&root, STR("a.txt"), CONTAINED_FOLLOW_ALL, &node), 0);
	contained_node_close(&node);
	contained_root_close(&root);
}

static void what_takes_the_roots_place_is_not_the_root(void **state)
{
	const struct tree *tree = *state;
	char moved[256];

	snprintf(moved, sizeof(moved), "%s/moved", tree->folder);
	assert_int_equal(rename(tree_path(tree, "root"), moved), 0);
	tree_directory(tree, "root");
	tree_file(tree, "root/new.txt", TREE_LOOT);
	assert_int_equal(open_result(tree, "new.txt", CONTAINED_FOLLOW_ALL), CONTAINED_ABSENT);
}

static void a_root_is_a_directory_that_is_there(void **state)
{
	const struct tree *tree = *state;
	struct contained_root root = {0};

	tree_file(tree, "root/f", "x");
	assert_int_equal(contained_root_open(&root, tree_path(tree, "root/f")), -ENOTDIR);
	assert_int_equal(contained_root_open(&root, tree_path(tree, "nowhere")), -ENOENT);
	assert_int_equal(contained_root_open(&root, ""), -ENOENT);
	contained_root_close(&root);
}

static void hidden_is_denied(const struct tree *tree)
{
	if (open_result(tree, "closed/a", CONTAINED_FOLLOW_ALL) != CONTAINED_DENIED)
		_exit(3);
}

static void unread_is_denied(const struct tree *tree)
{
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[8];
	size_t len = 0;

	if (contained_open(&tree->root, STR("secret"), CONTAINED_FOLLOW_ALL, &node) != 0)
		_exit(3);
	if (contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len) != CONTAINED_DENIED)
		_exit(4);
}

static void what_may_not_be_read_is_denied(void **state)
{
	const struct tree *tree = *state;

	tree_directory(tree, "root/closed");
	tree_file(tree, "root/closed/a", "x");
	tree_file(tree, "root/secret", "x");
	assert_int_equal(chmod(tree_path(tree, "root/closed"), 0), 0);
	assert_int_equal(chmod(tree_path(tree, "root/secret"), 0), 0);
	tree_as_nobody(tree, hidden_is_denied);
	tree_as_nobody(tree, unread_is_denied);
	assert_int_equal(chmod(tree_path(tree, "root/closed"), 0755), 0);
}

static void a_name_beyond_the_kernels_length_is_too_long(void **state)
{
	const struct tree *tree = *state;
	static char name[5000];

	memset(name, 'n', sizeof(name) - 1);
	refused_everywhere(tree, name, CONTAINED_TOO_LONG);
	name[300] = '\0';
	refused_everywhere(tree, name, CONTAINED_TOO_LONG);
}

static void no_descriptor_is_left_open(void **state)
{
	const struct tree *tree = *state;
	int before = 0;

	make_links(tree);
	before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(before);
	for (int links = CONTAINED_FOLLOW_NONE; links <= CONTAINED_FOLLOW_ALL; links++) {
		static const char *const targets[] = {
			"sub/a.txt", "f-out", "d-out/loot.txt", "loop", "sub/a.txt/x", "."};

		for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
			(void)!open_result(tree, targets[i], (enum contained_links)links);
	}
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), before);
	close(before);
}

static void an_entry_that_is_a_link_is_the_link(void **state)
{
	const struct tree *tree = *state;
	struct contained_node directory = CONTAINED_NODE_NONE;
	struct contained_node node = CONTAINED_NODE_NONE;

	tree_link(tree, "root/l", "../out/loot.txt");
	assert_int_equal(contained_open(&tree->root, STR("."), CONTAINED_FOLLOW_NONE, &directory), 0);
	assert_int_equal(contained_open_entry(directory.fd, "l", &node), 0);
	assert_int_equal(node.kind, CONTAINED_LINK);
	contained_node_close(&node);
	contained_node_close(&directory);
}

/* The numbers below /proc/self/fd are those of the process that opened the root. */
static void a_root_of_another_process_reads_nothing(void **state)
{
	const struct tree *tree = *state;
	struct contained_root root = tree->root;
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[8];
	size_t len = 0;

	tree_file(tree, "root/a", "x");
	root.process++;
	assert_int_equal(contained_open(&root, STR("a"), CONTAINED_FOLLOW_NONE, &node), 0);
	assert_int_equal(contained_read_node(&root, &node, bytes, sizeof(bytes), &len), CONTAINED_FAILED);
	contained_node_close(&node);
}

static void open_file_entry(const struct tree *tree, const char *name, int result, enum contained_kind kind)
{
	struct contained_node directory = CONTAINED_NODE_NONE;
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[8];
	size_t len = 0;

	assert_int_equal(contained_open(&tree->root, STR("."), CONTAINED_FOLLOW_NONE, &directory), 0);
	assert_int_equal(contained_open_file_entry(directory.fd, name, &node), result);
	assert_int_equal(node.kind, kind);
	if (result == 0)
		assert_int_equal(contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len),
			kind == CONTAINED_FILE ? 0 : CONTAINED_NOT_REGULAR);
	contained_node_close(&node);
	contained_node_close(&directory);
}

/* What a directory said was a file may be anything by now. */
static void an_entry_that_was_a_file_is_judged_before_it_is_read(void **state)
{
	const struct tree *tree = *state;

	tree_file(tree, "root/f", "x");
	tree_directory(tree, "root/d");
	tree_fifo(tree, "root/p");
	tree_socket(tree, "root/s");
	tree_link(tree, "root/l", "../out/loot.txt");
	open_file_entry(tree, "f", 0, CONTAINED_FILE);
	open_file_entry(tree, "d", 0, CONTAINED_DIRECTORY);
	open_file_entry(tree, "p", 0, CONTAINED_FIFO);
	open_file_entry(tree, "s", CONTAINED_FAILED, CONTAINED_UNKNOWN);
	open_file_entry(tree, "l", CONTAINED_LINKED, CONTAINED_UNKNOWN);
	open_file_entry(tree, "none", CONTAINED_ABSENT, CONTAINED_UNKNOWN);
}

static void open_file(const struct tree *tree, const char *target, int result)
{
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[8];
	size_t len = 0;

	assert_int_equal(contained_open_file(&tree->root, tree_str(target), &node), result);
	assert_int_equal(node.fd >= 0, result == 0);
	if (result != 0)
		return;
	assert_true(node.is_readable && node.kind == CONTAINED_FILE);
	assert_int_equal(contained_read_node(&tree->root, &node, bytes, sizeof(bytes), &len), 0);
	assert_int_equal(len, 1);
	contained_node_close(&node);
}

/* The same for a path, which may have changed on the whole way. */
static void a_target_that_was_a_file_is_judged_before_it_is_read(void **state)
{
	const struct tree *tree = *state;

	tree_directory(tree, "root/d");
	tree_file(tree, "root/d/f", "x");
	tree_fifo(tree, "root/p");
	tree_socket(tree, "root/s");
	tree_link(tree, "root/inside", "d");
	tree_link(tree, "root/l", "d/f");
	tree_link(tree, "root/out", "../out");
	tree_link(tree, "root/loot", "../out/loot.txt");
	open_file(tree, "d/f", 0);
	open_file(tree, "./d//f", 0);
	open_file(tree, "d", CONTAINED_NOT_REGULAR);
	open_file(tree, "p", CONTAINED_NOT_REGULAR);
	open_file(tree, "s", CONTAINED_FAILED);
	open_file(tree, "inside/f", CONTAINED_LINKED);
	open_file(tree, "l", CONTAINED_LINKED);
	open_file(tree, "out/loot.txt", CONTAINED_LINKED);
	open_file(tree, "loot", CONTAINED_LINKED);
	open_file(tree, "none", CONTAINED_ABSENT);
	open_file(tree, "d/../../out/loot.txt", CONTAINED_HAS_PARENT);
	open_file(tree, "/etc/passwd", CONTAINED_ELSEWHERE);
}

/* A path would have to be walked without it, which is the ordinary way. */
static void no_target_is_taken_for_a_file_without_openat2(void **state)
{
	const struct tree *tree = *state;

	tree_file(tree, "root/f", "x");
	open_file(tree, "f", CONTAINED_LINKED);
}

static void three_answers_mean_that_openat2_is_missing(void **state)
{
	(void)state;
	assert_true(contained_probe_is_missing(-ENOSYS));
	assert_true(contained_probe_is_missing(-E2BIG));
	assert_true(contained_probe_is_missing(-EPERM));
	assert_false(contained_probe_is_missing(-EACCES));
	assert_false(contained_probe_is_missing(-EMFILE));
	assert_false(contained_probe_is_missing(3));
}

/* As an old container's filter has it. */
static void probe_under_a_filter(const struct tree *tree)
{
	static const int answers[] = {EPERM, ENOSYS};

	(void)tree;
	for (size_t i = 0; i < 2; i++) {
		scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

		if (filter == NULL ||
			seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)answers[i]), SCMP_SYS(openat2), 0) != 0 ||
			seccomp_load(filter) != 0)
			_exit(3);
		seccomp_release(filter);
		if (contained_probe())
			_exit(4);
	}
}

static void the_probe_finds_openat2_and_misses_it_under_a_filter(void **state)
{
	if (contained_probe())
		tree_as_nobody(*state, probe_under_a_filter);
}

#define BOTH(test)                                                                               \
	cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown),                        \
	{                                                                                        \
#test "_without_openat2", test, tree_setup_without_openat2, tree_teardown, NULL, \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(files_and_directories_are_read),
		BOTH(what_is_not_there_is_absent),
		BOTH(a_target_is_refused_as_text_before_anything_is_opened),
		BOTH(two_dots_in_a_name_are_no_parent),
		BOTH(an_absolute_target_begins_with_the_whole_root),
		BOTH(no_link_leads_out_of_the_root),
		BOTH(a_link_that_stays_inside_is_followed_only_where_asked),
		BOTH(an_absolute_link_is_outside_wherever_it_leads),
		BOTH(what_is_no_file_is_named_and_never_waited_for),
		BOTH(what_was_classified_is_what_is_read),
		BOTH(reading_ends_at_the_limit_whatever_the_size_is),
		BOTH(a_root_that_is_a_link_is_resolved_once),
		BOTH(what_takes_the_roots_place_is_not_the_root),
		BOTH(a_root_is_a_directory_that_is_there),
		BOTH(what_may_not_be_read_is_denied),
		BOTH(a_name_beyond_the_kernels_length_is_too_long),
		BOTH(no_descriptor_is_left_open),
		cmocka_unit_test_setup_teardown(a_root_of_another_process_reads_nothing, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			an_entry_that_was_a_file_is_judged_before_it_is_read, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_target_that_was_a_file_is_judged_before_it_is_read, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			no_target_is_taken_for_a_file_without_openat2, tree_setup_without_openat2, tree_teardown),
		cmocka_unit_test_setup_teardown(an_entry_that_is_a_link_is_the_link, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			the_probe_finds_openat2_and_misses_it_under_a_filter, tree_setup, tree_teardown),
		cmocka_unit_test(three_answers_mean_that_openat2_is_missing),
	};

	return cmocka_run_group_tests_name("what is opened below a root", tests, NULL, NULL);
}
