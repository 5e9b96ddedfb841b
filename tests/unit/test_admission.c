/* What the vectors leave to the project: reasons, what is echoed, the stored form (chapters 1.6, 1.10, 1.11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/text.h"
#include "tests/lib/decided.h"

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
		"/u:CANARY5@h.invalid/\"]}," POLICY("z", "a", "filesystem", "required", "block",
			READ) "],"
			      "\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"installed\","
			      "\"status\":"
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
	/* What was masked was shown at all. */
	assert_non_null(strstr(buf_str(&buf).bytes, "\"message\":\"api_key=***\""));
	assert_non_null(strstr(buf_str(&buf).bytes, "\"evidenceRefs\":[\"https://***@h.invalid/\"]"));
	assert_non_null(strstr(buf_str(&buf).bytes, "\"error\":\"secret=***\""));
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

#define NOW HEALTH("healthy", "2026-11-30T08:00:00Z")

static void check_reason_with(struct catalog *catalog, const char *json, const char *expected)
{
	struct decided decided;
	struct str reason;

	decide_with(&decided, catalog, json);
	reason = decided.admission.evaluations[0].reason;
	if (!str_is(reason, expected))
		fail_msg("want %s, have %.*s", expected, (int)reason.len, reason.bytes);
	decided_release(&decided);
}

static void check_reason(const char *json, const char *expected)
{
	check_reason_with(NULL, json, expected);
}

#define REVOKED(reason)                                                                                             \
	"{\"phase\":\"revoked\",\"source\":\"project-level\",\"status\":\"not_issued\",\"coveredCapabilities\":[]," \
	"\"revocationReason\":\"" reason "\"}"
#define DENIED "{\"phase\":\"denied\",\"source\":\"package-local\",\"status\":\"denied\",\"coveredCapabilities\":[]}"
#define PROJECT "filesystem.project.read "

static void a_reason_tells_why_a_grant_is_missing(void **state)
{
	(void)state;
	check_reason(ONE(PROPOSED, NOW), PROJECT "needs an operator's grant for this project's context");
	check_reason(ONE(DENIED, NOW), PROJECT "was denied by an operator; approve it or revise the plan");
	check_reason(ONE(APPROVED(",\"consumed\":true"), NOW),
		PROJECT "was approved once, and an earlier run used that; approve again");
	check_reason(ONE(REVOKED("project_grant_removed"), NOW),
		PROJECT "lost the project's grant, which was removed; approve again");
	check_reason(ONE(REVOKED("project_grant_narrowed"), NOW),
		PROJECT "is no longer covered by the project's grant, which was narrowed; approve again");
	check_reason(ONE(REVOKED("project_root_repoint"), NOW),
		PROJECT "was decided for another project folder; approve again");
	check_reason(
		ONE(REVOKED("grant_expired"), NOW), PROJECT "was approved until a time that has passed; approve again");
	check_reason(ONE(REVOKED("package_grant_removed"), NOW),
		PROJECT "had an approval that was taken back; approve again");
	check_reason("{\"entries\":[" POLICY("k", "a", "filesystem", "optional", "continue_without_mcp",
			     READ "," LIST) "],\"grants\":{\"k\":" APPROVED("") "}}",
		"filesystem.project.list is not covered by the approval; approve it too; the package goes on without "
		"it");
	check_reason("{\"entries\":[" POLICY(
			     "k", "a", "filesystem", "required", "block", "\"filesystem.project.write\"," READ) "]}",
		PROJECT "needs an operator's grant for this project's context");
	check_reason(ONE("7", NOW), "the stored grant contradicts itself; revise the plan");
}

#define SEEN(install, status, enabled)                                                                               \
	"\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"" install "\",\"status\":\"" status \
	"\",\"enabled\":" enabled ",\"error\":null,\"checkedAt\":\"2026-11-30T08:00:00Z\"}}"
#define WAITS "filesystem.project.read waits for the filesystem server, which is not ready "

static void a_reason_tells_what_a_server_lacks_and_what_to_do(void **state)
{
	(void)state;
	check_reason(ONE(APPROVED(""), "\"health\":{}"), WAITS "(unknown); check the project's folder");
	check_reason(ONE(APPROVED(""), SEEN("missing", "healthy", "true")),
		WAITS "(missing); give the project a folder that exists");
	check_reason(ONE(APPROVED(""), SEEN("installed", "healthy", "false")),
		WAITS "(disabled); switch the project's filesystem server on");
	/* The catalog has no words for this one. */
	check_reason(ONE(APPROVED(""), SEEN("installed", "auth_required", "true")),
		WAITS "(auth_required); install or fix it");
}

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void a_reason_names_a_long_capability_and_counts_what_has_no_room(void **state)
{
	(void)state;
	check_reason(
		"{\"entries\":[" POLICY("k", "a", "github", "required", "block", "\"github." HUNDRED HUNDRED "\"") "]}",
		"github." HUNDRED HUNDRED " is not known to the catalog; revise the plan");
	check_reason("{\"entries\":[" POLICY("k", "a", "github", "required", "block",
			     "\"github." HUNDRED HUNDRED "\",\"github." HUNDRED "\"") "]}",
		"github." HUNDRED HUNDRED " and 1 more is not known to the catalog; revise the plan");
	check_reason(
		"{\"entries\":[" POLICY("k", "a", "github", "required", "block", "\"a\",\"b\",\"c\",\"d\",\"e\"") "]}",
		"a, b, c and 2 more is not known to the catalog; revise the plan");
}

/* The default catalog with a remedy as long as a catalog may have one, and a capability of two hundred and forty. */
static struct catalog *wordy_catalog(void)
{
	struct str bytes = catalog_default_bytes();
	CLEANUP(json_drop) json_t *root = json_loadb(bytes.bytes, bytes.len, 0, NULL);
	json_t *filesystem = json_object_get(json_object_get(root, "mcps"), "filesystem");
	CLEANUP(free_drop) char *text = NULL;
	struct catalog *catalog = NULL;
	struct catalog_fault fault;
	char remedy[241] = "";

	for (size_t i = 0; i < 80; i++)
		memcpy(remedy + 3 * i, "\xE2\x82\xAC", 3); /* a euro sign: three bytes, one code point */
	json_object_set_new(
		json_object_get(filesystem, "remediation"), "unknown", json_pack("s++", remedy, remedy, remedy));
	json_array_append_new(json_object_get(json_object_get(filesystem, "runtime"), "capabilities"),
		json_string("filesystem." HUNDRED HUNDRED TEN ".read"));
	text = json_dumps(root, 0);
	assert_int_equal(catalog_new((struct str){text, strlen(text)}, &catalog, &fault), 0);
	return catalog;
}

static void a_reason_ends_at_500_code_points_whatever_the_catalog_says(void **state)
{
	struct decided decided;
	struct str reason;
	size_t count = 0;

	(void)state;
	decide_with(&decided, wordy_catalog(),
		"{\"entries\":[" POLICY("k", "a", "filesystem", "optional", "continue_without_mcp",
			"\"filesystem." HUNDRED HUNDRED TEN
			".read\"") "],\"grants\":{\"k\":{\"phase\":\"approved\",\"source\":\"project-level\","
				   "\"status\":\"approved\",\"grantMode\":\"always_allow\",\"coveredCapabilities\":["
				   "\"filesystem." HUNDRED HUNDRED TEN ".read\"]}}}");
	reason = decided.admission.evaluations[0].reason;
	for (size_t at = 0; at < reason.len; count++)
		assert_int_not_equal(text_next(reason, &at), TEXT_INVALID);
	assert_int_equal(count, 500);
	decided_release(&decided);
}

static void a_malformed_requirement_is_told_its_topmost_fault(void **state)
{
	(void)state;
	check_reason("{\"entries\":[7]}", "the requirement is not an object; revise the plan");
	check_reason("{\"entries\":[{\"requirementKey\":\"a b\"}]}",
		"the requirementKey is not a key of at most 160 characters without white space; revise the plan");
	check_reason("{\"entries\":[" POLICY("k", "unknown", "github", "required", "block", "") "]}",
		"the agent is missing, not an identity, or named in two ways that differ; revise the plan");
	check_reason("{\"entries\":[" POLICY("k", "a", "github", "sometimes", "block", "") "]}",
		"the requirement level is neither required nor optional; revise the plan");
}

static void check_subtask_reason(const char *json, const char *expected)
{
	struct decided decided;
	struct str reason;

	decide(&decided, json);
	reason = decided.admission.subtasks[0].reason;
	if (!str_is(reason, expected))
		fail_msg("want %s, have %.*s", expected, (int)reason.len, reason.bytes);
	decided_release(&decided);
}

#define SUBTASK(capability) "\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":[" capability "]}]"
#define ASKS "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "],"

static void a_subtasks_reason_names_what_it_waits_for(void **state)
{
	(void)state;
	check_subtask_reason(ASKS SUBTASK(READ) "}", PROJECT "waits for the grant of its requirement");
	check_subtask_reason(ASKS SUBTASK(READ) ",\"grants\":{\"k\":" APPROVED("") "}}",
		PROJECT "waits for the server of its requirement");
	check_subtask_reason(ASKS SUBTASK(READ) ",\"grants\":{\"k\":" APPROVED("") "}," NOW "}",
		PROJECT "is admitted through its requirement");
	check_subtask_reason(ASKS SUBTASK(LIST) "}",
		"filesystem.project.list is not bound to exactly one requirement of the same agent; revise the plan");
	check_subtask_reason("{" SUBTASK("\"github." HUNDRED "\"") "}",
		"github." HUNDRED " is not known to the catalog; revise the plan");
	check_subtask_reason(
		"{\"subtasks\":[7]}", "a subtask is malformed: a subtask must be an object; revise the plan");
}

/* Where all that 1.9 orders by is equal, rows keep the order of the document. */
static void rows_that_nothing_orders_stay_in_their_places(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided, "{\"subtasks\":[{\"id\":7,\"mcpCapabilities\":[]},{\"id\":7,\"mcpCapabilities\":[\"a\"]}]}");
	assert_int_equal(decided.admission.subtask_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(decided.admission.subtasks[i].row->position, i);
	decided_release(&decided);
	/* Keyed ones are found first; the keyless policy that has the same name, index and agent comes behind. */
	decide(&decided,
		"{\"entries\":[{\"agent\":\"a\",\"mcpId\":\"filesystem\",\"requirement\":\"required\",\"fallback\":{"
		"\"action\":\"block\"}}," POLICY(
			"legacy-0-filesystem-a", "a", "filesystem", "required", "block", READ) "]}");
	assert_int_equal(decided.admission.evaluations[0].requirement->capability_count, 1);
	assert_int_equal(decided.admission.evaluations[1].requirement->capability_count, 0);
	decided_release(&decided);
}

static void a_label_is_redacted_and_capped(void **state)
{
	struct decided decided;

	(void)state;
	decide(&decided, "{\"label\":\"token=CANARY1CANARY1 " HUNDRED HUNDRED "\"}");
	assert_null(strstr(decided.package->label.bytes, "CANARY"));
	assert_int_equal(decided.package->label.len, 160);
	decided_release(&decided);
}

static void a_time_is_one_of_rfc_3339_and_of_the_calendar(void **state)
{
	static const char *const good[] = {"2026-11-30T08:00:00Z", "2024-02-29t23:59:60z",
		"2000-02-29T00:00:00.5+23:59", "2026-01-31T08:00:00.123456789-00:00"};
	static const char *const bad[] = {"", "2026-11-31T08:00:00Z", "2026-02-29T08:00:00Z", "1900-02-29T08:00:00Z",
		"2026-13-01T08:00:00Z", "2026-00-01T08:00:00Z", "2026-01-00T08:00:00Z", "2026-11-30T24:00:00Z",
		"2026-11-30T08:60:00Z", "2026-11-30T08:00:61Z", "2026-11-30T08:00:00", "2026-11-30T08:00:00.Z",
		"2026-11-30T08:00:00+24:00", "2026-11-30T08:00:00+0100", "2026-11-30 08:00:00Z",
		"2026-11-30T08:00:00Zx"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(health_time_is_valid((struct str){good[i], strlen(good[i])}));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(health_time_is_valid((struct str){bad[i], strlen(bad[i])}));
	assert_false(health_time_is_valid((struct str){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stored_form_leaves_out_times_and_error_text),
		cmocka_unit_test(nothing_that_is_echoed_keeps_a_secret),
		cmocka_unit_test(a_reason_names_what_is_prohibited_once_whatever_its_spelling),
		cmocka_unit_test(a_reason_tells_why_a_grant_is_missing),
		cmocka_unit_test(a_reason_tells_what_a_server_lacks_and_what_to_do),
		cmocka_unit_test(a_reason_names_a_long_capability_and_counts_what_has_no_room),
		cmocka_unit_test(a_reason_ends_at_500_code_points_whatever_the_catalog_says),
		cmocka_unit_test(a_malformed_requirement_is_told_its_topmost_fault),
		cmocka_unit_test(a_subtasks_reason_names_what_it_waits_for),
		cmocka_unit_test(rows_that_nothing_orders_stay_in_their_places),
		cmocka_unit_test(a_label_is_redacted_and_capped),
		cmocka_unit_test(a_time_is_one_of_rfc_3339_and_of_the_calendar),
	};

	return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
