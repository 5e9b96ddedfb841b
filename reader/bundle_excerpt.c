/* FTS5's snippet(), made linear: windows of so many words around what is met, and from the beginnings of sentences. */
#include "reader/bundle_excerpt.h"

#include <errno.h>
#include <stdlib.h>

#include "policy/cleanup.h"
#include "reader/fold.h"

enum { FIRST_MET = 1000, MET_AGAIN = 1, OF_SENTENCE = 100, OF_FIRST_SENTENCE = 120 };

/* Where a word of the question stands, and which phrases begin with it. */
struct place {
	size_t position;
	uint64_t phrases;
};

struct body {
	struct terms *terms;
	struct str text;
	size_t window; /* words of the excerpt */
	size_t words;  /* of the body */
	struct place *places;
	size_t place_count, place_size;
	size_t *sentences; /* positions of the words that begin one */
	size_t sentence_count, sentence_size;
};

static void body_release(struct body *body)
{
	free(body->places);
	free(body->sentences);
}

/* A larger array if `count` items fill it. */
static void *with_room(void *items, size_t count, size_t *size, size_t item_size)
{
	void *larger;

	if (count < *size)
		return items;
	larger = reallocarray(items, *size == 0 ? 64 : *size * 2, item_size);
	if (larger != NULL)
		*size = *size == 0 ? 64 : *size * 2;
	return larger;
}

/* ---- what is where */

/* A full stop or colon, then white space, then the word that begins there. */
static bool begins_sentence(struct str text, size_t begin)
{
	size_t at = begin;

	while (at > 0 &&
		(text.bytes[at - 1] == ' ' || text.bytes[at - 1] == '\t' || text.bytes[at - 1] == '\n' ||
			text.bytes[at - 1] == '\r'))
		at--;
	return at > 0 && at < begin && (text.bytes[at - 1] == '.' || text.bytes[at - 1] == ':');
}

static int add_sentence(struct body *body)
{
	size_t *sentences = with_room(body->sentences, body->sentence_count, &body->sentence_size, sizeof(*sentences));

	if (sentences == NULL)
		return -ENOMEM;
	body->sentences = sentences;
	body->sentences[body->sentence_count++] = body->words;
	return 0;
}

/* The word belongs to the question; `ended` are the phrases that are met with it, each of which began some words ago. */
static int add_place(struct body *body, uint64_t ended)
{
	struct place *places = with_room(body->places, body->place_count, &body->place_size, sizeof(*places));

	if (places == NULL)
		return -ENOMEM;
	body->places = places;
	body->places[body->place_count++] = (struct place){body->words, 0};
	for (; ended != 0; ended &= ended - 1) {
		size_t phrase = (size_t)__builtin_ctzll(ended);

		body->places[body->place_count - terms_phrase_words(body->terms, phrase)].phrases |= 1ull << phrase;
	}
	return 0;
}

static int add_word(struct body *body, size_t begin)
{
	uint64_t ended = 0;
	int result = 0;

	if (body->words == 0 || begins_sentence(body->text, begin))
		result = add_sentence(body);
	if (result == 0 && terms_meet(body->terms, body->text, begin, body->words, &ended))
		result = add_place(body, ended);
	body->words++;
	return result;
}

static int read_body(struct body *body)
{
	size_t at = 0, begin;
	int result = 0;

	terms_begin(body->terms);
	while (result == 0 && (begin = fold_word(body->text, &at)) < body->text.len)
		result = add_word(body, begin);
	return result;
}

/* ---- which passage */

struct window {
	size_t score;
	size_t first; /* position of the first phrase that is met in it */
	size_t end;   /* behind the last one */
};

/* What is met from a position on; `from` is the first place there. */
static struct window window_at(const struct body *body, size_t position, size_t from)
{
	struct window window = {0};
	uint64_t seen = 0;
	size_t i;

	for (i = from; i < body->place_count && body->places[i].position < position + body->window; i++) {
		uint64_t phrases = body->places[i].phrases;
		size_t again = (size_t)__builtin_popcountll(phrases & seen);
		size_t first = (size_t)__builtin_popcountll(phrases & ~seen);

		if (phrases == 0)
			continue;
		if (seen == 0)
			window.first = body->places[i].position;
		window.score += first * FIRST_MET + again * MET_AGAIN;
		window.end = body->places[i].position +
			terms_phrase_words(body->terms, 63 - (size_t)__builtin_clzll(phrases));
		seen |= phrases;
	}
	return window;
}

/* Where an excerpt begins that has what is met in its middle. */
static size_t middled(const struct body *body, struct window window)
{
	int64_t words = (int64_t)body->window, all = (int64_t)body->words;
	int64_t begin = (int64_t)window.first - (words - (int64_t)(window.end - window.first)) / 2;

	if (begin + words > all)
		begin = all - words;
	return begin < 0 ? 0 : (size_t)begin;
}

struct best {
	size_t score;
	size_t begin;
};

static void better(struct best *best, size_t score, size_t begin)
{
	if (score > best->score)
		*best = (struct best){score, begin};
}

/* The first place at a position or behind it, among those up to `at`. */
static size_t place_from(const struct body *body, size_t position, size_t at)
{
	while (at > 0 && body->places[at - 1].position >= position)
		at--;
	return at;
}

/* The window from the beginning of the sentence that a place lies in. */
static void try_sentence(const struct body *body, size_t at, size_t sentence, struct best *best)
{
	size_t from = place_from(body, sentence, at);
	size_t bonus = sentence == 0 ? OF_FIRST_SENTENCE : OF_SENTENCE;

	better(best, window_at(body, sentence, from).score + bonus, sentence);
}

static size_t best_begin(const struct body *body)
{
	struct best best = {0, 0};
	size_t i, sentence = 0, tried = SIZE_MAX;

	for (i = 0; i < body->place_count; i++) {
		size_t position = body->places[i].position;
		struct window window;

		if (body->places[i].phrases == 0)
			continue;
		window = window_at(body, position, i);
		better(&best, window.score, middled(body, window));
		while (sentence + 1 < body->sentence_count && body->sentences[sentence + 1] <= position)
			sentence++;
		if (body->words > body->window && body->sentences[sentence] < position && tried != sentence) {
			try_sentence(body, i, body->sentences[sentence], &best);
			tried = sentence;
		}
	}
	return best.begin;
}

/* The text of the words from `begin` on, up to its end or for as many as fit. */
static void cut(const struct body *body, size_t begin, struct bundle_excerpt *ret)
{
	size_t at = 0, word = 0, from = 0, end = begin + body->window;

	*ret = (struct bundle_excerpt){.is_beginning = begin == 0, .is_end = end >= body->words};
	for (; word < begin + 1 && begin > 0; word++)
		from = fold_word(body->text, &at);
	for (; word < end && !ret->is_end; word++)
		(void)fold_word(body->text, &at);
	ret->part = (struct str){body->text.bytes + from, (ret->is_end ? body->text.len : at) - from};
}

int bundle_excerpt_find(struct terms *terms, struct str body_text, size_t words, struct bundle_excerpt *ret)
{
	CLEANUP(body_release) struct body body = {.terms = terms, .text = body_text, .window = words};
	int result = read_body(&body);

	if (result == 0)
		cut(&body, best_begin(&body), ret);
	return result;
}
