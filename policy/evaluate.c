#include "policy/evaluate.h"

#include <errno.h>

#include "policy/cleanup.h"

enum { EVALUATE_MEMORY_LIMIT = 64 * 1024 * 1024 };

int evaluate_parse(struct str text, json_t **ret_document, size_t *ret_offset)
{
	json_error_t error;
	json_t *document =
		json_loadb(text.bytes ? text.bytes : "", text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (!document) {
		*ret_offset = error.position > 0 ? (size_t)error.position : 0;
		/* Out of memory leaves no words, or says so; every fault of the text has words. */
		if (!error.text[0] || json_error_code(&error) == json_error_out_of_memory)
			return -ENOMEM;
		return EVALUATE_NOT_JSON;
	}
	*ret_document = document;
	return 0;
}

int evaluate_with(const struct catalog *catalog, const json_t *document,
	void (*write)(const struct admission *admission, void *arg), void *arg)
{
	static const struct package_options options = {.believes_envelopes = true};
	CLEANUP(package_drop) struct package *package = NULL;
	struct admission_inputs inputs;
	struct admission admission;
	struct arena arena;
	int result = package_new(catalog, document, &options, &package);

	if (result)
		return result;
	arena_init(&arena, EVALUATE_MEMORY_LIMIT);
	result = admission_inputs_read(&arena, catalog, document, &inputs);
	if (!result)
		result = admit_work_package_mcp(&arena, package, &inputs, &admission);
	if (!result)
		write(&admission, arg);
	arena_release(&arena);
	return result;
}

static void write_result(const struct admission *admission, void *arg)
{
	struct json_out out;

	json_out_init(&out, arg);
	admission_write(admission, false, &out);
}

int evaluate_document(const struct catalog *catalog, const json_t *document, struct buf *out)
{
	int result = evaluate_with(catalog, document, write_result, out);

	return result ? result : buf_error(out);
}
