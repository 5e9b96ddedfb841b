#include "tests/lib/decided.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/json_parse.h"

void decide_with(struct decided *decided, struct catalog *catalog, const char *json)
{
	static const struct package_options options = {.believes_envelopes = true};
	struct catalog_fault fault;

	*decided = (struct decided){.catalog = catalog};
	arena_init(&decided->arena, 1 << 24);
	if (!catalog)
		assert_int_equal(catalog_new(catalog_default_bytes(), &decided->catalog, &fault), 0);
	assert_int_equal(json_parse((struct str){json, strlen(json)}, &decided->document, NULL), 0);
	assert_int_equal(package_new(decided->catalog, decided->document, &options, &decided->package), 0);
	assert_int_equal(
		admission_inputs_read(&decided->arena, decided->catalog, decided->document, &decided->inputs), 0);
	assert_int_equal(
		admit_work_package_mcp(&decided->arena, decided->package, &decided->inputs, &decided->admission), 0);
}

void decide(struct decided *decided, const char *json)
{
	decide_with(decided, NULL, json);
}

void decided_release(struct decided *decided)
{
	package_free(decided->package);
	json_decref(decided->document);
	arena_release(&decided->arena);
	catalog_free(decided->catalog);
}
