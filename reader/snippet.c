#include "reader/snippet.h"

#include <string.h>

#include "reader/name.h"

int64_t snippet_line(struct snippet_place *place, size_t offset)
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
	size_t least = at > SNIPPET_CONTEXT_BYTES ? at - SNIPPET_CONTEXT_BYTES : 0;
	const char *feed = at > least ? memrchr(bytes.bytes + least, '\n', at - least) : NULL;
	size_t start = feed != NULL ? (size_t)(feed - bytes.bytes) + 1 : least;

	for (int i = 0; i < 3 && start < at && feed == NULL && start > 0 && is_inside_character(bytes.bytes[start]);
		i++)
		start++;
	return start;
}

static size_t context_end(struct str bytes, size_t from)
{
	size_t most = bytes.len - from > SNIPPET_CONTEXT_BYTES ? from + SNIPPET_CONTEXT_BYTES : bytes.len;
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

void snippet_make(struct buf *out, struct str bytes, size_t at, size_t len)
{
	size_t end = at + len;
	size_t from = context_start(bytes, at);
	size_t to = context_end(bytes, end);
	size_t shown = 0;

	end = fit(out, bytes, at, end, SNIPPET_BYTES);
	shown = shown_length(out, part(bytes, at, end));
	if (end < at + len)
		to = end;
	from = fit(out, bytes, at, from, (SNIPPET_BYTES - shown) / 2);
	to = fit(out, bytes, end, to, (SNIPPET_BYTES - shown) / 2);
	(void)!shown_length(out, part(bytes, from, to));
}
