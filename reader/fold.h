/* fold.h - the words of a text, and what of each is compared: no case, no accents.
 *
 * A word is a run of letters and digits of any script, and of accents behind its first character. What is compared is the word in lower case
 * without accents, in UTF-8: `Été` is `ete`. Scripts that put no blanks between words have a run for a word. The rules are
 * those of SQLite's tokenizer unicode61, which ranked here first (ADR 0020), so that nobody's answer changed; a test compares both, character by
 * character.
 *
 * Any bytes are fine: what isn't UTF-8 is some character or other, always the same. Pure functions, any thread.
 */
#ifndef ADMITD_READER_FOLD_H
#define ADMITD_READER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"

/* Whether a word can begin with it. */
bool fold_is_word(uint32_t code_point);
/* Whether it is an accent, of which nothing is compared. */
bool fold_is_mark(uint32_t code_point);

/* Reads one character at *at, which is below text.len, and moves *at behind it. */
uint32_t fold_next(struct str text, size_t *at);

/* The next word at *at or behind it: where it begins; *at moves behind it. text.len: there is none. */
size_t fold_word(struct str text, size_t *at);

/* Puts what is compared of the word that begins at `begin` into `out`, at most `size` bytes, and returns its length; more than `size`: it is longer. */
size_t fold_bytes(struct str text, size_t begin, char *out, size_t size);

#endif
