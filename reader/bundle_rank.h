/* bundle_rank.h - which concepts answer a question best: BM25 over title, description, tags and body (chapter 5.4).
 *
 * The question is known first, so each text is gone through once as it is read, and only how often it has the question's phrases is kept
 * (terms.h): nothing is written anywhere, and no index is built. Words are compared without case and accents, by their English stems. A
 * word in the title weighs most, then description and tags, then the body. Scores and excerpts are those of SQLite's FTS5 with the tokenizer
 * `porter unicode61`, to the last bit, which a test compares. One thread a rank.
 */
#ifndef ADMITD_READER_BUNDLE_RANK_H
#define ADMITD_READER_BUNDLE_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/buf.h"

enum {
	BUNDLE_RANK_LIMIT = 50,   /* hits */
	BUNDLE_RANK_EXCERPT = 32, /* words of an excerpt */
	BUNDLE_RANK_EXCERPT_BYTES = 600,
};

struct bundle_rank;

/* What is looked at. Any bytes, borrowed for the call; absent ones are fine. */
struct bundle_rank_text {
	struct str title;
	struct str description;
	struct str tags; /* with blanks between them */
	struct str body;
};

struct bundle_rank_hit {
	size_t number;       /* as it was given to bundle_rank_add() */
	int64_t score_milli; /* thousandths; more is better, never negative */
};

/* For one question, of at most TERMS_QUESTION_BYTES. 0 and *ret, or -ENOMEM. */
int bundle_rank_new(struct str question, struct bundle_rank **ret) MUST_USE;
/* For CLEANUP(); one that is NULL is fine. */
void bundle_rank_free(struct bundle_rank **rank);

/* Adds a text under a number of its own; numbers grow. 0 or -ENOMEM. */
int bundle_rank_add(struct bundle_rank *rank, size_t number, const struct bundle_rank_text *text) MUST_USE;

/* The best of what was added, at most `limit`, which is no more than BUNDLE_RANK_LIMIT: best first, equal ones by number. A question without a word finds nothing. Returns how many. */
size_t bundle_rank_best(const struct bundle_rank *rank, size_t limit, struct bundle_rank_hit *ret_hits);

/* The passage of a text that answers the question best, appended on one line; where no word of it is in the body, its beginning. 0 or -ENOMEM. */
int bundle_rank_excerpt(struct bundle_rank *rank, const struct bundle_rank_text *text, struct buf *out) MUST_USE;

#endif
