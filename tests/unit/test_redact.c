/* The redactor (chapter 1.10): what it hides, what it leaves alone, and what it costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/redact.h"
#include "policy/redact_internal.h"
#include "tests/unit/redact_table.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static struct str str_of(const char *text)
{
	return (struct str){text, strlen(text)};
}

/* The redacted text; the buffer is the caller's. */
static const char *redacted(struct str text, size_t cap, struct buf *buf)
{
	buf_init(buf, SIZE_MAX / 4);
	assert_int_equal(redact_text(text, cap, buf, NULL), 0);
	return buf_str(buf).bytes;
}

static void assert_redacts_to(const char *text, const char *expected)
{
	struct buf buf CLEANUP(buf_release) = {0};

	assert_string_equal(redacted(str_of(text), REDACT_UNCAPPED, &buf), expected);
}

static void assert_settled(struct str text, size_t cap)
{
	struct buf again CLEANUP(buf_release) = {0};

	redacted(text, cap, &again);
	assert_true(str_equal(text, buf_str(&again)));
	assert_false(redact_finds_secret(text));
}

static void every_secret_of_the_table_is_hidden_and_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < redact_secret_count; i++) {
		assert_redacts_to(redact_secrets[i].text, redact_secrets[i].shown);
		assert_true(redact_finds_secret(str_of(redact_secrets[i].text)));
	}
}

static void what_only_looks_like_a_secret_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < redact_kept_count; i++) {
		assert_redacts_to(redact_kept[i], redact_kept[i]);
		assert_false(redact_finds_secret(str_of(redact_kept[i])));
	}
}

static void redacting_twice_is_redacting_once(void **state)
{
	static const size_t caps[] = {1, 2, 3, 7, 11, 20, 40, REDACT_LABEL, REDACT_UNCAPPED};

	(void)state;
	for (size_t i = 0; i < redact_secret_count; i++)
		for (size_t j = 0; j < COUNT_OF(caps); j++) {
			struct buf buf CLEANUP(buf_release) = {0};

			redacted(str_of(redact_secrets[i].text), caps[j], &buf);
			assert_settled(buf_str(&buf), caps[j]);
		}
}

/* A template with the canary in place of its %s; the caller frees it. */
static char *filled(const char *template, size_t canary_len)
{
	const char *hole = strstr(template, "%s");
	size_t before = (size_t)(hole - template), len = strlen(template) - 2 + canary_len;
	char *text = malloc(len + 1);

	assert_non_null(text);
	memcpy(text, template, before);
	for (size_t i = 0; i < canary_len; i++)
		text[before + i] = REDACT_CANARY[i % (sizeof(REDACT_CANARY) - 1)];
	memcpy(text + before + canary_len, hole + 2, strlen(hole + 2) + 1);
	return text;
}

static bool has_canary(struct str text)
{
	return memchr(text.bytes, REDACT_CANARY[0], text.len) || memchr(text.bytes, REDACT_CANARY[1], text.len);
}

static void no_canary_survives_at_any_length(void **state)
{
	(void)state;
	for (size_t i = 0; i < redact_template_count; i++)
		for (size_t len = redact_templates[i].shortest; len <= 5000; len += len < 600 ? 1 : 13) {
			CLEANUP(free_drop) char *text = filled(redact_templates[i].text, len);
			struct buf whole CLEANUP(buf_release) = {0}, cut CLEANUP(buf_release) = {0};

			redacted(str_of(text), REDACT_UNCAPPED, &whole);
			redacted(str_of(text), REDACT_FIELD, &cut);
			if (has_canary(buf_str(&whole)) || has_canary(buf_str(&cut)))
				fail_msg("length %zu of %s: %s", len, redact_templates[i].text, whole.bytes);
			assert_true(redact_finds_secret(str_of(text)));
		}
}

static void no_canary_survives_a_split_by_what_nobody_sees(void **state)
{
	static const char *const splits[] = {"\033[0m", "\033[1;31m", "\033", "\001", "\033]0;title\007",
		"\xE2\x80\xAE", "\xE2\x81\xA6", "\x7F", "\xE2\x80\x8B", "\302\2330m"};

	(void)state;
	for (size_t i = 0; i < redact_template_count; i++) {
		CLEANUP(free_drop) char *text = filled(redact_templates[i].text, 40);

		for (size_t at = 0; at < strlen(text); at++)
			for (size_t j = 0; j < COUNT_OF(splits); j++) {
				struct buf split CLEANUP(buf_release) = {0}, out CLEANUP(buf_release) = {0};

				buf_init(&split, SIZE_MAX / 4);
				buf_add(&split, text, at);
				buf_puts(&split, splits[j]);
				buf_puts(&split, text + at);
				redacted(buf_str(&split), REDACT_UNCAPPED, &out);
				if (has_canary(buf_str(&out)))
					fail_msg("split %zu at %zu of %s: %s", j, at, text, out.bytes);
			}
	}
}

static void a_cut_never_leaves_part_of_a_mask_or_of_a_secret(void **state)
{
	(void)state;
	for (size_t i = 0; i < redact_template_count; i++) {
		CLEANUP(free_drop) char *text = filled(redact_templates[i].text, 60);

		for (size_t cap = 0; cap < strlen(text) + 2; cap++) {
			struct buf out CLEANUP(buf_release) = {0};
			size_t stars = 0;

			redacted(str_of(text), cap, &out);
			assert_true(out.len <= cap);
			assert_false(has_canary(buf_str(&out)));
			while (stars < out.len && out.bytes[out.len - 1 - stars] == '*')
				stars++;
			assert_true(stars == 0 || stars == strlen(REDACT_MASK));
			assert_settled(buf_str(&out), cap);
		}
	}
}

static void the_cap_counts_code_points(void **state)
{
	struct buf text CLEANUP(buf_release) = {0}, out CLEANUP(buf_release) = {0};

	(void)state;
	buf_init(&text, SIZE_MAX / 4);
	for (size_t i = 0; i < 300; i++)
		buf_puts(&text, "\xE2\x82\xAC");
	redacted(buf_str(&text), REDACT_FIELD, &out);
	assert_int_equal(out.len, 3 * REDACT_FIELD);
}

static void white_space_is_trimmed_and_folded(void **state)
{
	(void)state;
	assert_redacts_to(" \t a \r\n b\xC2\xA0\xE3\x80\x80"
			  "c\xEF\xBB\xBF",
		"a b c");
	assert_redacts_to("a\xE2\x80\xA8"
			  "b\xC2\x85"
			  "c",
		"a b c");
	assert_redacts_to("a \001 b", "a b");
	assert_redacts_to(" \n ", "");
}

static void escapes_control_and_bidi_characters_go(void **state)
{
	(void)state;
	assert_redacts_to("\033[31mred\033[0m \033]8;;http://h\033\\link\033]8;;\033\\ \033(Bx", "red link x");
	assert_redacts_to("a\xE2\x80\xAE"
			  "b\xE2\x81\xA9"
			  "c\xC2\x9B"
			  "1md\x7F",
		"abcd");
	assert_redacts_to("\xC2\x90secret string\xC2\x9C"
			  "after",
		"after");
}

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
	(void)state;
	assert_redacts_to("a\xFF"
			  "b\xC3",
		"a\xEF\xBF\xBD"
		"b\xEF\xBF\xBD");
	assert_redacts_to("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
	assert_redacts_to("token=a\xFF"
			  "b c",
		"token=*** c");
}

static void an_absent_text_writes_nothing(void **state)
{
	struct buf out CLEANUP(buf_release) = {0};

	(void)state;
	redacted((struct str){0}, REDACT_FIELD, &out);
	assert_int_equal(out.len, 0);
	assert_false(redact_finds_secret((struct str){0}));
}

static void the_text_is_appended_or_nothing_is(void **state)
{
	struct buf out CLEANUP(buf_release) = {0};

	(void)state;
	buf_init(&out, 8);
	buf_puts(&out, "a: ");
	assert_int_equal(redact_text(str_of("bcd"), REDACT_FIELD, &out, NULL), 0);
	assert_string_equal(out.bytes, "a: bcd");
	assert_true(redact_text(str_of("too long"), REDACT_FIELD, &out, NULL) < 0);
	assert_string_equal(out.bytes, "a: bcd");
}

static void the_report_counts_each_category(void **state)
{
	struct buf out CLEANUP(buf_release) = {0};
	struct redact_report report;

	(void)state;
	buf_init(&out, SIZE_MAX / 4);
	assert_int_equal(redact_text(str_of("\033[1mtoken=a https://u:p@h ghp_0123456789 and ghp_9876543210"),
				 REDACT_FIELD, &out, &report),
		0);
	assert_int_equal(report.counts[REDACT_KEY_VALUE], 1);
	assert_int_equal(report.counts[REDACT_URL_USER], 1);
	assert_int_equal(report.counts[REDACT_TOKEN], 2);
	assert_int_equal(report.counts[REDACT_CONTROL], 1);
	assert_int_equal(report.counts[REDACT_OVER_LIMIT], 0);
	assert_string_equal(redact_category_name(REDACT_KEY_VALUE), "key_value");
}

static void a_limit_that_is_hit_hides_the_whole_text(void **state)
{
	struct redact_limits limits = {.match = 1, .heap_kib = 1, .is_interpreted = true};
	struct buf out CLEANUP(buf_release) = {0};
	struct redact_report report;

	(void)state;
	buf_init(&out, SIZE_MAX / 4);
	assert_int_equal(redact_text_within(str_of("nothing: to hide"), REDACT_FIELD, &limits, &out, &report), 0);
	assert_string_equal(out.bytes, REDACT_MASK);
	assert_int_equal(report.counts[REDACT_OVER_LIMIT], 1);
}

/* ---- the vectors: a capability is unsafe for its secret only where the vectors say so */

static void assert_capabilities_found(const json_t *items)
{
	size_t index;
	json_t *item;

	json_array_foreach(items, index, item)
	{
		struct str text = {json_string_value(item), json_string_length(item)};
		bool is_expected = false;

		for (size_t i = 0; i < redact_vector_secret_count; i++)
			is_expected |= str_is(text, redact_vector_secrets[i]);
		if (text.bytes && redact_finds_secret(text) != is_expected)
			fail_msg("%s", text.bytes);
	}
}

static void assert_entry_found(const json_t *entry)
{
	static const char *const fields[] = {
		"permissions", "capabilities", "requiredCapabilities", "mcpCapabilities", "prohibitedCapabilities"};

	for (size_t i = 0; i < COUNT_OF(fields); i++)
		assert_capabilities_found(json_object_get(entry, fields[i]));
}

static void of_the_vectors_only_the_meant_capabilities_are_found(void **state)
{
	static const char *const files[] = {"named.jsonl", "random.jsonl"};
	static const char *const lists[] = {"entries", "subtasks"};
	char line[64 * 1024], path[4096];
	size_t lines = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		FILE *file;

		(void)snprintf(path, sizeof(path), "%s/tests/vectors/%s", getenv("SRCDIR"), files[i]);
		file = fopen(path, "r");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file)) {
			CLEANUP(json_drop) json_t *vector = json_loads(line, JSON_ALLOW_NUL, NULL);
			const json_t *input = json_object_get(vector, "input");
			size_t index;
			json_t *entry;

			assert_non_null(input);
			lines++;
			for (size_t j = 0; j < COUNT_OF(lists); j++)
				json_array_foreach(json_object_get(input, lists[j]), index, entry)
				{
					assert_entry_found(entry);
				}
		}
		(void)fclose(file);
	}
	assert_true(lines > 1000);
}

/* ---- any thread, any time */

static void *redact_in_a_thread(void *argument)
{
	struct buf out CLEANUP(buf_release) = {0};

	(void)argument;
	buf_init(&out, SIZE_MAX / 4);
	for (int i = 0; i < 200; i++) {
		buf_reset(&out);
		if (redact_text(str_of("token=Z https://u:Z@h bearer Z"), REDACT_FIELD, &out, NULL) ||
			has_canary(buf_str(&out)))
			return argument;
	}
	return NULL;
}

static void threads_share_the_patterns(void **state)
{
	pthread_t threads[4];
	void *failure;

	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, redact_in_a_thread, state), 0);
	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &failure), 0);
		assert_null(failure);
	}
	assert_int_equal(redact_init(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_the_patterns),
		cmocka_unit_test(every_secret_of_the_table_is_hidden_and_nothing_else),
		cmocka_unit_test(what_only_looks_like_a_secret_stays),
		cmocka_unit_test(redacting_twice_is_redacting_once),
		cmocka_unit_test(no_canary_survives_at_any_length),
		cmocka_unit_test(no_canary_survives_a_split_by_what_nobody_sees),
		cmocka_unit_test(a_cut_never_leaves_part_of_a_mask_or_of_a_secret),
		cmocka_unit_test(the_cap_counts_code_points),
		cmocka_unit_test(white_space_is_trimmed_and_folded),
		cmocka_unit_test(escapes_control_and_bidi_characters_go),
		cmocka_unit_test(invalid_utf8_becomes_the_replacement_character),
		cmocka_unit_test(an_absent_text_writes_nothing),
		cmocka_unit_test(the_text_is_appended_or_nothing_is),
		cmocka_unit_test(the_report_counts_each_category),
		cmocka_unit_test(a_limit_that_is_hit_hides_the_whole_text),
		cmocka_unit_test(of_the_vectors_only_the_meant_capabilities_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
