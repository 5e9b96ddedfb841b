/* stem.h - the stem of an English word, so that a question finds `retain`, `retained` and `retaining` alike: Porter's algorithm of 1980, as SQLite
 * has it (ADR 0020).
 *
 * Pure function, any thread.
 */
#ifndef ADMITD_READER_STEM_H
#define ADMITD_READER_STEM_H

#include <stddef.h>

enum {
	STEM_LEAST = 3, /* bytes; a shorter word is its own stem, … */
	STEM_MOST = 64, /* … and a longer one */
};

/* Cuts a word in lower case, of any bytes, down to its stem, in place; its new length, which is never more. A byte that is no English vowel counts as
 * a consonant.
 *
 * What a stem of `len` bytes begins with, all words begin with that have it: all but its last byte, and from five on all but its last two;
 * a stem's last byte `i` may have been a `y`. */
size_t stem_english(char *word, size_t len);

#endif
