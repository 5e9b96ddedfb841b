/* Between the two looks of a context packet (chapter 2.5): what was withdrawn while the disk was read is not given out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/lifecycle/context.h"
#include "tests/lib/lifecycle_fixture.h"

#define READ FIXTURE_READ("fs", "filesystem.project.read")

struct claimed {
	struct str package;
	struct str run;
};

static struct claimed claim(struct lifecycle_fixture *fixture)
{
	const char *body = lifecycle_fixture_body(fixture, lifecycle_fixture_package(fixture, "a", "", READ, ""));
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	struct lifecycle_grant grant;
	struct lifecycle_handoff handoff;

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(
		lifecycle_fixture_decide(fixture, put.view.packages[0].row.id, STORE_GRANT_APPROVED, &grant), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_handoff(fixture, put.view.packages[0].row.id, &handoff), 0);
	return (struct claimed){put.view.packages[0].row.id, handoff.run.row.id};
}

static int open_context(struct lifecycle_fixture *fixture, struct str run, struct lifecycle_context *ret)
{
	*ret = (struct lifecycle_context){.call = lifecycle_fixture_call(fixture, "executor"), .run = run};
	return lifecycle_open_context(fixture->lifecycle, ret);
}

static int record_context(struct lifecycle_fixture *fixture, struct str run, const struct lifecycle_context *opened)
{
	static const struct packet_facts facts = {.included = 3, .bytes = 40, .digest = "sha256:"};
	struct lifecycle_context_record record = {.call = lifecycle_fixture_call(fixture, "executor"),
		.run = run,
		.scope = &opened->scope,
		.facts = &facts};

	return lifecycle_record_context(fixture->lifecycle, &record);
}

static struct str packet_of(struct lifecycle_fixture *fixture, struct str run)
{
	struct lifecycle_reader reader = lifecycle_fixture_reader(fixture);
	struct lifecycle_run found = {0};

	assert_int_equal(lifecycle_view_run(&reader, run, &found), 0);
	return found.row.packet_json;
}

static void a_scope_that_still_stands_is_recorded(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed = claim(fixture);
	struct lifecycle_context opened;

	assert_int_equal(open_context(fixture, claimed.run, &opened), 0);
	assert_string_equal(opened.scope.root_path.bytes, fixture->root);
	assert_true(opened.scope.request.reads && !opened.scope.request.lists && !opened.scope.request.searches);
	assert_int_equal(opened.scope.capability_count, 1);
	assert_int_equal(record_context(fixture, claimed.run, &opened), 0);
	assert_non_null(strstr(packet_of(fixture, claimed.run).bytes, "\"included\":3"));
}

static void a_grant_that_is_taken_back_while_the_disk_is_read_gives_nothing_out(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed = claim(fixture);
	struct lifecycle_context opened;
	struct lifecycle_grant grant;

	assert_int_equal(open_context(fixture, claimed.run, &opened), 0);
	assert_int_equal(lifecycle_fixture_decide(fixture, claimed.package, STORE_GRANT_REVOKED, &grant), 0);
	assert_int_equal(record_context(fixture, claimed.run, &opened), LIFECYCLE_GRANT_WITHDRAWN);
	assert_null(packet_of(fixture, claimed.run).bytes);
	assert_int_equal(open_context(fixture, claimed.run, &opened), LIFECYCLE_GRANT_WITHDRAWN);
}

static void a_run_that_ends_while_the_disk_is_read_gets_nothing(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed = claim(fixture);
	struct lifecycle_context opened;
	struct lifecycle_outcome outcome = {
		.call = lifecycle_fixture_call(fixture, "executor"), .run = claimed.run, .outcome = STORE_RUN_FAILED};

	assert_int_equal(open_context(fixture, claimed.run, &opened), 0);
	assert_int_equal(lifecycle_report_outcome(fixture->lifecycle, &outcome), 0);
	assert_int_equal(record_context(fixture, claimed.run, &opened), LIFECYCLE_RUN_ENDED);
	assert_null(packet_of(fixture, claimed.run).bytes);
}

static void a_scope_that_was_wider_or_of_another_root_is_not_recorded(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed = claim(fixture);
	struct lifecycle_context opened;

	assert_int_equal(open_context(fixture, claimed.run, &opened), 0);
	opened.scope.request.searches = true;
	assert_int_equal(record_context(fixture, claimed.run, &opened), LIFECYCLE_GRANT_WITHDRAWN);
	opened.scope.request.searches = false;
	opened.scope.root_revision++;
	assert_int_equal(record_context(fixture, claimed.run, &opened), LIFECYCLE_GRANT_WITHDRAWN);
	assert_null(packet_of(fixture, claimed.run).bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_scope_that_still_stands_is_recorded),
		TEST(a_grant_that_is_taken_back_while_the_disk_is_read_gives_nothing_out),
		TEST(a_run_that_ends_while_the_disk_is_read_gets_nothing),
		TEST(a_scope_that_was_wider_or_of_another_root_is_not_recorded),
	};

	return cmocka_run_group_tests_name("the two looks of a context packet", tests, NULL, NULL);
}
