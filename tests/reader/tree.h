/* tree.h - a folder of its own for a test of the reader: a root, and beside it what must never be read.
 *
 * Each tree has `root/` and `out/loot.txt`, which holds TREE_LOOT. Everything is removed at the end. Paths are from the folder. Any failure
 * of these ends the test.
 */
#ifndef ADMITD_TESTS_READER_TREE_H
#define ADMITD_TESTS_READER_TREE_H

#include <stddef.h>

#include "reader/contained.h"

#define TREE_LOOT "CANARY-OUT of another folder\n"

struct tree {
	char folder[64];
	struct contained_root root;
};

/* cmocka's setup and teardown; *state becomes the tree. */
int tree_setup(void **state);
/* The same, where the kernel is said to have no openat2(). */
int tree_setup_without_openat2(void **state);
int tree_teardown(void **state);

/* The path of a name in the folder, in a static buffer that the next call reuses. */
const char *tree_path(const struct tree *tree, const char *name);
void tree_directory(const struct tree *tree, const char *name);
void tree_file(const struct tree *tree, const char *name, const char *text);
void tree_bytes(const struct tree *tree, const char *name, const void *bytes, size_t len);
/* `target` is written into the link as it is. */
void tree_link(const struct tree *tree, const char *name, const char *target);
void tree_fifo(const struct tree *tree, const char *name);
void tree_socket(const struct tree *tree, const char *name);

/* Runs `body` in a child that isn't root, so that permission bits bind it; the test fails unless it ends well.
 * The tree is the child's own, with its root opened there. */
void tree_as_nobody(const struct tree *tree, void (*body)(const struct tree *tree));

/* A str of a NUL-terminated text. */
struct str tree_str(const char *text);

#endif
