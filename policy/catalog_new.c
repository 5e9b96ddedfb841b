#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/catalog.h"
#include "policy/catalog_load.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"
#include "policy/redact.h"
#include "policy/text.h"

enum { CATALOG_BYTES_LIMIT = 4 * 1024 * 1024, CATALOG_ARENA_LIMIT = 64 * 1024 * 1024 };

int catalog_refuse(struct catalog_loader *loader, const char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(loader->fault->pointer, sizeof(loader->fault->pointer), format, args);
	va_end(args);
	(void)snprintf(loader->fault->text, sizeof(loader->fault->text), "%s", text);
	return CATALOG_REFUSED;
}

const char *catalog_nameable(const char *key)
{
	return text_is_safe((struct str){key, strlen(key)}) && !strpbrk(key, "/~") ? key : "(unprintable)";
}

int catalog_check_keys(
	struct catalog_loader *loader, const json_t *object, const char *const *known, const char *pointer)
{
	json_t *members = json_copy((json_t *)(uintptr_t)object); /* jansson's iterators take no const */
	int result = members ? 0 : -ENOMEM;
	const char *key;
	json_t *value;

	json_object_foreach(members, key, value)
	{
		const char *const *name = known;

		while (*name && strcmp(*name, key) != 0)
			name++;
		if (!*name) {
			result = catalog_refuse(
				loader, "this key is not known here", "%s/%s", pointer, catalog_nameable(key));
			break;
		}
	}
	json_decref(members);
	return result;
}

static int compare_mcps(const void *a, const void *b)
{
	return str_compare(((const struct catalog_mcp *)a)->id, ((const struct catalog_mcp *)b)->id);
}

static int load_mcps(struct catalog_loader *loader, struct catalog *catalog, json_t *object)
{
	struct catalog_mcp *mcps = ARENA_ARRAY(loader->arena, json_object_size(object), struct catalog_mcp);
	size_t count = 0;
	const char *key;
	json_t *value;

	if (!mcps)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		struct str id = {key, strlen(key)};
		int result;

		if (!text_is_mcp_id(id))
			return catalog_refuse(loader, "an id is [a-z0-9][a-z0-9_-]*, at most 80 characters", "/mcps/%s",
				catalog_nameable(key));
		result = catalog_load_mcp(loader, id, value, &mcps[count]);
		if (result)
			return result;
		count++;
	}
	qsort(mcps, count, sizeof(*mcps), compare_mcps);
	catalog->mcps = mcps;
	catalog->mcp_count = count;
	return 0;
}

/* Indexes follow the sorted order, so equal catalogs number their capabilities alike. The arrays are still ours to write. */
static void number_capabilities(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->mcp_count; i++) {
		const struct catalog_mcp *mcp = &catalog->mcps[i];

		for (size_t j = 0; j < mcp->capability_count; j++)
			((struct catalog_capability *)(uintptr_t)&mcp->capabilities[j])->index =
				catalog->capability_count++;
	}
}

static int keep_bytes(struct catalog *catalog, const json_t *root)
{
	char digest[DIGEST_TEXT_SIZE];
	struct json_out out;
	struct buf buf;
	int result;

	buf_init(&buf, CATALOG_ARENA_LIMIT);
	json_out_init(&out, &buf);
	json_out_canonical(&out, root);
	result = buf_error(&buf);
	if (!result) {
		digest_text(buf_str(&buf), digest);
		catalog->bytes = arena_str(&catalog->arena, buf_str(&buf));
		catalog->digest = arena_str(&catalog->arena, (struct str){digest, strlen(digest)});
		if (!catalog->bytes.bytes || !catalog->digest.bytes)
			result = -ENOMEM;
	}
	buf_release(&buf);
	return result;
}

static int load_root(struct catalog_loader *loader, struct catalog *catalog, const json_t *root)
{
	static const char *const keys[] = {"schemaVersion", "mcps", NULL};
	const json_t *version;
	json_t *mcps;
	int result;

	if (!json_is_object(root))
		return catalog_refuse(loader, "a catalog is an object", "%s", "");
	result = catalog_check_keys(loader, root, keys, "");
	if (result)
		return result;
	version = json_object_get(root, "schemaVersion");
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return catalog_refuse(loader, "the schemaVersion is 1", "/schemaVersion");
	mcps = json_object_get(root, "mcps");
	if (!json_is_object(mcps))
		return catalog_refuse(loader, "mcps is an object from id to entry", "/mcps");
	result = load_mcps(loader, catalog, mcps);
	if (result)
		return result;
	number_capabilities(catalog);
	return keep_bytes(catalog, root);
}

static int parse(struct catalog_loader *loader, struct str bytes, json_t **ret_root)
{
	struct json_parse_fault where;
	char text[128];
	int result = json_parse(bytes, ret_root, &where);

	if (result != JSON_PARSE_NOT_JSON)
		return result;
	(void)snprintf(text, sizeof(text), "not JSON (or a key twice) at line %d, column %d", where.line, where.column);
	return catalog_refuse(loader, text, "%s", "");
}

int catalog_new(struct str bytes, struct catalog **ret_catalog, struct catalog_fault *ret_fault)
{
	CLEANUP(catalog_drop) struct catalog *catalog = calloc(1, sizeof(*catalog));
	CLEANUP(json_drop) json_t *root = NULL;
	struct catalog_loader loader = {.fault = ret_fault};
	int result;

	if (!catalog)
		return -ENOMEM;
	atomic_store(&catalog->owners, 1);
	result = redact_init();
	if (result)
		return result;
	arena_init(&catalog->arena, CATALOG_ARENA_LIMIT);
	loader.arena = &catalog->arena;
	if (bytes.len > CATALOG_BYTES_LIMIT)
		return catalog_refuse(&loader, "a catalog has at most 4 MiB", "%s", "");
	result = parse(&loader, bytes, &root);
	if (result)
		return result;
	result = load_root(&loader, catalog, root);
	if (result)
		return result;
	*ret_catalog = TAKE(catalog);
	return 0;
}
