/* Any bytes as somebody's JSON file: refused with a place, or edited without another byte changed, and back again. */
#include <stdint.h>

#include "agents/json_edit.h"
#include "policy/check.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void edit_drop(struct json_edit *edit)
{
	json_edit_release(edit);
}

/* Puts a member into the root, and takes it out again where there was another. */
static void edit_root(struct str text)
{
	const struct json_edit_value value = {STR("\"admitd\""), STR("{\"a\":[\"b\",1],\"c\":{}}")};
	CLEANUP(edit_drop) struct json_edit edit = {0};
	struct json_scan_item item = {0};
	struct json_scan_fault fault;
	size_t root = json_scan_root(text);
	bool was_empty = !json_scan_next(text, root, &item);

	if (json_scan_find(text, root, "admitd", &item))
		return;
	CHECK(json_edit_init(&edit, text) == 0);
	CHECK(json_edit_add(&edit, root, &value, 1, JSON_EDIT_FLAT) == 0);
	CHECK(json_scan_check(json_edit_text(&edit), &fault) == 0);
	CHECK(json_scan_find(json_edit_text(&edit), root, "admitd", &item));
	json_edit_remove(&edit, root, &item);
	CHECK(was_empty || str_equal(json_edit_text(&edit), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	CLEANUP(json_drop) json_t *parsed = NULL;
	struct json_scan_fault fault = {0};
	int result = json_scan_check(text, &fault);

	if (result == JSON_SCAN_REFUSED) {
		CHECK(fault.offset <= size && fault.line > 0 && fault.column > 0);
		CHECK(json_parse(text, &parsed, NULL) != 0);
		return 0;
	}
	CHECK(result == 0);
	CHECK(json_scan_end(text, json_scan_root(text)) <= size);
	if (json_scan_type(text, json_scan_root(text)) == JSON_SCAN_OBJECT)
		edit_root(text);
	return 0;
}
