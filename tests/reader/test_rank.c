/* Ranking and excerpts are those of SQLite's FTS5, which ranked here before: the same words, the same stems, the same scores and order, the same
 * passages; over every character there is, words with every ending that a stem loses, texts and questions of many scripts made by chance, and
 * the real bundles. ADMITD_SLOW=1 goes on for longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/fold.h"
#include "reader/stem.h"
#include "reader/terms.h"
#include "tests/reader/fts5_peer.h"

static struct fts5_peer *peer;

static int setup(void **state)
{
	(void)state;
	peer = fts5_peer_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fts5_peer_free(peer);
	return 0;
}

static size_t rounds(size_t usual)
{
	return getenv("ADMITD_SLOW") != NULL ? usual * 20 : usual;
}

/* ---- chance, the same each time */

static uint64_t chance_state = 88172645463325252ull;

static size_t chance(size_t below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (size_t)(chance_state >> 11) % below;
}

#define ANY(list) (list)[chance(sizeof(list) / sizeof((list)[0]))]

static const char *const endings[] = {"ational", "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli",
	"eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti",
	"biliti", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able",
	"ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "ed",
	"eed", "ing", "s", "es", "ies", "sses", "y", "ly", "ity", "ee", "ll", "le", "at", "bl", "iz", ""};

static void put_stem_word(struct buf *out)
{
	size_t letters = 1 + chance(7), more = chance(4);

	while (letters-- > 0)
		buf_putc(out, "abcdeiouylstzwxrnDEY"[chance(20)]);
	while (more-- > 0)
		buf_puts(out, ANY(endings));
}

/* Words that are met often enough for phrases, ties and both halves of the texts. */
static void put_common_word(struct buf *out)
{
	static const char *const words[] = {"churn", "Churn", "CHURNED", "customer", "customers", "retention", "retain",
		"retained", "a", "an", "the", "of", "is", "Table", "tables", "don\xE2\x80\x99t", "don't",
		"na\xC3\xAFve", "naive", "\xC3\x89t\xC3\xA9", "ete", "e\xCC\x81te",
		"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", "\xE6\x97\xA5\xE6\x9C\xAC",
		"\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82", "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82",
		"stra\xC3\x9F"
		"e",
		"\xC4\xB0stanbul", "user_id", "2026-07-01", "x\xE2\x80\x94y", "well\xE2\x80\x94known\xE2\x80\x94thing",
		"\xE2\x80\x94", "\xF0\x9F\x90\x9D",
		"a\xE2\x80\x99"
		"a",
		"aing", "ays", "ai", "ay", "ies", "NEAR", "OR", "AND", "NOT", "\"quoted\"", "prefix*", "^first",
		"title:", "(col", "\xF0\x90\x90\x80\xF0\x90\x90\xA8"};

	buf_puts(out, ANY(words));
}

static void put_character(struct buf *out, uint32_t point)
{
	char bytes[4] = {(char)(0xF0 | point >> 18), (char)(0x80 | (point >> 12 & 0x3F)),
		(char)(0x80 | (point >> 6 & 0x3F)), (char)(0x80 | (point & 0x3F))};

	if (point < 0x80)
		buf_putc(out, (char)point);
	else if (point < 0x800)
		buf_putc(out, (char)(0xC0 | point >> 6)), buf_putc(out, bytes[3]);
	else if (point < 0x10000)
		buf_putc(out, (char)(0xE0 | point >> 12)), buf_add(out, bytes + 2, 2);
	else
		buf_add(out, bytes, 4);
}

static void put_any_word(struct buf *out)
{
	size_t kind = chance(12), i;

	if (kind == 0)
		put_stem_word(out);
	else if (kind == 1)
		for (i = chance(6); i > 0; i--)
			put_character(out, 1 + (uint32_t)chance(i % 2 == 0 ? 0x300 : 0xD7FE));
	else if (kind == 2)
		for (i = chance(90); i > 0; i--)
			buf_putc(out, (char)('a' + chance(3)));
	else
		put_common_word(out);
}

static void put_text(struct buf *out, size_t words)
{
	static const char *const between[] = {
		" ", " ", " ", " ", " ", " ", ", ", ". ", ".\n\n", ": ", ":  \t", "\r\n", "-", "/", ""};

	while (words-- > 0) {
		put_any_word(out);
		buf_puts(out, ANY(between));
	}
}

static void put_bytes(struct buf *out, size_t count)
{
	while (count-- > 0)
		buf_putc(out, (char)(chance(3) == 0 ? 'a' + chance(26) : 1 + chance(255)));
}

/* ---- words */

/* What is compared word by word as the peer tells them. */
struct comparing {
	struct str text;
	size_t at;
	size_t words;
};

static int compare_word(void *arg, int flags, const char *word, int len, int begin, int end)
{
	struct comparing *comparing = arg;
	char ours[8192];
	size_t ours_begin = fold_word(comparing->text, &comparing->at);
	size_t ours_len = fold_bytes(comparing->text, ours_begin, ours, sizeof(ours));

	(void)flags;
	assert_int_equal(ours_begin, begin);
	assert_int_equal(comparing->at, end);
	assert_true(ours_len <= sizeof(ours));
	ours_len = stem_english(ours, ours_len);
	assert_int_equal(ours_len, len);
	assert_memory_equal(ours, word, ours_len);
	comparing->words++;
	return 0;
}

/* Ours and the peer's, and that counting finds as many as looking at each. */
static void compare_words(struct str text)
{
	struct comparing comparing = {.text = text};
	CLEANUP(terms_free) struct terms *terms = NULL;
	uint32_t counts[TERMS_PHRASES] = {0};

	fts5_peer_words(peer, text, compare_word, &comparing);
	assert_int_equal(fold_word(text, &comparing.at), text.len);
	assert_int_equal(terms_new(STR("nothing"), &terms), 0);
	assert_int_equal(terms_count(terms, text, 1, counts), comparing.words);
}

static void every_character_is_part_of_the_same_words_and_folds_into_the_same(void **state)
{
	CLEANUP(buf_release) struct buf text = {0};

	(void)state;
	buf_init(&text, 1 << 20);
	for (uint32_t point = 1; point < 0x110000; point++) {
		if (point >= 0xD800 && point < 0xE000)
			continue;
		buf_putc(&text, 'x');
		put_character(&text, point);
		buf_puts(&text, "y ");
		put_character(&text, point);
		buf_putc(&text, '.');
		if (point % 1024 != 1023)
			continue;
		compare_words(buf_str(&text));
		buf_reset(&text);
	}
}

static void words_lose_the_same_endings(void **state)
{
	CLEANUP(buf_release) struct buf text = {0};

	(void)state;
	buf_init(&text, 1 << 20);
	for (size_t i = rounds(200); i > 0; i--) {
		for (size_t words = 200; words > 0; words--) {
			put_stem_word(&text);
			buf_putc(&text, ' ');
		}
		compare_words(buf_str(&text));
		buf_reset(&text);
	}
}

/* What stem.h promises of them, by which most words of a text are passed over. */
static void a_stem_is_a_beginning_of_its_word_but_for_its_end(void **state)
{
	CLEANUP(buf_release) struct buf text = {0};
	char word[256];

	(void)state;
	buf_init(&text, 1 << 20);
	for (size_t i = rounds(40000); i > 0; i--) {
		size_t len, known;

		buf_reset(&text);
		put_stem_word(&text);
		len = fold_bytes(buf_str(&text), 0, word, sizeof(word));
		memcpy(text.bytes, word, len);
		len = stem_english(word, len);
		known = len < 5 ? len - 1 : len - 2;
		assert_true(len <= text.len && len > 0);
		assert_memory_equal(word, text.bytes, known);
		if (len <= 3)
			assert_true(
				word[known] == text.bytes[known] || (word[known] == 'i' && text.bytes[known] == 'y'));
	}
}

static void any_bytes_have_the_same_words(void **state)
{
	CLEANUP(buf_release) struct buf text = {0};

	(void)state;
	buf_init(&text, 1 << 20);
	for (size_t i = rounds(300); i > 0; i--) {
		put_bytes(&text, chance(3000));
		compare_words(buf_str(&text));
		buf_reset(&text);
		put_text(&text, chance(400));
		compare_words(buf_str(&text));
		buf_reset(&text);
	}
}

/* ---- ranking */

enum { TEXTS = 60, PARTS = 4 };

struct corpus {
	struct buf parts[TEXTS][PARTS];
	struct bundle_rank_text texts[TEXTS];
	size_t count;
};

static void corpus_init(struct corpus *corpus)
{
	for (size_t i = 0; i < TEXTS; i++)
		for (size_t part = 0; part < PARTS; part++)
			buf_init(&corpus->parts[i][part], 1 << 22);
	corpus->count = 0;
}

static void corpus_release(struct corpus *corpus)
{
	for (size_t i = 0; i < TEXTS; i++)
		for (size_t part = 0; part < PARTS; part++)
			buf_release(&corpus->parts[i][part]);
}

static void corpus_take(struct corpus *corpus)
{
	struct buf *parts = corpus->parts[corpus->count];

	corpus->texts[corpus->count++] = (struct bundle_rank_text){
		buf_str(&parts[0]), buf_str(&parts[1]), buf_str(&parts[2]), buf_str(&parts[3])};
}

static void compare_excerpt(struct bundle_rank *rank, struct str question, const struct bundle_rank_text *text)
{
	CLEANUP(buf_release) struct buf ours = {0};
	CLEANUP(buf_release) struct buf theirs = {0};
	CLEANUP(buf_release) struct buf line = {0};
	bool was_blank = true;

	buf_init(&ours, 1 << 20);
	buf_init(&theirs, 1 << 24);
	buf_init(&line, 1 << 20);
	assert_int_equal(bundle_rank_excerpt(rank, text, &ours), 0);
	fts5_peer_excerpt(peer, question, text, &theirs);
	if (theirs.len > BUNDLE_RANK_EXCERPT_BYTES)
		for (theirs.len = BUNDLE_RANK_EXCERPT_BYTES; ((unsigned char)theirs.bytes[theirs.len] & 0xC0) == 0x80;)
			theirs.len--;
	for (size_t i = 0; i < theirs.len; i++) {
		bool is_blank = (unsigned char)theirs.bytes[i] <= ' ' || theirs.bytes[i] == 0x7F;

		if (!is_blank || !was_blank)
			buf_putc(&line, is_blank ? ' ' : theirs.bytes[i]);
		was_blank = is_blank;
	}
	assert_int_equal(ours.len, line.len);
	if (ours.len > 0)
		assert_memory_equal(ours.bytes, line.bytes, line.len);
}

/* Hits and passages of one question, ours and the peer's. How many hits. */
static size_t compare_question(const struct corpus *corpus, struct str question)
{
	struct bundle_rank_hit ours[BUNDLE_RANK_LIMIT], theirs[BUNDLE_RANK_LIMIT];
	CLEANUP(bundle_rank_free) struct bundle_rank *rank = NULL;
	size_t limit = 1 + chance(BUNDLE_RANK_LIMIT), count;

	assert_int_equal(bundle_rank_new(question, &rank), 0);
	for (size_t i = 0; i < corpus->count; i++)
		assert_int_equal(bundle_rank_add(rank, i, &corpus->texts[i]), 0);
	count = bundle_rank_best(rank, limit, ours);
	assert_int_equal(count, fts5_peer_best(peer, question, limit, theirs));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ours[i].number, theirs[i].number);
		assert_int_equal(ours[i].score_milli, theirs[i].score_milli);
		compare_excerpt(rank, question, &corpus->texts[ours[i].number]);
	}
	compare_excerpt(rank, question, &corpus->texts[chance(corpus->count)]);
	return count;
}

/* The peer knows the texts once for many questions. */
static void fill_peer(const struct corpus *corpus)
{
	fts5_peer_clear(peer);
	for (size_t i = 0; i < corpus->count; i++)
		fts5_peer_add(peer, i, &corpus->texts[i]);
}

static void make_corpus(struct corpus *corpus)
{
	static const size_t most[PARTS] = {6, 20, 4, 160};
	size_t count = 1 + chance(TEXTS);

	while (corpus->count < count) {
		for (size_t part = 0; part < PARTS; part++)
			put_text(&corpus->parts[corpus->count][part], chance(most[part]));
		if (chance(8) == 0)
			put_bytes(
				&corpus->parts[corpus->count][0], 20); /* a title that is a file's name has any bytes */
		corpus_take(corpus);
	}
}

static void make_question(struct buf *question)
{
	buf_reset(question);
	put_text(question, chance(5) == 0 ? 1 + chance(120) : 1 + chance(8));
	if (question->len > TERMS_QUESTION_BYTES)
		question->len = TERMS_QUESTION_BYTES;
}

static void texts_made_by_chance_rank_the_same_with_the_same_passages(void **state)
{
	CLEANUP(buf_release) struct buf question = {0};
	size_t found = 0;

	(void)state;
	buf_init(&question, 1 << 20);
	for (size_t i = rounds(15); i > 0; i--) {
		struct corpus corpus CLEANUP(corpus_release) = {0};

		corpus_init(&corpus);
		make_corpus(&corpus);
		fill_peer(&corpus);
		for (size_t asked = 0; asked < 20; asked++) {
			make_question(&question);
			found += compare_question(&corpus, buf_str(&question));
		}
	}
	assert_true(found > 100);
}

/* ---- the real bundles */

static struct corpus *real;

static int read_page(const char *path, const struct stat *status, int type, struct FTW *where)
{
	size_t len = strlen(path);
	FILE *file = NULL;
	char bytes[4096];
	struct buf *body;

	(void)status;
	if (type != FTW_F || len < 3 || strcmp(path + len - 3, ".md") != 0 || real->count == TEXTS)
		return 0;
	body = &real->parts[real->count][3];
	file = fopen(path, "r");
	CHECK(file != NULL);
	for (size_t some; (some = fread(bytes, 1, sizeof(bytes), file)) > 0;)
		buf_add(body, bytes, some);
	CHECK(fclose(file) == 0);
	buf_puts(&real->parts[real->count][0], path + where->base);
	corpus_take(real);
	return 0;
}

/* Some words of a text, from wherever. */
static void quote(const struct corpus *corpus, struct buf *question)
{
	buf_reset(question);
	for (size_t i = 1 + chance(7); i > 0; i--) {
		struct str body = corpus->texts[chance(corpus->count)].body;
		size_t at = chance(body.len), begin = fold_word(body, &at);

		buf_add(question, body.bytes + begin, at - begin);
		buf_putc(question, ' ');
	}
}

static void the_real_bundles_rank_the_same_with_the_same_passages(void **state)
{
	struct corpus corpus CLEANUP(corpus_release) = {0};
	CLEANUP(buf_release) struct buf question = {0};
	size_t found = 0;

	(void)state;
	buf_init(&question, 1 << 20);
	corpus_init(&corpus);
	real = &corpus;
	assert_int_equal(nftw(TEST_BUNDLES, read_page, 16, FTW_PHYS), 0);
	assert_int_equal(corpus.count, TEXTS);
	fill_peer(&corpus);
	for (size_t i = rounds(100); i > 0; i--) {
		quote(&corpus, &question);
		found += compare_question(&corpus, buf_str(&question));
	}
	assert_true(found > 500);
}

/* ---- what one text may cost */

static void a_text_of_one_word_over_and_over_is_read_once(void **state)
{
	CLEANUP(bundle_rank_free) struct bundle_rank *rank = NULL;
	struct bundle_rank_hit hits[BUNDLE_RANK_LIMIT];
	CLEANUP(buf_release) struct buf body = {0};
	CLEANUP(buf_release) struct buf excerpt = {0};
	struct bundle_rank_text text = {.title = STR("Much")};

	(void)state;
	buf_init(&body, 1 << 22);
	buf_init(&excerpt, 1 << 20);
	while (body.len < 1 << 20)
		buf_puts(&body, "a. ");
	text.body = buf_str(&body);
	assert_int_equal(bundle_rank_new(STR("a A a\xE2\x80\x99"
					     "a a\xE2\x80\x99"
					     "a\xE2\x80\x99"
					     "a"),
				 &rank),
		0);
	assert_int_equal(bundle_rank_add(rank, 7, &text), 0);
	assert_int_equal(bundle_rank_best(rank, 10, hits), 1);
	assert_int_equal(hits[0].number, 7);
	assert_int_equal(bundle_rank_excerpt(rank, &text, &excerpt), 0);
	assert_true(excerpt.len < BUNDLE_RANK_EXCERPT_BYTES);
}

static void a_question_of_the_longest_length_is_asked(void **state)
{
	CLEANUP(buf_release) struct buf question = {0};
	struct corpus corpus CLEANUP(corpus_release) = {0};

	(void)state;
	buf_init(&question, 1 << 20);
	corpus_init(&corpus);
	make_corpus(&corpus);
	while (question.len + 4 <= TERMS_QUESTION_BYTES)
		buf_puts(&question, chance(9) == 0 ? "b c " : "a\xE2\x80\x99");
	buf_puts(&corpus.parts[0][3], question.bytes);
	corpus.texts[0].body = buf_str(&corpus.parts[0][3]);
	fill_peer(&corpus);
	assert_true(compare_question(&corpus, buf_str(&question)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_character_is_part_of_the_same_words_and_folds_into_the_same),
		cmocka_unit_test(words_lose_the_same_endings),
		cmocka_unit_test(a_stem_is_a_beginning_of_its_word_but_for_its_end),
		cmocka_unit_test(any_bytes_have_the_same_words),
		cmocka_unit_test(texts_made_by_chance_rank_the_same_with_the_same_passages),
		cmocka_unit_test(the_real_bundles_rank_the_same_with_the_same_passages),
		cmocka_unit_test(a_text_of_one_word_over_and_over_is_read_once),
		cmocka_unit_test(a_question_of_the_longest_length_is_asked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
