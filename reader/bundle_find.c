#include "reader/bundle_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/bundle.h"
#include "reader/name.h"
#include "reader/walk.h"

struct finding {
	struct bundle_finds *finds;
	const struct contained_root *root;
	size_t root_number;
	struct str inside; /* path of the bundle that the walk is in, or absent */
};

static struct str last_part(struct str path)
{
	size_t at = path.len;

	while (at > 0 && path.bytes[at - 1] != '/')
		at--;
	return (struct str){path.bytes + at, path.len - at};
}

/* The shown form of a name. Absent when memory is out. */
static struct str shown(struct arena *arena, struct str name)
{
	struct buf out CLEANUP(buf_release) = {0};

	buf_init(&out, SIZE_MAX / 4);
	name_show(&out, name);
	return buf_error(&out) != 0 ? (struct str){0} : arena_str(arena, buf_str(&out));
}

static int fill(struct arena *arena, struct bundle_found *found, struct str path)
{
	bool is_root = str_is(path, ".");

	found->path = arena_str(arena, path);
	found->names[0] = shown(arena, last_part(is_root ? found->root->path : path));
	found->names[1] = is_root ? found->names[0] : shown(arena, path);
	found->names[2] = arena_printf(arena, "%zu:%.*s", found->root_number, is_root ? 1 : (int)found->names[1].len,
		is_root ? "." : found->names[1].bytes);
	if (found->names[0].len == 0)
		found->names[0] = STR("/");
	return found->path.bytes == NULL || found->names[0].bytes == NULL || found->names[1].bytes == NULL ||
			found->names[2].bytes == NULL
		? -ENOMEM
		: 0;
}

static int add(struct finding *finding, struct str path)
{
	struct bundle_finds *finds = finding->finds;
	struct bundle_found *found;

	if (finds->count == BUNDLE_FIND_LIMIT) {
		finds->reached_limit = true;
		return 0;
	}
	found = &finds->items[finds->count];
	*found = (struct bundle_found){.root = finding->root, .root_number = finding->root_number};
	if (fill(&finds->arena, found, path) != 0)
		return -ENOMEM;
	finds->count++;
	return 0;
}

static bool is_below(struct str path, struct str folder)
{
	if (folder.bytes == NULL)
		return false;
	if (str_is(folder, "."))
		return true;
	return path.len > folder.len && memcmp(path.bytes, folder.bytes, folder.len) == 0 &&
		path.bytes[folder.len] == '/';
}

/* Whether the directory that holds `path` is called .okf. */
static bool is_in_okf(struct str path)
{
	struct str folder = {path.bytes, path.len - last_part(path).len};

	if (folder.len > 0)
		folder.len--;
	return str_is(last_part(folder), ".okf");
}

/* 1: an index is there, whatever it is. */
static int has_index(const struct contained_node *directory)
{
	struct contained_node index CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	int result = contained_open_entry(directory->fd, "index.md", &index);

	if (result < 0)
		return result;
	return result == 0 && index.kind != CONTAINED_DIRECTORY;
}

/* A directory with an index that isn't part of another bundle. */
static int meet(struct finding *finding, struct str path)
{
	int result = add(finding, path);

	if (result != 0)
		return result;
	if (finding->finds->reached_limit)
		return WALK_STOP;
	if (!is_below(path, finding->inside))
		finding->inside = finding->finds->items[finding->finds->count - 1].path;
	return WALK_ON;
}

static int visit(void *arg, const struct walk_entry *entry)
{
	struct contained_node node CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	struct finding *finding = arg;
	int result;

	if (entry->kind != CONTAINED_DIRECTORY && entry->kind != CONTAINED_UNKNOWN)
		return WALK_SKIP;
	if (str_is(entry->name, ".git") || str_is(entry->name, "node_modules"))
		return WALK_SKIP;
	if (is_below(entry->path, finding->inside) && !is_in_okf(entry->path))
		return WALK_ON;
	result = contained_open_entry(entry->directory_fd, entry->name.bytes, &node);
	if (result == 0 && node.kind == CONTAINED_DIRECTORY)
		result = has_index(&node);
	else if (result > 0)
		result = 0;
	return result == 1 ? meet(finding, entry->path) : result < 0 ? result : WALK_ON;
}

static void unread(void *arg, struct str path, int result)
{
	struct finding *finding = arg;

	(void)path;
	(void)result;
	finding->finds->unread_folders++;
}

/* The root itself, then what is below it. */
static int look(struct finding *finding, struct walk *walk)
{
	struct contained_node top CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	int result = contained_open(finding->root, STR("."), CONTAINED_FOLLOW_NONE, &top);

	if (result == 0)
		result = has_index(&top);
	if (result == 1) {
		result = add(finding, STR("."));
		finding->inside = STR(".");
	}
	if (result == 0)
		result = walk_run(walk, &top, STR("."));
	if (result > 0)
		finding->finds->unread_folders++;
	return result < 0 ? result : 0;
}

static int look_below(struct bundle_finds *finds, const struct contained_root *root, size_t number, size_t *entries)
{
	struct walk walk CLEANUP(walk_release) = {0};
	struct finding finding = {.finds = finds, .root = root, .root_number = number};
	int result;

	walk_init(&walk, root);
	walk.max_entries = BUNDLE_FIND_ENTRIES;
	walk.entries = *entries;
	walk.max_depth = BUNDLE_FIND_DEPTH;
	walk.visit = visit;
	walk.failed = unread;
	walk.arg = &finding;
	result = look(&finding, &walk);
	*entries = walk.entries;
	finds->reached_depth |= walk.reached_depth;
	finds->reached_entries |= walk.reached_entries;
	return result;
}

static size_t fits(const struct bundle_finds *finds, struct str id, const struct bundle_found **ret)
{
	size_t i, count = 0;

	for (i = 0; i < finds->count; i++) {
		const struct bundle_found *found = &finds->items[i];

		if (!str_equal(found->names[0], id) && !str_equal(found->names[1], id) &&
			!str_equal(found->names[2], id))
			continue;
		*ret = found;
		count++;
	}
	return count;
}

/* Each gets the first of its names that is its own. */
static void give_ids(struct bundle_finds *finds)
{
	const struct bundle_found *unused;
	size_t i, n;

	for (i = 0; i < finds->count; i++) {
		struct bundle_found *found = &finds->items[i];

		for (n = 0; n < 2 && fits(finds, found->names[n], &unused) > 1;)
			n++;
		found->id = found->names[n];
	}
}

static int by_id(const void *a, const void *b)
{
	const struct bundle_found *one = a, *other = b;

	return str_compare(one->id, other->id);
}

int bundle_find(const struct bundle_place *place, struct bundle_finds *ret)
{
	size_t i, entries = 0;
	int result = 0;

	*ret = (struct bundle_finds){0};
	arena_init(&ret->arena, BUNDLE_FIND_ARENA);
	ret->items = calloc(BUNDLE_FIND_LIMIT, sizeof(*ret->items));
	if (ret->items == NULL)
		return -ENOMEM;
	if (place->is_bundle) {
		struct finding finding = {.finds = ret, .root = place->roots, .root_number = 1};

		result = add(&finding, STR("."));
	}
	for (i = 0; !place->is_bundle && i < place->root_count && result == 0; i++)
		result = look_below(ret, &place->roots[i], i + 1, &entries);
	if (result != 0)
		return result;
	give_ids(ret);
	qsort(ret->items, ret->count, sizeof(*ret->items), by_id);
	return 0;
}

void bundle_finds_release(struct bundle_finds *finds)
{
	arena_release(&finds->arena);
	free(finds->items);
	*finds = (struct bundle_finds){0};
}

int bundle_find_one(const struct bundle_finds *finds, struct str id, const struct bundle_found **ret)
{
	size_t count = fits(finds, id, ret);

	return count == 0 ? BUNDLE_UNKNOWN : count > 1 ? BUNDLE_AMBIGUOUS : 0;
}
