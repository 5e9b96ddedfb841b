/* Any bytes as an `evaluate` document: a parse error or one decision, which reads back as JSON, twice the same. */
#include <jansson.h>
#include <string.h>

#include "policy/check.h"
#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/json_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct catalog *catalog(void)
{
	static struct catalog *loaded;
	struct catalog_fault fault;

	if (!loaded)
		CHECK(catalog_new(catalog_default_bytes(), &loaded, &fault) == 0);
	return loaded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(json_drop) json_t *document = NULL;
	CLEANUP(json_drop) json_t *result = NULL;
	CLEANUP(buf_release) struct buf once = {0};
	CLEANUP(buf_release) struct buf twice = {0};
	struct json_parse_fault fault = {0};

	if (json_parse((struct str){(const char *)data, size}, &document, &fault) != 0) {
		CHECK(fault.offset <= size);
		return 0;
	}
	buf_init(&once, EVALUATE_RESULT_LIMIT);
	buf_init(&twice, EVALUATE_RESULT_LIMIT);
	CHECK(evaluate_document(catalog(), document, &once) == 0);
	CHECK(evaluate_document(catalog(), document, &twice) == 0);
	CHECK(str_equal(buf_str(&once), buf_str(&twice)));
	result = json_loadb(once.bytes, once.len, JSON_REJECT_DUPLICATES, NULL);
	CHECK(result);
	return 0;
}
