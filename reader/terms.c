/* A question, and the words of a text one by one. */
#include "reader/terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/fold.h"
#include "reader/stem.h"
#include "reader/terms_parts.h"

static bool is_phrase_byte(unsigned char byte)
{
	return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* The next run at *at; false at the end. */
static bool next_phrase(struct str question, size_t *at, struct str *ret)
{
	size_t begin;

	while (*at < question.len && !is_phrase_byte((unsigned char)question.bytes[*at]))
		(*at)++;
	begin = *at;
	while (*at < question.len && is_phrase_byte((unsigned char)question.bytes[*at]))
		(*at)++;
	*ret = (struct str){question.bytes + begin, *at - begin};
	return ret->len > 0;
}

static bool has_phrase(const struct str *phrases, size_t count, struct str phrase)
{
	while (count-- > 0)
		if (str_equal(phrases[count], phrase))
			return true;
	return false;
}

static uint32_t hash_of(struct str word)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; i < word.len; i++)
		hash = (hash ^ (unsigned char)word.bytes[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* The slot that has the word, or the free one where it would be: fewer than half of them are taken. */
static uint16_t *slot_of(const struct terms *terms, struct str word)
{
	size_t at = hash_of(word) & (terms->slot_count - 1);

	while (terms->slots[at] != TERMS_NONE && !str_equal(terms->terms[terms->slots[at]], word))
		at = (at + 1) & (terms->slot_count - 1);
	return &terms->slots[at];
}

static void set_bit(uint64_t *bits, size_t at)
{
	bits[at / 64] |= 1ull << at % 64;
}

/* At most three of them, the first one lowest. */
static uint32_t first_bytes(const char *word, size_t len)
{
	uint32_t bytes = 0;
	size_t i;

	for (i = 0; i < len && i < 3; i++)
		bytes |= (uint32_t)(unsigned char)word[i] << 8 * i;
	return bytes;
}

/* Marks all beginnings that have these first bytes, at most three of them: the others may be anything, of which five bits count. */
static void mark_beginnings(struct terms *terms, const char *first, size_t known)
{
	uint32_t bytes = first_bytes(first, known), rest;

	for (rest = 0; rest < 1u << 5 * (3 - known); rest++) {
		uint32_t others = (rest & 0x1F) | (rest & 0x3E0) << 3;

		set_bit(terms->beginnings, terms_beginning(bytes | others << 8 * known));
	}
}

/* What the words that have this stem may begin with, as stem.h says it. */
static void mark_stem(struct terms *terms, struct str stem)
{
	size_t known = stem.len < 3 ? stem.len : 3;
	char first[3];

	memcpy(first, stem.bytes, known);
	mark_beginnings(terms, first, known);
	if (stem.len > 3 || first[known - 1] != 'i')
		return;
	first[known - 1] = 'y';
	mark_beginnings(terms, first, known);
}

/* The term's number; a new one if there is none yet. */
static uint16_t add_term(struct terms *terms, struct str word)
{
	uint16_t *slot = slot_of(terms, word);
	struct str *term;

	if (*slot != TERMS_NONE)
		return *slot;
	*slot = (uint16_t)terms->term_count;
	term = &terms->terms[terms->term_count++];
	*term = (struct str){terms->stems + terms->stem_bytes, word.len};
	memcpy(terms->stems + terms->stem_bytes, word.bytes, word.len);
	terms->stem_bytes += word.len;
	mark_stem(terms, *term);
	return *slot;
}

static void add_phrase(struct terms *terms, struct str phrase)
{
	size_t at = 0, begin, count = 0;

	while ((begin = fold_word(phrase, &at)) < phrase.len) {
		struct str word = {terms->word, fold_bytes(phrase, begin, terms->word, TERMS_WORD_BYTES)};

		CHECK(word.len <= TERMS_WORD_BYTES);
		word.len = stem_english(terms->word, word.len);
		if (count++ == 0)
			set_bit(terms->begins, terms->place_count);
		terms->place_phrases[terms->place_count] = (uint8_t)terms->phrase_count;
		set_bit(terms->rows + add_term(terms, word) * terms->width, terms->place_count++);
	}
	if (count > 0)
		set_bit(terms->ends, terms->place_count - 1);
	terms->phrase_words[terms->phrase_count++] = count;
}

/* The different phrases of a question, and how many words they have together. */
static size_t find_phrases(struct str question, struct str phrases[static TERMS_PHRASES], size_t *ret_words)
{
	struct str phrase;
	size_t at = 0, count = 0, word_at;

	*ret_words = 0;
	while (count < TERMS_PHRASES && next_phrase(question, &at, &phrase)) {
		if (has_phrase(phrases, count, phrase))
			continue;
		phrases[count++] = phrase;
		for (word_at = 0; fold_word(phrase, &word_at) < phrase.len;)
			(*ret_words)++;
	}
	return count;
}

/* Room for `words` words in all, of a question of `len` bytes: folding makes three bytes of two at most. */
static int make_room(struct terms *terms, size_t words, size_t len)
{
	struct arena *arena = &terms->arena;

	terms->width = words / 64 + 1;
	for (terms->slot_count = 16; terms->slot_count <= 2 * words; terms->slot_count *= 2)
		;
	terms->stems = ARENA_ARRAY(arena, 2 * len + 1, char);
	terms->terms = ARENA_ARRAY(arena, words + 1, struct str);
	terms->slots = ARENA_ARRAY(arena, terms->slot_count, uint16_t);
	terms->rows = ARENA_ARRAY(arena, (words + 1) * terms->width, uint64_t);
	terms->begins = ARENA_ARRAY(arena, terms->width, uint64_t);
	terms->ends = ARENA_ARRAY(arena, terms->width, uint64_t);
	terms->open = ARENA_ARRAY(arena, terms->width, uint64_t);
	terms->place_phrases = ARENA_ARRAY(arena, words + 1, uint8_t);
	if (arena->failed)
		return -ENOMEM;
	memset(terms->slots, 0xFF, terms->slot_count * sizeof(*terms->slots));
	return 0;
}

int terms_new(struct str question, struct terms **ret)
{
	CLEANUP(terms_free) struct terms *terms = calloc(1, sizeof(*terms));
	struct str phrases[TERMS_PHRASES];
	size_t i, words, count;
	int result;

	if (terms == NULL)
		return -ENOMEM;
	CHECK(question.len <= TERMS_QUESTION_BYTES);
	arena_init(&terms->arena, TERMS_ARENA);
	count = find_phrases(question, phrases, &words);
	result = make_room(terms, words, question.len);
	if (result != 0)
		return result;
	for (i = 0; i < count; i++)
		add_phrase(terms, phrases[i]);
	terms_begin(terms);
	*ret = TAKE(terms);
	return 0;
}

void terms_free(struct terms **terms)
{
	if (*terms != NULL)
		arena_release(&(*terms)->arena);
	free(*terms);
	*terms = NULL;
}

size_t terms_phrase_words(const struct terms *terms, size_t phrase)
{
	CHECK(phrase < terms->phrase_count);
	return terms->phrase_words[phrase];
}

void terms_begin(struct terms *terms)
{
	terms->next = SIZE_MAX;
}

uint16_t terms_find(struct terms *terms, struct str text, size_t begin)
{
	size_t len = fold_bytes(text, begin, terms->word, TERMS_WORD_BYTES);

	if (len > TERMS_WORD_BYTES || !terms_has_beginning(terms, first_bytes(terms->word, len)))
		return TERMS_NONE;
	return *slot_of(terms, (struct str){terms->word, stem_english(terms->word, len)});
}

/* The phrases of the places in one word of bits. */
static uint64_t phrases_of(const struct terms *terms, uint64_t places, size_t first)
{
	uint64_t phrases = 0;

	for (; places != 0; places &= places - 1)
		phrases |= 1ull << terms->place_phrases[first + (size_t)__builtin_ctzll(places)];
	return phrases;
}

uint64_t terms_advance(struct terms *terms, uint16_t term, size_t position)
{
	const uint64_t *row = terms->rows + term * terms->width;
	uint64_t carry = 0, phrases = 0;
	size_t i;

	for (i = 0; i < terms->width; i++) {
		uint64_t before = position == terms->next ? terms->open[i] : 0;

		terms->open[i] = (before << 1 | carry | terms->begins[i]) & row[i];
		carry = before >> 63;
		phrases |= phrases_of(terms, terms->open[i] & terms->ends[i], i * 64);
	}
	terms->next = position + 1;
	return phrases;
}

bool terms_meet(struct terms *terms, struct str text, size_t begin, size_t position, uint64_t *ret_phrases)
{
	uint16_t term = terms_find(terms, text, begin);

	*ret_phrases = term == TERMS_NONE ? 0 : terms_advance(terms, term, position);
	return term != TERMS_NONE;
}
