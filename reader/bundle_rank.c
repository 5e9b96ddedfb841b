/* What is kept of each text, and the score that follows when all are known. */
#include "reader/bundle_rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/bundle_excerpt.h"
#include "reader/terms.h"

enum { COLUMNS = 4 };

static const uint32_t weights[COLUMNS] = {8, 4, 4, 1};

/* A text that has a phrase. */
struct row {
	size_t number;
	size_t words; /* of all its parts */
	size_t first; /* its counts */
	size_t count;
};

/* How often a text has a phrase, by the weight of the parts. */
struct share {
	uint32_t phrase;
	uint32_t frequency;
};

struct bundle_rank {
	struct terms *terms;
	struct row *rows;
	size_t row_count, row_size;
	struct share *shares;
	size_t share_count, share_size;
	size_t texts, words;             /* of all that were added */
	size_t rows_with[TERMS_PHRASES]; /* how many texts have a phrase */
};

int bundle_rank_new(struct str question, struct bundle_rank **ret)
{
	CLEANUP(bundle_rank_free) struct bundle_rank *rank = calloc(1, sizeof(*rank));
	int result;

	if (rank == NULL)
		return -ENOMEM;
	result = terms_new(question, &rank->terms);
	if (result == 0)
		*ret = TAKE(rank);
	return result;
}

void bundle_rank_free(struct bundle_rank **rank)
{
	if (*rank == NULL)
		return;
	terms_free(&(*rank)->terms);
	free((*rank)->rows);
	free((*rank)->shares);
	free(*rank);
	*rank = NULL;
}

/* Room for `more` behind `count`. */
static int make_room(void **items, size_t count, size_t more, size_t *size, size_t item_size)
{
	size_t wanted = *size == 0 ? 256 : *size;
	void *larger;

	while (wanted < count + more)
		wanted *= 2;
	if (wanted == *size)
		return 0;
	larger = reallocarray(*items, wanted, item_size);
	if (larger == NULL)
		return -ENOMEM;
	*items = larger;
	*size = wanted;
	return 0;
}

static size_t count_all(struct terms *terms, const struct bundle_rank_text *text, uint32_t counts[static TERMS_PHRASES])
{
	const struct str columns[COLUMNS] = {text->title, text->description, text->tags, text->body};
	size_t i, words = 0;

	for (i = 0; i < COLUMNS; i++)
		words += terms_count(terms, columns[i], weights[i], counts);
	return words;
}

static void keep(struct bundle_rank *rank, size_t number, size_t words, const uint32_t counts[static TERMS_PHRASES])
{
	struct row row = {number, words, rank->share_count, 0};
	uint32_t i;

	for (i = 0; i < TERMS_PHRASES; i++) {
		if (counts[i] == 0)
			continue;
		rank->shares[rank->share_count++] = (struct share){i, counts[i]};
		rank->rows_with[i]++;
		row.count++;
	}
	if (row.count > 0)
		rank->rows[rank->row_count++] = row;
}

int bundle_rank_add(struct bundle_rank *rank, size_t number, const struct bundle_rank_text *text)
{
	uint32_t counts[TERMS_PHRASES] = {0};
	void *rows = rank->rows, *shares = rank->shares;
	size_t words = count_all(rank->terms, text, counts);
	int result = make_room(&rows, rank->row_count, 1, &rank->row_size, sizeof(*rank->rows));

	rank->rows = rows;
	if (result == 0)
		result = make_room(&shares, rank->share_count, TERMS_PHRASES, &rank->share_size, sizeof(*rank->shares));
	rank->shares = shares;
	if (result != 0)
		return result;
	rank->texts++;
	rank->words += words;
	keep(rank, number, words, counts);
	return 0;
}

/* What a phrase weighs that so many of all texts have. One that more than half of them have weighs next to nothing. */
static double weight_of(const struct bundle_rank *rank, size_t phrase)
{
	double with = (double)rank->rows_with[phrase], all = (double)rank->texts;
	double weight = log((all - with + 0.5) / (with + 0.5));

	return weight <= 0.0 ? 1e-6 : weight;
}

/* BM25 with the usual k1 and b. What is multiplied when is FTS5's, as two scores may differ in their last bit alone. */
static double score_of(
	const struct bundle_rank *rank, const struct row *row, const double phrase_weights[static TERMS_PHRASES])
{
	const double k1 = 1.2, b = 0.75;
	double usual = (double)rank->words / (double)rank->texts, words = (double)row->words, score = 0.0;
	size_t i;

	for (i = row->first; i < row->first + row->count; i++) {
		double frequency = rank->shares[i].frequency;

		score += phrase_weights[rank->shares[i].phrase] *
			((frequency * (k1 + 1.0)) / (frequency + k1 * (1 - b + b * words / usual)));
	}
	return score;
}

static int64_t milli(double score)
{
	score *= 1000.0;
	return score > 0 && score < 1e15 ? (int64_t)(score + 0.5) : 0;
}

struct scored {
	double score;
	size_t number;
};

/* Puts one among the best, which are sorted; what falls off the end is forgotten. Texts come by their numbers, so an equal one stays behind. */
static void insert(struct scored *best, size_t *count, size_t limit, struct scored scored)
{
	size_t at = *count;

	while (at > 0 && best[at - 1].score < scored.score)
		at--;
	if (at >= limit)
		return;
	*count += *count < limit;
	memmove(&best[at + 1], &best[at], (*count - 1 - at) * sizeof(*best));
	best[at] = scored;
}

size_t bundle_rank_best(const struct bundle_rank *rank, size_t limit, struct bundle_rank_hit *ret_hits)
{
	double phrase_weights[TERMS_PHRASES];
	struct scored best[BUNDLE_RANK_LIMIT];
	size_t i, count = 0;

	CHECK(limit <= BUNDLE_RANK_LIMIT);
	for (i = 0; i < TERMS_PHRASES; i++)
		phrase_weights[i] = weight_of(rank, i);
	for (i = 0; i < rank->row_count; i++)
		insert(best, &count, limit,
			(struct scored){score_of(rank, &rank->rows[i], phrase_weights), rank->rows[i].number});
	for (i = 0; i < count; i++)
		ret_hits[i] = (struct bundle_rank_hit){best[i].number, milli(best[i].score)};
	return count;
}

/* ---- excerpts */

/* On one line, runs of white space as one blank. */
static void add_line(struct buf *out, struct str text)
{
	size_t i;
	bool was_blank = true;

	for (i = 0; i < text.len; i++) {
		bool is_blank = (unsigned char)text.bytes[i] <= ' ' || text.bytes[i] == 0x7F;

		if (!is_blank)
			buf_putc(out, text.bytes[i]);
		else if (!was_blank)
			buf_putc(out, ' ');
		was_blank = is_blank;
	}
}

/* Not longer than an excerpt may be, cut between two characters. */
static struct str shortened(struct str text)
{
	if (text.len > BUNDLE_RANK_EXCERPT_BYTES)
		for (text.len = BUNDLE_RANK_EXCERPT_BYTES;
			text.len > 0 && ((unsigned char)text.bytes[text.len] & 0xC0) == 0x80;)
			text.len--;
	return text;
}

static void add_passage(struct buf *out, const struct bundle_excerpt *excerpt)
{
	static const char left_out[] = " \xE2\x80\xA6 ";

	if (!excerpt->is_beginning)
		buf_puts(out, left_out);
	buf_add_str(out, excerpt->part);
	if (!excerpt->is_end)
		buf_puts(out, left_out);
}

int bundle_rank_excerpt(struct bundle_rank *rank, const struct bundle_rank_text *text, struct buf *out)
{
	struct bundle_excerpt excerpt = {.part = text->body, .is_beginning = true, .is_end = true};
	uint32_t counts[TERMS_PHRASES] = {0};
	CLEANUP(buf_release) struct buf passage = {0};
	bool is_met = false;
	int result = 0;

	(void)count_all(rank->terms, text, counts);
	for (size_t i = 0; i < TERMS_PHRASES; i++)
		is_met |= counts[i] > 0;
	if (is_met)
		result = bundle_excerpt_find(rank->terms, text->body, BUNDLE_RANK_EXCERPT, &excerpt);
	buf_init(&passage, SIZE_MAX / 4);
	add_passage(&passage, &excerpt);
	if (result == 0)
		result = buf_error(&passage);
	if (result == 0)
		add_line(out, shortened(buf_str(&passage)));
	return result != 0 ? result : buf_error(out);
}
