/* libadmit from outside: the public header alone, linked to the shared library alone (chapter 3.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "policy/admit.h"

static const char package[] =
	"{\"entries\":[{\"requirementKey\":\"k\",\"sourceRequirementIndex\":0,\"agent\":\"a\",\"mcpId\":\"filesystem\","
	"\"requirement\":\"required\",\"capabilities\":[\"filesystem.read\"],\"fallback\":{\"action\":\"block\"},"
	"\"assignment\":{\"type\":\"agent\",\"targetId\":null}}]}";

static void a_package_is_decided_with_the_default_catalog(void **state)
{
	struct admit_catalog *catalog = NULL;
	struct admit_fault fault;
	char *result = NULL;

	(void)state;
	assert_int_equal(admit_catalog_new(NULL, 0, &catalog, &fault), ADMIT_DONE);
	assert_memory_equal(admit_catalog_digest(catalog), "sha256:", 7);
	assert_int_equal(admit_evaluate(catalog, package, strlen(package), &result, &fault), ADMIT_DONE);
	assert_non_null(strstr(result, "\"mode\":\"bounded_context_required\""));
	assert_non_null(strstr(result, "\"schemaVersion\":2"));
	free(result);
	admit_catalog_free(catalog);
}

static void what_is_not_json_is_refused_with_its_offset(void **state)
{
	struct admit_catalog *catalog = NULL;
	struct admit_fault fault;
	char *result = NULL;

	(void)state;
	assert_int_equal(admit_catalog_new(NULL, 0, &catalog, &fault), ADMIT_DONE);
	assert_int_equal(admit_evaluate(catalog, "{\"CANARY\" 1}", 12, &result, &fault), ADMIT_REFUSED);
	assert_null(result);
	assert_in_range(fault.offset, 9, 12);
	assert_null(strstr(fault.text, "CANARY"));
	assert_int_equal(admit_evaluate(catalog, "{\"a\":1,\"a\":1}", 13, &result, &fault), ADMIT_REFUSED);
	assert_non_null(strstr(fault.text, "a key twice"));
	assert_int_equal(admit_evaluate(catalog, "{\"a\":", 5, &result, &fault), ADMIT_REFUSED);
	assert_non_null(strstr(fault.text, "ends too early"));
	admit_catalog_free(catalog);
}

static void a_bad_catalog_is_refused_with_its_pointer(void **state)
{
	struct admit_catalog *catalog = NULL;
	struct admit_fault fault;
	const char *text = "{\"schemaVersion\":1,\"mcps\":{\"x\":{\"surprise\":1}}}";

	(void)state;
	assert_int_equal(admit_catalog_new(text, strlen(text), &catalog, &fault), ADMIT_REFUSED);
	assert_null(catalog);
	assert_string_equal(fault.pointer, "/mcps/x/surprise");
}

static void it_says_which_contract_it_keeps(void **state)
{
	(void)state;
	assert_int_equal(admit_contract_version(), 2);
	assert_true(admit_engine_revision() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_is_decided_with_the_default_catalog),
		cmocka_unit_test(what_is_not_json_is_refused_with_its_offset),
		cmocka_unit_test(a_bad_catalog_is_refused_with_its_pointer),
		cmocka_unit_test(it_says_which_contract_it_keeps),
	};

	return cmocka_run_group_tests_name("libadmit", tests, NULL, NULL);
}
