/* bundle_rank.h - which concepts answer a question best: BM25 over title, description, tags and body (chapter 5.4).
 *
 * An FTS5 table of SQLite in memory, made for one question and dropped behind it: nothing is written anywhere, temporary tables
 * neither. Words are compared without case and accents, by their English stems. A word in the title weighs most, then description
 * and tags, then the body. The only file of this room that sees sqlite3.h. One thread a rank.
 */
#ifndef ADMITD_READER_BUNDLE_RANK_H
#define ADMITD_READER_BUNDLE_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/buf.h"

enum {
	BUNDLE_RANK_TERMS = 64,   /* different words of a question; further ones aren't looked for */
	BUNDLE_RANK_EXCERPT = 32, /* words of an excerpt */
	BUNDLE_RANK_EXCERPT_BYTES = 600,
};

struct bundle_rank;

/* What is looked at. UTF-8; borrowed for the call; absent ones are fine. */
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

/* 0 and *ret, or -ENOMEM. */
int bundle_rank_new(struct bundle_rank **ret) MUST_USE;
/* For CLEANUP(); one that is NULL is fine. */
void bundle_rank_free(struct bundle_rank **rank);

/* Adds a text under a number of its own. 0, -ENOMEM or -EIO. */
int bundle_rank_add(struct bundle_rank *rank, size_t number, const struct bundle_rank_text *text) MUST_USE;

/* The best `limit` for a question of any bytes: best first, equal ones by number. A question without a word finds nothing. 0 and
 * *ret_count hits; -ENOMEM or -EIO.
 */
int bundle_rank_ask(struct bundle_rank *rank, struct str question, size_t limit, struct bundle_rank_hit *ret_hits,
	size_t *ret_count) MUST_USE;

/* The passage of a text that answers the question best, appended on one line; where no word of it is in the body, its beginning. 0,
 * -ENOMEM or -EIO. */
int bundle_rank_excerpt(
	struct bundle_rank *rank, struct str question, const struct bundle_rank_text *text, struct buf *out) MUST_USE;

#endif
