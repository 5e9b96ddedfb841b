/* Holds and projections: views of one decision that never decide again (chapters 1.11, 1.12, 2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/cleanup.h"
#include "policy/projection.h"
#include "tests/lib/decided.h"

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

static void write_gate_without_root(const struct admission *admission, struct json_out *out)
{
	projection_write_filesystem_gate(admission, false, out);
}

static void write_result(const struct admission *admission, struct json_out *out)
{
	admission_write(admission, false, out);
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

static void check_bytes(
	const char *json, void (*write)(const struct admission *, struct json_out *), const char *expected)
{
	struct decided decided;
	struct json_out out;
	struct buf buf;

	decide(&decided, json);
	buf_init(&buf, 1 << 20);
	json_out_init(&out, &buf);
	write(&decided.admission, &out);
	assert_string_equal(buf_str(&buf).bytes, expected);
	buf_release(&buf);
	decided_release(&decided);
}

#define REVOKED(reason)                                                                                             \
	"{\"phase\":\"revoked\",\"source\":\"project-level\",\"status\":\"not_issued\",\"coveredCapabilities\":[]," \
	"\"revocationReason\":\"" reason "\"}"
#define DENIED "{\"phase\":\"denied\",\"source\":\"package-local\",\"status\":\"denied\",\"coveredCapabilities\":[]}"
#define NOT_ISSUED "{\"phase\":\"not_issued\",\"source\":\"none\",\"status\":\"not_issued\",\"coveredCapabilities\":[]}"
#define LISTING                                                                                                      \
	"{\"phase\":\"approved\",\"source\":\"package-local\",\"status\":\"approved\",\"grantMode\":\"allow_once\"," \
	"\"coveredCapabilities\":[" LIST "]}"
#define NOW HEALTH("healthy", "2026-11-30T08:00:00Z")

static void every_grant_state_that_holds_has_its_arm(void **state)
{
	static const struct {
		const char *json;
		const char *arm;
	} cases[] = {
		{ONE("null", NOW), "never_approved"},
		{ONE(PROPOSED, NOW), "never_approved"},
		{ONE(NOT_ISSUED, NOW), "never_approved"},
		{ONE(DENIED, NOW), "denied"},
		{ONE(APPROVED(",\"consumed\":true"), NOW), "used_up"},
		{ONE(LISTING, NOW), "insufficient"},
		{ONE(REVOKED("project_grant_removed"), NOW), "removed"},
		{ONE(REVOKED("project_grant_narrowed"), NOW), "narrowed"},
		{ONE(REVOKED("project_root_repoint"), NOW), "root_changed"},
		{ONE(REVOKED("grant_expired"), NOW), "expired"},
		{ONE(REVOKED("package_grant_removed"), NOW), "taken_back"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_held;
		struct hold_origin origin = origin_of(cases[i].json, true, &is_held);
		enum hold_arm found;

		assert_true(is_held);
		assert_string_equal(hold_arm_name(origin.arm), cases[i].arm);
		assert_true(hold_arm_find((struct str){cases[i].arm, strlen(cases[i].arm)}, &found));
		assert_int_equal(found, origin.arm);
	}
}

#define UNHEALTHY HEALTH("unhealthy", "2026-11-30T08:00:00Z")

/* Both are needed: what a plan change blocks goes first, whichever comes first in the order of keys. */
static void of_several_origins_the_one_that_needs_most_is_the_holds(void **state)
{
	struct hold_origin origin;
	bool is_held;

	(void)state;
	origin = origin_of("{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", READ) "," POLICY(
				   "b", "a", "github", "required", "block", "\"github.issues.write\"") "]}",
		true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_PLAN_CHANGE);
	assert_int_equal(origin.mode, MODE_DEFERRED_LIVE_MCP);
	origin = origin_of(
		"{\"entries\":[" POLICY("a", "a", "github", "required", "block", "\"github.issues.write\"") "," POLICY(
			"b", "a", "github", "required", "block", "\"github.issues.reed\"") "]}",
		true, &is_held);
	assert_int_equal(origin.mode, MODE_BLOCKED);
	origin = origin_of(
		"{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", READ) "," POLICY("b", "a",
			"filesystem", "required", "block", LIST) "],\"grants\":{\"a\":" APPROVED("") "}," UNHEALTHY "}",
		true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_GRANT);
	assert_false(origin.retryable);
	origin = origin_of(
		"{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", LIST) "," POLICY("b", "a",
			"filesystem", "required", "block", READ) "],\"grants\":{\"b\":" APPROVED("") "}," UNHEALTHY "}",
		true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_GRANT);
	assert_false(origin.retryable);
	origin = origin_of("{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", READ) "," POLICY("b",
				   "a", "filesystem", "required", "block",
				   READ) "],\"grants\":{\"filesystem\":" APPROVED("") "}," UNHEALTHY "}",
		true, &is_held);
	assert_true(origin.retryable);
}

static void a_subtask_that_nothing_can_free_needs_another_plan(void **state)
{
	struct hold_origin origin;
	bool is_held;

	(void)state;
	origin = origin_of(
		"{\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":[" READ "]}]}", true, &is_held);
	assert_int_equal(origin.kind, HOLD_NEEDS_PLAN_CHANGE);
	assert_int_equal(origin.mode, MODE_BLOCKED);
	origin = origin_of("{\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":["
			   "\"github.issues.write\"]}]}",
		true, &is_held);
	assert_int_equal(origin.mode, MODE_DEFERRED_LIVE_MCP);
}

/* A granted one, one that goes on without its server's live tool, one that waits in two spellings, and an older record. */
#define MIXED                                                                                                        \
	"{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", LIST) "," POLICY("b", "a", "github",    \
		"optional", "continue_without_mcp", "\"github.issues.write\"") "," POLICY("c", "a", "filesystem",    \
		"required", "block", LIST "," READ ",\"filesystem.read\"") "," POLICY("d", "a", "filesystem",        \
		"optional", "continue_without_mcp", "\"filesystem.search\"") "],\"grants\":{\"filesystem\":" LISTING \
									     "}," NOW "}"

static void the_gate_tells_what_is_missing_once_and_why(void **state)
{
	(void)state;
	check_bytes(MIXED, write_gate,
		"{\"requirements\":[{\"requirementKey\":\"c\",\"missingCapabilities\":[\"filesystem.project.read\"],"
		"\"arm\":\"insufficient\"}],\"holds\":true}");
	check_bytes(ONE(APPROVED(",\"consumed\":true"), NOW), write_gate,
		"{\"requirements\":[{\"requirementKey\":\"k\",\"missingCapabilities\":[\"filesystem.project.read\"],"
		"\"arm\":\"used_up\"}],\"holds\":true}");
	check_bytes(ONE(PROPOSED, NOW), write_gate_without_root,
		"{\"requirements\":[{\"requirementKey\":\"k\",\"missingCapabilities\":[\"filesystem.project.read\"],"
		"\"arm\":\"no_root\"}],\"holds\":true}");
	check_bytes(ONE(APPROVED(""), NOW), write_gate, "{\"requirements\":[],\"holds\":false}");
}

static void every_state_has_its_key_and_tone(void **state)
{
	(void)state;
	check_bytes(MIXED, write_states,
		"{\"evaluations\":[{\"requirementKey\":\"a\",\"key\":\"context_approved\",\"tone\":\"green\"},"
		"{\"requirementKey\":\"b\",\"key\":\"deferred_boundary\",\"tone\":\"slate\"},"
		"{\"requirementKey\":\"c\",\"key\":\"needs_project_context\",\"tone\":\"amber\"},"
		"{\"requirementKey\":\"d\",\"key\":\"needs_project_context\",\"tone\":\"amber\"}],"
		"\"aggregate\":{\"key\":\"needs_project_context\",\"tone\":\"amber\"}}");
	check_bytes(ONE(APPROVED(""), UNHEALTHY), write_states,
		"{\"evaluations\":[{\"requirementKey\":\"k\",\"key\":\"mcp_needs_setup\",\"tone\":\"red\"}],"
		"\"aggregate\":{\"key\":\"mcp_needs_setup\",\"tone\":\"red\"}}");
	check_bytes("{\"entries\":[{\"decisionId\":\"d\"}]}", write_states,
		"{\"evaluations\":[{\"requirementKey\":\"legacy-grant-only-0\",\"key\":\"recompute\",\"tone\":"
		"\"neutral\"}],\"aggregate\":{\"key\":\"recompute\",\"tone\":\"neutral\"}}");
	check_bytes("{\"entries\":7}", write_states,
		"{\"evaluations\":[],\"aggregate\":{\"key\":\"plan_needs_changes\",\"tone\":\"red\"}}");
	check_bytes("{}", write_states,
		"{\"evaluations\":[],\"aggregate\":{\"key\":\"planning_context\",\"tone\":\"neutral\"}}");
}

static void without_a_hold_the_first_warning_speaks_for_the_package(void **state)
{
	(void)state;
	check_bytes("{\"entries\":[" POLICY("a", "a", "filesystem", "required", "block", READ) "," POLICY("b", "a",
			    "github", "optional", "continue_without_mcp",
			    "\"github.issues.write\"") "],\"grants\":{"
						       "\"filesystem\":" APPROVED("") "}," NOW "}",
		write_states,
		"{\"evaluations\":[{\"requirementKey\":\"a\",\"key\":\"context_approved\",\"tone\":\"green\"},"
		"{\"requirementKey\":\"b\",\"key\":\"deferred_boundary\",\"tone\":\"slate\"}],"
		"\"aggregate\":{\"key\":\"deferred_boundary\",\"tone\":\"slate\"}}");
}

#define WAITS "\"filesystem.project.read needs an operator's grant for this project's context\""
#define SNAPSHOT                                                                                                       \
	"[{\"mcpId\":\"filesystem\",\"installState\":\"installed\",\"status\":\"healthy\",\"enabled\":true,\"error\":" \
	"null}]"

static void validation_is_the_reasons_and_the_health_behind_them(void **state)
{
	(void)state;
	check_bytes(ONE(PROPOSED, NOW), projection_write_validation,
		"{\"status\":\"blocked\",\"blocked\":[" WAITS "],\"warnings\":[],\"health\":" SNAPSHOT "}");
	check_bytes(ONE(APPROVED(""), NOW), projection_write_validation,
		"{\"status\":\"valid\",\"blocked\":[],\"warnings\":[],\"health\":" SNAPSHOT "}");
	check_bytes("{\"entries\":[" POLICY("b", "a", "github", "optional", "continue_without_mcp", "") "]}",
		projection_write_validation,
		"{\"status\":\"warnings\",\"blocked\":[],\"warnings\":[\"no capability is asked for; it is text for "
		"the prompt and grants nothing\"],\"health\":[{\"mcpId\":\"github\",\"installState\":\"unknown\","
		"\"status\":\"unknown\",\"enabled\":false,\"error\":null}]}");
}

static void the_preview_counts_every_status(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided, MIXED);
	{
		CLEANUP(json_drop) json_t *preview = project(&decided, projection_write_grant_preview);
		CLEANUP(json_drop)
		json_t *counts = json_pack("{s:i,s:i,s:i}", "proposed", 1, "warning", 2, "blocked", 1);
		const json_t *grants = json_object_get(preview, "grants");

		assert_true(json_equal(json_object_get(preview, "counts"), counts));
		assert_int_equal(json_array_size(grants), 4);
		assert_string_equal(status_in(json_array_get(grants, 1)), "warning");
		assert_string_equal(status_in(json_array_get(grants, 2)), "blocked");
		assert_string_equal(status_in(json_object_get(preview, "aggregate")), "blocked");
	}
	decided_release(&decided);
}

/* The broker's members are those of the result and its aggregate, under the same names. */
static void the_broker_is_told_what_the_result_says(void **state)
{
	static const char *const repeated[] = {
		"blocked", "warnings", "retryable", "primaryMode", "primaryRecoveryAction", "primaryDecision"};
	static const char *const documents[] = {
		MIXED, ONE(APPROVED(""), UNHEALTHY), ONE(APPROVED(""), NOW), "{\"entries\":7}", "{\"subtasks\":[7]}"};

	(void)state;
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		struct decided decided;

		decide(&decided, documents[i]);
		{
			CLEANUP(json_drop) json_t *check = project(&decided, projection_write_broker_check);
			CLEANUP(json_drop) json_t *result = project(&decided, write_result);
			json_t *aggregate = json_object_get(result, "aggregate");

			for (size_t j = 0; j < sizeof(repeated) / sizeof(repeated[0]); j++) {
				json_t *member = json_object_get(aggregate, repeated[j]);

				assert_true(member ? json_equal(json_object_get(check, repeated[j]), member)
						   : !json_object_get(check, repeated[j]));
			}
			assert_true(json_equal(
				json_object_get(check, "evaluations"), json_object_get(result, "evaluations")));
			assert_true(json_equal(json_object_get(check, "subtaskDecisions"),
				json_object_get(result, "subtaskDecisions")));
		}
		decided_release(&decided);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hold_comes_from_its_origin_and_not_from_a_subtask_that_waits_for_it),
		cmocka_unit_test(a_subtask_that_waits_for_an_optional_grant_is_held_by_that_requirement),
		cmocka_unit_test(only_setup_blocks_are_retryable),
		cmocka_unit_test(an_admitted_package_has_no_hold),
		cmocka_unit_test(the_operators_key_follows_action_before_mode),
		cmocka_unit_test(projections_repeat_the_one_decision),
		cmocka_unit_test(an_allowed_grant_is_previewed_as_proposed),
		cmocka_unit_test(every_grant_state_that_holds_has_its_arm),
		cmocka_unit_test(of_several_origins_the_one_that_needs_most_is_the_holds),
		cmocka_unit_test(a_subtask_that_nothing_can_free_needs_another_plan),
		cmocka_unit_test(the_gate_tells_what_is_missing_once_and_why),
		cmocka_unit_test(every_state_has_its_key_and_tone),
		cmocka_unit_test(without_a_hold_the_first_warning_speaks_for_the_package),
		cmocka_unit_test(validation_is_the_reasons_and_the_health_behind_them),
		cmocka_unit_test(the_preview_counts_every_status),
		cmocka_unit_test(the_broker_is_told_what_the_result_says),
	};

	return cmocka_run_group_tests_name("projection", tests, NULL, NULL);
}
