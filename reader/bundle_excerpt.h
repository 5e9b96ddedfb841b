/* bundle_excerpt.h - the passage of a body that has most of a question; for bundle_rank.c.
 */
#ifndef ADMITD_READER_BUNDLE_EXCERPT_H
#define ADMITD_READER_BUNDLE_EXCERPT_H

#include "reader/terms.h"

struct bundle_excerpt {
	struct str part;   /* of the body; borrowed */
	bool is_beginning; /* nothing is left out before it */
	bool is_end;       /* nothing behind it */
};

/* The `words` words in which most of the question's phrases are met, each of them at least once if that can be; rather from the beginning of a
 * sentence, rather an early one. Where no phrase is met, the first ones. What fits is given whole. Linear in the body. 0 or -ENOMEM. */
int bundle_excerpt_find(struct terms *terms, struct str body, size_t words, struct bundle_excerpt *ret) MUST_USE;

#endif
