#include "reader/search.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reader/credential_file.h"
#include "reader/search_parts.h"

enum {
	ARENA_CEILING = 512 * 1024 * 1024, /* the paths and snippets of as many matches as may be asked for */
	SCRATCH_CEILING = 8 * SEARCH_PATTERN_LIMIT,
};

void search_request_init(struct search_request *request)
{
	*request = (struct search_request){
		.max = SEARCH_MATCHES_USUAL,
		.max_bytes = SEARCH_BYTES_USUAL,
		.max_total_bytes = SEARCH_TOTAL_BYTES_USUAL,
		.max_entries = SEARCH_ENTRIES_USUAL,
	};
}

bool search_is_over(const struct search *search)
{
	return search->fired[SEARCH_BOUND_RESULTS] || search->fired[SEARCH_BOUND_TOTAL_BYTES];
}

/* ---- paths that were searched already */

/* Whether a path comes up for the first time: 1, 0, or -ENOMEM. With one target every path does. */
static int is_new(struct search *search, struct str path)
{
	return search->request->paths.count < 2 ? 1 : seen_add(&search->seen, &search->arena, path);
}

/* ---- below a target */

static bool is_pruned(const struct walk_entry *entry)
{
	return str_is(entry->name, ".git") ||
		(str_is(entry->name, "node_modules") && entry->kind == CONTAINED_DIRECTORY);
}

static int visit_file(struct search *search, const struct walk_entry *entry)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = 0;

	if (credential_file_is(entry->path)) {
		search->skipped[SEARCH_SKIP_CREDENTIAL]++;
		return 0;
	}
	r = walk_open(entry, &node);
	if (r > 0)
		search->skipped[SEARCH_SKIP_UNREADABLE]++;
	if (r != 0)
		return r < 0 ? r : 0;
	if (node.kind == CONTAINED_FILE)
		return search_file(search, &node, entry->path);
	search->skipped[node.kind == CONTAINED_LINK ? SEARCH_SKIP_SYMLINK : SEARCH_SKIP_SPECIAL]++;
	return 0;
}

static int visit(void *arg, const struct walk_entry *entry)
{
	struct search *search = arg;
	int r = 0;

	if (is_pruned(entry))
		return WALK_SKIP;
	r = is_new(search, entry->path);
	if (r <= 0)
		return r < 0 ? r : WALK_SKIP;
	if (entry->kind == CONTAINED_DIRECTORY)
		return WALK_ON;
	if (entry->kind == CONTAINED_LINK)
		search->skipped[SEARCH_SKIP_SYMLINK]++;
	else if (entry->kind == CONTAINED_FILE || entry->kind == CONTAINED_UNKNOWN)
		r = visit_file(search, entry);
	else
		search->skipped[SEARCH_SKIP_SPECIAL]++;
	if (r < 0)
		return r;
	return search_is_over(search) ? WALK_STOP : WALK_ON;
}

static void note_failure(void *arg, struct str path, int result)
{
	struct search *search = arg;

	(void)path;
	(void)result;
	search->skipped[SEARCH_SKIP_UNREADABLE]++;
}

/* ---- targets */

static int leave_out(struct search *search, struct str target, int result)
{
	search->left_out[search->left_out_count++] = (struct search_left_out){target, result};
	return 0;
}

static int search_below(struct search *search, const struct contained_node *node, struct str path, struct str target)
{
	int r = walk_run(&search->walk, node, path);

	return r > 0 ? leave_out(search, target, r) : r;
}

/* What a named file is called at the end of its links decides too. */
static int search_named(struct search *search, const struct contained_node *node, struct str path, struct str target)
{
	char real_path[PATH_MAX];
	struct str real = {0};
	int r = contained_real_path(search->root, node, real_path, &real);

	if (r != 0)
		return r;
	if (real.bytes == NULL)
		return leave_out(search, target, CONTAINED_OUTSIDE);
	if (credential_file_is(path) || credential_file_is(real)) {
		search->skipped[SEARCH_SKIP_CREDENTIAL]++;
		return 0;
	}
	if (search->walk.entries >= search->walk.max_entries) {
		search->walk.reached_entries = true;
		return 0;
	}
	search->walk.entries++;
	return search_file(search, node, path);
}

static int search_target(struct search *search, struct str target)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	struct str path = {0};
	int r = contained_open(search->root, target, CONTAINED_FOLLOW_ALL, &node);

	if (r == 0)
		r = contained_path_clean(&search->arena, search->root, target, &path);
	if (r != 0)
		return r < 0 ? r : leave_out(search, target, r);
	r = is_new(search, path);
	if (r <= 0)
		return r;
	if (node.kind == CONTAINED_DIRECTORY)
		return search_below(search, &node, path, target);
	if (node.kind == CONTAINED_FILE)
		return search_named(search, &node, path, target);
	search->skipped[SEARCH_SKIP_SPECIAL]++;
	return 0;
}

/* Nothing is opened for reading before every target is known to be one of the root's. */
static int refuse_outside(struct search *search, struct tools_refusal *refusal)
{
	const struct arguments_names *paths = &search->request->paths;

	for (size_t i = 0; i < paths->count; i++) {
		CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
		int r = contained_open(search->root, paths->items[i], CONTAINED_FOLLOW_ALL, &node);

		if (r < 0)
			return r;
		if (r == CONTAINED_OUTSIDE || r == CONTAINED_EMPTY || r == CONTAINED_HAS_NUL ||
			r == CONTAINED_HAS_PARENT || r == CONTAINED_ELSEWHERE)
			return tools_refuse_target(refusal, paths->items[i], r);
	}
	return 0;
}

static int search_all(struct search *search)
{
	const struct arguments_names *paths = &search->request->paths;
	int r = 0;

	search->left_out = ARENA_ARRAY(&search->arena, paths->count + 1, struct search_left_out);
	if (search->left_out == NULL)
		return -ENOMEM;
	if (paths->count == 0)
		r = search_target(search, STR("."));
	for (size_t i = 0; i < paths->count && r == 0 && !search_is_over(search) && !search->walk.reached_entries; i++)
		r = search_target(search, paths->items[i]);
	search->fired[SEARCH_BOUND_ENTRIES] = search->walk.reached_entries;
	search->fired[SEARCH_BOUND_DEPTH] = search->walk.reached_depth;
	return r;
}

static void search_init(struct search *search)
{
	arena_init(&search->arena, ARENA_CEILING);
	buf_init(&search->scratch, SCRATCH_CEILING);
	walk_init(&search->walk, search->root);
	search->walk.max_entries = (size_t)search->request->max_entries;
	search->walk.visit = visit;
	search->walk.failed = note_failure;
	search->walk.arg = search;
}

static void search_release(struct search *search)
{
	seen_release(&search->seen);
	walk_release(&search->walk);
	buf_release(&search->scratch);
	arena_release(&search->arena);
	free(search->matches);
	free(search->bytes);
}

int search_run(const struct contained_root *root, const struct search_request *request, struct buf *answer,
	struct tools_refusal *ret_refusal)
{
	struct search search = {.root = root, .request = request};
	int r = 0;

	search_init(&search);
	r = refuse_outside(&search, ret_refusal);
	if (r == 0)
		r = search_all(&search);
	if (r == 0) {
		search_write(&search, answer);
		r = buf_error(answer);
	}
	search_release(&search);
	return r;
}
