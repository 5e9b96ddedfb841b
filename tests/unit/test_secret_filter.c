/* What a run's child prints, on its way out (chapter 5.7; cases H21 to H25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "agents/secret_filter.h"
#include "policy/redact.h"

struct fixture {
	struct arena arena;
	struct secret_mask mask;
	struct buf out;
};

static struct str text(const char *bytes)
{
	return (struct str){bytes, strlen(bytes)};
}

static int setup(void **state)
{
	static struct fixture fixture;

	assert_true(sodium_init() >= 0);
	assert_int_equal(redact_init(), 0);
	arena_init(&fixture.arena, (size_t)64 << 20);
	buf_init(&fixture.out, (size_t)64 << 20);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	buf_release(&fixture->out);
	arena_release(&fixture->arena);
	return 0;
}

static void knows(struct fixture *fixture, const char *const *secrets)
{
	struct str items[16];
	size_t count = 0;

	for (; secrets[count] != NULL; count++)
		items[count] = text(secrets[count]);
	assert_int_equal(secret_mask_of(&fixture->mask, &fixture->arena, items, count), 0);
}

static struct str filtered(struct fixture *fixture, struct str given, size_t step)
{
	struct secret_filter filter;

	buf_reset(&fixture->out);
	secret_filter_init(&filter, &fixture->mask);
	for (size_t at = 0; at < given.len; at += step) {
		size_t len = given.len - at < step ? given.len - at : step;

		assert_int_equal(secret_filter_feed(&filter, (struct str){given.bytes + at, len}, &fixture->out), 0);
	}
	assert_int_equal(secret_filter_end(&filter, &fixture->out), 0);
	secret_filter_release(&filter);
	return arena_str(&fixture->arena, buf_str(&fixture->out));
}

/* Whatever the pieces, and once more. */
static void becomes(struct fixture *fixture, const char *given, const char *wanted)
{
	static const size_t steps[] = {1, 2, 3, 7, 64, 1000000};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		assert_string_equal(filtered(fixture, text(given), steps[i]).bytes, wanted);
	assert_string_equal(filtered(fixture, text(wanted), 5).bytes, wanted);
}

static void stays(struct fixture *fixture, const char *given)
{
	becomes(fixture, given, given);
}

/* ---- the run's secrets */

static void a_token_is_masked_and_the_words_around_it_survive(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){"tok-abcdef", NULL});
	becomes(fixture, "production: using tok-abcdef now\n", "production: using *** now\n");
	becomes(fixture, "tok-abcdef", "***");
	becomes(fixture, "  x\ttok-abcdef\r\nnext\n", "  x\t***\r\nnext\n");
	stays(fixture, "tok-abcde\ntok-\nabcdef\n");
}

static void the_longest_goes_first_whatever_the_order_they_were_given_in(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){"abcdef", "abcdef123456", NULL});
	becomes(fixture, "<abcdef123456> <abcdef>\n", "<***> <***>\n");
	knows(fixture, (const char *const[]){"abcdef123456", "abcdef", NULL});
	becomes(fixture, "<abcdef123456> <abcdef>\n", "<***> <***>\n");
}

static void secrets_that_overlap_are_one_mask(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){"abcdef", "defghi123456", NULL});
	becomes(fixture, "<abcdefghi123456>\n", "<***>\n");
	becomes(fixture, "<abcdefabcdef>\n", "<******>\n");
}

static void a_secret_of_several_lines_is_seen_over_their_ends(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){"first-half\nsecond-half", NULL});
	becomes(fixture, "a first-half\nsecond-half b\n", "a *** b\n");
}

static void json_percent_and_base64_are_the_same_secret(void **state)
{
	static const char secret[] = "p\"w/+\xc3\xa4 \xf0\x9f\x98\x80&z9";
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){secret, NULL});
	becomes(fixture, "<p\"w/+\xc3\xa4 \xf0\x9f\x98\x80&z9>\n", "<***>\n");
	becomes(fixture, "<p\\\"w/+\xc3\xa4 \xf0\x9f\x98\x80&z9>\n", "<***>\n");
	becomes(fixture, "<p\\\"w\\/+\xc3\xa4 \xf0\x9f\x98\x80&z9>\n", "<***>\n");
	becomes(fixture, "<p\\\"w/+\\u00e4 \\ud83d\\ude00&z9>\n", "<***>\n");
	becomes(fixture, "<p\\\"w/+\\u00E4 \\uD83D\\uDE00&z9>\n", "<***>\n");
	becomes(fixture, "<p\\\\\\\"w/+\xc3\xa4 \xf0\x9f\x98\x80&z9>\n", "<***>\n");
	becomes(fixture, "<p%22w%2F%2B%C3%A4%20%F0%9F%98%80%26z9>\n", "<***>\n");
	becomes(fixture, "<p%22w%2f%2b%c3%a4%20%f0%9f%98%80%26z9>\n", "<***>\n");
	becomes(fixture, "<p%22w%2F%2B%C3%A4+%F0%9F%98%80%26z9>\n", "<***>\n");
	becomes(fixture, "<p%22w/+%C3%A4%20%F0%9F%98%80&z9>\n", "<***>\n");
}

/* What is left of the secret at either end are four bits. */
static void no_alignment_of_base64_shows_more_than_an_edge(void **state)
{
	static const char *const secrets[] = {"sixsix", "seven77", "eight888", "a-longer-secret-of-many-bytes"};
	static const int variants[] = {sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_URLSAFE_NO_PADDING};
	struct fixture *fixture = *state;
	char sent[128];
	char encoded[256];

	for (size_t i = 0; i < 4 * 3 * 4 * 2; i++) {
		const char *secret = secrets[i % 4];
		int before = (int)(i / 4 % 3);
		int after = (int)(i / 12 % 4);
		int len = snprintf(sent, sizeof(sent), "%.*s%s%.*s", before, "xyz", secret, after, "uvw");
		struct str out;

		knows(fixture, (const char *const[]){secret, NULL});
		sodium_bin2base64(encoded, sizeof(encoded), (const unsigned char *)sent, (size_t)len, variants[i / 48]);
		out = filtered(fixture, text(encoded), 5);
		assert_non_null(strstr(out.bytes, "***"));
		/* Beside the mask: two or three characters in front, at most five and padding behind. */
		assert_true(out.len <= 3 + 3 + 7);
	}
}

static void a_secret_with_a_colour_in_it_is_seen(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){"tok-abcdef", NULL});
	becomes(fixture, "a tok-\x1b[1mabc\x1b[0mdef b\n", "a *** b\n");
}

/* ---- shapes */

static void the_redactor_looks_at_every_line_too(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){NULL});
	becomes(fixture, "clone https://user:pw@h/x\n", "clone https://***@h/x\n");
	becomes(fixture, "x-access-token:ghs_A\n", "x-access-token:***\n");
	becomes(fixture, "POSTGRES_PASSWORD=hunter2 FATAL\n", "POSTGRES_PASSWORD=*** FATAL\n");
	becomes(fixture, "one\n    token: abc123def   x\ntwo\n", "one\n    token: *** x\ntwo\n");
	stays(fixture, "Author: J <j@x>\n");
}

static void a_line_without_a_secret_leaves_byte_by_byte(void **state)
{
	struct fixture *fixture = *state;
	struct str raw = {"a\0b\xff\xfe\n", 6};
	struct str out;

	knows(fixture, (const char *const[]){"tok-abcdef", NULL});
	stays(fixture, "\x1b[31mred\x1b[0m  two  blanks\t\n\n\n\ttab \r\nno end");
	out = filtered(fixture, raw, 1);
	assert_true(str_equal(out, raw));
	assert_int_equal(filtered(fixture, text(""), 1).len, 0);
}

static void a_private_key_is_masked_up_to_its_end(void **state)
{
	struct fixture *fixture = *state;

	knows(fixture, (const char *const[]){NULL});
	becomes(fixture,
		"before\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n"
		"MIIEpAIBAAKCAQEAx0VabcdefabcdefabcdefABCDEF0123456789+/abcdefghi\n"
		"log: MIIEpAIBAAKCAQEAx0VabcdefabcdefabcdefABCDEF0123456789\nq8=\n"
		"-----END RSA PRIVATE KEY-----\nafter\n",
		"before\n***\n***\n***\n***\n***\n***\n***\nafter\n");
	becomes(fixture, "a -----BEGIN PRIVATE KEY----- is how a key begins\nnot a key: two words\nx\n",
		"a ***\nnot a key: two words\nx\n");
}

/* ---- bounds */

static struct str repeated(struct fixture *fixture, const char *unit, size_t count)
{
	char *bytes = arena_alloc(&fixture->arena, strlen(unit) * count + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < count; i++)
		memcpy(bytes + i * strlen(unit), unit, strlen(unit));
	return (struct str){bytes, strlen(unit) * count};
}

static void a_line_that_is_too_long_is_cut_at_a_blank(void **state)
{
	struct fixture *fixture = *state;
	struct str line = repeated(fixture, "word tok-abcdef  ", SECRET_FILTER_LINE / 8);
	struct str one;
	struct str other;

	knows(fixture, (const char *const[]){"tok-abcdef", NULL});
	one = filtered(fixture, line, 65536);
	other = filtered(fixture, line, 4099);
	assert_true(str_equal(one, other));
	assert_null(memmem(one.bytes, one.len, "tok-", 4));
	assert_non_null(memmem(one.bytes + one.len - 20, 20, "word ***", 8));
}

static void a_word_without_an_end_is_one_mask(void **state)
{
	struct fixture *fixture = *state;
	struct str word = repeated(fixture, "x", 3 * (size_t)SECRET_FILTER_LINE);
	struct str sent = arena_printf(&fixture->arena, "%.*s end\nnext\n", (int)word.len, word.bytes);

	knows(fixture, (const char *const[]){"tok-abcdef", NULL});
	assert_string_equal(filtered(fixture, sent, 65536).bytes, "*** end\nnext\n");
	assert_string_equal(filtered(fixture, sent, 1000003).bytes, "*** end\nnext\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_token_is_masked_and_the_words_around_it_survive, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_longest_goes_first_whatever_the_order_they_were_given_in, setup, teardown),
		cmocka_unit_test_setup_teardown(secrets_that_overlap_are_one_mask, setup, teardown),
		cmocka_unit_test_setup_teardown(a_secret_of_several_lines_is_seen_over_their_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(json_percent_and_base64_are_the_same_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(no_alignment_of_base64_shows_more_than_an_edge, setup, teardown),
		cmocka_unit_test_setup_teardown(a_secret_with_a_colour_in_it_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(the_redactor_looks_at_every_line_too, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_without_a_secret_leaves_byte_by_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(a_private_key_is_masked_up_to_its_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_that_is_too_long_is_cut_at_a_blank, setup, teardown),
		cmocka_unit_test_setup_teardown(a_word_without_an_end_is_one_mask, setup, teardown),
	};

	return cmocka_run_group_tests_name("secret filter", tests, NULL, NULL);
}
