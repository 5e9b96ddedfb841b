/* Arena, buffer and JSON writer: what every other room stands on (chapter 3.2). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

static void an_arena_never_grows_beyond_its_ceiling(void **state)
{
	struct arena arena;
	size_t pieces = 0;

	(void)state;
	arena_init(&arena, 100 * 1024);
	while (arena_alloc(&arena, 1000))
		pieces++;
	assert_true(arena.failed);
	assert_true(arena.total <= 100 * 1024);
	assert_true(pieces >= 90);
	arena_reset(&arena);
	assert_false(arena.failed);
	assert_non_null(arena_alloc(&arena, 1000));
	arena_release(&arena);
}

static void count_release(void *what)
{
	++*(unsigned *)what;
}

static void what_an_arena_adopts_goes_once_with_its_pieces(void **state)
{
	struct arena arena;
	unsigned released[3] = {0};

	(void)state;
	arena_init(&arena, 100 * 1024);
	assert_true(arena_adopt(&arena, count_release, &released[0]));
	assert_non_null(arena_alloc(&arena, 50 * 1024)); /* in another block than the first */
	assert_true(arena_adopt(&arena, count_release, &released[1]));
	arena_reset(&arena);
	assert_int_equal(released[0], 1);
	assert_int_equal(released[1], 1);
	assert_true(arena_adopt(&arena, count_release, &released[1]));
	while (arena_alloc(&arena, 8))
		continue;
	assert_false(arena_adopt(&arena, count_release, &released[2]));
	arena_release(&arena);
	arena_release(&arena);
	assert_int_equal(released[0], 1);
	assert_int_equal(released[1], 2);
	assert_int_equal(released[2], 0);
}

static void a_piece_of_an_arena_is_zeroed_even_after_a_reset(void **state)
{
	struct arena arena;
	unsigned char *piece;

	(void)state;
	arena_init(&arena, 1 << 20);
	piece = arena_alloc(&arena, 500);
	assert_non_null(piece);
	memset(piece, 0xAA, 500);
	arena_reset(&arena);
	piece = arena_alloc(&arena, 500);
	assert_non_null(piece);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(piece[i], 0);
	arena_release(&arena);
}

static void an_array_whose_size_overflows_is_refused(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, SIZE_MAX);
	assert_null(arena_array(&arena, SIZE_MAX / 2, 16));
	assert_true(arena.failed);
	arena_release(&arena);
}

static void a_buffer_keeps_its_first_error_and_its_ceiling(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 10);
	buf_puts(&buf, "12345");
	buf_puts(&buf, "67890");
	assert_int_equal(buf_error(&buf), 0);
	buf_putc(&buf, 'x');
	assert_int_equal(buf_error(&buf), -EMSGSIZE);
	buf_reset(&buf);
	buf_puts(&buf, "again");
	assert_string_equal(buf_str(&buf).bytes, "again");
	buf_release(&buf);
}

/* What this writer writes, another reader reads back: every byte below 0x80 and some above, at every offset of a word. */
static void every_string_reads_back_as_it_was(void **state)
{
	(void)state;
	for (int byte = 1; byte < 0x80; byte++) {
		for (size_t offset = 0; offset < 20; offset++) {
			CLEANUP(json_drop) json_t *value = NULL;
			char text[24] = "aaaaaaaaaaaaaaaaaaaaaa";
			struct json_out out;
			struct buf buf;

			text[offset] = (char)byte;
			buf_init(&buf, 1000);
			json_out_init(&out, &buf);
			json_out_text(&out, text);
			value = json_loadb(buf_str(&buf).bytes, buf_str(&buf).len, JSON_DECODE_ANY, NULL);
			assert_non_null(value);
			assert_string_equal(json_string_value(value), text);
			buf_release(&buf);
		}
	}
}

static void check_canonical(const char *json, const char *expected)
{
	CLEANUP(json_drop) json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
	struct json_out out;
	struct buf buf;

	assert_non_null(value);
	buf_init(&buf, 10000);
	json_out_init(&out, &buf);
	json_out_canonical(&out, value);
	assert_int_equal(buf_error(&buf), 0);
	assert_string_equal(buf_str(&buf).bytes, expected);
	buf_release(&buf);
}

static void canonical_bytes_depend_on_the_value_alone(void **state)
{
	(void)state;
	check_canonical("{ \"b\": 1, \"a\": [ true, null, \"x\" ] }", "{\"a\":[true,null,\"x\"],\"b\":1}");
	check_canonical("{\"t\\u0065st\":\"t\\u0065st\"}", "{\"test\":\"test\"}");
	check_canonical("\"\\u00e9\\/\\u001f\\u007f\"", "\"\xc3\xa9/\\u001f\x7f\"");
	check_canonical("{\"B\":1,\"a\":1,\"aa\":1,\"A\":1}", "{\"A\":1,\"B\":1,\"a\":1,\"aa\":1}");
	check_canonical("9223372036854775807", "9223372036854775807");
	check_canonical("{}", "{}");
	check_canonical("[]", "[]");
}

static void one_and_one_point_zero_stay_different(void **state)
{
	(void)state;
	check_canonical("1", "1");
	check_canonical("1.0", "1.0");
	check_canonical("1e2", "100.0");
	check_canonical("-0.5", "-0.5");
	check_canonical("1e300", "1.0000000000000001e300");
}

static int parse(const char *text, enum json_parse_kind *ret_kind)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct json_parse_fault fault = {0};
	int result = json_parse((struct str){text, strlen(text)}, &value, &fault);

	*ret_kind = fault.kind;
	return result;
}

static void nest(char *text, size_t depth)
{
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
}

static void json_may_be_nested_64_deep_and_brackets_in_a_string_are_none(void **state)
{
	enum json_parse_kind kind;
	char text[200];

	(void)state;
	nest(text, 64);
	assert_int_equal(parse(text, &kind), 0);
	nest(text, 65);
	assert_int_equal(parse(text, &kind), JSON_PARSE_NOT_JSON);
	assert_int_equal(kind, JSON_PARSE_TOO_DEEP);
	text[0] = '"';
	memset(text + 1, '[', 100);
	memcpy(text + 101, "\"", 2);
	assert_int_equal(parse(text, &kind), 0);
	/* The quote behind the backslash doesn't end the string. */
	memcpy(text + 1, "\\\"", 2);
	assert_int_equal(parse(text, &kind), 0);
}

static void a_key_twice_at_any_depth_is_refused(void **state)
{
	enum json_parse_kind kind;

	(void)state;
	assert_int_equal(parse("[{\"a\":1,\"a\":1}]", &kind), JSON_PARSE_NOT_JSON);
	assert_int_equal(kind, JSON_PARSE_DUPLICATE);
	assert_int_equal(parse("[{\"a\":1", &kind), JSON_PARSE_NOT_JSON);
	assert_int_equal(kind, JSON_PARSE_CUT_OFF);
	assert_int_equal(parse("[1] 2", &kind), JSON_PARSE_NOT_JSON);
	assert_int_equal(kind, JSON_PARSE_SYNTAX);
}

static void a_nul_anywhere_is_refused_where_it_stands(void **state)
{
	static const struct {
		struct str text;
		size_t offset;
	} texts[] = {{{"1\0", 2}, 1}, {{"true\0", 5}, 4}, {{"[1\0]", 4}, 2}, {{"{\"a\":null\0}", 11}, 9},
		{{"[1,\n-2.5e3\0,\"b\"]", 16}, 10}, {{"{}\0", 3}, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CLEANUP(json_drop) json_t *value = NULL;
		struct json_parse_fault fault = {0};
		size_t used = 0;

		assert_int_equal(json_parse(texts[i].text, &value, &fault), JSON_PARSE_NOT_JSON);
		assert_int_equal(fault.kind, JSON_PARSE_SYNTAX);
		assert_true(fault.offset >= texts[i].offset && fault.offset <= texts[i].offset + 1);
		if (json_parse_first(texts[i].text, &value, &used, NULL) == 0)
			assert_true(used <= texts[i].offset);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arena_never_grows_beyond_its_ceiling),
		cmocka_unit_test(what_an_arena_adopts_goes_once_with_its_pieces),
		cmocka_unit_test(a_piece_of_an_arena_is_zeroed_even_after_a_reset),
		cmocka_unit_test(an_array_whose_size_overflows_is_refused),
		cmocka_unit_test(a_buffer_keeps_its_first_error_and_its_ceiling),
		cmocka_unit_test(every_string_reads_back_as_it_was),
		cmocka_unit_test(canonical_bytes_depend_on_the_value_alone),
		cmocka_unit_test(one_and_one_point_zero_stay_different),
		cmocka_unit_test(json_may_be_nested_64_deep_and_brackets_in_a_string_are_none),
		cmocka_unit_test(a_key_twice_at_any_depth_is_refused),
		cmocka_unit_test(a_nul_anywhere_is_refused_where_it_stands),
	};

	return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
