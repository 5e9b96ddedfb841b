/* The rules for a target as text, and the words for what is wrong with one. */
#include <errno.h>
#include <string.h>

#include "reader/contained.h"

static bool has_parent(struct str path)
{
	const char *end = path.bytes + path.len;

	for (const char *at = path.bytes; at < end;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t len = (size_t)((slash != NULL ? slash : end) - at);

		if (len == 2 && at[0] == '.' && at[1] == '.')
			return true;
		at += len + 1;
	}
	return false;
}

/* Whether `target` is `root` or something below it, component by component; *ret_used is what belongs to the root. */
static bool begins_with(struct str target, struct str root, size_t *ret_used)
{
	size_t len = root.len == 1 ? 0 : root.len; /* the root of the file system ends in its slash */

	if (root.len == 0 || root.bytes[0] != '/' || target.len < len || memcmp(target.bytes, root.bytes, len) != 0)
		return false;
	*ret_used = len;
	return target.len == len || target.bytes[len] == '/';
}

int contained_target(const struct contained_root *root, struct str target, struct str *ret_below)
{
	size_t used = 0;

	if (target.len == 0)
		return CONTAINED_EMPTY;
	if (memchr(target.bytes, '\0', target.len) != NULL)
		return CONTAINED_HAS_NUL;
	if (has_parent(target))
		return CONTAINED_HAS_PARENT;
	if (target.bytes[0] == '/' && !begins_with(target, root->path, &used) &&
		!begins_with(target, root->given, &used))
		return CONTAINED_ELSEWHERE;
	while (used < target.len && target.bytes[used] == '/')
		used++;
	*ret_below = used < target.len ? (struct str){target.bytes + used, target.len - used} : STR(".");
	return 0;
}

int contained_path_clean(
	struct arena *arena, const struct contained_root *root, struct str target, struct str *ret_path)
{
	struct str below = {0};
	int r = contained_target(root, target, &below);
	char *bytes = r == 0 ? arena_alloc(arena, below.len + 1) : NULL;
	size_t len = 0;

	if (bytes == NULL)
		return r != 0 ? r : -ENOMEM;
	for (size_t at = 0; at < below.len;) {
		const char *slash = memchr(below.bytes + at, '/', below.len - at);
		size_t end = slash != NULL ? (size_t)(slash - below.bytes) : below.len;

		if (end > at && !(end - at == 1 && below.bytes[at] == '.')) {
			if (len > 0)
				bytes[len++] = '/';
			memcpy(bytes + len, below.bytes + at, end - at);
			len += end - at;
		}
		at = end + 1;
	}
	*ret_path = len > 0 ? (struct str){bytes, len} : STR(".");
	return 0;
}

static const struct {
	const char *word;
	const char *text;
} results[CONTAINED_RESULTS] = {
	[CONTAINED_ABSENT] = {"absent", "nothing has this name"},
	[CONTAINED_OUTSIDE] = {"outside", "it leads out of the root"},
	[CONTAINED_LINKED] = {"link_refused", "it leads through a link, and none is followed here"},
	[CONTAINED_LOOP] = {"link_loop", "its links lead to each other"},
	[CONTAINED_DENIED] = {"permission_denied", "it may not be read"},
	[CONTAINED_EMPTY] = {"target_empty", "the empty string names nothing"},
	[CONTAINED_HAS_NUL] = {"target_has_nul", "it holds a NUL"},
	[CONTAINED_HAS_PARENT] = {"target_has_parent", "it holds a component .."},
	[CONTAINED_ELSEWHERE] = {"target_outside", "it is an absolute path that doesn't begin with the root"},
	[CONTAINED_TOO_LONG] = {"name_too_long", "it is longer than a path can be"},
	[CONTAINED_NOT_REGULAR] = {"not_a_file", "it is no regular file"},
	[CONTAINED_FAILED] = {"read_failed", "reading it failed"},
};

const char *contained_result_word(int result)
{
	CHECK(result > 0 && result < CONTAINED_RESULTS);
	return results[result].word;
}

const char *contained_result_text(int result)
{
	CHECK(result > 0 && result < CONTAINED_RESULTS);
	return results[result].text;
}

const char *contained_kind_word(enum contained_kind kind)
{
	static const char *const words[CONTAINED_KINDS] = {
		"unknown", "file", "directory", "symlink", "fifo", "socket", "character_device", "block_device"};

	CHECK((unsigned)kind < CONTAINED_KINDS);
	return words[kind];
}
