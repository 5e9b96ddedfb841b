/* Actions as a client gets them, and keys of requests that may be sent twice (chapters 2.6, 4.1, 4.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "daemon/http/actions.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/router.h"
#include "policy/cleanup.h"

static const struct lifecycle_action_body no_body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1};

static bool has_all(enum http_method method, const char *pattern)
{
	(void)method;
	(void)pattern;
	return true;
}

static bool has_grants(enum http_method method, const char *pattern)
{
	return method == HTTP_POST && strcmp(pattern, "/v1/packages/{id}/grants") == 0;
}

static json_t *write(const struct lifecycle_action_list *list, unsigned roles,
	bool (*has_route)(enum http_method method, const char *pattern))
{
	const struct auth_token token = {.id = STR("tok_1"), .principal = STR("p"), .roles = roles};
	struct json_out out;
	struct buf buf;
	json_t *json = NULL;

	buf_init(&buf, 64 * 1024);
	json_out_init(&out, &buf);
	actions_write(list, &token, has_route, &out);
	assert_int_equal(buf_error(&buf), 0);
	json = json_loadb(buf.bytes, buf.len, 0, NULL);
	assert_non_null(json);
	buf_release(&buf);
	return json;
}

static struct lifecycle_action approve_once(void)
{
	static const struct str reads[] = {{"filesystem.project.read", 23}};
	struct lifecycle_action action = {
		.id = ACTION_APPROVE_ONCE,
		.label = STR("Approve once…"),
		.target = LIFECYCLE_TARGET_PACKAGE_GRANTS,
		.target_id = STR("pkg_1"),
		.body = no_body,
		.takes_reason = true,
		.takes_expiry = true,
		.roles = LIFECYCLE_APPROVER,
	};

	action.body.decision = "approved";
	action.body.capabilities = reads;
	action.body.capability_count = 1;
	action.body.expected_revision = 0;
	action.body.root_revision = 1;
	return action;
}

static void an_action_is_a_whole_request(void **state)
{
	struct lifecycle_action action = approve_once();
	const struct lifecycle_action_list list = {&action, 1};
	CLEANUP(json_drop) json_t *found = write(&list, AUTH_APPROVER, has_all);
	CLEANUP(json_drop)
	json_t *wanted = json_pack("[{s:s,s:s,s:s,s:s,s:{s:s,s:[s],s:s,s:s},s:[s,s],s:b,s:[s]}]", "id", "approve_once",
		"label", "Approve once…", "method", "POST", "href", "/v1/packages/pkg_1/grants", "body", "decision",
		"approved", "capabilities", "filesystem.project.read", "expectedRevision", "0", "rootRevision", "1",
		"inputs", "reason", "expiresAt", "allowed", 1, "roleNeeded", "approver");

	(void)state;
	assert_non_null(wanted);
	assert_true(json_equal(found, wanted));
}

static void an_action_without_the_role_says_why_not(void **state)
{
	struct lifecycle_action action = approve_once();
	const struct lifecycle_action_list list = {&action, 1};
	CLEANUP(json_drop) json_t *found = write(&list, AUTH_OPERATOR | AUTH_PLANNER, has_all);
	const json_t *one = json_array_get(found, 0);

	(void)state;
	assert_true(json_is_false(json_object_get(one, "allowed")));
	assert_string_equal(json_string_value(json_object_get(one, "whyNot")), "role_missing");
}

static void nobody_is_offered_to_approve_his_own(void **state)
{
	struct lifecycle_action action = approve_once();
	const struct lifecycle_action_list list = {&action, 1};
	CLEANUP(json_drop) json_t *found = NULL;
	const json_t *one = NULL;

	(void)state;
	action.is_self_approval = true;
	found = write(&list, AUTH_ADMIN, has_all);
	one = json_array_get(found, 0);
	assert_true(json_is_false(json_object_get(one, "allowed")));
	assert_string_equal(json_string_value(json_object_get(one, "whyNot")), "self_approval");
}

static void an_action_without_a_route_is_not_offered(void **state)
{
	struct lifecycle_action actions[2] = {approve_once(), approve_once()};
	const struct lifecycle_action_list list = {actions, 2};
	CLEANUP(json_drop) json_t *found = NULL;
	CLEANUP(json_drop) json_t *all = NULL;

	(void)state;
	actions[0].target = LIFECYCLE_TARGET_TASK_CHANGES;
	actions[0].id = ACTION_REQUEST_CHANGES;
	found = write(&list, AUTH_ADMIN, has_grants);
	assert_int_equal(json_array_size(found), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(found, 0), "id")), "approve_once");
	all = write(&list, AUTH_ADMIN, has_all);
	assert_int_equal(json_array_size(all), 2);
}

static void a_path_takes_its_ids_in_order(void **state)
{
	char href[ACTIONS_HREF_MAX];
	struct str found = actions_href(href, "/v1/projects/{id}/servers/{mcpId}/check", STR("tracker"), STR("github"));

	(void)state;
	assert_true(str_is(found, "/v1/projects/tracker/servers/github/check"));
	found = actions_href(href, "/v1/tasks/{id}", STR("t.1"), (struct str){0});
	assert_true(str_is(found, "/v1/tasks/t.1"));
}

/* Adding a target means adding its route, and the pattern has as many ids as the action gives. */
static void every_target_has_a_pattern(void **state)
{
	(void)state;
	for (int i = LIFECYCLE_TARGET_PACKAGE_GRANTS; i <= LIFECYCLE_TARGET_PACKAGE_RETRY; i++) {
		struct actions_route route = actions_route_of((enum lifecycle_target)i);

		assert_int_not_equal(route.method, HTTP_METHOD_UNKNOWN);
		assert_ptr_equal(strstr(route.pattern, "/v1/"), route.pattern);
		assert_non_null(strchr(route.pattern, '{'));
	}
}

/* ---- keys */

static const struct http_route route = {.method = HTTP_POST, .pattern = "/v1/packages/{id}/grants"};

static void make(struct http_request *request, struct http_pair *header, const char *key, const char *package)
{
	*request = (struct http_request){.method = HTTP_POST, .route = &route, .headers = header, .headers_count = 1};
	arena_init(&request->arena, 64 * 1024);
	*header = (struct http_pair){STR("idempotency-KEY"), {key, strlen(key)}};
	request->token.id = STR("tok_1");
	request->params[0] = (struct str){package, strlen(package)};
}

static int begin(struct idempotency *idempotency, const char *key)
{
	struct http_request request;
	struct http_pair header;
	struct idempotency_key taken;
	int r = 0;

	make(&request, &header, key, "pkg_1");
	r = idempotency_begin(idempotency, &request, &taken);
	if (r == 0)
		idempotency_end(idempotency, &taken);
	arena_release(&request.arena);
	return r;
}

static void a_key_is_one_to_200_visible_characters(void **state)
{
	char longest[202];
	struct idempotency idempotency;

	(void)state;
	memset(longest, 'k', sizeof(longest));
	longest[201] = '\0';
	idempotency_init(&idempotency);
	assert_int_equal(begin(&idempotency, ""), IDEMPOTENCY_MALFORMED);
	assert_int_equal(begin(&idempotency, "a b"), IDEMPOTENCY_MALFORMED);
	assert_int_equal(begin(&idempotency, "\xc3\xa4"), IDEMPOTENCY_MALFORMED);
	assert_int_equal(begin(&idempotency, longest), IDEMPOTENCY_MALFORMED);
	longest[200] = '\0';
	assert_int_equal(begin(&idempotency, longest), 0);
	assert_null(idempotency.running);
	idempotency_release(&idempotency);
}

static void a_key_is_taken_until_its_request_ends(void **state)
{
	struct http_request request;
	struct http_pair header;
	struct idempotency idempotency;
	struct idempotency_key first;
	struct idempotency_key second;

	(void)state;
	idempotency_init(&idempotency);
	make(&request, &header, "k", "pkg_1");
	assert_int_equal(idempotency_begin(&idempotency, &request, &first), 0);
	assert_int_equal(idempotency_begin(&idempotency, &request, &second), IDEMPOTENCY_IN_PROGRESS);
	request.token.id = STR("tok_2");
	assert_int_equal(idempotency_begin(&idempotency, &request, &second), 0);
	idempotency_end(&idempotency, &second);
	request.token.id = STR("tok_1");
	request.params[0] = STR("pkg_2");
	assert_int_equal(idempotency_begin(&idempotency, &request, &second), 0);
	idempotency_end(&idempotency, &second);
	idempotency_end(&idempotency, &first);
	request.params[0] = STR("pkg_1");
	assert_int_equal(idempotency_begin(&idempotency, &request, &first), 0);
	idempotency_end(&idempotency, &first);
	arena_release(&request.arena);
	idempotency_release(&idempotency);
}

static void a_key_given_twice_is_none(void **state)
{
	struct http_request request;
	struct http_pair headers[2];
	struct idempotency idempotency;
	struct idempotency_key key;

	(void)state;
	idempotency_init(&idempotency);
	make(&request, headers, "k", "pkg_1");
	headers[1] = headers[0];
	request.headers_count = 2;
	assert_int_equal(idempotency_begin(&idempotency, &request, &key), IDEMPOTENCY_MALFORMED);
	arena_release(&request.arena);
	idempotency_release(&idempotency);
}

static void the_same_body_has_the_same_digest_however_it_is_written(void **state)
{
	struct http_request request;
	struct http_pair header;
	struct idempotency idempotency;
	struct idempotency_key first;
	struct idempotency_key second;

	(void)state;
	idempotency_init(&idempotency);
	make(&request, &header, "k", "pkg_1");
	request.json = json_loads("{\"a\":1,\"b\":[2]}", 0, NULL);
	assert_int_equal(idempotency_begin(&idempotency, &request, &first), 0);
	idempotency_end(&idempotency, &first);
	json_decref(request.json);
	request.json = json_loads("{ \"b\": [2], \"a\": 1 }", 0, NULL);
	assert_int_equal(idempotency_begin(&idempotency, &request, &second), 0);
	idempotency_end(&idempotency, &second);
	assert_string_equal(first.digest, second.digest);
	json_decref(request.json);
	arena_release(&request.arena);
	idempotency_release(&idempotency);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_action_is_a_whole_request),
		cmocka_unit_test(an_action_without_the_role_says_why_not),
		cmocka_unit_test(nobody_is_offered_to_approve_his_own),
		cmocka_unit_test(an_action_without_a_route_is_not_offered),
		cmocka_unit_test(a_path_takes_its_ids_in_order),
		cmocka_unit_test(every_target_has_a_pattern),
		cmocka_unit_test(a_key_is_one_to_200_visible_characters),
		cmocka_unit_test(a_key_is_taken_until_its_request_ends),
		cmocka_unit_test(a_key_given_twice_is_none),
		cmocka_unit_test(the_same_body_has_the_same_digest_however_it_is_written),
	};

	return cmocka_run_group_tests_name("actions", tests, NULL, NULL);
}
