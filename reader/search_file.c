/* One file: read, judged, and what is found in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/name.h"
#include "reader/search_parts.h"

enum { FIRST_SIZE = 128 * 1024 };

/* The position in a file that is searched: lines are counted as far as matches need it. */
struct place {
	struct str bytes;
	size_t counted; /* up to where */
	int64_t line;
};

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

static int64_t line_of(struct place *place, size_t offset)
{
	const char *at = place->bytes.bytes + place->counted;
	const char *end = place->bytes.bytes + offset;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		place->line++;
		at++;
	}
	place->counted = offset;
	return place->line;
}

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Where the context before a match begins: on its line, not too far away, at the beginning of a character. */
static size_t context_start(struct str bytes, size_t at)
{
	size_t least = at > SEARCH_CONTEXT_BYTES ? at - SEARCH_CONTEXT_BYTES : 0;
	const char *feed = at > least ? memrchr(bytes.bytes + least, '\n', at - least) : NULL;
	size_t start = feed != NULL ? (size_t)(feed - bytes.bytes) + 1 : least;

	for (int i = 0; i < 3 && start < at && feed == NULL && start > 0 && is_inside_character(bytes.bytes[start]);
		i++)
		start++;
	return start;
}

static size_t context_end(struct str bytes, size_t from)
{
	size_t most = bytes.len - from > SEARCH_CONTEXT_BYTES ? from + SEARCH_CONTEXT_BYTES : bytes.len;
	const char *feed = most > from ? memchr(bytes.bytes + from, '\n', most - from) : NULL;
	size_t end = feed != NULL ? (size_t)(feed - bytes.bytes) : most;

	for (int i = 0; i < 3 && end > from && feed == NULL && end < bytes.len && is_inside_character(bytes.bytes[end]);
		i++)
		end--;
	return end;
}

static size_t shown_length(struct buf *scratch, struct str bytes)
{
	buf_reset(scratch);
	name_show_text(scratch, bytes);
	return scratch->len;
}

static struct str part(struct str bytes, size_t from, size_t to)
{
	return (struct str){bytes.bytes + from, to - from};
}

/* Takes bytes off the far end of a piece until its shown form fits. */
static size_t fit(struct buf *scratch, struct str bytes, size_t fixed, size_t moving, size_t room)
{
	for (;;) {
		struct str piece = moving < fixed ? part(bytes, moving, fixed) : part(bytes, fixed, moving);
		size_t shown = shown_length(scratch, piece);
		size_t step = shown > room ? (shown - room + 3) / 4 : 0;

		if (step == 0 || piece.len == 0)
			return moving;
		do
			moving = moving < fixed ? moving + 1 : moving - 1;
		while (moving != fixed && (--step > 0 || is_inside_character(bytes.bytes[moving])));
	}
}

/* The match and what stands around it; what doesn't fit is taken off its ends, the match's own end last of all. */
static struct str make_snippet(struct search *search, struct str bytes, size_t at)
{
	size_t end = at + search->request->pattern.len;
	size_t from = context_start(bytes, at);
	size_t to = context_end(bytes, end);
	size_t shown = 0;

	end = fit(&search->scratch, bytes, at, end, SEARCH_SNIPPET_BYTES);
	shown = shown_length(&search->scratch, part(bytes, at, end));
	if (end < at + search->request->pattern.len)
		to = end;
	from = fit(&search->scratch, bytes, at, from, (SEARCH_SNIPPET_BYTES - shown) / 2);
	to = fit(&search->scratch, bytes, end, to, (SEARCH_SNIPPET_BYTES - shown) / 2);
	(void)!shown_length(&search->scratch, part(bytes, from, to));
	return arena_str(&search->arena, buf_str(&search->scratch));
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

static int add_match(struct search *search, struct place *place, size_t at, struct str file)
{
	struct search_match match = {.file = file, .offset = (int64_t)at};

	if (search->match_count == search->match_size && grow_matches(search) != 0)
		return -ENOMEM;
	match.line = line_of(place, at);
	match.snippet = make_snippet(search, place->bytes, at);
	if (match.snippet.bytes == NULL)
		return -ENOMEM;
	search->matches[search->match_count++] = match;
	return 0;
}

/* The match beyond the last that is wanted is what shows that there are more. */
static int find_all(struct search *search, struct str bytes, struct str path)
{
	struct str pattern = search->request->pattern;
	struct place place = {.bytes = bytes, .line = 1};
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
