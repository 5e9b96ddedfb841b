#include "reader/walk.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "reader/walk_names.h"

/* The longest path that is followed; a directory beyond is told as one that can't be opened. */
enum { PATH_CEILING = WALK_DEPTH_LIMIT * (NAME_MAX + 1) + PATH_MAX };

void walk_init(struct walk *walk, const struct contained_root *root)
{
	*walk = (struct walk){.root = root, .max_entries = SIZE_MAX, .max_depth = WALK_DEPTH_LIMIT};
	buf_init(&walk->path, PATH_CEILING);
}

void walk_release(struct walk *walk)
{
	buf_release(&walk->path);
}

int walk_open(const struct walk_entry *entry, struct contained_node *ret)
{
	return entry->kind == CONTAINED_FILE ? contained_open_file_entry(entry->directory_fd, entry->name.bytes, ret)
					     : contained_open_entry(entry->directory_fd, entry->name.bytes, ret);
}

static int walk_into(struct walk *walk, const struct contained_node *directory, unsigned depth);

static void tell_failure(struct walk *walk, int result)
{
	if (walk->failed != NULL)
		walk->failed(walk->arg, buf_str(&walk->path), result);
}

/* A directory that was seen in another. What it is now decides: a link that took its place is left alone. */
static int enter(struct walk *walk, const struct walk_entry *entry)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = walk_open(entry, &node);

	if (r == 0)
		r = node.kind == CONTAINED_DIRECTORY ? walk_into(walk, &node, entry->depth + 1) : CONTAINED_ABSENT;
	if (r <= 0)
		return r;
	tell_failure(walk, r);
	return 0;
}

static int visit(struct walk *walk, const struct walk_entry *entry)
{
	int step = walk->visit(walk->arg, entry);

	if (step < 0)
		return step;
	walk->is_stopped = step == WALK_STOP;
	return step == WALK_ON && entry->kind == CONTAINED_DIRECTORY ? enter(walk, entry) : 0;
}

/* Puts one name behind the path of its directory, which is `base` long, and visits it. */
static int visit_name(struct walk *walk, const struct walk_name *name, const char *text, int fd, unsigned depth)
{
	size_t base = walk->path.len;
	struct walk_entry entry = {.depth = depth, .kind = (enum contained_kind)name->kind, .directory_fd = fd};
	int r = 0;

	if (base > 0)
		buf_putc(&walk->path, '/');
	buf_add(&walk->path, text, name->len);
	r = buf_error(&walk->path);
	if (r != 0)
		return r;
	entry.path = buf_str(&walk->path);
	entry.name = (struct str){entry.path.bytes + entry.path.len - name->len, name->len};
	walk->entries++;
	r = visit(walk, &entry);
	walk->path.len = base;
	walk->path.bytes[base] = '\0';
	return r;
}

static int visit_all(struct walk *walk, const struct walk_names *names, int fd, unsigned depth)
{
	int r = 0;

	for (size_t i = 0; i < names->count && r == 0 && !walk->is_stopped && !walk->reached_entries; i++) {
		if (walk->entries >= walk->max_entries)
			walk->reached_entries = true;
		else
			r = visit_name(walk, &names->items[i], walk_names_get(names, i), fd, depth);
	}
	return r;
}

/* One more name than may be told shows that there is more. */
static size_t wanted(const struct walk *walk)
{
	size_t left = walk->max_entries > walk->entries ? walk->max_entries - walk->entries : 0;

	return left < SIZE_MAX / 4 ? left + 1 : SIZE_MAX / 4;
}

static int walk_into(struct walk *walk, const struct contained_node *directory, unsigned depth)
{
	CLEANUP(contained_fd_drop) int fd = -1;
	CLEANUP(walk_names_release) struct walk_names names = {0};
	int r = contained_directory_open(directory, &fd);

	walk_names_init(&names);
	if (r == 0)
		r = walk_names_read(&names, fd, WALK_NAMES_BY_PATH, depth > walk->max_depth ? 1 : wanted(walk));
	if (r != 0)
		return r < 0 ? contained_result_of(r) : r;
	if (depth > walk->max_depth) {
		walk->reached_depth |= names.count > 0;
		return 0;
	}
	return visit_all(walk, &names, fd, depth);
}

int walk_run(struct walk *walk, const struct contained_node *directory, struct str path)
{
	int r = 0;

	CHECK(walk->visit != NULL && walk->max_depth <= WALK_DEPTH_LIMIT);
	buf_reset(&walk->path);
	if (!str_is(path, "."))
		buf_add_str(&walk->path, path);
	r = buf_reserve(&walk->path, NAME_MAX);
	if (r != 0)
		return r;
	return walk_into(walk, directory, walk->first_depth + 1);
}
