#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/reader/tree.h"

enum { NOBODY = 65534 };

struct str tree_str(const char *text)
{
	return (struct str){text, strlen(text)};
}

const char *tree_path(const struct tree *tree, const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", tree->folder, name);
	return path;
}

void tree_directory(const struct tree *tree, const char *name)
{
	assert_int_equal(mkdir(tree_path(tree, name), 0755), 0);
}

void tree_bytes(const struct tree *tree, const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(tree_path(tree, name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

void tree_file(const struct tree *tree, const char *name, const char *text)
{
	tree_bytes(tree, name, text, strlen(text));
}

void tree_link(const struct tree *tree, const char *name, const char *target)
{
	assert_int_equal(symlink(target, tree_path(tree, name)), 0);
}

void tree_fifo(const struct tree *tree, const char *name)
{
	assert_int_equal(mkfifo(tree_path(tree, name), 0644), 0);
}

void tree_socket(const struct tree *tree, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true(snprintf(address.sun_path, sizeof(address.sun_path), "%.60s/%.40s", tree->folder, name) > 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

int tree_setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	const char *base = getenv("TMPDIR");

	assert_non_null(tree);
	snprintf(tree->folder, sizeof(tree->folder), "%.40s/admitd-tree.XXXXXX", base != NULL ? base : "/tmp");
	assert_non_null(mkdtemp(tree->folder));
	assert_int_equal(chmod(tree->folder, 0755), 0);
	tree_directory(tree, "root");
	tree_directory(tree, "out");
	tree_file(tree, "out/loot.txt", TREE_LOOT);
	assert_int_equal(contained_root_open(&tree->root, tree_path(tree, "root")), 0);
	*state = tree;
	return 0;
}

int tree_setup_without_openat2(void **state)
{
	int r = tree_setup(state);
	struct tree *tree = *state;

	tree->root.has_openat2 = false;
	return r;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

int tree_teardown(void **state)
{
	struct tree *tree = *state;
	int r = 0;

	contained_root_close(&tree->root);
	r = nftw(tree->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(tree);
	return r;
}

/* A cmocka assertion in the child would jump into the parent's runner: it ends the child instead, by its status. */
void tree_as_nobody(const struct tree *tree, void (*body)(const struct tree *tree))
{
	pid_t child = fork();
	struct tree own = *tree;
	int status = 0;

	assert_true(child >= 0);
	if (child == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(2);
		if (contained_root_open(&own.root, tree_path(tree, "root")) != 0)
			_exit(2);
		own.root.has_openat2 = tree->root.has_openat2;
		body(&own);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
