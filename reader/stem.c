#include "reader/stem.h"

#include <stdbool.h>
#include <string.h>

/* A vowel, where `y` is one behind a consonant. */
static bool is_vowel(char byte, bool is_y_vowel)
{
	return byte == 'a' || byte == 'e' || byte == 'i' || byte == 'o' || byte == 'u' || (byte == 'y' && is_y_vowel);
}

/* How many consonants follow a vowel: Porter's m. `y` is what the byte before it isn't. */
static size_t measure(const char *word, size_t len)
{
	size_t i, count = 0;
	bool was_consonant = false, had_vowel = false;

	for (i = 0; i < len; i++) {
		bool is_consonant = !is_vowel(word[i], was_consonant);

		count += is_consonant && had_vowel && !was_consonant;
		had_vowel |= !is_consonant;
		was_consonant = is_consonant;
	}
	return count;
}

static bool has_vowel(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (is_vowel(word[i], i > 0))
			return true;
	return false;
}

/* Ends in consonant, vowel, consonant, of which the last isn't w, x or y: Porter's *o. */
static bool ends_short(const char *word, size_t len)
{
	bool last[3] = {false};
	size_t i;

	if (len < 3 || strchr("wxy", word[len - 1]) != NULL)
		return false;
	for (i = 0; i < len; i++) {
		last[0] = last[1];
		last[1] = last[2];
		last[2] = !is_vowel(word[i], last[2]);
	}
	return last[0] && !last[1] && last[2];
}

static bool has_ending(const char *word, size_t len, const char *ending)
{
	size_t ending_len = strlen(ending);

	return len > ending_len && memcmp(word + len - ending_len, ending, ending_len) == 0;
}

/* An ending, what takes its place, and their lengths. */
struct rule {
	const char *ending;
	const char *instead;
	size_t len;
	size_t instead_len;
};

#define RULE(ending, instead)                                            \
	{                                                                \
		ending, instead, sizeof(ending) - 1, sizeof(instead) - 1 \
	}
#define RULES_END                \
	{                        \
		NULL, NULL, 0, 0 \
	}

/* Its last byte is looked at first: most words have another one. */
static bool fits(const struct rule *rule, const char *word, size_t len)
{
	return len > rule->len && word[len - 1] == rule->ending[rule->len - 1] &&
		memcmp(word + len - rule->len, rule->ending, rule->len) == 0;
}

/* Applies the first rule whose ending the word has, if more than `least` consonants follow a vowel before it. */
static void apply(const struct rule *rules, size_t least, char *word, size_t *len)
{
	const struct rule *rule;

	for (rule = rules; rule->ending != NULL; rule++) {
		size_t rest = *len - rule->len;

		if (!fits(rule, word, *len))
			continue;
		if (measure(word, rest) <= least)
			return;
		memcpy(word + rest, rule->instead, rule->instead_len);
		*len = rest + rule->instead_len;
		return;
	}
}

/* Plurals. */
static void step_1a(const char *word, size_t *len)
{
	if (word[*len - 1] != 's')
		return;
	if (word[*len - 2] == 'e')
		*len -= has_ending(word, *len, "sses") || has_ending(word, *len, "ies") ? 2 : 1;
	else if (word[*len - 2] != 's')
		*len -= 1;
}

static bool cut(const char *word, size_t *len, const char *ending)
{
	size_t rest = *len - strlen(ending);

	if (!has_ending(word, *len, ending) || !has_vowel(word, rest))
		return false;
	*len = rest;
	return true;
}

/* What is left without -ed or -ing gets back what it lost before them. */
static void mend(char *word, size_t *len)
{
	char last = word[*len - 1];

	if (has_ending(word, *len, "at") || has_ending(word, *len, "bl") || has_ending(word, *len, "iz"))
		word[(*len)++] = 'e';
	else if (*len > 1 && !is_vowel(last, false) && strchr("lsz", last) == NULL && last == word[*len - 2])
		(*len)--;
	else if (measure(word, *len) == 1 && ends_short(word, *len))
		word[(*len)++] = 'e';
}

/* Past tenses. */
static void step_1b(char *word, size_t *len)
{
	if (has_ending(word, *len, "eed"))
		*len -= measure(word, *len - 3) > 0;
	else if (cut(word, len, "ed") || cut(word, len, "ing"))
		mend(word, len);
}

static const struct rule rules_2[] = {RULE("ational", "ate"), RULE("tional", "tion"), RULE("enci", "ence"),
	RULE("anci", "ance"), RULE("izer", "ize"), RULE("logi", "log"), RULE("bli", "ble"), RULE("alli", "al"),
	RULE("entli", "ent"), RULE("eli", "e"), RULE("ousli", "ous"), RULE("ization", "ize"), RULE("ation", "ate"),
	RULE("ator", "ate"), RULE("alism", "al"), RULE("iveness", "ive"), RULE("fulness", "ful"),
	RULE("ousness", "ous"), RULE("aliti", "al"), RULE("iviti", "ive"), RULE("biliti", "ble"), RULES_END};
static const struct rule rules_3[] = {RULE("icate", "ic"), RULE("ative", ""), RULE("alize", "al"), RULE("iciti", "ic"),
	RULE("ical", "ic"), RULE("ful", ""), RULE("ness", ""), RULES_END};
static const struct rule rules_4[] = {RULE("al", ""), RULE("ance", ""), RULE("ence", ""), RULE("er", ""),
	RULE("ic", ""), RULE("able", ""), RULE("ible", ""), RULE("ant", ""), RULE("ement", ""), RULE("ment", ""),
	RULE("ent", ""), RULE("ou", ""), RULE("ism", ""), RULE("ate", ""), RULE("iti", ""), RULE("ous", ""),
	RULE("ive", ""), RULE("ize", ""), RULES_END};

/* What is left of a noun or adjective; -ion goes from behind s and t alone. */
static void step_4(char *word, size_t *len)
{
	size_t rest = *len - 3;

	if (!has_ending(word, *len, "ion"))
		apply(rules_4, 1, word, len);
	else if (strchr("st", word[rest - 1]) != NULL && measure(word, rest) > 1)
		*len = rest;
}

/* A last -e, and the second of two l. */
static void step_5(const char *word, size_t *len)
{
	size_t rest = *len - 1, count;

	if (word[rest] == 'e') {
		count = measure(word, rest);
		if (count > 1 || (count == 1 && !ends_short(word, rest)))
			*len = rest;
	}
	if (*len > 1 && word[*len - 1] == 'l' && word[*len - 2] == 'l' && measure(word, *len - 1) > 1)
		(*len)--;
}

size_t stem_english(char *word, size_t len)
{
	if (len < STEM_LEAST || len > STEM_MOST)
		return len;
	step_1a(word, &len);
	step_1b(word, &len);
	if (word[len - 1] == 'y' && has_vowel(word, len - 1))
		word[len - 1] = 'i';
	apply(rules_2, 0, word, &len);
	apply(rules_3, 0, word, &len);
	step_4(word, &len);
	step_5(word, &len);
	return len;
}
