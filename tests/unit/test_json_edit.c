/* Editing somebody's JSON in place (chapter 5.8): what is refused, what an edit looks like, and, on generated files, that no byte
 * outside the edit changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/json_edit.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

/* STR() for a table: a literal with its length, NULs included. */
#define TEXT(literal)                          \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}

/* ---- what is refused, and where */

struct refusal {
	struct str text;
	enum json_scan_kind kind;
	size_t line;
	size_t column;
};

static const struct refusal refusals[] = {
	{TEXT(""), JSON_SCAN_EMPTY, 1, 1},
	{TEXT(" \n\t"), JSON_SCAN_EMPTY, 2, 2},
	{TEXT("{ not json"), JSON_SCAN_SYNTAX, 1, 3},
	{TEXT("\xef\xbb\xbf{}"), JSON_SCAN_MARK, 1, 1},
	{TEXT("\xff\xfe{\0}\0"), JSON_SCAN_MARK, 1, 1},
	{TEXT("\xfe\xff\0{\0}"), JSON_SCAN_MARK, 1, 1},
	{TEXT("{\"a\":\"\xff\"}"), JSON_SCAN_NOT_UTF8, 1, 7},
	{TEXT("{\"a\":\"\xc0\xaf\"}"), JSON_SCAN_NOT_UTF8, 1, 7},
	{TEXT("{\"a\":\"\xed\xa0\x80\"}"), JSON_SCAN_NOT_UTF8, 1, 7},
	{TEXT("\xff"), JSON_SCAN_NOT_UTF8, 1, 1},
	{TEXT("{\n  // rules\n  \"a\": 1\n}"), JSON_SCAN_COMMENT, 2, 3},
	{TEXT("{ /* } */ \"a\": 1 }"), JSON_SCAN_COMMENT, 1, 3},
	{TEXT("{\"a\": 1} # end"), JSON_SCAN_COMMENT, 1, 10},
	{TEXT("{\"a\": 1,\r\n}"), JSON_SCAN_TRAILING_COMMA, 2, 1},
	{TEXT("[1,]"), JSON_SCAN_TRAILING_COMMA, 1, 4},
	{TEXT("{\"a\": [1, 2"), JSON_SCAN_CUT_OFF, 1, 12},
	{TEXT("{\"a\": \"x"), JSON_SCAN_CUT_OFF, 1, 9},
	{TEXT("{\"a\": \"\\u00"), JSON_SCAN_CUT_OFF, 1, 12},
	{TEXT("{\"a\":1,\"b\":{},\"a\":2}"), JSON_SCAN_DUPLICATE, 1, 15},
	{TEXT("{\"abc\":1,\"\\u0061bc\":2}"), JSON_SCAN_DUPLICATE, 1, 10},
	{TEXT("[{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}]"), JSON_SCAN_DUPLICATE, 1, 12},
	{TEXT("{\"a\":{\"k\":1,\"k\":2}}"), JSON_SCAN_DUPLICATE, 1, 13},
	{TEXT("{\"a\":\"x\ny\"}"), JSON_SCAN_SYNTAX, 1, 8},
	{TEXT("{\"a\":\"\\x\"}"), JSON_SCAN_SYNTAX, 1, 8},
	{TEXT("{\"a\":\"\\u12g4\"}"), JSON_SCAN_SYNTAX, 1, 11},
	{TEXT("{'a':1}"), JSON_SCAN_SYNTAX, 1, 2},
	{TEXT("{\"a\" 1}"), JSON_SCAN_SYNTAX, 1, 6},
	{TEXT("{\"a\":01}"), JSON_SCAN_SYNTAX, 1, 7},
	{TEXT("{\"a\":1.}"), JSON_SCAN_SYNTAX, 1, 8},
	{TEXT("{\"a\":+1}"), JSON_SCAN_SYNTAX, 1, 6},
	{TEXT("{\"a\":NaN}"), JSON_SCAN_SYNTAX, 1, 6},
	{TEXT("{\"a\":1e}"), JSON_SCAN_SYNTAX, 1, 8},
	{TEXT("{} {}"), JSON_SCAN_SYNTAX, 1, 4},
	{TEXT("{\"a\":\0 1}"), JSON_SCAN_SYNTAX, 1, 6},
	{TEXT("{\"a\":1\v}"), JSON_SCAN_SYNTAX, 1, 7},
};

static void what_is_not_json_is_refused_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *wanted = &refusals[i];
		struct json_scan_fault fault = {0};
		/* A copy without room behind it, so that a read too far is one for a sanitizer. */
		char *copy = malloc(wanted->text.len + 1);

		assert_non_null(copy);
		memcpy(copy, wanted->text.bytes, wanted->text.len);
		if (json_scan_check((struct str){copy, wanted->text.len}, &fault) != JSON_SCAN_REFUSED ||
			fault.kind != wanted->kind || fault.line != wanted->line || fault.column != wanted->column)
			fail_msg("%s: kind %d at %zu:%zu", wanted->text.bytes, fault.kind, fault.line, fault.column);
		assert_true(strlen(json_scan_words(fault.kind)) > 10);
		free(copy);
	}
}

static void what_the_grammar_has_is_accepted(void **state)
{
	static const char *const texts[] = {"{}", " [ ] ", "0", "-0.0e+10", "\"\"", "null",
		"{\"z\":12345678901234567890,\"y\":1e999,\"w\":-0.0}", "{\"a\":\"\\u0000\\ud800\\/\"}",
		"{\"a\":1,\"A\":2,\"\\u0062\":3,\"\":4}", "[{\"a\":1},{\"a\":1}]", "\r\n\t{\r}\n"};
	struct json_scan_fault fault;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (json_scan_check((struct str){texts[i], strlen(texts[i])}, &fault) != 0)
			fail_msg("%s: kind %d at %zu", texts[i], fault.kind, fault.offset);
}

static void depth_and_size_have_a_limit(void **state)
{
	enum { DEEPEST = JSON_SCAN_DEPTH_LIMIT };
	struct json_scan_fault fault;
	char *text = malloc(JSON_SCAN_BYTES_LIMIT + 1);

	(void)state;
	assert_non_null(text);
	memset(text, '[', JSON_SCAN_BYTES_LIMIT + 1);
	assert_int_equal(json_scan_check((struct str){text, JSON_SCAN_BYTES_LIMIT}, &fault), JSON_SCAN_REFUSED);
	assert_int_equal(fault.kind, JSON_SCAN_TOO_DEEP);
	assert_int_equal(fault.offset, DEEPEST);
	assert_int_equal(json_scan_check((struct str){text, JSON_SCAN_BYTES_LIMIT + 1}, &fault), JSON_SCAN_REFUSED);
	assert_int_equal(fault.kind, JSON_SCAN_TOO_LARGE);
	memset(text + DEEPEST, ']', DEEPEST);
	assert_int_equal(json_scan_check((struct str){text, 2 * DEEPEST}, &fault), 0);
	free(text);
}

/* ---- what an edit looks like */

/* Adds `value` under `key` to what `path` names from the root ("" for it, "a/b"); NULL as key: an item. */
static void add(struct json_edit *edit, const char *path, const char *key, const char *value, enum json_edit_form form)
{
	size_t at = json_scan_root(json_edit_text(edit));
	struct json_edit_value item = {.value = {value, strlen(value)}};
	char name[64];

	while (*path != '\0') {
		struct json_scan_item member;
		size_t len = strcspn(path, "/");

		assert_true(len < sizeof(name));
		memcpy(name, path, len);
		name[len] = '\0';
		assert_true(json_scan_find(json_edit_text(edit), at, name, &member));
		at = member.value;
		path += len + (path[len] == '/');
	}
	if (key != NULL)
		item.key = (struct str){key, strlen(key)};
	assert_int_equal(json_edit_add(edit, at, &item, 1, form), 0);
}

struct look {
	const char *before;
	const char *path;
	const char *key;
	const char *after;
};

#define ENTRY "{\"t\":\"x\",\"a\":[\"m\",\"n\"]}"

static const struct look looks[] = {
	{"{\"s\":{}}", "s", "\"k\"", "{\"s\":{\"k\":{\"t\":\"x\",\"a\":[\"m\",\"n\"]}}}"},
	{"{\"s\": {}}", "s", "\"k\"", "{\"s\": {\"k\": {\"t\": \"x\", \"a\": [\"m\", \"n\"]}}}"},
	{"{ \"s\" : { } }", "s", "\"k\"", "{ \"s\" : { \"k\" : {\"t\" : \"x\", \"a\" : [\"m\", \"n\"]} } }"},
	{"{\n  \"s\": {}\n}\n", "s", "\"k\"",
		"{\n  \"s\": {\n    \"k\": {\n      \"t\": \"x\",\n      \"a\": [\"m\", \"n\"]\n    }\n  }\n}\n"},
	{"{\r\n\t\"s\":{\r\n\t\t\"o\":1\r\n\t}\r\n}", "s", "\"k\"",
		"{\r\n\t\"s\":{\r\n\t\t\"o\":1,\r\n\t\t\"k\":{\r\n\t\t\t\"t\":\"x\",\r\n\t\t\t\"a\":[\"m\",\"n\"]"
		"\r\n\t\t}"
		"\r\n\t}\r\n}"},
	{"{}\n", "", "\"k\"", "{\n    \"k\": {\n        \"t\": \"x\",\n        \"a\": [\"m\", \"n\"]\n    }\n}\n"},
	{"{\n   \"s\": {\n   },\n   \"z\": 1\n}", "s", "\"k\"",
		"{\n   \"s\": {\n      \"k\": {\n         \"t\": \"x\",\n         \"a\": [\"m\", \"n\"]\n      }\n   "
		"},\n   "
		"\"z\": "
		"1\n}"},
	{"{\"l\":[\"a\", \"b\"]}", "l", NULL, "{\"l\":[\"a\", \"b\", {\"t\":\"x\", \"a\":[\"m\", \"n\"]}]}"},
	{"{\n \"l\": [\n  1,\n\n  2\n ]\n}", "l", NULL,
		"{\n \"l\": [\n  1,\n\n  2,\n  {\n   \"t\": \"x\",\n   \"a\": [\"m\", \"n\"]\n  }\n ]\n}"},
};

static void an_edit_follows_the_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct json_edit edit;

		assert_int_equal(json_edit_init(&edit, (struct str){looks[i].before, strlen(looks[i].before)}), 0);
		add(&edit, looks[i].path, looks[i].key, ENTRY, JSON_EDIT_FLAT);
		assert_string_equal(json_edit_text(&edit).bytes, looks[i].after);
		json_edit_release(&edit);
	}
}

static void a_block_puts_every_item_on_a_line(void **state)
{
	struct json_edit edit;
	struct buf out;

	(void)state;
	assert_int_equal(json_edit_init(&edit, STR("{\n  \"z\": 1\n}")), 0);
	add(&edit, "", "\"k\"", ENTRY, JSON_EDIT_BLOCK);
	assert_string_equal(json_edit_text(&edit).bytes,
		"{\n  \"z\": 1,\n  \"k\": {\n    \"t\": \"x\",\n    \"a\": [\n      \"m\",\n      \"n\"\n    ]\n  "
		"}\n}");
	json_edit_release(&edit);
	buf_init(&out, 4096);
	json_edit_write(&out, STR("{\"k\":[1,2],\"e\":[],\"o\":{}}"));
	assert_string_equal(out.bytes, "{\n  \"k\": [\n    1,\n    2\n  ],\n  \"e\": [],\n  \"o\": {}\n}\n");
	buf_release(&out);
}

/* ---- generated files */

enum { FILES = 2000, FILE_CEILING = 256 * 1024 };

struct generator {
	uint64_t seed;
	struct buf out;
	unsigned names;
	const char *line_end; /* NULL: all on one line */
	const char *unit;
	const char *colon;
	const char *comma;
};

static unsigned pick(struct generator *generator, unsigned count)
{
	generator->seed = generator->seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(generator->seed >> 33) % count;
}

static const char *one_of(struct generator *generator, const char *const *texts, unsigned count)
{
	return texts[pick(generator, count)];
}

#define ONE_OF(generator, ...)                                \
	one_of(generator, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void write_break(struct generator *generator, unsigned depth)
{
	if (generator->line_end == NULL)
		return;
	if (pick(generator, 12) == 0)
		buf_puts(&generator->out, generator->line_end); /* a blank line */
	buf_puts(&generator->out, generator->line_end);
	for (unsigned i = 0; i < depth; i++)
		buf_puts(&generator->out, generator->unit);
}

static void write_scalar(struct generator *generator)
{
	buf_puts(&generator->out,
		ONE_OF(generator, "0", "-0.0", "1.0", "1e3", "1E+2", "12345678901234567890", "0.10", "-7", "true",
			"false", "null", "\"\"", "\"caf\\u00e9 \\/ caf\xc3\xa9\"", "\"\\\"}{][,:\\\\\"",
			"\"\xf0\x9f\x98\x80 \\ud83d\\ude00\"", "\"// no /* comment */ #\"", "\"\\\\\\\"\"",
			"\"a\\n\\tb\""));
}

static void write_tree(struct generator *generator, unsigned depth);

/* A name of its own, spelled in one of several ways. */
static void write_name(struct generator *generator)
{
	buf_printf(&generator->out, "\"%s%u\"",
		ONE_OF(generator, "n", "\\u006e", "\xc3\xbc", "a b", "\\\"q\\\\", "\\ud83d\\ude00"),
		generator->names++);
}

static void write_items(struct generator *generator, unsigned depth, bool is_object, const char *const *fixed)
{
	unsigned count = pick(generator, 5);
	unsigned fixed_at = fixed != NULL && *fixed != NULL ? pick(generator, count + 1) : count + 1;
	bool has_items = false;

	buf_putc(&generator->out, is_object ? '{' : '[');
	for (unsigned i = 0; i <= count; i++) {
		if (i == count && fixed_at != count)
			break;
		buf_puts(&generator->out, !has_items ? "" : generator->line_end != NULL ? "," : generator->comma);
		has_items = true;
		write_break(generator, depth + 1);
		if (i == fixed_at)
			buf_printf(&generator->out, "\"%s\"", fixed[0]);
		else if (is_object)
			write_name(generator);
		if (is_object)
			buf_puts(&generator->out, generator->colon);
		if (i == fixed_at)
			write_items(generator, depth + 1, true, fixed + 1);
		else
			write_tree(generator, depth + 1);
	}
	if (has_items)
		write_break(generator, depth);
	buf_putc(&generator->out, is_object ? '}' : ']');
}

static void write_tree(struct generator *generator, unsigned depth)
{
	if (depth > 4 || pick(generator, 3) != 0)
		write_scalar(generator);
	else
		write_items(generator, depth, pick(generator, 2) == 0, NULL);
}

/* A file with an object under "o", where register would put things. */
static void write_file(struct generator *generator, unsigned number)
{
	static const char *const fixed[] = {"o", NULL};

	generator->seed = number * 2654435761U + 12345;
	generator->names = 0;
	buf_reset(&generator->out);
	generator->line_end = ONE_OF(generator, "\n", "\n", "\r\n", "\r", NULL);
	generator->unit = ONE_OF(generator, "  ", "    ", "\t", "   ", " \t");
	generator->colon = ONE_OF(generator, ":", ": ", " : ", ":  ");
	generator->comma = ONE_OF(generator, ",", ", ", " , ");
	buf_puts(&generator->out, ONE_OF(generator, "", "", "\n", " "));
	write_items(generator, 0, true, fixed);
	buf_puts(&generator->out, ONE_OF(generator, "", "\n", "\r\n", "\n\n", "  "));
	assert_int_equal(buf_error(&generator->out), 0);
}

/* Is `after` the text `before` with one run of bytes more? *ret_at is where, *ret_len how many. */
static bool is_insertion(struct str before, struct str after, size_t *ret_at)
{
	size_t start = 0;
	size_t end = 0;

	while (start < before.len && before.bytes[start] == after.bytes[start])
		start++;
	while (end < before.len && before.bytes[before.len - 1 - end] == after.bytes[after.len - 1 - end])
		end++;
	*ret_at = start;
	return after.len > before.len && start + end >= before.len;
}

static json_t *parse(struct str text)
{
	json_error_t error;
	json_t *value = json_loadb(
		text.bytes, text.len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);

	if (value == NULL)
		fail_msg("%s: %s", text.bytes, error.text);
	return value;
}

static void count_line_ends(struct str text, size_t counts[3])
{
	memset(counts, 0, 3 * sizeof(counts[0]));
	for (size_t i = 0; i < text.len; i++) {
		bool is_pair = text.bytes[i] == '\r' && i + 1 < text.len && text.bytes[i + 1] == '\n';

		counts[is_pair ? 2 : text.bytes[i] == '\r' ? 1 : 0] += text.bytes[i] == '\r' || text.bytes[i] == '\n';
		i += is_pair;
	}
}

/* Adds what register adds, to the text of one file; what was there must be there, byte for byte. */
static void edit_one(struct str before)
{
	struct json_scan_fault fault;
	struct json_edit edit;
	struct json_scan_item member;
	struct json_scan_item added = {0};
	json_t *old = parse(before);
	json_t *new = NULL;
	size_t at = 0;

	assert_int_equal(json_scan_check(before, &fault), 0);
	assert_int_equal(json_edit_init(&edit, before), 0);
	add(&edit, "o", "\"admitd\"", ENTRY, JSON_EDIT_FLAT);
	if (!is_insertion(before, json_edit_text(&edit), &at))
		fail_msg("other bytes changed:\n%s\n%s", before.bytes, json_edit_text(&edit).bytes);
	assert_int_equal(json_scan_check(json_edit_text(&edit), &fault), 0);
	new = parse(json_edit_text(&edit));
	json_object_set_new(json_object_get(old, "o"), "admitd", parse(STR(ENTRY)));
	assert_true(json_equal(old, new));
	assert_true(json_scan_find(json_edit_text(&edit), json_scan_root(json_edit_text(&edit)), "o", &member));
	assert_true(json_scan_find(json_edit_text(&edit), member.value, "admitd", &added));
	json_edit_remove(&edit, member.value, &added);
	assert_string_equal(json_edit_text(&edit).bytes, before.bytes);
	json_edit_release(&edit);
	json_decref(old);
	json_decref(new);
}

/* Several items at the end of the root's own list of members, as one run, and line ends of the file's kind. */
static void grow_one(struct str before)
{
	static const struct json_edit_value values[] = {
		{TEXT("\"x1\""), TEXT("[\"a\",\"b\"]")}, {TEXT("\"x2\""), TEXT("{}")}};
	struct json_edit edit;
	size_t old[3];
	size_t new[3];
	size_t at;

	assert_int_equal(json_edit_init(&edit, before), 0);
	assert_int_equal(json_edit_add(&edit, json_scan_root(before), values, 2, JSON_EDIT_BLOCK), 0);
	assert_true(is_insertion(before, json_edit_text(&edit), &at));
	json_decref(parse(json_edit_text(&edit)));
	count_line_ends(before, old);
	count_line_ends(json_edit_text(&edit), new);
	for (int i = 0; i < 3; i++)
		if (old[0] + old[1] + old[2] > 0 && old[i] == 0)
			assert_int_equal(new[i], 0);
	json_edit_release(&edit);
}

static void no_byte_outside_the_edit_changes_in_2000_files(void **state)
{
	struct generator generator = {0};

	(void)state;
	buf_init(&generator.out, FILE_CEILING);
	for (unsigned number = 0; number < FILES; number++) {
		write_file(&generator, number);
		edit_one(buf_str(&generator.out));
		grow_one(buf_str(&generator.out));
	}
	buf_release(&generator.out);
}

/* The same files with something in them that JSON hasn't: all refused, each where it stands. */
static void every_one_of_them_with_a_comment_or_a_stray_comma_is_refused(void **state)
{
	static const char *const strays[] = {"// x\n", "/* x */", ",", "#"};
	struct generator generator = {0};

	(void)state;
	buf_init(&generator.out, FILE_CEILING);
	for (unsigned number = 0; number < FILES; number++) {
		const char *stray = strays[number % 4];
		struct json_scan_fault fault;
		struct json_edit edit;
		struct str text;

		write_file(&generator, number);
		text = buf_str(&generator.out);
		assert_int_equal(json_edit_init(&edit, text), 0);
		edit.text.len = json_scan_root(text) + 1; /* behind the opening brace */
		buf_puts(&edit.text, stray);
		buf_add(&edit.text, text.bytes + json_scan_root(text) + 1, text.len - json_scan_root(text) - 1);
		assert_int_equal(json_scan_check(json_edit_text(&edit), &fault), JSON_SCAN_REFUSED);
		assert_int_equal(fault.offset, json_scan_root(text) + 1);
		assert_int_equal(fault.kind, *stray == ',' ? JSON_SCAN_SYNTAX : JSON_SCAN_COMMENT);
		json_edit_release(&edit);
	}
	buf_release(&generator.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_json_is_refused_with_its_place),
		cmocka_unit_test(what_the_grammar_has_is_accepted),
		cmocka_unit_test(depth_and_size_have_a_limit),
		cmocka_unit_test(an_edit_follows_the_file),
		cmocka_unit_test(a_block_puts_every_item_on_a_line),
		cmocka_unit_test(no_byte_outside_the_edit_changes_in_2000_files),
		cmocka_unit_test(every_one_of_them_with_a_comment_or_a_stray_comma_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
