/* What the vectors leave to the project: identity, changed inputs, projections, the order of the primary decision,
 * limits, and that no allocation that fails gives a wrong answer (chapters 1.9, 1.11, 1.12, 2.1, 2.2).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/admission.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"
#include "policy/evaluate.h"
#include "policy/json_parse.h"
#include "policy/projection.h"

/* A decision over a document, with all that it borrows. */
struct decided {
	struct catalog *catalog;
	json_t *document;
	struct package *package;
	struct arena arena;
	struct admission_inputs inputs;
	struct admission admission;
};

static void decide(struct decided *decided, const char *json)
{
	static const struct package_options options = {.believes_envelopes = true};
	struct catalog_fault fault;

	memset(decided, 0, sizeof(*decided));
	arena_init(&decided->arena, 1 << 24);
	assert_int_equal(catalog_new(catalog_default_bytes(), &decided->catalog, &fault), 0);
	assert_int_equal(json_parse((struct str){json, strlen(json)}, &decided->document, NULL), 0);
	assert_int_equal(package_new(decided->catalog, decided->document, &options, &decided->package), 0);
	assert_int_equal(
		admission_inputs_read(&decided->arena, decided->catalog, decided->document, &decided->inputs), 0);
	assert_int_equal(
		admit_work_package_mcp(&decided->arena, decided->package, &decided->inputs, &decided->admission), 0);
}

static void decided_release(struct decided *decided)
{
	package_free(decided->package);
	json_decref(decided->document);
	arena_release(&decided->arena);
	catalog_free(decided->catalog);
}

#define POLICY(key, agent, mcp, level, action, capabilities)                                                      \
	"{\"requirementKey\":\"" key "\",\"sourceRequirementIndex\":0,\"agent\":\"" agent "\",\"mcpId\":\"" mcp   \
	"\",\"requirement\":\"" level "\",\"capabilities\":[" capabilities "],\"fallback\":{\"action\":\"" action \
	"\"},\"assignment\":{\"type\":\"agent\",\"targetId\":null}}"
#define READ "\"filesystem.project.read\""
#define LIST "\"filesystem.project.list\""
#define APPROVED(extra)                                                                                              \
	"{\"phase\":\"approved\",\"source\":\"package-local\",\"status\":\"approved\",\"grantMode\":\"allow_once\"," \
	"\"grantApprovalId\":\"grt_1\",\"coveredCapabilities\":[" READ "]" extra "}"
#define PROPOSED "{\"phase\":\"proposed\",\"source\":\"none\",\"status\":\"not_issued\",\"coveredCapabilities\":[]}"
#define HEALTH(status, checked)                                                                                    \
	"\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"installed\",\"status\":\"" status \
	"\",\"enabled\":true,\"error\":null,\"checkedAt\":\"" checked "\"}}"
#define ONE(grant, health)                                                                                      \
	"{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "],\"grants\":{\"k\":" grant \
										   "}," health "}"

static json_t *inputs_of(const struct decided *decided)
{
	struct json_out out;
	struct buf buf;
	json_t *inputs;

	buf_init(&buf, 1 << 20);
	json_out_init(&out, &buf);
	decision_inputs_write(&decided->admission, &out);
	assert_int_equal(buf_error(&buf), 0);
	inputs = json_loadb(buf_str(&buf).bytes, buf_str(&buf).len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(inputs);
	buf_release(&buf);
	return inputs;
}

static json_t *inputs_for(const char *json)
{
	struct decided decided;
	json_t *inputs;

	decide(&decided, json);
	inputs = inputs_of(&decided);
	decided_release(&decided);
	return inputs;
}

/* The package digest covers the whole document here, so it is left out of what is compared. */
static bool same_inputs(const char *a, const char *b)
{
	CLEANUP(json_drop) json_t *left = inputs_for(a);
	CLEANUP(json_drop) json_t *right = inputs_for(b);

	json_object_del(left, "packageDigest");
	json_object_del(right, "packageDigest");
	return json_equal(left, right);
}

static void a_decisions_inputs_name_what_decides_and_no_times(void **state)
{
	(void)state;
	assert_true(same_inputs(ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")),
		ONE(PROPOSED, HEALTH("healthy", "2026-11-30T09:00:00Z"))));
	assert_false(same_inputs(ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")),
		ONE(PROPOSED, HEALTH("unhealthy", "2026-11-30T08:00:00Z"))));
	assert_false(same_inputs(ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")),
		ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z"))));
	assert_false(same_inputs(ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")),
		ONE(APPROVED(",\"consumed\":true"), HEALTH("healthy", "2026-11-30T08:00:00Z"))));
}

static void canonical_inputs_are_sorted_and_stable(void **state)
{
	CLEANUP(json_drop) json_t *inputs = inputs_for(ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")));
	struct decided decided;
	struct json_out out;
	struct buf written;
	struct buf sorted;

	(void)state;
	decide(&decided, ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")));
	buf_init(&written, 1 << 20);
	buf_init(&sorted, 1 << 20);
	json_out_init(&out, &written);
	decision_inputs_write(&decided.admission, &out);
	json_out_init(&out, &sorted);
	json_out_canonical(&out, inputs);
	assert_string_equal(buf_str(&written).bytes, buf_str(&sorted).bytes);
	buf_release(&written);
	buf_release(&sorted);
	decided_release(&decided);
}

static void check_diff(const char *before, const char *after, const char *expected)
{
	CLEANUP(json_drop) json_t *left = inputs_for(before);
	CLEANUP(json_drop) json_t *right = inputs_for(after);
	struct json_out out;
	struct buf buf;

	json_object_del(left, "packageDigest");
	json_object_del(right, "packageDigest");
	buf_init(&buf, 1 << 16);
	json_out_init(&out, &buf);
	decision_inputs_diff(left, right, &out);
	assert_string_equal(buf_str(&buf).bytes, expected);
	buf_release(&buf);
}

static void changed_inputs_are_told_by_path(void **state)
{
	const char *healthy = ONE(APPROVED(",\"consumed\":false"), HEALTH("healthy", "2026-11-30T08:00:00Z"));

	(void)state;
	check_diff(healthy, healthy, "[]");
	check_diff(ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")), healthy,
		"[{\"path\":\"/grants/k\",\"before\":{\"phase\":\"proposed\"},\"after\":{\"phase\":\"approved\","
		"\"source\":\"package-local\",\"grantMode\":\"allow_once\",\"grantApprovalId\":\"grt_1\"}}]");
	check_diff(healthy, ONE(APPROVED(",\"consumed\":true"), HEALTH("healthy", "2026-11-30T08:00:00Z")),
		"[{\"path\":\"/grants/k/consumed\",\"before\":false,\"after\":true}]");
	check_diff(healthy, ONE(APPROVED(",\"consumed\":false"), HEALTH("auth_required", "2026-11-30T08:00:00Z")),
		"[{\"path\":\"/health/filesystem/status\",\"before\":\"healthy\",\"after\":\"auth_required\"}]");
}

static struct hold_origin origin_of(const char *json, bool has_root, bool *ret_is_held)
{
	struct hold_origin origin = {0};
	struct decided decided;

	decide(&decided, json);
	*ret_is_held = projection_hold_origin(&decided.admission, has_root, &origin);
	decided_release(&decided);
	origin.evaluation = NULL; /* gone with what was decided */
	origin.subtask = NULL;
	return origin;
}

static void a_hold_comes_from_its_origin_and_not_from_a_subtask_that_waits_for_it(void **state)
{
	const char *json = "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block",
		READ) "],\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":[" READ
		      "]}]," HEALTH("healthy", "2026-11-30T08:00:00Z") "}";
	struct hold_origin origin;
	bool is_held;

	(void)state;
	origin = origin_of(json, true, &is_held);
	assert_true(is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_GRANT);
	assert_int_equal(origin.arm, ARM_NEVER_APPROVED);
	assert_int_equal(origin.mode, MODE_BOUNDED_CONTEXT_REQUIRED);
	assert_false(origin.retryable);
	origin = origin_of(json, false, &is_held);
	assert_int_equal(origin.arm, ARM_NO_ROOT);
}

static void a_subtask_that_waits_for_an_optional_grant_is_held_by_that_requirement(void **state)
{
	const char *json = "{\"entries\":[" POLICY("k", "a", "filesystem", "optional", "continue_without_mcp",
		READ) "],\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":[" READ "]}]}";
	struct hold_origin origin;
	bool is_held;

	(void)state;
	origin = origin_of(json, true, &is_held);
	assert_true(is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_GRANT);
}

static void only_setup_blocks_are_retryable(void **state)
{
	const char *down = ONE(APPROVED(""), HEALTH("unhealthy", "2026-11-30T08:00:00Z"));
	const char *both = "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "," POLICY(
		"z", "a", "filesystem", "required", "block", LIST) "],\"grants\":{\"k\":" APPROVED("") "}}";
	struct hold_origin origin;
	bool is_held;

	(void)state;
	origin = origin_of(down, true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_SETUP);
	assert_int_equal(origin.arm, ARM_NONE);
	assert_true(origin.retryable);
	origin = origin_of(both, true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_GRANT);
	assert_false(origin.retryable);
}

static void an_admitted_package_has_no_hold(void **state)
{
	bool is_held;

	(void)state;
	(void)origin_of(ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")), true, &is_held);
	assert_false(is_held);
	(void)origin_of("{}", true, &is_held);
	assert_false(is_held);
	(void)origin_of("{\"entries\":7}", true, &is_held);
	assert_true(is_held);
}

static void the_operators_key_follows_action_before_mode(void **state)
{
	(void)state;
	assert_int_equal(projection_operator_key(MODE_PLANNING_ONLY, ADMISSION_WARNING, RECOVERY_INSTALL_OR_FIX_MCP),
		OPERATOR_MCP_NEEDS_SETUP);
	assert_int_equal(projection_operator_key(MODE_BOUNDED_CONTEXT_REQUIRED, ADMISSION_BLOCKED,
				 RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT),
		OPERATOR_NEEDS_PROJECT_CONTEXT);
	assert_int_equal(projection_operator_key(MODE_DEFERRED_LIVE_MCP, ADMISSION_BLOCKED, RECOVERY_REVISE_PLAN),
		OPERATOR_DEFERRED_BOUNDARY);
	assert_int_equal(projection_operator_key(MODE_BLOCKED, ADMISSION_BLOCKED, RECOVERY_REVISE_PLAN),
		OPERATOR_PLAN_NEEDS_CHANGES);
	assert_int_equal(projection_operator_key(MODE_UNKNOWN_LEGACY, ADMISSION_BLOCKED, RECOVERY_REVISE_PLAN),
		OPERATOR_RECOMPUTE);
	assert_int_equal(projection_operator_key(MODE_BOUNDED_CONTEXT_APPROVED, ADMISSION_ALLOWED, RECOVERY_NONE),
		OPERATOR_CONTEXT_APPROVED);
	assert_int_equal(
		projection_operator_key(MODE_PLANNING_ONLY, ADMISSION_ALLOWED, RECOVERY_CONTINUE_AS_PROMPT_CONTEXT),
		OPERATOR_PLANNING_CONTEXT);
}

static json_t *project(const struct decided *decided, void (*write)(const struct admission *, struct json_out *))
{
	struct json_out out;
	struct buf buf;
	json_t *value;

	buf_init(&buf, 1 << 20);
	json_out_init(&out, &buf);
	write(&decided->admission, &out);
	value = json_loadb(buf_str(&buf).bytes, buf_str(&buf).len, JSON_REJECT_DUPLICATES, NULL);
	buf_release(&buf);
	assert_non_null(value);
	return value;
}

static void write_gate(const struct admission *admission, struct json_out *out)
{
	projection_write_filesystem_gate(admission, true, out);
}

static void write_states(const struct admission *admission, struct json_out *out)
{
	projection_write_operator_state(admission, true, out);
}

static const char *status_in(const json_t *projection)
{
	return json_string_value(json_object_get(projection, "status"));
}

static void projections_repeat_the_one_decision(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided, ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")));
	{
		CLEANUP(json_drop) json_t *validation = project(&decided, projection_write_validation);
		CLEANUP(json_drop) json_t *preview = project(&decided, projection_write_grant_preview);
		CLEANUP(json_drop) json_t *check = project(&decided, projection_write_broker_check);
		CLEANUP(json_drop) json_t *gate = project(&decided, write_gate);
		CLEANUP(json_drop) json_t *states = project(&decided, write_states);
		const json_t *row = json_array_get(json_object_get(gate, "requirements"), 0);

		assert_string_equal(status_in(validation), "blocked");
		assert_string_equal(status_in(check), "blocked");
		assert_int_equal(json_integer_value(json_object_get(json_object_get(preview, "counts"), "blocked")), 1);
		assert_true(json_is_true(json_object_get(gate, "holds")));
		assert_string_equal(json_string_value(json_object_get(row, "arm")), "never_approved");
		assert_string_equal(json_string_value(json_array_get(json_object_get(row, "missingCapabilities"), 0)),
			"filesystem.project.read");
		assert_string_equal(json_string_value(json_object_get(json_object_get(states, "aggregate"), "key")),
			"needs_project_context");
	}
	decided_release(&decided);
}

static void an_allowed_grant_is_previewed_as_proposed(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided, ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")));
	{
		CLEANUP(json_drop) json_t *preview = project(&decided, projection_write_grant_preview);
		const json_t *grant = json_array_get(json_object_get(preview, "grants"), 0);

		assert_string_equal(status_in(grant), "proposed");
		assert_string_equal(json_string_value(json_object_get(grant, "admissionStatus")), "allowed");
	}
	decided_release(&decided);
}

static void the_stored_form_leaves_out_times_and_error_text(void **state)
{
	struct decided decided;
	struct json_out out;
	struct buf buf;

	(void)state;
	decide(&decided, ONE(APPROVED(""), HEALTH("healthy", "2026-11-30T08:00:00Z")));
	buf_init(&buf, 1 << 20);
	json_out_init(&out, &buf);
	admission_write(&decided.admission, true, &out);
	assert_null(strstr(buf_str(&buf).bytes, "checkedAt"));
	assert_null(strstr(buf_str(&buf).bytes, "\"error\""));
	buf_reset(&buf);
	json_out_init(&out, &buf);
	admission_write(&decided.admission, false, &out);
	assert_non_null(strstr(buf_str(&buf).bytes, "\"checkedAt\":\"2026-11-30T08:00:00Z\""));
	buf_release(&buf);
	decided_release(&decided);
}

/* A secret in a place that is shown must not come out, whatever the field. */
static void nothing_that_is_echoed_keeps_a_secret(void **state)
{
	const char *json =
		"{\"label\":\"token=CANARY1CANARY1\",\"entries\":[{\"requirementKey\":\"k\",\"mcpId\":\"ghp_"
		"CANARYCANARYCANARYCANARYCANARYCANARY12\","
		"\"agent\":\"password: CANARY2CANARY2\",\"requirement\":\"required\",\"capabilities\":[\"Bearer "
		"CANARY3CANARY3CANARY3\"],"
		"\"fallback\":{\"action\":\"block\",\"message\":\"api_key=CANARY4CANARY4\"},\"evidenceRefs\":[\"https:/"
		"/u:CANARY5@h.invalid/\"]}],"
		"\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"installed\",\"status\":"
		"\"unhealthy\",\"enabled\":true,"
		"\"error\":\"secret=CANARY6CANARY6\",\"checkedAt\":\"2026-11-30T08:00:00Z\"}}}";
	struct catalog_fault fault;
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	CLEANUP(json_drop) json_t *document = json_loads(json, 0, NULL);
	struct buf buf;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	buf_init(&buf, 1 << 20);
	assert_int_equal(evaluate_document(catalog, document, &buf), 0);
	assert_null(strstr(buf_str(&buf).bytes, "CANARY"));
	buf_release(&buf);
}

static void a_reason_names_what_is_prohibited_once_whatever_its_spelling(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided,
		"{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block",
			READ ",\"filesystem.read\"," LIST) ",{\"requirementKey\":\"b\",\"sourceRequirementIndex\":1,"
							   "\"agent\":\"b\",\"mcpId\":\"filesystem\","
							   "\"requirement\":\"optional\",\"prohibitedCapabilities\":["
							   "\"Filesystem.Read\"],\"fallback\":{\"action\":"
							   "\"continue_without_mcp\"},\"assignment\":{\"type\":"
							   "\"agent\",\"targetId\":null}}]}");
	assert_true(str_is(decided.admission.evaluations[0].reason,
		"filesystem.project.read is prohibited by a requirement of this package; revise the plan"));
	decided_release(&decided);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reason_names_what_is_prohibited_once_whatever_its_spelling),
		cmocka_unit_test(a_decisions_inputs_name_what_decides_and_no_times),
		cmocka_unit_test(canonical_inputs_are_sorted_and_stable),
		cmocka_unit_test(changed_inputs_are_told_by_path),
		cmocka_unit_test(a_hold_comes_from_its_origin_and_not_from_a_subtask_that_waits_for_it),
		cmocka_unit_test(a_subtask_that_waits_for_an_optional_grant_is_held_by_that_requirement),
		cmocka_unit_test(only_setup_blocks_are_retryable),
		cmocka_unit_test(an_admitted_package_has_no_hold),
		cmocka_unit_test(the_operators_key_follows_action_before_mode),
		cmocka_unit_test(projections_repeat_the_one_decision),
		cmocka_unit_test(an_allowed_grant_is_previewed_as_proposed),
		cmocka_unit_test(the_stored_form_leaves_out_times_and_error_text),
		cmocka_unit_test(nothing_that_is_echoed_keeps_a_secret),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
