/* The token of a run (chapter 2.5): it is found while the run lives and for a day after it, and it is nobody but this run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "daemon/http/api.h"
#include "tests/lib/lifecycle_fixture.h"

#define FREE FIXTURE_OPTIONAL("gh", "github", "github.issues.create")

enum { DAY_MS = 24 * 3600 * 1000 };

struct claimed {
	struct api api;
	struct str run;
	unsigned char hash[AUTH_HASH_SIZE];
};

static void claim(struct lifecycle_fixture *fixture, struct claimed *ret)
{
	struct lifecycle_plan_put put;
	struct lifecycle_approval approval;
	struct lifecycle_handoff handoff;
	const char *body = lifecycle_fixture_body(fixture, lifecycle_fixture_package(fixture, "a", "", FREE, ""));

	assert_int_equal(lifecycle_fixture_put(fixture, "t", body, &put), 0);
	assert_int_equal(lifecycle_fixture_approve(fixture, "t", 1, &approval), 0);
	assert_int_equal(lifecycle_fixture_handoff(fixture, put.view.packages[0].row.id, &handoff), 0);
	memset(ret, 0, sizeof(*ret));
	ret->api.lifecycle = fixture->lifecycle;
	ret->run = handoff.run.row.id;
	(void)crypto_generichash(ret->hash, sizeof(ret->hash), (const unsigned char *)handoff.run_token.bytes,
		handoff.run_token.len, NULL, 0);
}

static int find(struct lifecycle_fixture *fixture, struct claimed *claimed, struct auth_token *ret)
{
	*ret = (struct auth_token){0};
	return api_find_token(&claimed->api, lifecycle_fixture_arena(fixture), claimed->hash, ret);
}

static void a_run_s_token_is_the_run_and_sees_its_project(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed;
	struct auth_token token;

	claim(fixture, &claimed);
	lifecycle_fixture_pass(fixture, 10 * (int64_t)DAY_MS);
	assert_int_equal(find(fixture, &claimed, &token), 0);
	assert_true(str_equal(token.run, claimed.run));
	assert_int_equal(token.roles, 0);
	assert_false(token.all_projects);
	assert_int_equal(token.projects_count, 1);
	assert_true(str_is(token.projects[0], "tracker"));
	claimed.hash[0] ^= 1;
	assert_int_equal(find(fixture, &claimed, &token), AUTH_ABSENT);
}

static void it_dies_a_day_after_the_end_of_the_run(void **state)
{
	struct lifecycle_fixture *fixture = *state;
	struct claimed claimed;
	struct auth_token token;
	struct lifecycle_outcome outcome;

	claim(fixture, &claimed);
	assert_int_equal(lifecycle_fixture_outcome(fixture, claimed.run, STORE_RUN_SUCCEEDED, &outcome), 0);
	lifecycle_fixture_pass(fixture, DAY_MS);
	assert_int_equal(find(fixture, &claimed, &token), 0);
	lifecycle_fixture_pass(fixture, 1);
	assert_int_equal(find(fixture, &claimed, &token), AUTH_ABSENT);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, lifecycle_fixture_setup, lifecycle_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_run_s_token_is_the_run_and_sees_its_project),
		WITH(it_dies_a_day_after_the_end_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
