/* The block at the head of a concept, within its bounds, and links as text (cases O14, O24, O25, O32). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/buf.h"
#include "policy/cleanup.h"
#include "reader/bundle_link.h"
#include "reader/bundle_tools.h"
#include "reader/front_matter_parts.h"

static struct arena arena;
static struct front_matter head;
static struct str body;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 64 * 1024 * 1024);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct str text_of(const char *text)
{
	return (struct str){text, strlen(text)};
}

static int read_text(const char *text)
{
	return front_matter_read(&arena, text_of(text), &head, &body);
}

static void is(struct str found, const char *wanted)
{
	if (wanted == NULL)
		assert_null(found.bytes);
	else
		assert_true(found.bytes != NULL && found.len == strlen(wanted) &&
			memcmp(found.bytes, wanted, found.len) == 0);
}

static void the_known_fields_are_read_and_every_key_is_named(void **state)
{
	(void)state;
	assert_int_equal(
		read_text(
			"---\ntype: Metric\ntitle: 'A: b'\ndescription: >-\n  folded\n  text\n"
			"tags: [a, \"b c\"]\nstatus: draft\nstale_after: 2026-01-02\nother: {x: [1, 2]}\n---\nbody\n"),
		0);
	is(head.type, "Metric");
	is(head.title, "A: b");
	is(head.description, "folded text");
	is(head.status, "draft");
	is(head.stale_after, "2026-01-02");
	is(head.timestamp, NULL);
	assert_int_equal(head.tag_count, 2);
	is(head.tags[1], "b c");
	assert_int_equal(head.key_count, 7);
	is(head.keys[6], "other");
	is(body, "body\n");
}

static void one_mapping_alone_is_one_verification(void **state)
{
	(void)state;
	assert_int_equal(read_text("---\ntype: T\nverified: {by: 'human:ann', at: 2026-01-01}\n---\n"), 0);
	assert_int_equal(head.verified_count, 1);
	assert_true(head.is_human_verified);
	assert_int_equal(read_text("---\ntype: T\nverified:\n- by: process:x\n- {at: 1}\n- human:\n---\n"), 0);
	assert_int_equal(head.verified_count, 1);
	assert_false(head.is_human_verified);
	assert_int_equal(
		read_text("---\ntype: T\nverified: {by: 'human:'}\ngenerated: {by: x, at: 2026-02-03}\n---\n"), 0);
	assert_false(head.is_human_verified);
	is(head.generated_at, "2026-02-03");
	assert_int_equal(read_text("---\ntype: T\nverified: true\n---\n"), 0);
	assert_int_equal(head.verified_count, 0);
}

static void nothing_and_null_are_absent_and_quoted_words_are_not(void **state)
{
	(void)state;
	assert_int_equal(read_text("---\ntype:\ntitle: ~\ndescription: null\nstatus: 'null'\ntags: one\n---\n"), 0);
	is(head.type, NULL);
	is(head.title, NULL);
	is(head.description, NULL);
	is(head.status, "null");
	assert_int_equal(head.tag_count, 1);
	assert_int_equal(read_text("---\ntype: [a]\ntitle: {b: c}\ntags: {d: e}\n---\n"), 0);
	is(head.type, NULL);
	assert_int_equal(head.tag_count, 0);
}

static void an_alias_names_a_scalar_and_the_first_of_two_keys_counts(void **state)
{
	(void)state;
	assert_int_equal(read_text("---\ntype: &t Metric\ntitle: *t\ndescription: *t\ntitle: two\n---\n"), 0);
	is(head.title, "Metric");
	is(head.description, "Metric");
	assert_int_equal(head.key_count, 3);
}

static void the_block_begins_at_the_first_byte_and_ends_at_a_line_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(read_text("\n---\ntype: T\n---\n"), FRONT_MATTER_NONE);
	is(body, "\n---\ntype: T\n---\n");
	assert_int_equal(read_text("# Title\n"), FRONT_MATTER_NONE);
	assert_int_equal(read_text(""), FRONT_MATTER_NONE);
	assert_int_equal(read_text("----\ntype: T\n---\n"), FRONT_MATTER_NONE);
	assert_int_equal(read_text("---\ntype: T\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_text("---"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_text("\xEF\xBB\xBF---\r\ntype: T\r\ntitle: |-\r\n  a\r\n  b\r\n---  \r\nb\r\n"), 0);
	is(head.title, "a b");
	is(body, "b\r\n");
	assert_int_equal(read_text("---\ntype: T\nx: a ---\n---"), 0);
	is(body, "");
}

static void what_is_no_mapping_is_malformed(void **state)
{
	static const char *const texts[] = {"---\n---\n", "---\n- a\n---\n", "---\njust text\n---\n",
		"---\na: [b\n---\n", "---\na: b: c\n---\n", "---\n\ta: b\n---\n", "---\na: b\n...\n%YAML 9.9\n---\n",
		"---\na: b\n...\nc: d\n---\n", "---\na: \x01\n---\n", "---\n*x : y\n: [\n---\n",
		"---\na: \"\\xZZ\"\n---\n"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (read_text(texts[i]) != FRONT_MATTER_MALFORMED)
			fail_msg("taken: %s", texts[i]);
		assert_int_equal(head.key_count, 0);
	}
}

static void control_characters_become_blanks_and_long_texts_are_cut_between_characters(void **state)
{
	struct buf text CLEANUP(buf_release) = {0};
	size_t i;

	(void)state;
	assert_int_equal(read_text("---\ntype: \"a\\0b\\x1bc\\nd\"\ntitle: \"  \\t \"\n---\n"), 0);
	is(head.type, "a b c d");
	assert_int_equal(head.title.len, 0);
	buf_init(&text, 1 << 20);
	buf_puts(&text, "---\ntitle: x");
	for (i = 0; i < 5000; i++)
		buf_puts(&text, "\xC3\xA9");
	buf_puts(&text, "\n---\n");
	assert_int_equal(front_matter_read(&arena, buf_str(&text), &head, &body), 0);
	assert_int_equal(head.title.len, FRONT_MATTER_TEXT_LIMIT - 1);
}

/* `count` times `piece` between a head and a tail. */
static int read_many(const char *before, const char *piece, size_t count, const char *after)
{
	struct buf text CLEANUP(buf_release) = {0};
	size_t i;

	buf_init(&text, 8 << 20);
	buf_puts(&text, before);
	for (i = 0; i < count; i++)
		buf_puts(&text, piece);
	buf_puts(&text, after);
	assert_int_equal(buf_error(&text), 0);
	return front_matter_read(&arena, buf_str(&text), &head, &body);
}

static void every_bound_ends_a_hostile_block(void **state)
{
	(void)state;
	assert_int_equal(read_many("---\ntype: T\nx: ", "[", 31, "]]]\n---\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_many("---\ntype: T\nx: ", "[", 60000, "\n---\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_many("---\ntype: T\nx: ", "{a: ", 15000, "\n---\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_many("---\ntype: T\nx: [", "a,", 19000, "a]\n---\n"), 0);
	assert_int_equal(read_many("---\ntype: T\nx: [", "a,", 21000, "a]\n---\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(
		read_many("---\ntype: T\nx: ", "a", FRONT_MATTER_BYTES_LIMIT, "\n---\n"), FRONT_MATTER_MALFORMED);
	assert_int_equal(read_many("---\ntype: T\ntags:\n", "- a\n", 500, "---\n"), 0);
	assert_int_equal(head.tag_count, FRONT_MATTER_TAGS_LIMIT);
	assert_int_equal(read_many("---\ntype: &a T\nx: [&b [", "*a, ", 9000, "]]\ny: [*b, *b]\n---\n"), 0);
	assert_int_equal(read_many("---\nq: 1\n", "---\n", 100000, ""), 0);
}

static void leads(const char *folder, const char *target, int result, const char *path)
{
	struct str found = {0};
	bool is_folder;

	if (bundle_link_resolve(&arena, text_of(folder), text_of(target), &found, &is_folder) != result)
		fail_msg("another result for %s on a page in '%s'", target, folder);
	is(found, path);
}

static void a_link_is_resolved_by_its_text_alone(void **state)
{
	(void)state;
	leads("", "x.md", 0, "x.md");
	leads("a/b", "x.md", 0, "a/b/x.md");
	leads("a/b", "./../x.md", 0, "a/x.md");
	leads("a/b", "/x.md", 0, "x.md");
	leads("a", "../", 0, "");
	leads("a", "sp%20ace.md", 0, "a/sp ace.md");
	leads("a", "50%.md", 0, "a/50%.md");
	leads("a", "b//c/./d.md", 0, "a/b/c/d.md");
	leads("a", "b/c:d.md", 0, "a/b/c:d.md");
	leads("", "../x.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("a", "../../a/x.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("", "a/../../x.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("a", "/../x.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("", "%2e%2e/x.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("", "a%2Fx.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("", "a%00.md", BUNDLE_LINK_OUTSIDE, NULL);
	leads("", "", BUNDLE_LINK_ELSEWHERE, NULL);
	leads("", "https://example.com/x.md", BUNDLE_LINK_ELSEWHERE, NULL);
	leads("", "//example.com/x.md", BUNDLE_LINK_ELSEWHERE, NULL);
	leads("", "mailto:x.md", BUNDLE_LINK_ELSEWHERE, NULL);
}

static void links_of_a_page_are_found_outside_of_code(void **state)
{
	static const char *const wanted[] = {"a.md", "b c.md", "", "d.md", "e.md", "g.md"};
	struct bundle_links links = bundle_links_of(STR(
		"# T\n* [a](a.md) [b](<b c.md>) [](#part)\n```\n[no](no.md)\n```\n[d]( d.md \"title\") [e](e.md?q#p)\n"
		"[f](unclosed\n](\n]\n~~~\n[no](no.md)\n~~~\n[g](g.md)"));
	struct str target;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_true(bundle_links_next(&links, &target));
		is(target, wanted[i]);
	}
	assert_false(bundle_links_next(&links, &target));
}

/* Clients cut descriptions behind 2047 bytes, without a word (case O01); O02 is the control. */
static bool is_short_enough(const char *text)
{
	return strlen(text) <= 2047;
}

static void four_tools_a_mode_and_none_of_one_bundle_takes_its_id(void **state)
{
	static const char *const names[BUNDLE_TOOLS] = {"okf_list", "okf_describe", "okf_ask", "okf_fetch"};
	char padded[2101];
	size_t mode, i;

	(void)state;
	for (mode = 0; mode < 2; mode++)
		for (i = 0; i < BUNDLE_TOOLS; i++) {
			const struct bundle_tool *tool = &bundle_tools(mode == 1)[i];
			CLEANUP(json_drop) json_t *in = json_loads(tool->input_schema, JSON_REJECT_DUPLICATES, NULL);
			CLEANUP(json_drop) json_t *out = json_loads(tool->output_schema, JSON_REJECT_DUPLICATES, NULL);

			assert_string_equal(tool->name, names[i]);
			assert_true(is_short_enough(tool->description));
			assert_true(json_is_object(in) && json_is_object(out));
			assert_true(json_is_false(json_object_get(in, "additionalProperties")));
			assert_int_equal(json_object_get(json_object_get(in, "properties"), "bundle_id") != NULL,
				mode == 0 && i > 0);
		}
	memset(padded, 'x', sizeof(padded) - 1);
	padded[sizeof(padded) - 1] = '\0';
	assert_false(is_short_enough(padded));
}

/* ---- the plain reader beside libyaml */

static bool is_same(const struct front_event *one, const struct front_event *other)
{
	return one->type == other->type && one->is_plain == other->is_plain && str_equal(one->value, other->value) &&
		str_equal(one->anchor, other->anchor);
}

/* Whether the plain reader knows the block; then libyaml says the same of it. */
static bool is_plain_block(struct str block)
{
	CLEANUP(front_yaml_close) struct front_yaml *yaml = NULL;
	struct front_event events[512] = {0}, event;
	struct front_plain plain;
	size_t count = 0;

	front_plain_init(&plain, &arena, block);
	do {
		assert_true(count < 512);
		if (front_plain_next(&plain, &events[count]) != 0)
			return false;
	} while (events[count++].type != FRONT_STREAM_END);
	assert_int_equal(front_yaml_open(&arena, block, &yaml), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(front_yaml_next(yaml, &event), 0);
		if (!is_same(&event, &events[i]))
			fail_msg("event %zu of: %.*s", i, (int)block.len, block.bytes);
	}
	return true;
}

static uint64_t chance_state = 88172645463325252ull;

static size_t chance(size_t below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (size_t)(chance_state >> 11) % below;
}

#define ANY(list) (list)[chance(sizeof(list) / sizeof((list)[0]))]

/* Mostly what heads are made of, and sometimes what only looks like it. */
static void put_line(struct buf *block)
{
	static const char *const indents[] = {"", "", "", "", "", "", "  ", "  ", "  ", "    ", " ", "   ", "      "};
	static const char *const dashes[] = {"", "", "", "- ", "- ", "-", "-  ", "- - ", "\t"};
	static const char *const keys[] = {"title: ", "tags: ", "a-b: ", "x:", "tags:", "by: ", "k:  ", "key:v ", "? ",
		"'q': ", "<<: ", "", "", "", "Key9: ", "null: "};
	static const char *const values[] = {"plain words", "more", "it's \"so\"", "a: b", "a #b", "a#b", "'single'",
		"'it''s'", "\"double\"", "\"esc\\n\"", "\"open", "[one, two]", "[one,two]", "[a b, c-d, 1.5]", "[]",
		"[a: b]", "[ a ]", "[a, ]", "{ by: me }", "|", ">", "&x y", "*x", "!t v", "~", "null", "-1", "--- x",
		"...", "2026-01-01T00:00:00Z", "http://a/b?c=d", "trailing ", "ends:", "(x)", "$HOME", "/path", "%x",
		"@x", "`x`", "caf\xC3\xA9", "", "", "", "'a' b", "\"a\" # c", "'a: b # c'", "_x", ".5", "a, b] c}", "'",
		"\"\"", "''"};

	static const char *const usual[] = {"title: Some words\n", "tags:\n", "- one\n", "- by: me\n", "  at: 'now'\n",
		"  - deep\n", "    deeper: 1\n", "  more words\n", "list: [a, b]\n", "x: \"y\"\n", "  z:\n",
		"    - zz\n"};

	if (chance(5) != 0) {
		buf_puts(block, ANY(usual));
		return;
	}
	buf_puts(block, ANY(indents));
	buf_puts(block, ANY(dashes));
	buf_puts(block, ANY(keys));
	buf_puts(block, ANY(values));
	buf_puts(block, chance(30) == 0 ? "\r\n" : chance(30) == 0 ? "\n\n" : "\n");
}

static void what_the_plain_reader_knows_is_what_libyaml_says(void **state)
{
	size_t plain = 0, blocks = getenv("ADMITD_SLOW") != NULL ? 4000000 : 200000;
	CLEANUP(buf_release) struct buf block = {0};

	(void)state;
	buf_init(&block, 1 << 16);
	for (size_t i = 0; i < blocks; i++) {
		buf_reset(&block);
		for (size_t lines = 1 + chance(7); lines > 0; lines--)
			put_line(&block);
		if (chance(10) == 0)
			block.len--;
		plain += is_plain_block(buf_str(&block));
		arena_reset(&arena);
	}
	assert_true(plain > blocks / 50);
}

static void heads_as_they_are_written_are_plain(void **state)
{
	static const char *const blocks[] = {
		"type: Table\ntitle: Orders\ndescription: What was ordered, by whom,\n  and when.\ntags:\n- a\n- b c\n",
		"tags: [finance, policy]\nverified:\n- by: human:me\n  at: '2026-07-10T23:02:48+00:00'\nstatus: "
		"stable\n",
		"sources:\n  - id: a\n    title: A & B (2026)\n  - id: b\nnot:\n  - term: \"x\"\n    why: \"y: "
		"z\"\nlast:\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		assert_true(is_plain_block(text_of(blocks[i])));
}

static void a_text_of_many_lines_is_read_like_any(void **state)
{
	CLEANUP(buf_release) struct buf text = {0};

	(void)state;
	buf_init(&text, 1 << 20);
	buf_puts(&text, "---\ntitle: a\n");
	while (text.len < 60000)
		buf_puts(&text, "  a\n");
	buf_puts(&text, "---\n");
	assert_int_equal(front_matter_read(&arena, buf_str(&text), &head, &body), 0);
	assert_int_equal(head.title.len, FRONT_MATTER_TEXT_LIMIT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_known_fields_are_read_and_every_key_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(one_mapping_alone_is_one_verification, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_and_null_are_absent_and_quoted_words_are_not, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_alias_names_a_scalar_and_the_first_of_two_keys_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_block_begins_at_the_first_byte_and_ends_at_a_line_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_mapping_is_malformed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			control_characters_become_blanks_and_long_texts_are_cut_between_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(every_bound_ends_a_hostile_block, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_is_resolved_by_its_text_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(links_of_a_page_are_found_outside_of_code, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_plain_reader_knows_is_what_libyaml_says, setup, teardown),
		cmocka_unit_test_setup_teardown(heads_as_they_are_written_are_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(a_text_of_many_lines_is_read_like_any, setup, teardown),
		cmocka_unit_test_setup_teardown(four_tools_a_mode_and_none_of_one_bundle_takes_its_id, setup, teardown),
	};

	return cmocka_run_group_tests_name("front matter, links and tools of bundles", tests, NULL, NULL);
}
