#include "policy/evaluate.h"

#include "policy/cleanup.h"

enum { EVALUATE_MEMORY_LIMIT = 64 * 1024 * 1024 };

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
