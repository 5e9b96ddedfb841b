/* words_template.h - sentences with facts in them, for the tables of words (chapter 7.4).
 *
 * {fact} is replaced by the fact, or by what stands in for it, and of [one|another|…] the first is written whose facts are all there,
 * or nothing. What a fact brings is never read as a template. Pure, any thread.
 */
#ifndef ADMITD_POLICY_WORDS_TEMPLATE_H
#define ADMITD_POLICY_WORDS_TEMPLATE_H

#include "policy/arena.h"

/* What a table's templates may name. */
struct template_fact {
	const char *name;
	const char *stand_in; /* lower case, with a capital where a sentence begins; NULL: none */
};

struct template_facts {
	const struct template_fact *known;
	const struct str *values; /* one each; no bytes: absent */
	size_t count;
};

/* The template, and `more` behind it. A fact that isn't known, or has neither value nor stand-in outside of brackets, is a mistake of
 * the table. 0 or -ENOMEM; -EMSGSIZE where it is longer than any sentence of ours can be.
 */
int words_template_expand(struct arena *arena, const char *template, const char *more,
	const struct template_facts *facts, struct str *ret_text) MUST_USE;

#endif
