/* Any bytes as a target: the rules for text hold, whatever is opened lies beneath the root, and names read back from how they are shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/cleanup.h"
#include "policy/text.h"
#include "reader/contained.h"
#include "reader/credential_file.h"
#include "reader/ignore.h"
#include "reader/name.h"
#include "reader/secret_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct contained_root root;
static char folder[] = "/tmp/admitd-fuzz.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	CHECK(snprintf(path, sizeof(path), "%s/%s", folder, name) > 0);
	return path;
}

static void remove_tree(void)
{
	static const char *const names[] = {
		"root/d/f", "root/d/up", "root/d", "root/out", "root/in", "root/p", "root", "loot", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)remove(path_of(names[i]));
}

/* A root with a file, links in and out, and a FIFO; beside it what must not be reached. */
static void make_tree(void)
{
	CHECK(mkdtemp(folder) != NULL);
	(void)atexit(remove_tree);
	CHECK(mkdir(path_of("root"), 0700) == 0 && mkdir(path_of("root/d"), 0700) == 0 &&
		mkdir(path_of("loot"), 0700) == 0);
	CHECK(mknod(path_of("root/d/f"), S_IFREG | 0600, 0) == 0 && mkfifo(path_of("root/p"), 0600) == 0);
	CHECK(symlink("../loot", path_of("root/out")) == 0 && symlink("d", path_of("root/in")) == 0);
	CHECK(symlink("../../loot", path_of("root/d/up")) == 0);
	CHECK(contained_root_open(&root, path_of("root")) == 0);
}

static void check_opened(struct str target, enum contained_links links)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	struct str real = {0};
	char path[PATH_MAX];
	int r = contained_open(&root, target, links, &node);

	CHECK(r >= 0 && r < CONTAINED_RESULTS);
	if (r > 0)
		return;
	CHECK(contained_real_path(&root, &node, path, &real) == 0);
	CHECK(real.bytes != NULL && memchr(target.bytes, '\0', target.len) == NULL);
	CHECK(links != CONTAINED_FOLLOW_NONE || node.kind != CONTAINED_LINK);
}

static void check_shown(struct str name)
{
	CLEANUP(buf_release) struct buf shown = {0};
	CLEANUP(arena_release) struct arena arena = {0};
	struct str back = {0};

	arena_init(&arena, 1 << 24);
	buf_init(&shown, SIZE_MAX / 4);
	name_show(&shown, name);
	CHECK(buf_error(&shown) == 0);
	for (size_t at = 0; at < shown.len;) {
		uint32_t code_point = text_next(buf_str(&shown), &at);

		CHECK(code_point != TEXT_INVALID && !text_is_control(code_point));
	}
	CHECK(name_read(&arena, buf_str(&shown), &back) == 0);
	CHECK(back.len == name.len && (name.len == 0 || memcmp(back.bytes, name.bytes, name.len) == 0));
}

/* The first line as a path, the rest as the text of a .gitignore. */
static void check_ignore(struct str text)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct ignore_list list;
	const char *feed = text.len > 0 ? memchr(text.bytes, '\n', text.len) : NULL;
	size_t len = feed != NULL ? (size_t)(feed - text.bytes) : 0;

	arena_init(&arena, 1 << 24);
	if (len == 0 || ignore_read(&arena, STR(""), (struct str){feed, text.len - len}, &list) != 0)
		return;
	(void)ignore_judge(&list, (struct str){text.bytes, len}, false);
	(void)ignore_judge(&list, (struct str){text.bytes, len}, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};

	if (root.path.bytes == NULL)
		make_tree();
	root.has_openat2 = true;
	for (int links = CONTAINED_FOLLOW_NONE; links <= CONTAINED_FOLLOW_ALL; links++) {
		check_opened(text, (enum contained_links)links);
		root.has_openat2 = !root.has_openat2;
		check_opened(text, (enum contained_links)links);
	}
	check_shown(text);
	check_ignore(text);
	(void)credential_file_is(text);
	(void)secret_name_is(text);
	return 0;
}
