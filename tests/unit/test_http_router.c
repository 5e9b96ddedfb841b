/* Routes, targets, problems and tokens (chapters 4.1, 4.2 and 4.4), without a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "daemon/http/auth.h"
#include "daemon/http/gate.h"
#include "daemon/http/router.h"
#include "policy/cleanup.h"

static int answer(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	(void)request;
	http_reply_empty(reply, 204);
	return 0;
}

static const struct http_route first[] = {
	{HTTP_GET, "/v1/tasks", 0, 0, 0, answer},
	{HTTP_GET, "/v1/tasks/{id}", 0, 0, 0, answer},
	{HTTP_PUT, "/v1/tasks/{id}", 0, 0, 0, answer},
	{HTTP_GET, "/v1/tasks/mine", 0, 0, 0, answer},
};

static const struct http_route second[] = {
	{HTTP_POST, "/v1/tasks/{id}/preview", 0, 0, 0, answer},
	{HTTP_DELETE, "/v1/projects/{id}/servers/{mcpId}", 0, 0, 0, answer},
	{HTTP_GET, "/", 0, 0, 0, answer},
};

static const struct http_routes tables[] = {{first, 4}, {second, 3}};

static int setup(void **state)
{
	static struct http_request request;

	memset(&request, 0, sizeof(request));
	arena_init(&request.arena, 1024 * 1024);
	request.id = STR("req_test");
	*state = &request;
	return 0;
}

static int teardown(void **state)
{
	struct http_request *request = *state;

	arena_release(&request->arena);
	return 0;
}

static int find(struct http_request *request, enum http_method method, const char *path, unsigned *ret_methods)
{
	request->method = method;
	request->path = (struct str){path, strlen(path)};
	return http_router_find(tables, 2, request, ret_methods);
}

static void a_path_finds_its_row_and_parameters(void **state)
{
	struct http_request *request = *state;
	unsigned methods;

	assert_int_equal(find(request, HTTP_DELETE, "/v1/projects/a%20b/servers/x%C3%A9", &methods), 0);
	assert_string_equal(request->route->pattern, "/v1/projects/{id}/servers/{mcpId}");
	assert_true(str_is(http_request_param(request, "id"), "a b"));
	assert_true(str_is(http_request_param(request, "mcpId"), "x\xc3\xa9"));
	assert_int_equal(find(request, HTTP_GET, "/", &methods), 0);
	assert_string_equal(request->route->pattern, "/");
	assert_int_equal(find(request, HTTP_HEAD, "/v1/tasks", &methods), 0);
	assert_string_equal(request->route->pattern, "/v1/tasks");
}

static void a_literal_beats_a_name_for_every_method(void **state)
{
	struct http_request *request = *state;
	unsigned methods;

	assert_int_equal(find(request, HTTP_GET, "/v1/tasks/mine", &methods), 0);
	assert_string_equal(request->route->pattern, "/v1/tasks/mine");
	assert_int_equal(find(request, HTTP_PUT, "/v1/tasks/mine", &methods), HTTP_ROUTE_METHOD);
	assert_string_equal(http_router_allow(&request->arena, methods).bytes, "GET, HEAD, OPTIONS");
	assert_int_equal(find(request, HTTP_PUT, "/v1/tasks/mines", &methods), 0);
}

static void absent_paths_and_methods_are_told_apart(void **state)
{
	static const char *const absent[] = {"/v1", "/v1/", "/v1/tasks/", "/v1/tasks/1/", "/v1/tasks//preview", "//",
		"/v1/Tasks", "/v1/tasks/1/preview/x", "/v1/tasks/1/preview/a/b/c/d/e/f/g/h/i/j/k/l/m", "/v1%20/tasks"};
	struct http_request *request = *state;
	unsigned methods;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		assert_int_equal(find(request, HTTP_GET, absent[i], &methods), HTTP_ROUTE_ABSENT);
		assert_int_equal(methods, 0);
	}
	assert_int_equal(find(request, HTTP_POST, "/v1/tasks/1", &methods), HTTP_ROUTE_METHOD);
	assert_string_equal(http_router_allow(&request->arena, methods).bytes, "GET, HEAD, PUT, OPTIONS");
	assert_null(request->route);
}

static void refused_pieces_never_reach_a_route(void **state)
{
	static const char *const refused[] = {"", "v1", "/v1/tasks/%00", "/v1/tasks/%2f", "/v1/tasks/%2F",
		"/v1/tasks/%0d%0a", "/v1/tasks/%1F", "/v1/tasks/%7f", "/v1/tasks/%", "/v1/tasks/%2", "/v1/tasks/%g0",
		"/v1/tasks/%0g", "/v1/tasks/%ff", "/v1/tasks/%c3", "/v1/tasks/%c0%80", "/v1/tasks/%ed%a0%80",
		"/v1/tasks/.", "/v1/tasks/..", "/v1/tasks/%2e%2E", "/v1/tasks/a b", "/v1/tasks/\xc3\xa9",
		"/v1/tasks/a#b", "/v1/tasks/\x7f"};
	struct http_request *request = *state;
	unsigned methods;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(find(request, HTTP_GET, refused[i], &methods), HTTP_PATH_REFUSED);
	assert_int_equal(find(request, HTTP_GET, "/v1/tasks/...", &methods), 0);
	assert_int_equal(find(request, HTTP_GET, "/v1/tasks/%25%32%66", &methods), 0);
	assert_true(str_is(request->params[0], "%2f"));
}

static void queries_are_read_by_name(void **state)
{
	struct http_request *request = *state;
	int64_t number;
	bool flag;

	assert_int_equal(http_router_query(request, STR("a=1&b=x%3Dy%26z&c&&limit=500&dry=true&d=a+b%2B")), 0);
	assert_true(str_is(http_request_query(request, "b"), "x=y&z"));
	assert_true(str_is(http_request_query(request, "c"), ""));
	assert_true(str_is(http_request_query(request, "d"), "a b+"));
	assert_null(http_request_query(request, "e").bytes);
	assert_int_equal(http_request_query_int(request, "limit", 1, 500, 50, &number), 0);
	assert_int_equal(number, 500);
	assert_int_equal(http_request_query_int(request, "limit", 1, 499, 50, &number), HTTP_BAD_VALUE);
	assert_int_equal(http_request_query_int(request, "b", 1, 499, 50, &number), HTTP_BAD_VALUE);
	assert_int_equal(http_request_query_int(request, "c", 0, 499, 50, &number), HTTP_BAD_VALUE);
	assert_int_equal(http_request_query_int(request, "absent", 1, 499, 50, &number), 0);
	assert_int_equal(number, 50);
	assert_int_equal(http_request_query_bool(request, "dry", &flag), 0);
	assert_true(flag);
	assert_int_equal(http_request_query_bool(request, "absent", &flag), 0);
	assert_false(flag);
	assert_int_equal(http_request_query_bool(request, "a", &flag), HTTP_BAD_VALUE);
}

static void a_query_given_twice_is_refused(void **state)
{
	assert_int_equal(http_router_query(*state, STR("a=1&%61=2")), HTTP_PATH_REFUSED);
}

static void methods_are_words_to_the_byte(void **state)
{
	(void)state;
	assert_int_equal(http_method_find("GET"), HTTP_GET);
	assert_int_equal(http_method_find("CONNECT"), HTTP_CONNECT);
	assert_int_equal(http_method_find("get"), HTTP_METHOD_UNKNOWN);
	assert_int_equal(http_method_find("GETS"), HTTP_METHOD_UNKNOWN);
	assert_int_equal(http_method_find(""), HTTP_METHOD_UNKNOWN);
	assert_string_equal(http_method_name(HTTP_DELETE), "DELETE");
	assert_string_equal(http_method_name(HTTP_METHOD_UNKNOWN), "-");
}

/* ---- problems */

static void every_problem_has_its_row(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HTTP_PROBLEMS; i++) {
		enum http_problem problem = (enum http_problem)i;

		assert_non_null(http_problem_code(problem));
		assert_true(strlen(http_problem_title(problem)) > 5);
		assert_in_range(http_problem_status(problem), 400, 503);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(http_problem_code(problem), http_problem_code((enum http_problem)j));
	}
	assert_int_equal(http_problem_status(HTTP_PROBLEM_ADMISSION_BLOCKED), 409);
	assert_int_equal(http_problem_status((enum http_problem)0), 500);
}

static void a_problem_document_has_its_members_and_the_callers(void **state)
{
	struct http_request *request = *state;
	struct http_reply reply;
	struct json_out out;

	http_reply_init(&reply);
	http_reply_etag(&reply, 3);
	out = http_reply_problem_begin(&reply, request, HTTP_PROBLEM_NOT_STORED, STR("the disk is full"));
	json_out_member_int(&out, "left", 0);
	http_reply_problem_end(&out);
	assert_int_equal(reply.status, 503);
	assert_string_equal(reply.content_type, "application/problem+json");
	assert_string_equal(buf_str(&reply.body).bytes,
		"{\"type\":\"urn:admitd:problem:not_stored\",\"title\":\"Nothing was stored\",\"status\":503,"
		"\"code\":\"not_stored\",\"instance\":\"req_test\",\"detail\":\"the disk is full\",\"left\":0}");
	assert_int_equal(reply.headers_count, 1);
	assert_string_equal(reply.headers[0].name, "Retry-After");
	http_reply_retry_after(&reply, 30);
	assert_int_equal(reply.headers_count, 1);
	assert_string_equal(reply.headers[0].value, "30");
	http_reply_release(&reply);
}

static void a_header_that_would_split_the_answer_breaks_it(void **state)
{
	static const char *const values[] = {"a\r\nX: 1", "a\nb", "a\x01", "\xc3\xa9", "\x7f"};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct http_reply reply;

		http_reply_init(&reply);
		http_reply_empty(&reply, 204);
		http_reply_header(&reply, "Location", "/v1/tasks/%s", values[i]);
		assert_int_not_equal(buf_error(&reply.body), 0);
		assert_int_equal(reply.headers_count, 0);
		http_reply_release(&reply);
	}
}

static void a_reply_moves_whole_and_leaves_nothing(void **state)
{
	struct http_reply from, to;
	struct json_out out;

	(void)state;
	http_reply_init(&from);
	http_reply_init(&to);
	out = http_reply_json(&from, 200);
	json_out_text(&out, "x");
	http_reply_header(&from, "Location", "/v1/tasks/%d", 1);
	http_reply_move(&to, &from);
	assert_string_equal(buf_str(&to.body).bytes, "\"x\"");
	assert_string_equal(to.headers[0].value, "/v1/tasks/1");
	assert_int_equal(from.status, 0);
	assert_int_equal(from.headers_count, 0);
	http_reply_reset(&to);
	assert_int_equal(to.status, 0);
	assert_int_equal(to.headers_count, 0);
	http_reply_release(&to);
	http_reply_release(&from);
}

/* ---- tokens */

static void a_bearer_header_is_read_strictly(void **state)
{
	static const char *const wrong[] = {"", "Bearer", "Bearer ", "Bearer    ", "Basic abc", "Bearerabc",
		"Bearer a b", "Bearer a\tb", "Bearer a,b", "Bearer \xc3\xa9", "Bearer a\"b"};
	struct str secret;
	char longest[400];

	(void)state;
	assert_true(auth_bearer(STR("Bearer abc-._~+/=9"), &secret));
	assert_true(str_is(secret, "abc-._~+/=9"));
	assert_true(auth_bearer(STR("bEARER   x"), &secret));
	assert_true(str_is(secret, "x"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(auth_bearer((struct str){wrong[i], strlen(wrong[i])}, &secret));
	assert_false(auth_bearer((struct str){0}, &secret));
	assert_false(auth_bearer((struct str){"Bearer a\0b", 10}, &secret));
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "Bearer ", 7);
	assert_true(auth_bearer((struct str){longest, 7 + 256}, &secret));
	assert_false(auth_bearer((struct str){longest, 7 + 257}, &secret));
}

static void roles_are_sets_and_an_admin_has_all(void **state)
{
	struct auth_token none = {0};
	struct auth_token approver = {.roles = AUTH_APPROVER};
	struct auth_token admin = {.roles = AUTH_ADMIN};
	struct auth_token run = {.run = STR("run_1"), .roles = AUTH_ADMIN};

	(void)state;
	assert_true(auth_has_role(&approver, AUTH_APPROVER | AUTH_OPERATOR));
	assert_false(auth_has_role(&approver, AUTH_PLANNER));
	assert_true(auth_has_role(&admin, AUTH_PLANNER));
	assert_true(auth_has_role(&none, 0));
	assert_false(auth_has_role(&none, AUTH_PLANNER));
	assert_false(auth_has_role(&run, 0));
	assert_false(auth_has_role(&run, AUTH_PLANNER));
	assert_int_equal(auth_role_find(STR("auditor")), AUTH_AUDITOR);
	assert_int_equal(auth_role_find(STR("root")), 0);
	assert_string_equal(auth_role_name(AUTH_EXECUTOR), "executor");
}

static void projects_bound_a_token(void **state)
{
	const struct str projects[] = {STR("tracker")};
	struct auth_token bounded = {.projects = projects, .projects_count = 1};
	struct auth_token all = {.all_projects = true};
	struct auth_token none = {0};

	(void)state;
	assert_true(auth_has_project(&bounded, STR("tracker")));
	assert_false(auth_has_project(&bounded, STR("Tracker")));
	assert_true(auth_has_project(&all, STR("any")));
	assert_false(auth_has_project(&none, STR("any")));
}

static void a_budget_is_spent_and_comes_back(void **state)
{
	struct auth_budget *budget = auth_budget_new(2, 1000);
	uint64_t wait_ms;

	(void)state;
	assert_non_null(budget);
	assert_true(auth_budget_spend(budget, STR("192.0.2.1"), 5000, &wait_ms));
	assert_true(auth_budget_spend(budget, STR("192.0.2.1"), 5100, &wait_ms));
	assert_false(auth_budget_spend(budget, STR("192.0.2.1"), 5200, &wait_ms));
	assert_int_equal(wait_ms, 800);
	assert_true(auth_budget_spend(budget, STR("192.0.2.1"), 6000, &wait_ms));
	auth_budget_free(budget);
}

static void ids_and_traces_have_their_own_letters(void **state)
{
	(void)state;
	assert_true(gate_is_request_id(STR("Job-7.a_b")));
	assert_false(gate_is_request_id(STR("")));
	assert_false(gate_is_request_id((struct str){"a\0b", 3}));
	assert_false(gate_is_request_id(STR("a b")));
	assert_true(gate_is_traceparent(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
	assert_false(gate_is_traceparent(STR("00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
	assert_false(gate_is_traceparent(STR("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_path_finds_its_row_and_parameters),
		TEST(a_literal_beats_a_name_for_every_method),
		TEST(absent_paths_and_methods_are_told_apart),
		TEST(refused_pieces_never_reach_a_route),
		TEST(queries_are_read_by_name),
		TEST(a_query_given_twice_is_refused),
		TEST(methods_are_words_to_the_byte),
		TEST(every_problem_has_its_row),
		TEST(a_problem_document_has_its_members_and_the_callers),
		TEST(a_header_that_would_split_the_answer_breaks_it),
		TEST(a_reply_moves_whole_and_leaves_nothing),
		TEST(a_bearer_header_is_read_strictly),
		TEST(roles_are_sets_and_an_admin_has_all),
		TEST(projects_bound_a_token),
		TEST(a_budget_is_spent_and_comes_back),
		TEST(ids_and_traces_have_their_own_letters),
	};

	return cmocka_run_group_tests_name("http router", tests, NULL, NULL);
}
