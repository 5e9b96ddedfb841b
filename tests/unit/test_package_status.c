/* Status as a function of facts (chapter 2.2), and times as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/lifecycle/package_status.h"
#include "daemon/lifecycle/time_text.h"

static enum package_status status(enum store_task_status task, bool running, bool held, bool waits)
{
	return package_status(
		&(struct package_facts){.task = task, .is_running = running, .is_held = held, .waits = waits});
}

static void an_end_stays_whatever_else_is_known(void **state)
{
	static const enum package_status ends[STORE_PACKAGE_END_COUNT] = {
		[STORE_PACKAGE_COMPLETED] = PACKAGE_COMPLETED,
		[STORE_PACKAGE_FAILED] = PACKAGE_FAILED,
		[STORE_PACKAGE_CANCELLED] = PACKAGE_CANCELLED,
		[STORE_PACKAGE_SUPERSEDED] = PACKAGE_SUPERSEDED,
	};

	(void)state;
	for (int end = STORE_PACKAGE_COMPLETED; end < STORE_PACKAGE_END_COUNT; end++)
		for (int task = 0; task < STORE_TASK_STATUS_COUNT; task++)
			for (unsigned bits = 0; bits < 8; bits++)
				assert_int_equal(
					package_status(&(struct package_facts){.end = (enum store_package_end)end,
						.task = (enum store_task_status)task,
						.is_running = (bits & 1) != 0,
						.is_held = (bits & 2) != 0,
						.waits = (bits & 4) != 0}),
					ends[end]);
}

static void a_package_is_a_draft_until_its_task_is_approved(void **state)
{
	(void)state;
	assert_int_equal(status(STORE_TASK_PROPOSED, false, false, false), PACKAGE_DRAFT);
	assert_int_equal(status(STORE_TASK_PROPOSED, false, true, true), PACKAGE_DRAFT);
	assert_int_equal(status(STORE_TASK_REJECTED, false, true, false), PACKAGE_DRAFT);
	assert_int_equal(status(STORE_TASK_CHANGES_REQUESTED, false, false, true), PACKAGE_DRAFT);
}

static void held_goes_before_waiting_and_a_lease_before_both(void **state)
{
	(void)state;
	assert_int_equal(status(STORE_TASK_APPROVED, false, false, false), PACKAGE_READY);
	assert_int_equal(status(STORE_TASK_APPROVED, false, false, true), PACKAGE_PENDING);
	assert_int_equal(status(STORE_TASK_APPROVED, false, true, false), PACKAGE_BLOCKED);
	assert_int_equal(status(STORE_TASK_APPROVED, false, true, true), PACKAGE_BLOCKED);
	assert_int_equal(status(STORE_TASK_APPROVED, true, true, true), PACKAGE_RUNNING);
	assert_int_equal(status(STORE_TASK_FAILED, false, false, true), PACKAGE_PENDING);
}

static enum store_task_status task_of(const struct task_member *members, size_t count)
{
	bool scratch[8];

	assert_true(count <= 8);
	memset(scratch, 1, sizeof(scratch));
	return package_status_of_task(members, count, scratch);
}

static void a_task_is_completed_when_every_package_is_completed_or_cancelled(void **state)
{
	struct task_member members[] = {
		{.status = PACKAGE_COMPLETED}, {.status = PACKAGE_CANCELLED}, {.status = PACKAGE_SUPERSEDED}};

	(void)state;
	assert_int_equal(task_of(members, 3), STORE_TASK_COMPLETED);
	members[0].status = PACKAGE_CANCELLED;
	assert_int_equal(task_of(members, 3), STORE_TASK_CANCELLED);
	members[1].status = PACKAGE_READY;
	assert_int_equal(task_of(members, 3), STORE_TASK_APPROVED);
}

static void a_task_fails_when_what_is_left_depends_on_what_failed(void **state)
{
	static const size_t on_first[] = {0};
	static const size_t on_second[] = {1};
	struct task_member members[] = {
		{.status = PACKAGE_FAILED},
		{.status = PACKAGE_PENDING, .depends_on = on_first, .depends_on_count = 1},
		{.status = PACKAGE_BLOCKED, .depends_on = on_second, .depends_on_count = 1},
	};

	(void)state;
	assert_int_equal(task_of(members, 3), STORE_TASK_FAILED);
	assert_int_equal(task_of(members, 1), STORE_TASK_FAILED);
	members[2].depends_on_count = 0;
	assert_int_equal(task_of(members, 3), STORE_TASK_APPROVED);
	members[2].status = PACKAGE_COMPLETED;
	assert_int_equal(task_of(members, 3), STORE_TASK_FAILED);
}

/* The middle one was completed with what the first had made before its rework. */
static void a_task_fails_though_something_completed_lies_between(void **state)
{
	static const size_t on_first[] = {0};
	static const size_t on_second[] = {1};
	struct task_member members[] = {
		{.status = PACKAGE_FAILED},
		{.status = PACKAGE_COMPLETED, .depends_on = on_first, .depends_on_count = 1},
		{.status = PACKAGE_READY, .depends_on = on_second, .depends_on_count = 1},
	};

	(void)state;
	assert_int_equal(task_of(members, 3), STORE_TASK_FAILED);
	members[1].depends_on_count = 0;
	assert_int_equal(task_of(members, 3), STORE_TASK_APPROVED);
}

static void a_running_package_keeps_a_task_from_failing(void **state)
{
	struct task_member members[] = {{.status = PACKAGE_FAILED}, {.status = PACKAGE_RUNNING}};

	(void)state;
	assert_int_equal(task_of(members, 2), STORE_TASK_APPROVED);
	members[1].status = PACKAGE_COMPLETED;
	assert_int_equal(task_of(members, 2), STORE_TASK_FAILED);
}

static void a_package_that_is_only_held_keeps_its_task_open(void **state)
{
	struct task_member members[] = {{.status = PACKAGE_FAILED}, {.status = PACKAGE_BLOCKED}};

	(void)state;
	assert_int_equal(task_of(members, 2), STORE_TASK_APPROVED);
}

/* ---- times */

static void expect_time(int64_t at, const char *text)
{
	char written[TIME_TEXT_SIZE];
	int64_t again = -1;

	time_text_write(at, written);
	assert_string_equal(written, text);
	assert_true(time_text_read((struct str){text, strlen(text)}, &again));
	assert_int_equal(again, at);
}

static void times_are_written_and_read_back(void **state)
{
	(void)state;
	expect_time(0, "1970-01-01T00:00:00.000Z");
	expect_time(INT64_C(951782400001), "2000-02-29T00:00:00.001Z");
	expect_time(INT64_C(1796029202114), "2026-11-30T09:00:02.114Z");
	expect_time(INT64_C(4107542399999), "2100-02-28T23:59:59.999Z");
	expect_time(INT64_C(253402300799999), "9999-12-31T23:59:59.999Z");
}

static void every_day_of_four_centuries_is_read_back(void **state)
{
	(void)state;
	for (int64_t day = 0; day < 146097; day++) {
		char text[TIME_TEXT_SIZE];
		int64_t again = -1;

		time_text_write(day * 86400000, text);
		assert_true(time_text_read((struct str){text, TIME_TEXT_SIZE - 1}, &again));
		assert_int_equal(again, day * 86400000);
	}
}

static void zones_and_fractions_are_understood(void **state)
{
	int64_t at = 0;

	(void)state;
	assert_true(time_text_read(STR("2026-11-30T10:30:02.114999+01:30"), &at));
	assert_int_equal(at, INT64_C(1796029202114));
	assert_true(time_text_read(STR("2026-11-30t09:00:02z"), &at));
	assert_int_equal(at, INT64_C(1796029202000));
	assert_true(time_text_read(STR("2026-11-30T09:00:02.1Z"), &at));
	assert_int_equal(at, INT64_C(1796029202100));
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {"", "2026-11-30", "2026-11-30T09:00:02", "2026-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-30T24:00:00Z",
		"2026-11-30T09:60:00Z", "2026-11-30T09:00:02.Z", "2026-11-30T09:00:02Zx", "1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+01:00", "2026-11-30T09:00:02+1:00", "2026-11-30T09:00:02+24:00"};
	int64_t at = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(time_text_read((struct str){texts[i], strlen(texts[i])}, &at));
	assert_false(time_text_read((struct str){0}, &at));
}

static void sentences_name_the_day_only_when_it_is_another_one(void **state)
{
	struct arena arena;
	int64_t now = INT64_C(1796029202114);

	(void)state;
	arena_init(&arena, 4096);
	assert_true(str_is(time_text_clock(&arena, now, now), "09:00 UTC"));
	assert_true(str_is(time_text_clock(&arena, now + INT64_C(7) * 86400000, now), "7 Dec 09:00 UTC"));
	assert_null(time_text_clock(&arena, 0, now).bytes);
	assert_true(str_is(time_text_age(&arena, 45000), "45 s"));
	assert_true(str_is(time_text_age(&arena, 300000), "5 min"));
	assert_true(str_is(time_text_age(&arena, 3 * 3600000), "3 h"));
	assert_true(str_is(time_text_age(&arena, INT64_C(3) * 86400000), "3 d"));
	assert_true(str_is(time_text_age(&arena, -5), "0 s"));
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_stays_whatever_else_is_known),
		cmocka_unit_test(a_package_is_a_draft_until_its_task_is_approved),
		cmocka_unit_test(held_goes_before_waiting_and_a_lease_before_both),
		cmocka_unit_test(a_task_is_completed_when_every_package_is_completed_or_cancelled),
		cmocka_unit_test(a_task_fails_when_what_is_left_depends_on_what_failed),
		cmocka_unit_test(a_task_fails_though_something_completed_lies_between),
		cmocka_unit_test(a_running_package_keeps_a_task_from_failing),
		cmocka_unit_test(a_package_that_is_only_held_keeps_its_task_open),
		cmocka_unit_test(times_are_written_and_read_back),
		cmocka_unit_test(every_day_of_four_centuries_is_read_back),
		cmocka_unit_test(zones_and_fractions_are_understood),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(sentences_name_the_day_only_when_it_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
