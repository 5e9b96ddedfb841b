/* One file: read, judged, and what is found in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/search_parts.h"
#include "reader/snippet.h"

enum { FIRST_SIZE = 128 * 1024 };

static int grow(struct search *search, size_t size)
{
	char *bytes = NULL;

	if (size <= search->size)
		return 0;
	size = size < FIRST_SIZE ? FIRST_SIZE : size;
	bytes = realloc(search->bytes, size);
	if (bytes == NULL)
		return -ENOMEM;
	search->bytes = bytes;
	search->size = size;
	return 0;
}

/* How much of a file may be read before it is too large, or before the call's budget is. */
static int64_t limit_of(const struct search *search)
{
	int64_t left = search->request->max_total_bytes - search->total_bytes;

	return left < search->request->max_bytes ? left : search->request->max_bytes;
}

/* All of it, or one byte more than the limit. */
static int read_whole(struct search *search, const struct contained_node *node, size_t *ret_len)
{
	size_t limit = (size_t)limit_of(search);
	size_t room = node->size < (int64_t)limit ? (size_t)node->size + 1 : limit + 1;
	int r = grow(search, room);

	if (r == 0)
		r = contained_read_node(search->root, node, search->bytes, room, ret_len);
	if (r != 0 || *ret_len < room || room == limit + 1)
		return r;
	r = grow(search, limit + 1);
	return r != 0 ? r : contained_read_node(search->root, node, search->bytes, limit + 1, ret_len);
}

static int grow_matches(struct search *search)
{
	size_t size = search->match_size > 0 ? search->match_size * 2 : 64;
	struct search_match *matches = reallocarray(search->matches, size, sizeof(*matches));

	if (matches == NULL)
		return -ENOMEM;
	search->matches = matches;
	search->match_size = size;
	return 0;
}

static int add_match(struct search *search, struct snippet_place *place, size_t at, struct str file)
{
	struct search_match match = {.file = file, .offset = (int64_t)at};

	if (search->match_count == search->match_size && grow_matches(search) != 0)
		return -ENOMEM;
	match.line = snippet_line(place, at);
	snippet_make(&search->scratch, place->bytes, at, search->request->pattern.len);
	if (buf_error(&search->scratch) != 0)
		return buf_error(&search->scratch);
	match.snippet = arena_str(&search->arena, buf_str(&search->scratch));
	if (match.snippet.bytes == NULL)
		return -ENOMEM;
	search->matches[search->match_count++] = match;
	return 0;
}

/* The match beyond the last that is wanted is what shows that there are more. */
static int find_all(struct search *search, struct str bytes, struct str path)
{
	struct str pattern = search->request->pattern;
	struct snippet_place place = {.bytes = bytes, .line = 1};
	struct str file = {0};
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < bytes.len) {
		const char *found = memmem(bytes.bytes + at, bytes.len - at, pattern.bytes, pattern.len);

		if (found == NULL)
			break;
		if (search->match_count == (size_t)search->request->max) {
			search->fired[SEARCH_BOUND_RESULTS] = true;
			break;
		}
		if (file.bytes == NULL)
			file = arena_str(&search->arena, path);
		if (file.bytes == NULL)
			return -ENOMEM;
		at = (size_t)(found - bytes.bytes);
		r = add_match(search, &place, at, file);
		at += pattern.len;
	}
	return r;
}

static bool is_binary(struct str bytes)
{
	size_t len = bytes.len < SEARCH_BINARY_BYTES ? bytes.len : SEARCH_BINARY_BYTES;

	return len > 0 && memchr(bytes.bytes, '\0', len) != NULL;
}

/* A file beyond its own limit is counted; one beyond what is left of the call's ends the search. */
static void leave_large(struct search *search, int64_t size)
{
	if (size > search->request->max_bytes)
		search->skipped[SEARCH_SKIP_LARGE]++;
	else
		search->fired[SEARCH_BOUND_TOTAL_BYTES] = true;
}

int search_file(struct search *search, const struct contained_node *node, struct str path)
{
	size_t len = 0;
	int r = 0;

	if (node->size > limit_of(search)) {
		leave_large(search, node->size);
		return 0;
	}
	r = read_whole(search, node, &len);
	if (r > 0)
		search->skipped[SEARCH_SKIP_UNREADABLE]++;
	if (r != 0)
		return r < 0 ? r : 0;
	if ((int64_t)len > limit_of(search)) {
		leave_large(search, (int64_t)len);
		return 0;
	}
	search->total_bytes += (int64_t)len;
	if (is_binary((struct str){search->bytes, len})) {
		search->skipped[SEARCH_SKIP_BINARY]++;
		return 0;
	}
	search->files++;
	return find_all(search, (struct str){search->bytes, len}, path);
}
