#include "policy/catalog_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/text.h"

/* A capability while its MCP is read: the struct, and where it stood in the file. */
struct draft {
	struct catalog_capability capability;
	const char *section;
	struct str resource; /* of a deferred operation: the key within its section; else absent */
	size_t position;
	size_t order; /* among all drafts of the MCP */
};

struct drafts {
	struct draft *items;
	size_t count;
};

static struct str string_of(const json_t *value)
{
	return (struct str){json_string_value(value), json_string_length(value)};
}

/* A text for people: safe, or empty. */
static int read_text(
	struct catalog_loader *loader, struct str id, const json_t *object, const char *key, struct str *ret)
{
	const json_t *value = json_object_get(object, key);
	struct str text = string_of(value);

	if (!json_is_string(value) || (text.len && !text_is_safe(text)))
		return catalog_refuse(
			loader, "a text of at most 240 harmless characters is needed", "/mcps/%s/%s", id.bytes, key);
	*ret = arena_str(loader->arena, text);
	return ret->bytes ? 0 : -ENOMEM;
}

static int read_bool(struct catalog_loader *loader, struct str id, const json_t *object, const char *path,
	const char *key, bool *ret)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_boolean(value))
		return catalog_refuse(loader, "true or false is needed", "/mcps/%s%s/%s", id.bytes, path, key);
	*ret = json_is_true(value);
	return 0;
}

/* Where the operation of a canonical capability begins: behind the resource, or behind the MCP in the two-part form. 0: no
 * address (1.4).
 */
static size_t operation_at(struct str id, struct str root_resource, struct str name)
{
	const char *first;
	const char *last;

	if (name.len <= id.len + 1 || memcmp(name.bytes, id.bytes, id.len) != 0 || name.bytes[id.len] != '.')
		return 0;
	first = name.bytes + id.len + 1;
	last = memchr(first, '.', name.len - id.len - 1);
	if (!last)
		return root_resource.bytes ? id.len + 1 : 0;
	if (last == first || last + 1 == name.bytes + name.len)
		return 0;
	if (memchr(last + 1, '.', (size_t)(name.bytes + name.len - last - 1)))
		return 0;
	if (root_resource.bytes && str_equal((struct str){first, (size_t)(last - first)}, root_resource))
		return 0;
	return (size_t)(last + 1 - name.bytes);
}

static bool is_read_operation(struct str operation)
{
	return str_is(operation, "read") || str_is(operation, "list") || str_is(operation, "search") ||
		str_is(operation, "get");
}

static int check_name(
	struct catalog_loader *loader, const struct catalog_mcp *mcp, const struct draft *draft, struct str name)
{
	size_t operation = operation_at(mcp->id, mcp->root_resource, name);
	struct str normalized;
	const char *fault = NULL;

	if (!text_is_safe(name))
		fault = "a capability is safe text";
	if (!fault) {
		normalized = text_normalize(loader->arena, name);
		if (!normalized.bytes)
			return -ENOMEM;
		if (!str_equal(normalized, name))
			fault = "a capability is written in its canonical form";
		else if (operation == 0)
			fault = "a capability is owned by its MCP: mcp.resource.operation";
		else if (draft->capability.class == CLASS_BOUNDED_READ_ONLY &&
			!is_read_operation((struct str){name.bytes + operation, name.len - operation}))
			fault = "the operation of a safe read is read, list, search or get";
	}
	if (fault)
		return catalog_refuse(loader, fault, "/mcps/%s/%s/%zu", mcp->id.bytes, draft->section, draft->position);
	return 0;
}

static void add_draft(struct drafts *drafts, struct draft draft)
{
	draft.order = drafts->count;
	drafts->items[drafts->count++] = draft;
}

/* Adds the capabilities of one list. */
static int read_list(struct catalog_loader *loader, const struct catalog_mcp *mcp, const json_t *list,
	const char *section, enum capability_class class, struct drafts *drafts)
{
	if (!json_is_array(list))
		return catalog_refuse(
			loader, "an array of capabilities is needed", "/mcps/%s/%s", mcp->id.bytes, section);
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct draft draft = {.capability.class = class, .section = section, .position = i};
		const json_t *item = json_array_get(list, i);
		int result;

		if (!json_is_string(item))
			return catalog_refuse(
				loader, "a capability is text", "/mcps/%s/%s/%zu", mcp->id.bytes, section, i);
		result = check_name(loader, mcp, &draft, string_of(item));
		if (result)
			return result;
		draft.capability.name = arena_str(loader->arena, string_of(item));
		if (!draft.capability.name.bytes)
			return -ENOMEM;
		add_draft(drafts, draft);
	}
	return 0;
}

static bool is_word(struct str text)
{
	return text_is_safe(text) && !memchr(text.bytes, '.', text.len) && text_is_mcp_id(text);
}

static int read_operations(struct catalog_loader *loader, const struct catalog_mcp *mcp, struct str resource,
	const json_t *list, struct catalog_deferred *deferred, struct drafts *drafts)
{
	struct str *operations = ARENA_ARRAY(loader->arena, json_array_size(list), struct str);
	bool is_root = str_equal(resource, mcp->root_resource);

	if (!operations)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str operation = string_of(json_array_get(list, i));
		struct draft draft = {.capability.class = CLASS_DEFERRED_LIVE_MCP,
			.section = "deferred",
			.resource = resource,
			.position = i};

		if (!is_word(operation))
			return catalog_refuse(loader, "an operation is a word of [a-z0-9_-]",
				"/mcps/%s/deferred/%s/%zu", mcp->id.bytes, resource.bytes, i);
		operations[i] = arena_str(loader->arena, operation);
		draft.capability.name = is_root
			? arena_printf(loader->arena, "%s.%s", mcp->id.bytes, operation.bytes)
			: arena_printf(loader->arena, "%s.%s.%s", mcp->id.bytes, resource.bytes, operation.bytes);
		if (!operations[i].bytes || !draft.capability.name.bytes)
			return -ENOMEM;
		add_draft(drafts, draft);
	}
	*deferred = (struct catalog_deferred){resource, operations, json_array_size(list)};
	return 0;
}

static int compare_deferred(const void *a, const void *b)
{
	return str_compare(
		((const struct catalog_deferred *)a)->resource, ((const struct catalog_deferred *)b)->resource);
}

static int read_deferred(struct catalog_loader *loader, struct catalog_mcp *mcp, json_t *object, struct drafts *drafts)
{
	struct catalog_deferred *deferred =
		ARENA_ARRAY(loader->arena, json_object_size(object), struct catalog_deferred);
	size_t count = 0;
	const char *key;
	json_t *list;

	if (!deferred)
		return -ENOMEM;
	json_object_foreach(object, key, list)
	{
		struct str resource = arena_str(loader->arena, (struct str){key, strlen(key)});
		int result;

		if (!resource.bytes)
			return -ENOMEM;
		if (!is_word(resource) || !json_is_array(list))
			return catalog_refuse(loader, "deferred goes from a resource to an array of operations",
				"/mcps/%s/deferred/%s", mcp->id.bytes, catalog_nameable(key));
		result = read_operations(loader, mcp, resource, list, &deferred[count++], drafts);
		if (result)
			return result;
	}
	qsort(deferred, count, sizeof(*deferred), compare_deferred);
	mcp->deferred = deferred;
	mcp->deferred_count = count;
	return 0;
}

static int compare_drafts(const void *a, const void *b)
{
	const struct draft *left = a;
	const struct draft *right = b;
	int order = str_compare(left->capability.name, right->capability.name);

	if (!order)
		order = (int)left->capability.class - (int)right->capability.class;
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

/* One capability, one class. Only what is text for the prompt may also be deferred: rule 3 of 1.5 stands before rule 4. */
static int settle(struct catalog_loader *loader, struct catalog_mcp *mcp, struct drafts *drafts)
{
	struct catalog_capability *capabilities = ARENA_ARRAY(loader->arena, drafts->count, struct catalog_capability);
	size_t count = 0;

	if (!capabilities)
		return -ENOMEM;
	if (drafts->count)
		qsort(drafts->items, drafts->count, sizeof(*drafts->items), compare_drafts);
	for (size_t i = 0; i < drafts->count; i++) {
		const struct draft *draft = &drafts->items[i];

		if (count == 0 || !str_equal(capabilities[count - 1].name, draft->capability.name)) {
			capabilities[count++] = draft->capability;
			continue;
		}
		if (capabilities[count - 1].class == CLASS_PLANNING_ONLY &&
			draft->capability.class == CLASS_DEFERRED_LIVE_MCP)
			continue;
		return catalog_refuse(loader, "this capability is listed twice", "/mcps/%s/%s%s%s/%zu", mcp->id.bytes,
			draft->section, draft->resource.bytes ? "/" : "",
			draft->resource.bytes ? draft->resource.bytes : "", draft->position);
	}
	mcp->capabilities = capabilities;
	mcp->capability_count = count;
	return 0;
}

static int compare_aliases(const void *a, const void *b)
{
	return str_compare(((const struct catalog_alias *)a)->from, ((const struct catalog_alias *)b)->from);
}

static int read_aliases(struct catalog_loader *loader, struct catalog_mcp *mcp, json_t *object)
{
	struct catalog_alias *aliases = ARENA_ARRAY(loader->arena, json_object_size(object), struct catalog_alias);
	size_t count = 0;
	const char *key;
	json_t *value;

	if (!aliases)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		struct str from = arena_str(loader->arena, (struct str){key, strlen(key)});
		struct str normalized = text_normalize(loader->arena, from);

		if (!from.bytes || !normalized.bytes)
			return -ENOMEM;
		if (!text_is_safe(from) || !str_equal(from, normalized) || catalog_find_capability(mcp, from))
			return catalog_refuse(loader, "an alias is a normalized spelling that is no capability itself",
				"/mcps/%s/aliases/%s", mcp->id.bytes, catalog_nameable(key));
		aliases[count].from = from;
		aliases[count].to = json_is_string(value) ? catalog_find_capability(mcp, string_of(value)) : NULL;
		if (!aliases[count].to)
			return catalog_refuse(loader, "the alias points at nothing", "/mcps/%s/aliases/%s",
				mcp->id.bytes, catalog_nameable(key));
		count++;
	}
	qsort(aliases, count, sizeof(*aliases), compare_aliases);
	mcp->aliases = aliases;
	mcp->alias_count = count;
	return 0;
}

static int read_remediation(struct catalog_loader *loader, struct catalog_mcp *mcp, json_t *object)
{
	static const char *const keys[] = {
		"missing", "unhealthy", "disabled", "auth_required", "configuration_required", "unknown", NULL};
	struct catalog_remediation *remediations;
	size_t count = 0;
	char pointer[160];
	const char *key;
	json_t *value;
	int result;

	if (!json_is_object(object))
		return catalog_refuse(
			loader, "an object from status to text is needed", "/mcps/%s/remediation", mcp->id.bytes);
	(void)snprintf(pointer, sizeof(pointer), "/mcps/%s/remediation", mcp->id.bytes);
	result = catalog_check_keys(loader, object, keys, pointer);
	if (result)
		return result;
	remediations = ARENA_ARRAY(loader->arena, json_object_size(object), struct catalog_remediation);
	if (!remediations)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		remediations[count].status = arena_str(loader->arena, (struct str){key, strlen(key)});
		result = read_text(loader, mcp->id, object, key, &remediations[count].text);
		if (result)
			return result;
		if (!remediations[count++].status.bytes)
			return -ENOMEM;
	}
	mcp->remediations = remediations;
	mcp->remediation_count = count;
	return 0;
}

static int read_runtime(struct catalog_loader *loader, struct catalog_mcp *mcp, const json_t *runtime)
{
	static const char *const keys[] = {"capabilities", "mode", "liveTools", "healthGated", NULL};
	char pointer[160];
	struct str mode;
	bool live = false;
	int result;

	if (!json_is_object(runtime))
		return catalog_refuse(loader, "an object is needed", "/mcps/%s/runtime", mcp->id.bytes);
	(void)snprintf(pointer, sizeof(pointer), "/mcps/%s/runtime", mcp->id.bytes);
	result = catalog_check_keys(loader, runtime, keys, pointer);
	if (!result)
		result = read_bool(loader, mcp->id, runtime, "/runtime", "liveTools", &live);
	if (!result)
		result = read_bool(loader, mcp->id, runtime, "/runtime", "healthGated", &mcp->health_gated);
	if (result)
		return result;
	if (live)
		return catalog_refuse(loader, "live tools are a later product boundary; false is needed",
			"/mcps/%s/runtime/liveTools", mcp->id.bytes);
	mode = string_of(json_object_get(runtime, "mode"));
	if (str_is(mode, "bounded_context_packet"))
		mcp->delivery = DELIVERY_BOUNDED_CONTEXT_PACKET;
	else if (str_is(mode, "external_service"))
		mcp->delivery = DELIVERY_PLANNING_CONTEXT_ONLY;
	else
		return catalog_refuse(loader, "the mode is bounded_context_packet or external_service",
			"/mcps/%s/runtime/mode", mcp->id.bytes);
	return 0;
}

static int read_root_resource(struct catalog_loader *loader, struct catalog_mcp *mcp, const json_t *value)
{
	if (json_is_null(value))
		return 0;
	if (!json_is_string(value) || !is_word(string_of(value)))
		return catalog_refuse(
			loader, "a resource's name or null is needed", "/mcps/%s/rootResource", mcp->id.bytes);
	mcp->root_resource = arena_str(loader->arena, string_of(value));
	return mcp->root_resource.bytes ? 0 : -ENOMEM;
}

/* How many capabilities an entry can bring at most. */
static size_t count_capabilities(const json_t *value, json_t *deferred)
{
	size_t count = json_array_size(json_object_get(value, "planningOnly")) +
		json_array_size(json_object_get(value, "safeReadSupplement")) +
		json_array_size(json_object_get(json_object_get(value, "runtime"), "capabilities"));
	const char *key;
	json_t *list;

	json_object_foreach(deferred, key, list) count += json_array_size(list);
	return count;
}

static int read_capabilities(struct catalog_loader *loader, struct catalog_mcp *mcp, const json_t *value)
{
	json_t *deferred = json_object_get(value, "deferred");
	struct drafts drafts = {0};
	int result;

	if (!json_is_object(deferred))
		return catalog_refuse(
			loader, "an object from resource to operations is needed", "/mcps/%s/deferred", mcp->id.bytes);
	drafts.items = ARENA_ARRAY(loader->arena, count_capabilities(value, deferred), struct draft);
	if (!drafts.items)
		return -ENOMEM;
	result = read_list(
		loader, mcp, json_object_get(value, "planningOnly"), "planningOnly", CLASS_PLANNING_ONLY, &drafts);
	if (!result)
		result = read_list(loader, mcp, json_object_get(json_object_get(value, "runtime"), "capabilities"),
			"runtime/capabilities", CLASS_BOUNDED_READ_ONLY, &drafts);
	if (!result)
		result = read_list(loader, mcp, json_object_get(value, "safeReadSupplement"), "safeReadSupplement",
			CLASS_BOUNDED_READ_ONLY, &drafts);
	if (!result)
		result = read_deferred(loader, mcp, deferred, &drafts);
	return result ? result : settle(loader, mcp, &drafts);
}

static int read_head(struct catalog_loader *loader, struct catalog_mcp *mcp, const json_t *value)
{
	int result = read_text(loader, mcp->id, value, "displayName", &mcp->display_name);

	if (!result)
		result = read_text(loader, mcp->id, value, "description", &mcp->description);
	if (!result)
		result = read_bool(loader, mcp->id, value, "", "recommended", &mcp->recommended);
	if (!result)
		result = read_bool(loader, mcp->id, value, "", "requiresAuth", &mcp->requires_auth);
	if (!result)
		result = read_remediation(loader, mcp, json_object_get(value, "remediation"));
	if (!result)
		result = read_root_resource(loader, mcp, json_object_get(value, "rootResource"));
	return result ? result : read_runtime(loader, mcp, json_object_get(value, "runtime"));
}

int catalog_load_mcp(struct catalog_loader *loader, struct str id, const json_t *value, struct catalog_mcp *ret_mcp)
{
	static const char *const keys[] = {"displayName", "description", "recommended", "requiresAuth", "remediation",
		"aliases", "planningOnly", "safeReadSupplement", "deferred", "rootResource", "runtime", NULL};
	struct catalog_mcp mcp = {.id = arena_str(loader->arena, id)};
	char pointer[128];
	json_t *aliases;
	int result;

	if (!mcp.id.bytes)
		return -ENOMEM;
	if (!json_is_object(value))
		return catalog_refuse(loader, "an entry is an object", "/mcps/%s", mcp.id.bytes);
	(void)snprintf(pointer, sizeof(pointer), "/mcps/%s", mcp.id.bytes);
	result = catalog_check_keys(loader, value, keys, pointer);
	if (!result)
		result = read_head(loader, &mcp, value);
	if (!result)
		result = read_capabilities(loader, &mcp, value);
	if (result)
		return result;
	aliases = json_object_get(value, "aliases");
	if (!json_is_object(aliases))
		return catalog_refuse(
			loader, "an object from spelling to capability is needed", "/mcps/%s/aliases", mcp.id.bytes);
	result = read_aliases(loader, &mcp, aliases);
	if (!result)
		*ret_mcp = mcp;
	return result;
}
