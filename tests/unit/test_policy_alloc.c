/* Memory that runs out, at every single allocation: the engine says -ENOMEM, keeps nothing, and decides as before once
 * there is memory again (chapter 6.2, fault loops). The linker sends this program's allocations through the wrappers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/json_parse.h"
#include "policy/redact.h"

/* Allocations until one fails; negative: none does. */
static long until_failure = -1;
static long made;

static bool fails(void)
{
	made++;
	return until_failure >= 0 && until_failure-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
	return fails() ? NULL : __real_realloc(pointer, size);
}

static const char *const document_text =
	"{\"label\":\"p\",\"entries\":[{\"requirementKey\":\"k\",\"sourceRequirementIndex\":0,\"agent\":\"a\","
	"\"mcpId\":"
	"\"filesystem\",\"requirement\":\"required\",\"capabilities\":[\"filesystem.read\",\"filesystem.project.list\"]"
	","
	"\"prohibitedCapabilities\":[\"filesystem.write\"],\"fallback\":{\"action\":\"block\",\"message\":\"m\"},"
	"\"assignment\":"
	"{\"type\":\"agent\",\"targetId\":null},\"evidenceRefs\":[\"src/"
	"a.c\"]},{\"agent\":\"b\",\"mcpId\":\"github\",\"requirement\":"
	"\"optional\",\"permissions\":[\"github.issues.read\"],\"fallback\":{\"action\":\"ask_user\"}},{\"decisionId\":"
	"\"d\"}],"
	"\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":[\"filesystem.project.read\"],"
	"\"capabilityBindings\":"
	"[{\"capability\":\"filesystem.project.read\",\"requirementKey\":\"k\"}]},7],\"grants\":{\"k\":{\"phase\":"
	"\"approved\","
	"\"source\":\"package-local\",\"status\":\"approved\",\"grantMode\":\"allow_once\",\"grantApprovalId\":\"grt_"
	"1\","
	"\"coveredCapabilities\":[\"filesystem.read\",\"filesystem.list\"]}},\"health\":{\"filesystem\":{\"mcpId\":"
	"\"filesystem\","
	"\"installState\":\"installed\",\"status\":\"healthy\",\"enabled\":true,\"error\":\"e\",\"checkedAt\":"
	"\"2026-11-30T08:00:00Z\"}},\"prompt\":{\"legacy-1-github-b\":true}}";

static json_t *document(void)
{
	json_t *value = json_loads(document_text, 0, NULL);

	assert_non_null(value);
	return value;
}

static void every_failed_allocation_of_a_decision_is_out_of_memory(void **state)
{
	CLEANUP(json_drop) json_t *value = document();
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	CLEANUP(buf_release) struct buf expected = {0};
	struct catalog_fault fault;
	long total;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	buf_init(&expected, EVALUATE_RESULT_LIMIT);
	made = 0;
	assert_int_equal(evaluate_document(catalog, value, &expected), 0);
	total = made;
	assert_true(total > 5);
	for (long n = 0; n <= total; n++) {
		CLEANUP(buf_release) struct buf out = {0};
		int result;

		buf_init(&out, EVALUATE_RESULT_LIMIT);
		until_failure = n;
		result = evaluate_document(catalog, value, &out);
		until_failure = -1;
		/* Looking for a secret without memory says yes, so a text may be taken for unsafe: closed, and no crash. */
		if (n == total)
			assert_true(result == 0 && str_equal(buf_str(&out), buf_str(&expected)));
		else
			assert_true(result == -ENOMEM || result == 0);
	}
}

/* jansson gets over some failed allocations; the catalog is then the very same one. It loses a byte of the text at others, which
 * only the guard of json_parse.h notices.
 */
static void no_failed_allocation_gives_another_catalog(void **state)
{
	CLEANUP(catalog_drop) struct catalog *expected = NULL;
	struct catalog_fault fault = {0};
	long total;

	(void)state;
	made = 0;
	assert_int_equal(catalog_new(catalog_default_bytes(), &expected, &fault), 0);
	total = made;
	for (long n = 0; n < total; n++) {
		CLEANUP(catalog_drop) struct catalog *catalog = NULL;
		int result;

		until_failure = n;
		result = catalog_new(catalog_default_bytes(), &catalog, &fault);
		until_failure = -1;
		if (result == 0)
			assert_true(str_equal(catalog->bytes, expected->bytes));
		else
			assert_int_equal(result, -ENOMEM);
		assert_true((result == 0) == (catalog != NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_of_a_decision_is_out_of_memory),
		cmocka_unit_test(no_failed_allocation_gives_another_catalog),
	};

	if (redact_init())
		return 1;
	json_parse_guard();
	return cmocka_run_group_tests_name("policy_alloc", tests, NULL, NULL);
}
