/* One walk, then the indexes that it met. */
#include "reader/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/bundle_link.h"
#include "reader/front_matter.h"
#include "reader/walk.h"

static const char index_name[] = "index.md";

bool bundle_is_concept(struct str path)
{
	size_t at = path.len;
	struct str name;

	while (at > 0 && path.bytes[at - 1] != '/')
		at--;
	name = (struct str){path.bytes + at, path.len - at};
	return name.len > 3 && memcmp(name.bytes + name.len - 3, ".md", 3) == 0 && !str_is(name, index_name) &&
		!str_is(name, "log.md");
}

struct str bundle_id_of(struct str path)
{
	CHECK(path.len > 3);
	return (struct str){path.bytes, path.len - 3};
}

int bundle_compare_ids(const void *a, const void *b)
{
	const struct str *one = a, *other = b;

	return str_compare(*one, *other);
}

int bundle_compare_inodes(const void *a, const void *b)
{
	const struct bundle_inode *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* Room for one more; items live until the bundle is released. */
static int make_room(void **items, size_t count, size_t *size, size_t item_size)
{
	size_t wanted = *size == 0 ? 64 : *size * 2;
	void *larger;

	if (count < *size)
		return 0;
	larger = reallocarray(*items, wanted, item_size);
	if (larger == NULL)
		return -ENOMEM;
	*items = larger;
	*size = wanted;
	return 0;
}

static int add_file(struct bundle *bundle, struct str path, const struct contained_node *node)
{
	void *items = bundle->files;
	struct bundle_file *file;
	int result = make_room(&items, bundle->file_count, &bundle->file_size, sizeof(*bundle->files));

	bundle->files = items;
	if (result != 0)
		return result;
	file = &bundle->files[bundle->file_count];
	*file = (struct bundle_file){.path = arena_str(&bundle->arena, path),
		.kind = node->kind,
		.size = node->size,
		.device = node->device,
		.inode = node->inode};
	if (file->path.bytes == NULL)
		return -ENOMEM;
	bundle->file_count++;
	return 0;
}

static bool is_left_out(struct str name)
{
	return str_is(name, ".git") || str_is(name, "node_modules") || str_is(name, ".okf");
}

/* Meets the file by its state alone: one that may not be read is met all the same, and refused when it is asked for. */
static int visit(void *arg, const struct walk_entry *entry)
{
	struct bundle *bundle = arg;
	struct contained_node node = CONTAINED_NODE_NONE;
	int result;

	if (entry->kind == CONTAINED_DIRECTORY)
		return is_left_out(entry->name) ? WALK_SKIP : WALK_ON;
	result = contained_look_entry(entry->directory_fd, entry->name.bytes, &node);
	if (result < 0)
		return result;
	if (result == 0 && node.kind == CONTAINED_DIRECTORY)
		return is_left_out(entry->name) ? WALK_SKIP : WALK_ON;
	result = add_file(bundle, entry->path, &node);
	return result < 0 ? result : WALK_SKIP;
}

static void unread(void *arg, struct str path, int result)
{
	struct bundle *bundle = arg;

	(void)path;
	(void)result;
	bundle->unread_folders++;
}

static int walk(struct bundle *bundle)
{
	struct walk walk CLEANUP(walk_release) = {0};
	struct contained_node top CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	int result;

	walk_init(&walk, &bundle->root);
	walk.max_entries = bundle->budget->entries;
	walk.max_depth = BUNDLE_DEPTH;
	walk.visit = visit;
	walk.failed = unread;
	walk.arg = bundle;
	result = contained_open(&bundle->root, STR("."), CONTAINED_FOLLOW_NONE, &top);
	if (result == 0)
		result = walk_run(&walk, &top, STR("."));
	bundle->budget->entries -= walk.entries;
	bundle->reached_entries = walk.reached_entries;
	bundle->reached_depth = walk.reached_depth;
	return result > 0 ? BUNDLE_UNREADABLE : result;
}

static int sort_inodes(struct bundle *bundle)
{
	size_t i;

	bundle->inodes = calloc(bundle->file_count + 1, sizeof(*bundle->inodes));
	if (bundle->inodes == NULL)
		return -ENOMEM;
	for (i = 0; i < bundle->file_count; i++)
		if (bundle->files[i].kind == CONTAINED_FILE)
			bundle->inodes[bundle->inode_count++] =
				(struct bundle_inode){bundle->files[i].device, bundle->files[i].inode};
	qsort(bundle->inodes, bundle->inode_count, sizeof(*bundle->inodes), bundle_compare_inodes);
	return 0;
}

static int add_named(struct bundle *bundle, struct str id)
{
	void *items = bundle->named;
	int result;

	if (bundle->named_count == BUNDLE_NAMED) {
		bundle->reached_entries = true;
		return 0;
	}
	result = make_room(&items, bundle->named_count, &bundle->named_size, sizeof(*bundle->named));
	bundle->named = items;
	if (result != 0)
		return result;
	bundle->named[bundle->named_count] = arena_str(&bundle->arena, id);
	return bundle->named[bundle->named_count++].bytes == NULL ? -ENOMEM : 0;
}

/* Those behind the first are counted, not kept. */
static int add_refused(struct bundle *bundle, struct str page, struct str target)
{
	struct bundle_refused *refused = &bundle->refused[bundle->refused_count];

	if (bundle->refused_count++ >= BUNDLE_REFUSED)
		return 0;
	refused->page = page;
	refused->target = arena_str(&bundle->arena, target);
	return refused->target.bytes == NULL ? -ENOMEM : 0;
}

/* Takes in what one index names. `page` is its path. */
static int read_links(struct bundle *bundle, struct str page, struct str body)
{
	struct arena scratch CLEANUP(arena_release) = {0};
	struct bundle_links links = bundle_links_of(body);
	struct str folder = {page.bytes, page.len - (sizeof(index_name) - 1)}, target, path;
	bool is_folder;
	int result = 0;

	arena_init(&scratch, BUNDLE_ARENA);
	if (folder.len > 0)
		folder.len--;
	while (result >= 0 && bundle_links_next(&links, &target)) {
		arena_reset(&scratch);
		result = bundle_link_resolve(&scratch, folder, target, &path, &is_folder);
		if (result == BUNDLE_LINK_OUTSIDE)
			result = add_refused(bundle, page, target);
		else if (result == 0 && !is_folder && bundle_is_concept(path))
			result = add_named(bundle, bundle_id_of(path));
	}
	return result < 0 ? result : 0;
}

/* What the first index says of the bundle. */
static int take_head(struct bundle *bundle, const struct front_matter *head)
{
	bundle->has_index = true;
	bundle->title = arena_str(&bundle->arena, head->title);
	bundle->okf_version = arena_str(&bundle->arena, head->okf_version);
	return bundle->arena.failed ? -ENOMEM : 0;
}

static int read_index(struct bundle *bundle, struct str page, struct str text)
{
	struct arena scratch CLEANUP(arena_release) = {0};
	struct front_matter head;
	struct str body;
	int result;

	arena_init(&scratch, BUNDLE_ARENA);
	result = front_matter_read(&scratch, text, &head, &body);
	if (result >= 0 && str_is(page, index_name))
		result = take_head(bundle, &head);
	return result < 0 ? result : read_links(bundle, page, body);
}

static bool is_index(struct str path)
{
	size_t len = sizeof(index_name) - 1;

	return path.len >= len && memcmp(path.bytes + path.len - len, index_name, len) == 0 &&
		(path.len == len || path.bytes[path.len - len - 1] == '/');
}

/* An index that can't be read names nothing; for the first one this is the bundle's own fault. */
static int read_indexes(struct bundle *bundle)
{
	struct buf text CLEANUP(buf_release) = {0};
	size_t i;
	int result = 0;

	buf_init(&text, bundle->concept_bytes + 1);
	for (i = 0; i < bundle->file_count && result >= 0; i++) {
		struct str page = bundle->files[i].path;

		if (!is_index(page))
			continue;
		result = bundle_page_read(bundle, &bundle->files[i], &text);
		if (result > 0 && str_is(page, index_name))
			return BUNDLE_UNREADABLE;
		if (result > 0)
			bundle->unread_indexes++;
		else if (result == 0)
			result = read_index(bundle, page, buf_str(&text));
	}
	return result < 0 ? result : 0;
}

static void sort_named(struct bundle *bundle)
{
	size_t i, kept = 0;

	if (bundle->named_count > 0)
		qsort(bundle->named, bundle->named_count, sizeof(*bundle->named), bundle_compare_ids);
	for (i = 0; i < bundle->named_count; i++)
		if (kept == 0 || !str_equal(bundle->named[kept - 1], bundle->named[i]))
			bundle->named[kept++] = bundle->named[i];
	bundle->named_count = kept;
}

/* The bundle becomes a root of its own, so that a link out of it is refused even if it stays in the root around it. */
static int enter(const struct contained_root *root, struct str path, struct bundle *bundle)
{
	struct contained_node directory CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	int result = contained_open(root, path, CONTAINED_FOLLOW_NONE, &directory);

	if (result == 0 && directory.kind != CONTAINED_DIRECTORY)
		return BUNDLE_UNREADABLE;
	if (result == 0)
		result = contained_root_below(root, &directory, path, &bundle->root);
	return result > 0 ? BUNDLE_UNREADABLE : result;
}

int bundle_open(const struct contained_root *root, struct str path, size_t concept_bytes, struct bundle_budget *budget,
	struct bundle *ret)
{
	int result;

	arena_init(&ret->arena, BUNDLE_ARENA);
	ret->concept_bytes = concept_bytes;
	ret->budget = budget;
	result = enter(root, path, ret);
	if (result == 0)
		result = walk(ret);
	if (result == 0)
		result = sort_inodes(ret);
	if (result == 0)
		result = read_indexes(ret);
	if (result == 0)
		sort_named(ret);
	return result;
}

void bundle_release(struct bundle *bundle)
{
	contained_root_close(&bundle->root);
	arena_release(&bundle->arena);
	free(bundle->files);
	free(bundle->named);
	free(bundle->inodes);
	*bundle = (struct bundle){0};
}

/* How a file stands to what lies below a folder: 0 and more from the first that does. */
static int compare_below(struct str file, struct str folder)
{
	struct str head = {file.bytes, file.len < folder.len ? file.len : folder.len};
	int order = str_compare(head, folder);

	if (order != 0 || file.len == folder.len)
		return order != 0 ? order : -1;
	return (int)(unsigned char)file.bytes[folder.len] - '/';
}

static const struct bundle_file *first_below(const struct bundle *bundle, struct str folder)
{
	size_t low = 0, high = bundle->file_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_below(bundle->files[middle].path, folder) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low == bundle->file_count ? NULL : &bundle->files[low];
}

static int by_path(const void *key, const void *file)
{
	const struct str *path = key;
	const struct bundle_file *other = file;

	return str_compare(*path, other->path);
}

const struct bundle_file *bundle_file_at(const struct bundle *bundle, struct str path)
{
	return bundle->file_count == 0
		? NULL
		: bsearch(&path, bundle->files, bundle->file_count, sizeof(*bundle->files), by_path);
}

bool bundle_has_path(const struct bundle *bundle, struct str path)
{
	const struct bundle_file *below;

	if (path.len == 0 || bundle_file_at(bundle, path) != NULL)
		return true;
	below = first_below(bundle, path);
	return below != NULL && compare_below(below->path, path) == 0;
}
