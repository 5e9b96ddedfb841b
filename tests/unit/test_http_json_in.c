/* Strict JSON and shapes (chapter 4.1, "Input"): what is refused, where, and that nothing of the input is quoted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "daemon/http/json_in.h"
#include "policy/buf.h"
#include "policy/cleanup.h"

static int setup(void **state)
{
	static struct arena arena;

	arena_init(&arena, (size_t)4 * 1024 * 1024);
	*state = &arena;
	return 0;
}

static int teardown(void **state)
{
	arena_release(*state);
	return 0;
}

/* ---- bytes */

#define BODY(literal) literal, sizeof(literal) - 1

static const struct {
	const char *bytes;
	size_t len;
	size_t offset;
} bad[] = {
	{BODY(""), 0},
	{BODY("   "), 3},
	{BODY("{"), 1},
	{BODY("["), 1},
	{BODY("{]"), 1},
	{BODY("[}"), 1},
	{BODY("[1}"), 2},
	{BODY("{\"a\":1]"), 6},
	{BODY("[1,]"), 3},
	{BODY("[,1]"), 1},
	{BODY("[1 2]"), 3},
	{BODY("[1,,2]"), 3},
	{BODY("{\"a\":1,}"), 7},
	{BODY("{\"a\"}"), 4},
	{BODY("{\"a\":}"), 5},
	{BODY("{\"a\" 1}"), 5},
	{BODY("{a:1}"), 1},
	{BODY("{'a':1}"), 1},
	{BODY("{1:1}"), 1},
	{BODY("{null:1}"), 1},
	{BODY("{\"a\":1 \"b\":2}"), 7},
	{BODY("nul"), 0},
	{BODY("Null"), 0},
	{BODY("TRUE"), 0},
	{BODY("tru"), 0},
	{BODY("undefined"), 0},
	{BODY("NaN"), 0},
	{BODY("Infinity"), 0},
	{BODY("-Infinity"), 0},
	{BODY("-"), 0},
	{BODY("+1"), 0},
	{BODY("01"), 1},
	{BODY("-01"), 2},
	{BODY("0x10"), 1},
	{BODY("1."), 0},
	{BODY(".5"), 0},
	{BODY("1.e1"), 0},
	{BODY("1e"), 0},
	{BODY("1e+"), 0},
	{BODY("1E-"), 0},
	{BODY("1_000"), 1},
	{BODY("9223372036854775808"), 0},
	{BODY("-9223372036854775809"), 0},
	{BODY("18446744073709551616"), 0},
	{BODY("[1e999]"), 1},
	{BODY("[-1e999]"), 1},
	{BODY("\""), 0},
	{BODY("\"abc"), 0},
	{BODY("\"a\\"), 2},
	{BODY("\"\\x41\""), 1},
	{BODY("\"\\'\""), 1},
	{BODY("\"\\\0\""), 1},
	{BODY("\"\\u12\""), 1},
	{BODY("\"\\u12g4\""), 1},
	{BODY("\"\\u0000\""), 1},
	{BODY("{\"\\u0000\":1}"), 2},
	{BODY("{\"a\\u0000b\":1}"), 3},
	{BODY("\"\\ud800\""), 1},
	{BODY("\"\\ud800x\""), 1},
	{BODY("\"\\ud800\\u0041\""), 1},
	{BODY("\"\\ud800\\ud800\""), 1},
	{BODY("\"\\udc00\""), 1},
	{BODY("\"\\udbff\\n\""), 1},
	{BODY("\"a\nb\""), 2},
	{BODY("\"a\tb\""), 2},
	{BODY("\"a\0b\""), 2},
	{BODY("\"\x1f\""), 1},
	{BODY("\"\xff\""), 1},
	{BODY("\"\x80\""), 1},
	{BODY("\"\xc3\""), 1},
	{BODY("\"\xc0\xaf\""), 1},
	{BODY("\"\xe0\x80\xaf\""), 1},
	{BODY("\"\xed\xa0\x80\""), 1},
	{BODY("\"\xf4\x90\x80\x80\""), 1},
	{BODY("\"\xf8\x88\x80\x80\x80\""), 1},
	{BODY("{\"\xff\":1}"), 2},
	{BODY("\xef\xbb\xbf{}"), 0},
	{BODY("\xff\xfe{\0}\0"), 0},
	{BODY("{}{}"), 2},
	{BODY("{} x"), 3},
	{BODY("{}\0"), 2},
	{BODY("{\"server\":\"a\"}\0{\"server\":\"b\"}"), 14},
	{BODY("1 2"), 2},
	{BODY("// c\n{}"), 0},
	{BODY("{/* c */}"), 1},
	{BODY("\v{}"), 0},
	{BODY("\xc2\xa0{}"), 0},
	{BODY("{\"a\":1,\"a\":2}"), 7},
	{BODY("{\"effect\":\"deny\",\"effect\":\"allow\"}"), 17},
	{BODY("{\"rules\":[{\"effect\":\"deny\",\"e\\u0066fect\":\"allow\"}]}"), 27},
	{BODY("[[[{\"b\":{\"c\":1, \"c\":1}}]]]"), 16},
	{BODY("{\"rules\":[{}],\"rules\":[]}"), 14},
};

static void every_bad_body_is_refused_at_its_byte(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_in_error error = {0};
		json_t *value = NULL;

		assert_int_equal(json_in_parse(*state, bad[i].bytes, bad[i].len, &value, &error), JSON_IN_REFUSED);
		if (error.offset != bad[i].offset)
			print_error("row %zu: %s\n", i, bad[i].bytes);
		assert_int_equal(error.offset, bad[i].offset);
		assert_non_null(error.detail);
		assert_null(value);
	}
}

static void every_prefix_of_a_good_body_is_refused(void **state)
{
	static const char body[] =
		"{\"a\":[1,-2.5e3,\"x\\u00e9\\ud83d\\ude00\xc3\xa9\",true,false,null,{}],\"b\":{\"c\":[]}}";

	for (size_t len = 0; len < sizeof(body) - 1; len++) {
		CLEANUP(free_drop) char *cut = malloc(len + 1); /* of its own, so that a read too far is seen */
		struct json_in_error error;
		json_t *value = NULL;

		assert_non_null(cut);
		memcpy(cut, body, len);
		assert_int_equal(json_in_parse(*state, cut, len, &value, &error), JSON_IN_REFUSED);
	}
}

static void good_bodies_are_taken_as_they_are(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} good[] = {
		{BODY("{}")},
		{BODY(" [ ] \r\n\t")},
		{BODY("null")},
		{BODY("\"\"")},
		{BODY("-0")},
		{BODY("-0.0")},
		{BODY("1E2")},
		{BODY("1e308")},
		{BODY("9223372036854775807")},
		{BODY("-9223372036854775808")},
		{BODY("{\"effect\":1,\"Effect\":2}")},
		{BODY("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")},
		{BODY("\"\\ud83d\\ude00\"")},
		{BODY("\"\xf0\x9f\x98\x80 \xe2\x82\xac \x7f\"")},
		{BODY("[{\"a\":1},{\"a\":1}]")},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CLEANUP(json_drop) json_t *value = NULL;
		struct json_in_error error;

		assert_int_equal(json_in_parse(*state, good[i].bytes, good[i].len, &value, &error), 0);
		assert_non_null(value);
	}
}

static int parse_nested(struct arena *arena, size_t depth, struct json_in_error *ret_error)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct buf text;
	int result;

	buf_init(&text, (size_t)4 * 1024 * 1024);
	for (size_t i = 0; i < depth; i++)
		buf_putc(&text, '[');
	for (size_t i = 0; i < depth; i++)
		buf_putc(&text, ']');
	result = json_in_parse(arena, text.bytes, text.len, &value, ret_error);
	buf_release(&text);
	return result;
}

static void depth_ends_at_sixty_four(void **state)
{
	struct json_in_error error;

	assert_int_equal(parse_nested(*state, 64, &error), 0);
	assert_int_equal(parse_nested(*state, 65, &error), JSON_IN_REFUSED);
	assert_int_equal(error.offset, 64);
	assert_int_equal(parse_nested(*state, (size_t)1024 * 1024, &error), JSON_IN_REFUSED);
}

static void a_document_of_too_many_values_is_refused(void **state)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct json_in_error error;
	struct buf text;

	buf_init(&text, (size_t)4 * 1024 * 1024);
	buf_puts(&text, "[1");
	for (size_t i = 0; i < JSON_IN_VALUES; i++)
		buf_puts(&text, ",1");
	buf_putc(&text, ']');
	assert_int_equal(json_in_parse(*state, text.bytes, text.len, &value, &error), JSON_IN_REFUSED);
	buf_release(&text);
}

static void a_number_of_many_digits_is_refused(void **state)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct json_in_error error;
	struct buf text;

	buf_init(&text, (size_t)4 * 1024 * 1024);
	buf_puts(&text, "[");
	for (size_t i = 0; i < 1000000; i++)
		buf_putc(&text, '7');
	buf_putc(&text, ']');
	assert_int_equal(json_in_parse(*state, text.bytes, text.len, &value, &error), JSON_IN_REFUSED);
	assert_int_equal(error.offset, 1);
	buf_release(&text);
}

static void assert_pointer(struct arena *arena, const char *body, const char *expected)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct json_in_error error;

	assert_int_equal(json_in_parse(arena, body, strlen(body), &value, &error), JSON_IN_REFUSED);
	if (!expected) {
		assert_null(error.pointer.bytes);
		return;
	}
	assert_non_null(error.pointer.bytes);
	assert_string_equal(error.pointer.bytes, expected);
}

static void a_pointer_names_what_the_api_names_and_nothing_else(void **state)
{
	assert_pointer(*state, "{\"packages\":[{\"label\":1},{\"label\":1,\"label\":2}]}", "/packages/1/label");
	assert_pointer(*state, "{\"validSeconds\":9223372036854775808}", "/validSeconds");
	assert_pointer(*state, "{\"rules\":[{\"effect\":\"deny\",\"effect\":1}]}", "/rules/0/effect");
	assert_pointer(*state, "{\"CANARY-4\":1,\"CANARY-4\":2}", NULL);
	assert_pointer(*state, "{\"CANARY\":{\"label\":1,\"label\":2}}", NULL);
	assert_pointer(*state, "{\"l\\u0061bel\":1,\"label\":2}", "/label");
	assert_pointer(*state, "[1,2,tru]", "/2");
	assert_pointer(*state, "nothing", "");
}

/* ---- shapes */

static const char *const words[] = {"approved", "denied", "revoked", NULL};

/* The pointers of all faults, a line each, in the order they were found. */
static const char *list_faults(const struct json_in *in)
{
	static char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < in->count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", in->faults[i].pointer.bytes);
	return text;
}

static json_t *load(const char *body)
{
	json_t *value = json_loads(body, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	return value;
}

static void read_all(struct json_in *in, const json_t *value, struct arena *arena)
{
	struct json_place body, inner, list, item;
	const struct str *texts;

	json_in_init(in, arena);
	json_in_root(in, value, &body);
	(void)json_in_str(&body, "text", JSON_REQUIRED, 5);
	(void)json_in_enum(&body, "word", JSON_REQUIRED, words);
	(void)json_in_int(&body, "number", JSON_OPTIONAL, 1, 30, 7);
	(void)json_in_bool(&body, "flag", JSON_OPTIONAL, false);
	(void)json_in_revision(&body, "revision", JSON_REQUIRED);
	(void)json_in_time_ms(&body, "until", JSON_NULLABLE);
	(void)json_in_strs(&body, "names", JSON_OPTIONAL, 3, 4, &texts);
	if (json_in_object(&body, "inner", JSON_OPTIONAL, &inner)) {
		(void)json_in_str(&inner, "deep", JSON_REQUIRED, 5);
		json_in_end(&inner);
	}
	(void)json_in_array(&body, "list", JSON_OPTIONAL, 2, &list);
	for (size_t i = 0; i < json_in_size(&list); i++) {
		if (json_in_item_object(&list, i, &item)) {
			(void)json_in_bool(&item, "on", JSON_REQUIRED, false);
			json_in_end(&item);
		}
	}
	json_in_end(&body);
}

static void a_right_document_has_no_fault(void **state)
{
	CLEANUP(json_drop)
	json_t *value =
		load("{\"text\":\"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f.\",\"word\":\"denied\",\"number\":30,\"flag\":true,"
		     "\"revision\":\"12\",\"until\":null,\"names\":[\"a\",\"b\"],\"inner\":{\"deep\":\"x\"},"
		     "\"list\":[{\"on\":true}]}");
	struct json_in in;

	read_all(&in, value, *state);
	assert_true(json_in_ok(&in));
}

static void every_fault_is_noted_with_its_pointer(void **state)
{
	CLEANUP(json_drop)
	json_t *value = load("{\"text\":\"too long\",\"word\":\"maybe\",\"number\":1.0,\"flag\":1,\"revision\":\"01\","
			     "\"until\":\"tomorrow\",\"names\":[1,\"fine\",\"too long\"],\"inner\":{\"a/b~c\":1},"
			     "\"list\":[{\"on\":1},2],\"odd\":1}");
	struct json_in in;

	read_all(&in, value, *state);
	assert_false(json_in_ok(&in));
	assert_string_equal(list_faults(&in),
		"/text\n/word\n/number\n/flag\n/revision\n/until\n/names/0\n/names/2\n/inner/deep\n/inner/a~1b~0c\n"
		"/list/0/on\n/list/1\n/odd\n");
}

static void what_is_required_is_missed_once(void **state)
{
	CLEANUP(json_drop) json_t *empty = load("{}");
	CLEANUP(json_drop) json_t *list = load("[]");
	struct json_in in;

	read_all(&in, empty, *state);
	assert_string_equal(list_faults(&in), "/text\n/word\n/revision\n");
	read_all(&in, NULL, *state);
	assert_string_equal(list_faults(&in), "/text\n/word\n/revision\n");
	read_all(&in, list, *state);
	assert_string_equal(list_faults(&in), "\n");
}

static void faults_are_bounded(void **state)
{
	CLEANUP(json_drop) json_t *value = json_object();
	struct json_place body;
	struct json_in in;
	char key[16];

	for (int i = 0; i < 1000; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(json_object_set_new(value, key, json_null()), 0);
	}
	json_in_init(&in, *state);
	json_in_root(&in, value, &body);
	json_in_end(&body);
	assert_int_equal(in.count, JSON_IN_FAULTS);
}

static void values_come_out_as_they_went_in(void **state)
{
	CLEANUP(json_drop)
	json_t *value =
		load("{\"text\":\"abc\",\"word\":\"revoked\",\"number\":-3,\"revision\":\"0\",\"names\":[],\"map\":"
		     "{\"b\":\"1\",\"a\":\"2\"}}");
	struct json_place body, map;
	const struct str *texts;
	struct json_in in;
	void *at = NULL;
	struct str key;

	json_in_init(&in, *state);
	json_in_root(&in, value, &body);
	assert_true(str_is(json_in_str(&body, "text", JSON_REQUIRED, 3), "abc"));
	assert_int_equal(json_in_enum(&body, "word", JSON_REQUIRED, words), 3);
	assert_int_equal(json_in_int(&body, "number", JSON_OPTIONAL, -3, 3, 0), -3);
	assert_int_equal(json_in_int(&body, "absent", JSON_OPTIONAL, 0, 1, 99), 99);
	assert_int_equal(json_in_revision(&body, "revision", JSON_REQUIRED), 0);
	assert_int_equal(json_in_revision(&body, "no", JSON_OPTIONAL), -1);
	assert_true(json_in_time_ms(&body, "until", JSON_OPTIONAL) == INT64_MIN);
	assert_int_equal(json_in_strs(&body, "names", JSON_OPTIONAL, 3, 9, &texts), 0);
	assert_non_null(texts);
	assert_true(json_in_object(&body, "map", JSON_REQUIRED, &map));
	at = json_in_next(&map, at, &key);
	assert_true(str_is(key, "b") && str_is(json_in_member_str(&map, at, 1), "1"));
	at = json_in_next(&map, at, &key);
	assert_true(str_is(key, "a") && str_is(json_in_member_str(&map, at, 1), "2"));
	assert_null(json_in_next(&map, at, &key));
	json_in_end(&body);
	assert_true(json_in_ok(&in));
}

static void times_are_read_to_the_millisecond(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-12-07T00:00:00.000Z", 1796601600000},
		{"2026-12-07T00:00:00.1Z", 1796601600100},
		{"2026-12-07T00:00:00.0129Z", 1796601600012},
		{"2024-02-29T12:00:00Z", 1709208000000},
		{"2026-12-07T01:30:00+01:30", 1796601600000},
		{"2026-12-06t19:00:00-05:00", 1796601600000},
		{"9999-12-31T23:59:59.999Z", 253402300799999},
	};
	static const char *const wrong[] = {"", "2026-12-07", "2026-12-07T00:00:00", "2026-12-07 00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-12-07T24:00:00Z",
		"2026-12-07T00:60:00Z", "2026-12-07T00:00:60Z", "2026-12-07T00:00:00.Z", "2026-12-07T00:00:00+1:00",
		"2026-12-07T00:00:00+24:00", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00",
		"2026-12-07T00:00:00.000ZZ", "2026/12/07T00:00:00Z", "2026-12-07T00:00:00.00000000000000000000000Z"};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = -1;

		assert_true(json_in_time_parse((struct str){rows[i].text, strlen(rows[i].text)}, &ms));
		assert_true(ms == rows[i].ms);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int64_t ms;

		assert_false(json_in_time_parse((struct str){wrong[i], strlen(wrong[i])}, &ms));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_bad_body_is_refused_at_its_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(every_prefix_of_a_good_body_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(good_bodies_are_taken_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(depth_ends_at_sixty_four, setup, teardown),
		cmocka_unit_test_setup_teardown(a_document_of_too_many_values_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_of_many_digits_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pointer_names_what_the_api_names_and_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(a_right_document_has_no_fault, setup, teardown),
		cmocka_unit_test_setup_teardown(every_fault_is_noted_with_its_pointer, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_required_is_missed_once, setup, teardown),
		cmocka_unit_test_setup_teardown(faults_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(values_come_out_as_they_went_in, setup, teardown),
		cmocka_unit_test_setup_teardown(times_are_read_to_the_millisecond, setup, teardown),
	};

	return cmocka_run_group_tests_name("http json_in", tests, NULL, NULL);
}
