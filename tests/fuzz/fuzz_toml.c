/* Any bytes as TOML: refused with a place and words of ours, or an object. */
#include <stdint.h>

#include "agents/toml_read.h"
#include "policy/check.h"
#include "policy/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct toml_read_fault fault = {0};
	int result = toml_read((struct str){(const char *)data, size}, &value, &fault);

	CHECK(result == 0 || result == TOML_READ_REFUSED);
	if (result == 0)
		CHECK(json_is_object(value));
	else
		CHECK(fault.words != NULL && fault.line > 0 && fault.column > 0);
	return 0;
}
