/* The identity of a decision is its inputs, and what changed between two decisions is told by path (chapters 2.1, 4.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/cleanup.h"
#include "policy/decision_id.h"
#include "tests/lib/decided.h"

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

/* What the daemon compares: equal bytes are one identity. */
static bool same_bytes(const char *a, const char *b)
{
	CLEANUP(json_drop) json_t *left = inputs_for(a);
	CLEANUP(json_drop) json_t *right = inputs_for(b);
	CLEANUP(free_drop) char *one = NULL;
	CLEANUP(free_drop) char *other = NULL;

	json_object_del(left, "packageDigest");
	json_object_del(right, "packageDigest");
	one = json_dumps(left, 0);
	other = json_dumps(right, 0);
	return strcmp(one, other) == 0;
}

#define COVERING(capabilities)                                                                                         \
	"{\"phase\":\"approved\",\"source\":\"project-level\",\"status\":\"approved\",\"grantMode\":\"always_allow\"," \
	"\"coveredCapabilities\":[" capabilities "]}"
#define NOW HEALTH("healthy", "2026-11-30T08:00:00Z")

static void coverage_is_a_set_whatever_its_order_spelling_and_repeats(void **state)
{
	const char *plain = ONE(COVERING(LIST "," READ), NOW);

	(void)state;
	assert_true(same_bytes(plain, ONE(COVERING(READ "," LIST), NOW)));
	assert_true(same_bytes(plain, ONE(COVERING(READ "," READ "," LIST "," READ), NOW)));
	assert_true(same_bytes(plain, ONE(COVERING("\"filesystem.read\",\"Filesystem.List\""), NOW)));
	assert_false(same_bytes(plain, ONE(COVERING(READ), NOW)));
}

static void the_record_names_catalog_package_contract_and_engine(void **state)
{
	CLEANUP(json_drop) json_t *inputs = inputs_for(ONE(PROPOSED, NOW));
	struct decided decided;

	(void)state;
	decide(&decided, ONE(PROPOSED, NOW));
	assert_string_equal(json_string_value(json_object_get(inputs, "catalogDigest")), decided.catalog->digest.bytes);
	assert_string_equal(json_string_value(json_object_get(inputs, "packageDigest")), decided.package->digest.bytes);
	assert_int_equal(json_integer_value(json_object_get(inputs, "contractVersion")), ADMISSION_SCHEMA_VERSION);
	assert_int_equal(json_integer_value(json_object_get(inputs, "engineRevision")), ADMISSION_ENGINE_REVISION);
	decided_release(&decided);
}

/* A requirement without a grant of its own, for the MCP's. */
#define TWO(capabilities, more)                                                                \
	"{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "," POLICY( \
		"t", "a", "filesystem", "optional", "ask_user", capabilities) "]" more "}"

static json_t *member(json_t *inputs, const char *name)
{
	return json_object_get(inputs, name);
}

static void a_grant_counts_where_it_can_change_the_result(void **state)
{
	CLEANUP(json_drop) json_t *needed = inputs_for(TWO("", ""));
	CLEANUP(json_drop) json_t *by_mcp = inputs_for(TWO("", ",\"grants\":{\"filesystem\":" COVERING(READ) "}"));
	CLEANUP(json_drop) json_t *incoherent = inputs_for(TWO("", ",\"grants\":{\"t\":7}"));
	CLEANUP(json_drop)
	json_t *malformed =
		inputs_for("{\"entries\":[{\"requirementKey\":\"k\",\"mcpId\":\"filesystem\",\"capabilities\":[" READ
			   "]}],\"grants\":{\"filesystem\":" COVERING(READ) "}," NOW "}");

	(void)state;
	assert_int_equal(json_object_size(member(needed, "grants")), 1);
	assert_non_null(json_object_get(member(needed, "grants"), "k"));
	assert_int_equal(json_object_size(member(by_mcp, "grants")), 2);
	assert_true(json_is_true(json_object_get(json_object_get(member(incoherent, "grants"), "t"), "incoherent")));
	assert_int_equal(json_object_size(member(malformed, "grants")), 0);
	assert_int_equal(json_object_size(member(malformed, "health")), 0);
}

static void prompt_evidence_counts_where_it_is_believed(void **state)
{
	CLEANUP(json_drop) json_t *none = inputs_for(TWO("", ",\"prompt\":{\"x\":true,\"k\":false}"));
	CLEANUP(json_drop) json_t *one = inputs_for(TWO("", ",\"prompt\":{\"t\":true}"));

	(void)state;
	assert_int_equal(json_array_size(member(none, "prompt")), 0);
	assert_int_equal(json_array_size(member(one, "prompt")), 1);
	assert_string_equal(json_string_value(json_array_get(member(one, "prompt"), 0)), "t");
}

/* A keyless policy is named by its place, which another policy may have for its key. */
static void two_requirements_of_one_name_keep_their_own_grants(void **state)
{
	CLEANUP(json_drop)
	json_t *inputs =
		inputs_for("{\"entries\":[{\"agent\":\"a\",\"mcpId\":\"filesystem\",\"requirement\":\"required\","
			   "\"capabilities\":[" LIST "],\"fallback\":{\"action\":\"block\"}}," POLICY(
				   "legacy-0-filesystem-a", "a", "filesystem", "required", "block", READ) "]}");

	(void)state;
	assert_int_equal(json_object_size(member(inputs, "grants")), 2);
	assert_non_null(json_object_get(member(inputs, "grants"), "legacy-0-filesystem-a"));
	assert_non_null(json_object_get(member(inputs, "grants"), "legacy-0-filesystem-a #2"));
}

#define REVOKED(reason)                                                                                             \
	"{\"phase\":\"revoked\",\"source\":\"project-level\",\"status\":\"not_issued\",\"coveredCapabilities\":[]," \
	"\"revocationReason\":\"" reason "\"}"
#define LOCAL(mode, id)                                                                                      \
	"{\"phase\":\"approved\",\"source\":\"package-local\",\"status\":\"approved\",\"grantMode\":\"" mode \
	"\",\"grantApprovalId\":\"" id "\",\"coveredCapabilities\":[" READ "]}"

static void every_part_of_a_grant_that_changes_is_told(void **state)
{
	(void)state;
	check_diff(ONE(REVOKED("grant_expired"), NOW), ONE(REVOKED("project_grant_removed"), NOW),
		"[{\"path\":\"/grants/k\",\"before\":{\"phase\":\"revoked\",\"source\":\"project-level\","
		"\"revocationReason\":\"grant_expired\"},\"after\":{\"phase\":\"revoked\",\"source\":\"project-level\","
		"\"revocationReason\":\"project_grant_removed\"}}]");
	check_diff(ONE(LOCAL("allow_once", "g1"), NOW), ONE(LOCAL("allow_once", "g2"), NOW),
		"[{\"path\":\"/grants/k\",\"before\":{\"phase\":\"approved\",\"source\":\"package-local\","
		"\"grantMode\":\"allow_once\",\"grantApprovalId\":\"g1\"},\"after\":{\"phase\":\"approved\",\"source\":"
		"\"package-local\",\"grantMode\":\"allow_once\",\"grantApprovalId\":\"g2\"}}]");
	check_diff(ONE(LOCAL("allow_once", "g1"), NOW), ONE(LOCAL("always_allow", "g1"), NOW),
		"[{\"path\":\"/grants/k\",\"before\":{\"phase\":\"approved\",\"source\":\"package-local\","
		"\"grantMode\":\"allow_once\",\"grantApprovalId\":\"g1\"},\"after\":{\"phase\":\"approved\",\"source\":"
		"\"package-local\",\"grantMode\":\"always_allow\",\"grantApprovalId\":\"g1\"}}]");
	check_diff(ONE(COVERING(READ), NOW), ONE(COVERING(READ "," LIST), NOW),
		"[{\"path\":\"/grants/k/coveredCapabilities\",\"before\":[\"filesystem.project.read\"],\"after\":["
		"\"filesystem.project.list\",\"filesystem.project.read\"]}]");
	check_diff(ONE(APPROVED(""), NOW), ONE(APPROVED(",\"consumed\":true"), NOW),
		"[{\"path\":\"/grants/k/consumed\",\"before\":false,\"after\":true}]");
}

static void what_came_or_went_is_told_with_null_for_the_other_side(void **state)
{
	const char *alone = "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "]}";
	const char *with = "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "," POLICY(
		"k~/2", "a", "github", "optional", "ask_user", "") "],\"prompt\":{\"k\":true},\"grants\":{\"k~/"
								   "2\":" REVOKED("grant_expired") "}}";

	(void)state;
	check_diff(alone, with,
		"[{\"path\":\"/grants/k~0~12\",\"before\":null,\"after\":{\"phase\":\"revoked\",\"source\":"
		"\"project-level\",\"revocationReason\":\"grant_expired\"}},{\"path\":\"/health/github\",\"before\":"
		"null,\"after\":{\"enabled\":false,\"installState\":\"unknown\",\"observed\":false,\"status\":"
		"\"unknown\"}},{\"path\":\"/prompt\",\"before\":[],\"after\":[\"k\"]}]");
	check_diff(ONE(PROPOSED, "\"health\":{}"), ONE(PROPOSED, NOW),
		"[{\"path\":\"/health/filesystem/observed\",\"before\":false,\"after\":true},{\"path\":"
		"\"/health/filesystem/installState\",\"before\":\"unknown\",\"after\":\"installed\"},{\"path\":"
		"\"/health/filesystem/status\",\"before\":\"unknown\",\"after\":\"healthy\"},{\"path\":"
		"\"/health/filesystem/enabled\",\"before\":false,\"after\":true}]");
}

static void another_catalog_contract_engine_or_package_is_told(void **state)
{
	CLEANUP(json_drop)
	json_t *before = json_pack("{s:s,s:i,s:i,s:s}", "catalogDigest", "a", "contractVersion", 1, "engineRevision", 1,
		"packageDigest", "p");
	CLEANUP(json_drop)
	json_t *after = json_pack("{s:s,s:i,s:i,s:s}", "catalogDigest", "b", "contractVersion", 2, "engineRevision", 3,
		"packageDigest", "q");
	struct json_out out;
	struct buf buf;

	(void)state;
	buf_init(&buf, 1 << 16);
	json_out_init(&out, &buf);
	decision_inputs_diff(before, after, &out);
	assert_string_equal(buf_str(&buf).bytes,
		"[{\"path\":\"/catalogDigest\",\"before\":\"a\",\"after\":\"b\"},{\"path\":\"/contractVersion\","
		"\"before\":1,\"after\":2},{\"path\":\"/engineRevision\",\"before\":1,\"after\":3},{\"path\":"
		"\"/packageDigest\",\"before\":\"p\",\"after\":\"q\"}]");
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decisions_inputs_name_what_decides_and_no_times),
		cmocka_unit_test(canonical_inputs_are_sorted_and_stable),
		cmocka_unit_test(changed_inputs_are_told_by_path),
		cmocka_unit_test(coverage_is_a_set_whatever_its_order_spelling_and_repeats),
		cmocka_unit_test(the_record_names_catalog_package_contract_and_engine),
		cmocka_unit_test(a_grant_counts_where_it_can_change_the_result),
		cmocka_unit_test(prompt_evidence_counts_where_it_is_believed),
		cmocka_unit_test(two_requirements_of_one_name_keep_their_own_grants),
		cmocka_unit_test(every_part_of_a_grant_that_changes_is_told),
		cmocka_unit_test(what_came_or_went_is_told_with_null_for_the_other_side),
		cmocka_unit_test(another_catalog_contract_engine_or_package_is_told),
	};

	return cmocka_run_group_tests_name("decision_id", tests, NULL, NULL);
}
