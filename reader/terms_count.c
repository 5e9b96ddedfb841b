/* A whole text, 64 bytes at a time. */
#include <endian.h>
#include <string.h>

#include "reader/fold.h"
#include "reader/terms_parts.h"

enum { BLOCK = 64, AHEAD = 8 }; /* a word is looked at in as many bytes behind its block */

#define EACH(byte) (0x0101010101010101ull * (byte))

struct counting {
	struct terms *terms;
	struct str text;
	size_t at;
	size_t words;
	bool is_inside; /* what stands at `at` goes on with a word that was counted */
	uint32_t weight;
	uint32_t *counts;
};

/* Eight bytes, the first one lowest. */
static uint64_t load(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

/* The top bit of each byte that is `least` or more; all are ASCII. */
static uint64_t from(uint64_t bytes, unsigned least)
{
	return (bytes + EACH(0x80u - least)) & EACH(0x80u);
}

/* Which of eight bytes, which are ASCII, are letters or digits: a bit each. */
static uint64_t words_of(uint64_t bytes)
{
	uint64_t lower = bytes | EACH(0x20u);
	uint64_t tops = (from(lower, 'a') & ~from(lower, 'z' + 1)) | (from(bytes, '0') & ~from(bytes, '9' + 1));

	return (tops >> 7) * 0x0102040810204080ull >> 56;
}

/* The same for a block. False: not all of it, and what is looked at behind it, is ASCII. */
static bool words_of_block(const char *bytes, uint64_t *ret)
{
	uint64_t all = 0, words = 0;

	for (size_t i = 0; i < BLOCK; i += 8) {
		uint64_t eight = load(bytes + i);

		all |= eight;
		words |= words_of(eight) << i;
	}
	*ret = words;
	return ((all | load(bytes + BLOCK)) & EACH(0x80u)) == 0;
}

static void add(struct counting *counting, uint64_t phrases)
{
	for (; phrases != 0; phrases &= phrases - 1)
		counting->counts[__builtin_ctzll(phrases)] += counting->weight;
}

static void take(struct counting *counting, uint16_t term, size_t position)
{
	if (term != TERMS_NONE)
		add(counting, terms_advance(counting->terms, term, position));
}

/* Which term a word of at most eight ASCII bytes is. A text has few of them, over and over. */
static uint16_t find_short(struct counting *counting, size_t begin, size_t len)
{
	uint64_t word = (load(counting->text.bytes + begin) | EACH(0x20u)) & (UINT64_MAX >> (64 - 8 * len));
	struct terms_known *known = &counting->terms->known[word * 0x9E3779B97F4A7C15ull >> 55];

	if (known->word != word)
		*known = (struct terms_known){word, terms_find(counting->terms, counting->text, begin)};
	return known->term;
}

/* A word that begins at a bit of the block at counting->at. Most end here: they begin like none of the question's. */
static void look(struct counting *counting, uint64_t words, unsigned bit, size_t position)
{
	size_t begin = counting->at + bit, len;
	uint64_t behind = ~(words >> bit);

	if (!terms_has_beginning(counting->terms, (uint32_t)load(counting->text.bytes + begin)))
		return;
	len = behind == 0 ? BLOCK : (size_t)__builtin_ctzll(behind);
	if (len <= TERMS_KNOWN_BYTES && bit + len < BLOCK)
		take(counting, find_short(counting, begin, len), position);
	else
		take(counting, terms_find(counting->terms, counting->text, begin), position);
}

static void count_block(struct counting *counting, uint64_t words)
{
	uint64_t begins = words & ~(words << 1 | (uint64_t)counting->is_inside);

	for (; begins != 0; begins &= begins - 1)
		look(counting, words, (unsigned)__builtin_ctzll(begins), counting->words++);
	counting->is_inside = words >> (BLOCK - 1);
	counting->at += BLOCK;
}

/* One character after another, up to `until` or a little beyond. */
static void count_slowly(struct counting *counting, size_t until)
{
	while (counting->at < until) {
		size_t begin = counting->at;
		uint32_t code_point = fold_next(counting->text, &counting->at);
		bool is_word = fold_is_word(code_point);

		if (is_word && !counting->is_inside)
			take(counting, terms_find(counting->terms, counting->text, begin), counting->words++);
		counting->is_inside = is_word || (counting->is_inside && fold_is_mark(code_point));
	}
}

size_t terms_count(struct terms *terms, struct str text, uint32_t weight, uint32_t counts[static TERMS_PHRASES])
{
	struct counting counting = {.terms = terms, .text = text, .weight = weight, .counts = counts};
	uint64_t words;

	terms_begin(terms);
	while (text.len - counting.at >= BLOCK + AHEAD)
		if (words_of_block(text.bytes + counting.at, &words))
			count_block(&counting, words);
		else
			count_slowly(&counting, counting.at + BLOCK);
	count_slowly(&counting, text.len);
	return counting.words;
}
