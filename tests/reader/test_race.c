/* A thread swaps files, links and directories under the reader: never a byte from outside comes back (chapter 5.1).
 *
 * The outside holds a word that the inside doesn't. How often each side wins is counted, so that a run in which nothing raced fails. In make check
 * some thousand reads; with ADMITD_SLOW=1 100 000 of each kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/inventory.h"
#include "reader/search.h"
#include "tests/reader/tree.h"

enum { READS_SHORT = 4000, READS_LONG = 100000, CALLS_SHORT = 200, CALLS_LONG = 5000 };

struct race {
	const struct tree *tree;
	int folder_fd;
	atomic_bool is_over;
	size_t inside;
	size_t refused;
};

static bool is_long(void)
{
	const char *slow = getenv("ADMITD_SLOW");

	return slow != NULL && slow[0] == '1';
}

/* What stands at these names changes between a thing of the root's and a link out of it, in one step each. */
static void make_tree(const struct tree *tree)
{
	tree_directory(tree, "root/d");
	tree_directory(tree, "root/d/e");
	tree_file(tree, "root/d/loot.txt", "inside\n");
	tree_file(tree, "root/d/e/f", "inside\n");
	tree_link(tree, "root/d.swap", "../out");
	tree_file(tree, "root/f", "inside\n");
	tree_link(tree, "root/f.swap", "../out/loot.txt");
	tree_link(tree, "root/l", "d/e/f");
	tree_link(tree, "root/l.swap", "../out/loot.txt");
	tree_fifo(tree, "root/p");
	tree_file(tree, "root/p.swap", "inside\n");
	tree_directory(tree, "root/x");
	tree_file(tree, "root/x.swap", "inside\n");
}

static void *swap(void *arg)
{
	static const char *const names[] = {"root/d", "root/f", "root/l", "root/p", "root/x"};
	struct race *race = arg;
	char other[32];

	while (!atomic_load(&race->is_over)) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			snprintf(other, sizeof(other), "%s.swap", names[i]);
			if (renameat2(race->folder_fd, names[i], race->folder_fd, other, RENAME_EXCHANGE) != 0)
				return (void *)(uintptr_t)1;
		}
	}
	return NULL;
}

static void is_inside(const char *bytes, size_t len)
{
	if (memmem(bytes, len, "CANARY", 6) != NULL)
		fail_msg("a byte from outside: %.*s", (int)len, bytes);
}

static void read_one(struct race *race, const char *target, enum contained_links links)
{
	const struct contained_root *root = &race->tree->root;
	struct contained_node node = CONTAINED_NODE_NONE;
	char bytes[128];
	size_t len = 0;
	int r = contained_open(root, tree_str(target), links, &node);

	if (r == 0)
		r = contained_read_node(root, &node, bytes, sizeof(bytes), &len);
	contained_node_close(&node);
	assert_true(r >= 0);
	if (r == 0)
		is_inside(bytes, len);
	race->inside += r == 0;
	race->refused += r > 0;
}

static void read_all(struct race *race)
{
	static const char *const targets[] = {"d/loot.txt", "f", "l", "p", "d/e/f", "x", "d.swap/loot.txt", "f.swap"};
	size_t reads = is_long() ? READS_LONG : READS_SHORT;

	for (size_t i = 0; i < reads; i++)
		read_one(race, targets[i % (sizeof(targets) / sizeof(targets[0]))], (enum contained_links)(i / 8 % 3));
}

static void call_tools(struct race *race)
{
	static struct str items[] = {{"d/loot.txt", 10}, {"f", 1}, {"l", 1}, {"p", 1}, {"d", 1}, {".", 1}, {"x", 1}};
	size_t calls = is_long() ? CALLS_LONG : CALLS_SHORT;
	struct search_request search;
	struct inventory_request inventory;
	struct buf answer;

	buf_init(&answer, TOOLS_ANSWER_BYTES);
	search_request_init(&search);
	search.pattern = STR("CANA");
	inventory_request_init(&inventory);
	inventory.paths = (struct arguments_names){items, sizeof(items) / sizeof(items[0])};
	inventory.contents = true;
	for (size_t i = 0; i < calls; i++) {
		struct tools_refusal refusal;

		buf_reset(&answer);
		search.paths = (struct arguments_names){items, i % 2 * 4};
		assert_true(search_run(&race->tree->root, &search, &answer, &refusal) >= 0);
		assert_null(strstr(buf_str(&answer).bytes, "\"snippet\""));
		buf_reset(&answer);
		assert_int_equal(inventory_run(&race->tree->root, &inventory, &answer), 0);
		is_inside(buf_str(&answer).bytes, answer.len);
	}
	buf_release(&answer);
}

static void race_against(const struct tree *tree, void (*body)(struct race *race), struct race *race)
{
	pthread_t thread;
	void *failed = NULL;

	make_tree(tree);
	race->tree = tree;
	race->folder_fd = open(tree->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(race->folder_fd >= 0);
	assert_int_equal(pthread_create(&thread, NULL, swap, race), 0);
	body(race);
	atomic_store(&race->is_over, true);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	close(race->folder_fd);
}

static void no_read_returns_a_byte_from_outside(void **state)
{
	struct race race = {0};

	race_against(*state, read_all, &race);
	print_message("# %zu reads of what is inside, %zu refused\n", race.inside, race.refused);
	assert_true(race.inside > 0 && race.refused > 0);
}

static void no_tool_returns_a_byte_from_outside(void **state)
{
	struct race race = {0};

	race_against(*state, call_tools, &race);
}

#define BOTH(test)                                                                               \
	cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown),                        \
	{                                                                                        \
#test "_without_openat2", test, tree_setup_without_openat2, tree_teardown, NULL, \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(no_read_returns_a_byte_from_outside),
		BOTH(no_tool_returns_a_byte_from_outside),
	};

	return cmocka_run_group_tests_name("reading while the tree is swapped", tests, NULL, NULL);
}
