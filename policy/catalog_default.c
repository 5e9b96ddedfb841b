#include "policy/catalog.h"
#include "policy/catalog_default_bytes.h"

struct str catalog_default_bytes(void)
{
	return (struct str){(const char *)catalog_default_json, sizeof(catalog_default_json)};
}
