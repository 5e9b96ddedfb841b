/* terms.h - the words of a question, and where a text has them (chapter 5.4).
 *
 * A question is cut into phrases: runs of letters, digits and whatever isn't ASCII, each different run once. A phrase is met where the
 * words that it folds into (fold.h) follow each other, compared by their stems (stem.h); mostly it is one word. `don’t` is two.
 *
 * The question is known before the first text is read, so a text is gone through once and nothing is kept of it: its words are counted in
 * blocks of bytes, and only one that begins like a word of the question is looked at. The cost of a text doesn't grow with the question,
 * but for a question of more than 64 words in all. One thread.
 */
#ifndef ADMITD_READER_TERMS_H
#define ADMITD_READER_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"

enum {
	TERMS_QUESTION_BYTES = 4096,
	TERMS_PHRASES = 64, /* of a question; further ones aren't looked for */
};

struct terms;

/* Reads a question of any bytes, but no more than TERMS_QUESTION_BYTES of them. 0 and *ret, which may have no phrase; or -ENOMEM. */
int terms_new(struct str question, struct terms **ret) MUST_USE;
/* For CLEANUP(); one that is NULL is fine. */
void terms_free(struct terms **terms);

/* How many words a phrase has: 0 for one that can't be met. */
size_t terms_phrase_words(const struct terms *terms, size_t phrase);

/* Begins a text: nothing before it belongs to a phrase. */
void terms_begin(struct terms *terms);
/* Looks at the word of a text that begins at `begin` and is its `position`th, in growing order. True: it is a word of the question;
 * *ret_phrases is the set of the phrases that end with it, a bit each. */
bool terms_meet(struct terms *terms, struct str text, size_t begin, size_t position, uint64_t *ret_phrases) MUST_USE;

/* A whole text: how many words it has, and how often it has each phrase, times `weight`, added to `counts`. */
size_t terms_count(struct terms *terms, struct str text, uint32_t weight, uint32_t counts[static TERMS_PHRASES]);

#endif
