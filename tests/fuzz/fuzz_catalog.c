/* Any bytes as a catalog: refused with words, or loaded, and then equal to what its own canonical bytes load to. */
#include <string.h>

#include "policy/catalog.h"
#include "policy/check.h"
#include "policy/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	CLEANUP(catalog_drop) struct catalog *again = NULL;
	struct catalog_fault fault = {0};
	int result = catalog_new((struct str){(const char *)data, size}, &catalog, &fault);

	if (result == CATALOG_REFUSED) {
		CHECK(fault.text[0] && memchr(fault.pointer, 0, sizeof(fault.pointer)));
		return 0;
	}
	CHECK(result == 0);
	CHECK(catalog_new(catalog->bytes, &again, &fault) == 0);
	CHECK(str_equal(catalog->digest, again->digest));
	return 0;
}
