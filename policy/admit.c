#include "policy/admit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/admission.h"
#include "policy/catalog.h"
#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/json_parse.h"

/* The public name of an internal struct: never defined, so that nobody looks inside. */
static struct catalog *inner(const struct admit_catalog *catalog)
{
	return (struct catalog *)(uintptr_t)catalog;
}

int admit_contract_version(void)
{
	return ADMISSION_SCHEMA_VERSION;
}

int admit_engine_revision(void)
{
	return ADMISSION_ENGINE_REVISION;
}

int admit_catalog_new(const char *bytes, size_t len, struct admit_catalog **ret_catalog, struct admit_fault *ret_fault)
{
	struct str text = bytes ? (struct str){bytes, len} : catalog_default_bytes();
	struct catalog *catalog = NULL;
	struct catalog_fault fault;
	int result = catalog_new(text, &catalog, &fault);

	if (result == CATALOG_REFUSED) {
		*ret_fault = (struct admit_fault){0};
		memcpy(ret_fault->pointer, fault.pointer, sizeof(fault.pointer));
		memcpy(ret_fault->text, fault.text, sizeof(fault.text));
		return ADMIT_REFUSED;
	}
	if (!result)
		*ret_catalog = (struct admit_catalog *)catalog;
	return result;
}

void admit_catalog_free(struct admit_catalog *catalog)
{
	catalog_free(inner(catalog));
}

const char *admit_catalog_digest(const struct admit_catalog *catalog)
{
	return inner(catalog)->digest.bytes;
}

static const char *words_of(enum json_parse_kind kind)
{
	static const char *const words[] = {
		[JSON_PARSE_SYNTAX] = "not JSON",
		[JSON_PARSE_DUPLICATE] = "a key twice",
		[JSON_PARSE_CUT_OFF] = "the text ends too early,",
		[JSON_PARSE_TOO_DEEP] = "nested deeper than 64",
	};

	return words[kind];
}

int admit_evaluate(const struct admit_catalog *catalog, const char *json, size_t len, char **ret_result,
	struct admit_fault *ret_fault)
{
	CLEANUP(json_drop) json_t *document = NULL;
	struct buf buf;
	size_t written;
	struct json_parse_fault where;
	int result = json_parse((struct str){json, len}, &document, &where);

	if (result == JSON_PARSE_NOT_JSON) {
		*ret_fault = (struct admit_fault){.offset = where.offset};
		(void)snprintf(ret_fault->text, sizeof(ret_fault->text), "%s near byte %zu", words_of(where.kind),
			where.offset);
		return ADMIT_REFUSED;
	}
	if (result)
		return result;
	buf_init(&buf, EVALUATE_RESULT_LIMIT);
	result = evaluate_document(inner(catalog), document, &buf);
	if (result) {
		buf_release(&buf);
		return result;
	}
	*ret_result = buf_take(&buf, &written);
	return *ret_result ? 0 : -ENOMEM;
}
