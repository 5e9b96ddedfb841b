/* Tables and text on a terminal: aligned, cut to its width, harmless (chapter 4.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/table.h"

static const char *const headings[] = {"ID", "NAME", "STATUS"};

static int setup(void **state)
{
	static struct buf out;

	buf_init(&out, 1024 * 1024);
	*state = &out;
	return 0;
}

static int teardown(void **state)
{
	buf_release(*state);
	return 0;
}

static void assert_out(struct buf *out, const char *expected)
{
	assert_int_equal(buf_error(out), 0);
	assert_string_equal(buf_str(out).bytes, expected);
	buf_reset(out);
}

static void assert_shown(struct buf *out, const char *text, size_t length, const char *expected)
{
	table_text(out, (struct str){text, length});
	assert_out(out, expected);
}

static void ordinary_text_is_shown_as_it_is(void **state)
{
	assert_shown(*state, "Größe 文字 é", strlen("Größe 文字 é"), "Größe 文字 é");
	assert_shown(*state, NULL, 0, "");
}

static void control_characters_are_shown_by_number(void **state)
{
	assert_shown(*state, "a\033[2Jb", 6, "a<U+001B>[2Jb");
	assert_shown(*state, "one\ntwo\tthree\r", 14, "one<U+000A>two<U+0009>three<U+000D>");
	assert_shown(*state, "\0", 1, "<U+0000>");
	assert_shown(*state, "\x7f\xc2\x9b", 3, "<U+007F><U+009B>");
}

static void unseen_characters_are_shown_by_number(void **state)
{
	assert_shown(*state,
		"\xe2\x80\xae"
		"evil",
		7, "<U+202E>evil");
	assert_shown(*state,
		"a\xe2\x80\x8b"
		"b",
		5, "a<U+200B>b");
	assert_shown(*state, "\xef\xbb\xbf", 3, "<U+FEFF>");
	assert_shown(*state, "\xe2\x81\xa6\xe2\x81\xa9", 6, "<U+2066><U+2069>");
	assert_shown(*state, "\xf3\xa0\x81\x81", 4, "<U+E0041>");
	assert_shown(*state, "\xe2\x80\xa8", 3, "<U+2028>");
}

static void bytes_that_are_no_utf8_are_shown_by_number(void **state)
{
	assert_shown(*state,
		"a\xff"
		"b",
		3, "a<0xff>b");
	assert_shown(*state, "\xc3", 1, "<0xc3>");
	assert_shown(*state, "\xed\xa0\x80", 3, "<0xed><0xa0><0x80>");
}

static void widths_are_columns(void **state)
{
	(void)state;
	assert_int_equal(table_width(STR("abc")), 3);
	assert_int_equal(table_width(STR("é")), 1);
	assert_int_equal(table_width(STR("文字")), 4);
	assert_int_equal(table_width(STR("e\xcc\x81")), 1);
	assert_int_equal(table_width((struct str){NULL, 0}), 0);
}

static void what_is_cut_says_so_and_fits(void **state)
{
	struct buf *out = *state;

	table_cut(out, STR("abcdef"), 6);
	assert_out(out, "abcdef");
	table_cut(out, STR("abcdef"), 4);
	assert_out(out, "abc…");
	table_cut(out, STR("文字文"), 4);
	assert_out(out, "文…");
	table_cut(out, STR("abc"), 1);
	assert_out(out, "…");
	table_cut(out, STR("abc"), 0);
	assert_out(out, "");
}

static void long_text_breaks_at_blanks_only(void **state)
{
	struct buf *out = *state;
	struct table_style style = {.width = 16};

	table_wrap(out, &style, STR("one two three four"), 4);
	assert_out(out, "    one two\n    three four\n");
	table_wrap(out, &style, STR("averyveryverylongword it is"), 2);
	assert_out(out, "  averyveryverylongword\n  it is\n");
	style.width = 0;
	table_wrap(out, &style, STR("one two three four"), 2);
	assert_out(out, "  one two three four\n");
}

static void add_row(struct table *table, const char *id, const char *name, const char *status)
{
	table_cell(table, TABLE_PLAIN, id);
	table_cell(table, TABLE_PLAIN, name);
	table_cell(table, table_tone_find(status), status);
}

static void columns_are_aligned_and_no_line_ends_in_blanks(void **state)
{
	struct table_style style = {0};
	struct table table;

	table_init(&table, headings, 3);
	add_row(&table, "pkg_1", "文字", "blocked");
	add_row(&table, "pkg_22", "backend", NULL);
	assert_int_equal(table_write(&table, &style, *state), 0);
	assert_out(*state,
		"ID      NAME     STATUS\n"
		"pkg_1   文字     blocked\n"
		"pkg_22  backend  -\n");
	table_release(&table);
}

static void the_widest_column_gives_way_and_the_first_never(void **state)
{
	struct table_style style = {.width = 30};
	struct table table;

	table_init(&table, headings, 3);
	add_row(&table, "pkg_6f1x0c2v8m", "a label that is rather long", "blocked");
	assert_int_equal(table_write(&table, &style, *state), 0);
	assert_out(*state,
		"ID              NAME    STATUS\n"
		"pkg_6f1x0c2v8m  a lab…  block…\n");
	table_release(&table);
}

static void a_hostile_cell_stays_in_its_cell(void **state)
{
	struct table_style style = {.colour = true};
	struct table table;

	table_init(&table, headings, 3);
	add_row(&table, "pkg_1", "x\n\033[31mFAKE ROW", "warning");
	assert_int_equal(table_write(&table, &style, *state), 0);
	assert_non_null(strstr(buf_str(*state).bytes, "x<U+000A><U+001B>[31mFAKE ROW"));
	assert_non_null(strstr(buf_str(*state).bytes, "\033[33mwarning\033[0m"));
	buf_reset(*state);
	table_release(&table);
}

static void without_colour_nothing_is_painted(void **state)
{
	struct table_style style = {0};
	struct table table;

	table_init(&table, headings, 3);
	add_row(&table, "pkg_1", "backend", "blocked");
	assert_int_equal(table_write(&table, &style, *state), 0);
	assert_null(strchr(buf_str(*state).bytes, '\033'));
	table_release(&table);
}

static void a_file_gets_neither_colour_nor_width(void **state)
{
	int ends[2];
	struct table_style style;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	style = table_style_of(ends[1]);
	assert_false(style.colour);
	assert_int_equal(style.width, 0);
	close(ends[0]);
	close(ends[1]);
}

static void every_tone_of_a_state_is_known(void **state)
{
	(void)state;
	assert_int_equal(table_tone_find("amber"), TABLE_AMBER);
	assert_int_equal(table_tone_find("red"), TABLE_RED);
	assert_int_equal(table_tone_find("green"), TABLE_GREEN);
	assert_int_equal(table_tone_find("slate"), TABLE_SLATE);
	assert_int_equal(table_tone_find("neutral"), TABLE_NEUTRAL);
	assert_int_equal(table_tone_find("mauve"), TABLE_PLAIN);
	assert_int_equal(table_tone_find(NULL), TABLE_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_text_is_shown_as_it_is),
		cmocka_unit_test(control_characters_are_shown_by_number),
		cmocka_unit_test(unseen_characters_are_shown_by_number),
		cmocka_unit_test(bytes_that_are_no_utf8_are_shown_by_number),
		cmocka_unit_test(widths_are_columns),
		cmocka_unit_test(what_is_cut_says_so_and_fits),
		cmocka_unit_test(long_text_breaks_at_blanks_only),
		cmocka_unit_test(columns_are_aligned_and_no_line_ends_in_blanks),
		cmocka_unit_test(the_widest_column_gives_way_and_the_first_never),
		cmocka_unit_test(a_hostile_cell_stays_in_its_cell),
		cmocka_unit_test(without_colour_nothing_is_painted),
		cmocka_unit_test(a_file_gets_neither_colour_nor_width),
		cmocka_unit_test(every_tone_of_a_state_is_known),
	};

	table_setup();
	return cmocka_run_group_tests_name("cli table", tests, setup, teardown);
}
