/* terms_parts.h - what terms.c and terms_count.c share.
 */
#ifndef ADMITD_READER_TERMS_PARTS_H
#define ADMITD_READER_TERMS_PARTS_H

#include "reader/terms.h"

enum {
	TERMS_WORD_BYTES = 8192,    /* of a word that is compared; no longer one can be asked for */
	TERMS_BEGINNINGS = 1 << 15, /* what three bytes can begin a word, by their hash */
	TERMS_KNOWN = 2048,         /* short words whose term is remembered for as long as the question is */
	TERMS_KNOWN_BYTES = 16,
	TERMS_NONE = UINT16_MAX,
	TERMS_ARENA = 16 * 1024 * 1024,
};

/* A short word as it stands in texts, in lower case, and which term it is. */
struct terms_known {
	uint64_t low, high; /* its bytes, the first one lowest; 0: nothing is known here */
	uint16_t term;
};

/* Phrases are met by Shift-And: each of their words has a place, and `open` has a bit for each place up to which a phrase stands right now. A
 * term's row says at which places it belongs. */
struct terms {
	struct arena arena;
	char *stems; /* of all terms, one behind the other */
	size_t stem_bytes;
	struct str *terms;
	size_t term_count;
	uint16_t *slots; /* terms by their hash, open addressing */
	size_t slot_count;
	uint64_t *rows; /* `width` of each term */
	uint64_t *begins, *ends, *open;
	size_t width;           /* in 64 places */
	uint8_t *place_phrases; /* which phrase a place is of */
	size_t place_count;
	size_t phrase_words[TERMS_PHRASES];
	size_t phrase_count;
	size_t next; /* the position behind the last word that was a term */
	uint64_t beginnings[TERMS_BEGINNINGS / 64];
	struct terms_known known[TERMS_KNOWN];
	char word[TERMS_WORD_BYTES + 1];
};

/* Which term the word is that begins there; TERMS_NONE. */
uint16_t terms_find(struct terms *terms, struct str text, size_t begin);
/* Goes on by one term at a position: the phrases that end with it. */
uint64_t terms_advance(struct terms *terms, uint16_t term, size_t position);

/* The number of a beginning, of its first three bytes, the first one lowest: the same for upper and lower case. Others may have it too. */
static inline uint32_t terms_beginning(uint32_t bytes)
{
	return (bytes & 0x1F1F1Fu) * 0x9E3779B1u >> 17;
}

static inline bool terms_has_beginning(const struct terms *terms, uint32_t bytes)
{
	uint32_t beginning = terms_beginning(bytes);

	return terms->beginnings[beginning / 64] >> beginning % 64 & 1;
}

#endif
