/* catalog_load.h - inside policy only: one MCP of a catalog, from JSON to checked structs (chapter 1.3).
 *
 * Loading stops at the first offending entry and names it by JSON pointer. Not thread-safe; used by catalog_new() only.
 */
#ifndef ADMITD_POLICY_CATALOG_LOAD_H
#define ADMITD_POLICY_CATALOG_LOAD_H

#include <jansson.h>

#include "policy/catalog.h"

struct catalog_loader {
	struct arena *arena; /* the catalog's own */
	struct catalog_fault *fault;
};

/* Fills *ret_fault and returns CATALOG_REFUSED. The pointer is made of `format`. */
int catalog_refuse(struct catalog_loader *loader, const char *text, const char *format, ...) MUST_USE
	__attribute__((format(printf, 3, 4)));

/* The key as a token of the pointer: a key from the file may be anything, and only a harmless one is named. */
const char *catalog_nameable(const char *key);

/* Refuses the first member of `object` whose name isn't in the NULL-ended list; 0 when there is none. */
int catalog_check_keys(
	struct catalog_loader *loader, const json_t *object, const char *const *known, const char *pointer) MUST_USE;

/* Fills *ret_mcp but for the capabilities' indexes. 0, CATALOG_REFUSED or -ENOMEM. */
int catalog_load_mcp(
	struct catalog_loader *loader, struct str id, const json_t *value, struct catalog_mcp *ret_mcp) MUST_USE;

#endif
