#include "policy/trace_source.h"

#include <stdio.h>

#include "policy/package_parse.h"
#include "policy/text.h"
#include "policy/trace.h"

static struct trace_place place_at(const json_t *list, size_t position, const char *pointer)
{
	struct trace_place place = {.value = json_array_get(list, position)};

	if (place.value)
		(void)snprintf(place.pointer, sizeof(place.pointer), "%s/%zu", pointer, position);
	return place;
}

/* A part of the older spelling: at the top level or under `metadata`. */
static struct trace_place place_in_part(
	const json_t *document, const char *key, size_t position, const char *top, const char *beneath)
{
	const json_t *part = json_object_get(document, key);

	if (part)
		return place_at(part, position, top);
	return place_at(json_object_get(json_object_get(document, "metadata"), key), position, beneath);
}

struct trace_place trace_source_entry(const json_t *document, size_t position)
{
	const json_t *entries = json_object_get(document, "entries");
	const json_t *policies = json_object_get(document, "mcpRequirements");
	size_t count = json_array_size(policies);

	if (entries)
		return place_at(entries, position, "/entries");
	if (position < count)
		return place_at(policies, position, "/mcpRequirements");
	return place_in_part(document, "mcpGrants", position - count, "/mcpGrants", "/metadata/mcpGrants");
}

struct trace_place trace_source_subtask(const json_t *document, size_t position)
{
	const json_t *subtasks = json_object_get(document, "subtasks");

	if (subtasks)
		return place_at(subtasks, position, "/subtasks");
	return place_in_part(document, "mcpAwareSubtasks", position, "/mcpAwareSubtasks", "/metadata/mcpAwareSubtasks");
}

static struct trace_place place_in(const struct trace_place *outer, const char *field, size_t item)
{
	struct trace_place place = {.value = json_array_get(json_object_get(outer->value, field), item)};

	if (place.value)
		(void)snprintf(place.pointer, sizeof(place.pointer), "%.60s/%s/%zu", outer->pointer, field, item);
	return place;
}

static bool is_written(struct arena *arena, const json_t *item, const struct capability *capability)
{
	struct str text = package_string(item);
	struct str normalized;

	if (!text_is_safe(text))
		return false;
	normalized = text_normalize(arena, text);
	return normalized.bytes && str_equal(normalized, capability->requested);
}

struct trace_place trace_source_capability(
	struct arena *arena, const struct trace_place *entry, const struct capability *capability)
{
	static const char *const fields[] = {"permissions", "capabilities", "requiredCapabilities", "mcpCapabilities"};

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
		const json_t *list = json_object_get(entry->value, fields[f]);

		for (size_t i = 0; i < json_array_size(list); i++) {
			if (is_written(arena, json_array_get(list, i), capability))
				return place_in(entry, fields[f], i);
		}
	}
	return (struct trace_place){0};
}

struct trace_place trace_source_declared(const struct trace_place *subtask, size_t item)
{
	return place_in(subtask, "mcpCapabilities", item);
}

/* ---- prohibitions */

static const struct requirement *find_by_entry(const struct package *package, size_t position)
{
	for (size_t i = 0; i < package->requirement_count; i++) {
		if (package->requirements[i].entry == position)
			return &package->requirements[i];
	}
	return NULL;
}

/* Of a policy whose row shows nothing of it: as it was read (1.7). */
static const struct catalog_mcp *find_mcp(struct arena *arena, const struct catalog *catalog, const json_t *policy)
{
	struct str text = package_string(json_object_get(policy, "mcpId"));

	if (!text_is_safe(text))
		return NULL;
	if (!text_is_identity(text, TEXT_NAME_LIMIT))
		text = text_fold(arena, text, TEXT_NAME_LIMIT);
	return text.bytes ? catalog_find_mcp(catalog, text) : NULL;
}

static void read_policy(struct arena *arena, const struct package *package, const struct trace_place *place,
	size_t position, struct str *keys)
{
	const json_t *list = json_object_get(place->value, "prohibitedCapabilities");
	const struct requirement *requirement = find_by_entry(package, position);
	const struct catalog_mcp *mcp =
		requirement ? requirement->mcp : find_mcp(arena, package->catalog, place->value);
	struct str key =
		requirement ? requirement->key : package_string(json_object_get(place->value, "requirementKey"));

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str text = package_string(json_array_get(list, i));
		struct capability capability;

		if (!text_is_safe(text) || capability_read(arena, package->catalog, mcp, text, &capability))
			continue;
		if (capability.known && !keys[capability.known->index].bytes)
			keys[capability.known->index] = key;
	}
}

const struct str *trace_prohibitions(struct arena *arena, const struct package *package, const json_t *document)
{
	struct str *keys = ARENA_ARRAY(arena, package->catalog->capability_count, struct str);

	for (size_t i = 0; keys; i++) {
		struct trace_place place = trace_source_entry(document, i);

		if (!place.value)
			break;
		if (json_is_object(place.value) && !json_object_get(place.value, "decisionId"))
			read_policy(arena, package, &place, i, keys);
	}
	return arena->failed ? NULL : keys;
}
