#include "reader/fold.h"

#include "reader/fold_table.h"

static bool is_ascii_word(uint32_t code_point)
{
	return (code_point >= '0' && code_point <= '9') || ((code_point | 0x20) >= 'a' && (code_point | 0x20) <= 'z');
}

/* How many of the sorted points are at `code_point` or before it. */
static size_t count_up_to(const uint32_t *points, size_t count, uint32_t code_point)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (points[middle] <= code_point)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool fold_is_word(uint32_t code_point)
{
	if (code_point < 0x80)
		return is_ascii_word(code_point);
	return count_up_to(fold_edges, fold_edge_count, code_point) % 2 == 1;
}

bool fold_is_mark(uint32_t code_point)
{
	size_t before = count_up_to(fold_marks, fold_mark_count, code_point);

	return before > 0 && fold_marks[before - 1] == code_point;
}

/* The last run that begins at the character or before it, or NULL. */
static const struct fold_run *run_before(uint32_t code_point)
{
	size_t low = 0, high = fold_run_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fold_runs[middle].first <= code_point)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &fold_runs[low - 1];
}

/* What a character of a word is compared as. */
static uint32_t fold_of(uint32_t code_point)
{
	const struct fold_run *run;
	uint32_t behind;

	if (code_point < 0x80)
		return code_point >= 'A' && code_point <= 'Z' ? code_point + 0x20 : code_point;
	run = run_before(code_point);
	if (run == NULL)
		return code_point;
	behind = code_point - run->first;
	if (behind % run->step != 0 || behind / run->step >= run->count)
		return code_point;
	return run->moves ? run->to + behind : run->to;
}

/* What the first byte says of the character's bits; the bytes that follow have six each. */
static uint32_t first_bits(unsigned char byte)
{
	return byte < 0xE0    ? byte & 0x1Fu
		: byte < 0xF0 ? byte & 0x0Fu
		: byte < 0xF8 ? byte & 0x07u
		: byte < 0xFC ? byte & 0x03u
		: byte < 0xFE ? byte & 0x01u
			      : 0;
}

uint32_t fold_next(struct str text, size_t *at)
{
	const unsigned char *bytes = (const unsigned char *)text.bytes;
	uint32_t code_point = bytes[(*at)++];

	if (code_point < 0xC0)
		return code_point;
	code_point = first_bits((unsigned char)code_point);
	while (*at < text.len && (bytes[*at] & 0xC0) == 0x80)
		code_point = code_point << 6 | (bytes[(*at)++] & 0x3Fu);
	if (code_point < 0x80 || (code_point & 0xFFFFF800u) == 0xD800 || (code_point & 0xFFFFFFFEu) == 0xFFFE)
		return 0xFFFD;
	return code_point;
}

/* Moves *at behind what belongs to a word. */
static void pass_word(struct str text, size_t *at)
{
	while (*at < text.len) {
		size_t begin = *at;
		uint32_t code_point = fold_next(text, at);

		if (fold_is_word(code_point) || fold_is_mark(code_point))
			continue;
		*at = begin;
		return;
	}
}

size_t fold_word(struct str text, size_t *at)
{
	while (*at < text.len) {
		size_t begin = *at;

		if (!fold_is_word(fold_next(text, at)))
			continue;
		pass_word(text, at);
		return begin;
	}
	return text.len;
}

/* The character in UTF-8; its length. */
static size_t put(uint32_t code_point, char out[static 4])
{
	if (code_point < 0x80) {
		out[0] = (char)code_point;
		return 1;
	}
	if (code_point < 0x800) {
		out[0] = (char)(0xC0 | code_point >> 6);
		out[1] = (char)(0x80 | (code_point & 0x3F));
		return 2;
	}
	if (code_point < 0x10000) {
		out[0] = (char)(0xE0 | code_point >> 12);
		out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code_point & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | (code_point >> 18 & 0x07));
	out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code_point & 0x3F));
	return 4;
}

size_t fold_bytes(struct str text, size_t begin, char *out, size_t size)
{
	size_t at = begin, len = 0;

	while (at < text.len && len + 4 <= size) {
		uint32_t code_point = fold_next(text, &at);

		if (fold_is_word(code_point))
			len += put(fold_of(code_point), out + len);
		else if (!fold_is_mark(code_point))
			return len;
	}
	return at < text.len ? size + 1 : len;
}
