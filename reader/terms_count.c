/* A whole text, 64 bytes at a time. */
#include <endian.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "reader/fold.h"
#include "reader/terms_parts.h"

enum { BLOCK = 64, AHEAD = TERMS_KNOWN_BYTES }; /* as many bytes behind a block are looked at */

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

#ifdef __SSE2__

/* The same of sixteen, by the instructions that every x86-64 has; bytes beyond ASCII are less than any other here. *ret_others: where they are. */
static uint64_t words_of_16(const char *bytes, int *ret_others)
{
	const __m128i *at = (const __m128i *)(const void *)bytes;
	__m128i all = _mm_loadu_si128(at);
	__m128i lower = _mm_or_si128(all, _mm_set1_epi8(0x20));
	__m128i letters = _mm_and_si128(
		_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)), _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
	__m128i digits =
		_mm_and_si128(_mm_cmpgt_epi8(all, _mm_set1_epi8('0' - 1)), _mm_cmplt_epi8(all, _mm_set1_epi8('9' + 1)));

	*ret_others = _mm_movemask_epi8(all);
	return (uint64_t)_mm_movemask_epi8(_mm_or_si128(letters, digits));
}

#else

static uint64_t words_of_16(const char *bytes, int *ret_others)
{
	uint64_t low = load(bytes), high = load(bytes + 8);

	*ret_others = ((low | high) & EACH(0x80u)) != 0;
	return words_of(low) | words_of(high) << 8;
}

#endif

/* The same for a block. False: not all of it, and what is looked at behind it, is ASCII. */
static bool words_of_block(const char *bytes, uint64_t *ret)
{
	uint64_t words = 0;
	int others, all = 0;

	for (size_t i = 0; i < BLOCK; i += 16) {
		words |= words_of_16(bytes + i, &others) << i;
		all |= others;
	}
	*ret = words;
	return all == 0 && ((load(bytes + BLOCK) | load(bytes + BLOCK + 8)) & EACH(0x80u)) == 0;
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

/* The first `len` of eight bytes, in lower case if they are letters or digits. */
static uint64_t lower(uint64_t bytes, size_t len)
{
	return len == 0 ? 0 : (bytes | EACH(0x20u)) & UINT64_MAX >> (64 - 8 * (len < 8 ? len : 8));
}

/* Which term a short word is, all of ASCII. A text has few of them, over and over. */
static uint16_t find_short(struct counting *counting, size_t begin, size_t len)
{
	const char *bytes = counting->text.bytes + begin;
	uint64_t low = lower(load(bytes), len), high = lower(load(bytes + 8), len > 8 ? len - 8 : 0);
	struct terms_known *known = &counting->terms->known[(low ^ high * 31) * 0x9E3779B97F4A7C15ull >> 53];

	if (known->low != low || known->high != high)
		*known = (struct terms_known){low, high, terms_find(counting->terms, counting->text, begin)};
	return known->term;
}

/* How long the word is that begins at a bit of the block at counting->at; more than TERMS_KNOWN_BYTES: longer. */
static size_t length_at(const struct counting *counting, uint64_t words, unsigned bit)
{
	const char *behind = counting->text.bytes + counting->at + BLOCK;
	uint64_t others = ~(words >> bit);
	size_t len = others == 0 ? BLOCK : (size_t)__builtin_ctzll(others);

	if (bit + len < BLOCK)
		return len;
	return len + (size_t)__builtin_ctzll(~(words_of(load(behind)) | words_of(load(behind + 8)) << 8));
}

/* A word at a bit of the block that begins like one of the question's. */
static void look(struct counting *counting, uint64_t words, unsigned bit, size_t position)
{
	size_t begin = counting->at + bit, len = length_at(counting, words, bit);

	take(counting,
		len <= TERMS_KNOWN_BYTES ? find_short(counting, begin, len)
					 : terms_find(counting->terms, counting->text, begin),
		position);
}

/* Most words are passed over here: they begin like none of the question's. */
static void count_block(struct counting *counting, uint64_t words)
{
	const struct terms *terms = counting->terms;
	const char *bytes = counting->text.bytes + counting->at;
	uint64_t begins = words & ~(words << 1 | (uint64_t)counting->is_inside);
	size_t position = counting->words;

	for (; begins != 0; begins &= begins - 1, position++) {
		unsigned bit = (unsigned)__builtin_ctzll(begins);

		if (terms_has_beginning(terms, (uint32_t)load(bytes + bit)))
			look(counting, words, bit, position);
	}
	counting->words = position;
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

/* All blocks that there are. */
static void count_blocks(struct counting *counting)
{
	uint64_t words;

	while (counting->text.len - counting->at >= BLOCK + AHEAD)
		if (words_of_block(counting->text.bytes + counting->at, &words))
			count_block(counting, words);
		else
			count_slowly(counting, counting->at + BLOCK);
}

/* What is left behind the last block, with zeros behind it, is blocks again. */
static void count_rest(struct counting *counting)
{
	char bytes[2 * BLOCK + AHEAD] = {0};
	size_t len = counting->text.len - counting->at;

	CHECK(len < BLOCK + AHEAD);
	if (len > 0)
		memcpy(bytes, counting->text.bytes + counting->at, len);
	counting->text = (struct str){bytes, len > BLOCK ? sizeof(bytes) : BLOCK + AHEAD};
	counting->at = 0;
	count_blocks(counting);
	count_slowly(counting, len);
}

size_t terms_count(struct terms *terms, struct str text, uint32_t weight, uint32_t counts[static TERMS_PHRASES])
{
	struct counting counting = {.terms = terms, .text = text, .weight = weight, .counts = counts};

	terms_begin(terms);
	count_blocks(&counting);
	count_rest(&counting);
	return counting.words;
}
