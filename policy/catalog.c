#include "policy/catalog.h"

#include <stdlib.h>

struct catalog *catalog_hold(const struct catalog *catalog)
{
	struct catalog *held = (struct catalog *)(uintptr_t)catalog; /* what it says stays as it is */

	atomic_fetch_add(&held->owners, 1);
	return held;
}

void catalog_free(struct catalog *catalog)
{
	if (!catalog || atomic_fetch_sub(&catalog->owners, 1) > 1)
		return;
	arena_release(&catalog->arena);
	free(catalog);
}

void catalog_drop(struct catalog **catalog)
{
	catalog_free(*catalog);
	*catalog = NULL;
}

static int by_id(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, ((const struct catalog_mcp *)element)->id);
}

static int by_name(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, ((const struct catalog_capability *)element)->name);
}

static int by_alias(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, ((const struct catalog_alias *)element)->from);
}

const struct catalog_mcp *catalog_find_mcp(const struct catalog *catalog, struct str id)
{
	if (!id.bytes || catalog->mcp_count == 0)
		return NULL;
	return bsearch(&id, catalog->mcps, catalog->mcp_count, sizeof(*catalog->mcps), by_id);
}

const struct catalog_capability *catalog_find_capability(const struct catalog_mcp *mcp, struct str name)
{
	if (!name.bytes || mcp->capability_count == 0)
		return NULL;
	return bsearch(&name, mcp->capabilities, mcp->capability_count, sizeof(*mcp->capabilities), by_name);
}

const struct catalog_capability *catalog_find_alias(const struct catalog_mcp *mcp, struct str normalized)
{
	const struct catalog_alias *alias;

	if (!normalized.bytes || mcp->alias_count == 0)
		return NULL;
	alias = bsearch(&normalized, mcp->aliases, mcp->alias_count, sizeof(*mcp->aliases), by_alias);
	return alias ? alias->to : NULL;
}

struct str catalog_find_remediation(const struct catalog_mcp *mcp, struct str status)
{
	for (size_t i = 0; i < mcp->remediation_count; i++) {
		if (str_equal(mcp->remediations[i].status, status))
			return mcp->remediations[i].text;
	}
	return (struct str){0};
}
