#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/package_parse.h"
#include "policy/text.h"

/* One capability that a subtask declares, and what binds it. */
struct declared {
	struct str normalized;
	struct capability capability;    /* under its owner */
	const struct catalog_mcp *owner; /* NULL for none */
	size_t bindings;                 /* usable ones */
	struct str bound_key;            /* the explicit key, when bindings == 1 */
};

struct subtask {
	struct str id;
	struct str agent;
	struct declared *declared;
	size_t declared_count;
	const char *fault; /* the first one; NULL: sound */
	bool is_nameless;  /* bad or repeated id, or a bad agent: none of its capabilities is decided */
};

struct subtask_reader {
	struct package_compiler *compiler;
	struct str *seen; /* valid ids so far */
	size_t seen_count;
	struct subtask_row *rows;
	size_t row_count;
};

static void mark(struct subtask *subtask, const char *fault)
{
	if (!subtask->fault)
		subtask->fault = fault;
}

static struct declared *find_declared(struct subtask *subtask, struct str normalized)
{
	for (size_t i = 0; i < subtask->declared_count; i++) {
		if (str_equal(subtask->declared[i].normalized, normalized))
			return &subtask->declared[i];
	}
	return NULL;
}

static int declare(struct subtask_reader *reader, struct subtask *subtask, struct str text)
{
	struct package_compiler *compiler = reader->compiler;
	struct declared declared = {.normalized = text_normalize(compiler->arena, text)};
	int result;

	if (!declared.normalized.bytes)
		return -ENOMEM;
	if (find_declared(subtask, declared.normalized)) {
		mark(subtask, "a capability is declared twice");
		return 0;
	}
	declared.owner = capability_owner(compiler->catalog, declared.normalized);
	result = capability_read(compiler->arena, compiler->catalog, declared.owner, text, &declared.capability);
	if (!result)
		subtask->declared[subtask->declared_count++] = declared;
	return result;
}

static int read_declared(struct subtask_reader *reader, const json_t *list, struct subtask *subtask)
{
	if (json_array_size(list) == 0)
		mark(subtask, "mcpCapabilities must be an array with at least one capability");
	subtask->declared = ARENA_ARRAY(reader->compiler->arena, json_array_size(list), struct declared);
	if (!subtask->declared)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str text = package_string(json_array_get(list, i));
		int result;

		if (!text_is_safe(text)) {
			mark(subtask, "a declared capability is not safe text");
			continue;
		}
		result = declare(reader, subtask, text);
		if (result)
			return result;
	}
	return 0;
}

static int read_binding(struct subtask_reader *reader, const json_t *binding, struct subtask *subtask)
{
	struct str capability = package_string(json_object_get(binding, "capability"));
	struct str key = package_string(json_object_get(binding, "requirementKey"));
	struct declared *declared = NULL;
	struct str normalized;

	if (text_is_safe(capability)) {
		normalized = text_normalize(reader->compiler->arena, capability);
		if (!normalized.bytes)
			return -ENOMEM;
		declared = find_declared(subtask, normalized);
	}
	if (!declared || !text_is_key(key)) {
		mark(subtask, "a binding must name a declared capability and a requirement key");
		return 0;
	}
	declared->bindings++;
	declared->bound_key = arena_str(reader->compiler->arena, key);
	return declared->bound_key.bytes ? 0 : -ENOMEM;
}

static int read_bindings(struct subtask_reader *reader, const json_t *list, struct subtask *subtask)
{
	if (!list)
		return 0;
	if (!json_is_array(list)) {
		mark(subtask, "capabilityBindings must be an array");
		return 0;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		int result = read_binding(reader, json_array_get(list, i), subtask);

		if (result)
			return result;
	}
	for (size_t i = 0; i < subtask->declared_count; i++) {
		if (subtask->declared[i].bindings != 1)
			mark(subtask, "with bindings given, each declared capability is bound exactly once");
	}
	return 0;
}

static int read_identity(struct subtask_reader *reader, const json_t *object, struct subtask *subtask)
{
	struct str id = package_string(json_object_get(object, "id"));
	bool id_is_valid = text_is_subtask_id(id);
	int error = 0;

	(void)package_read_identity(
		reader->compiler, json_object_get(object, "id"), TEXT_ID_LIMIT, &subtask->id, &error);
	if (error)
		return error;
	if (!subtask->id.bytes)
		subtask->id = STR("unknown-subtask");
	if (!id_is_valid) {
		mark(subtask, "the id must be an identity");
		subtask->is_nameless = true;
	}
	for (size_t i = 0; id_is_valid && i < reader->seen_count; i++) {
		if (str_equal(reader->seen[i], subtask->id)) {
			mark(subtask, "the id is used by an earlier subtask");
			subtask->is_nameless = true;
		}
	}
	if (id_is_valid)
		reader->seen[reader->seen_count++] = subtask->id;
	error = package_read_shown_agent(reader->compiler, object, &subtask->agent);
	if (!text_is_agent(package_string(json_object_get(object, "agent")))) {
		mark(subtask, "the agent must be an identity");
		subtask->is_nameless = true;
	}
	return error;
}

/* Whether a requirement asks for a declared capability, in any spelling. */
static bool asks_for(const struct requirement *requirement, const struct declared *declared)
{
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (declared->capability.known ? capability->known == declared->capability.known
					       : str_equal(capability->canonical, declared->capability.canonical))
			return true;
	}
	return false;
}

static bool is_candidate(
	const struct requirement *requirement, const struct subtask *subtask, const struct declared *declared)
{
	return declared->owner && str_equal(requirement->agent, subtask->agent) &&
		str_equal(requirement->mcp_id, declared->owner->id) && asks_for(requirement, declared);
}

/* 1.9: none if bound twice; the explicit one if that is a candidate, else none; without one the only candidate, else none. */
static const struct requirement *find_bound(
	const struct package *package, const struct subtask *subtask, const struct declared *declared)
{
	const struct requirement *bound = NULL;
	size_t candidates = 0;

	if (declared->bindings > 1)
		return NULL;
	for (size_t i = 0; i < package->requirement_count; i++) {
		const struct requirement *requirement = &package->requirements[i];

		if (declared->bindings == 1 && !str_equal(requirement->key, declared->bound_key))
			continue;
		if (!is_candidate(requirement, subtask, declared))
			continue;
		bound = requirement;
		candidates++;
	}
	return candidates == 1 ? bound : NULL;
}

static void add_declared_row(
	struct subtask_reader *reader, const struct subtask *subtask, const struct declared *declared)
{
	const struct requirement *bound = find_bound(reader->compiler->package, subtask, declared);
	const struct catalog_capability *known = declared->capability.known;

	reader->rows[reader->row_count++] = (struct subtask_row){
		.subtask_id = subtask->id,
		.agent = subtask->agent,
		.requirement_key = bound ? bound->key : STR(""),
		.mcp_id = declared->owner ? declared->owner->id : STR(""),
		.capability = declared->capability.canonical,
		.class = declared->capability.class,
		.delivery = capability_delivery(declared->owner),
		.bound = bound,
		.is_prohibited = known && reader->compiler->prohibited[known->index],
	};
}

static void add_malformed_row(struct subtask_reader *reader, const struct subtask *subtask)
{
	reader->rows[reader->row_count++] = (struct subtask_row){
		.subtask_id = subtask->id,
		.agent = subtask->agent,
		.requirement_key = STR(""),
		.mcp_id = STR(""),
		.capability = STR("invalid.subtask.mcp-declaration"),
		.is_malformed = true,
		.fault = subtask->fault,
	};
}

static int read_subtask(struct subtask_reader *reader, const json_t *value, size_t position)
{
	struct subtask subtask = {.agent = STR("unknown")};
	int result;

	if (!json_is_object(value)) {
		subtask.id = arena_printf(reader->compiler->arena, "invalid-subtask-%zu", position);
		subtask.fault = "a subtask must be an object";
		add_malformed_row(reader, &subtask);
		return subtask.id.bytes ? 0 : -ENOMEM;
	}
	result = read_identity(reader, value, &subtask);
	if (!result)
		result = read_declared(reader, json_object_get(value, "mcpCapabilities"), &subtask);
	if (!result)
		result = read_bindings(reader, json_object_get(value, "capabilityBindings"), &subtask);
	if (result)
		return result;
	if (!subtask.is_nameless) {
		for (size_t i = 0; i < subtask.declared_count; i++)
			add_declared_row(reader, &subtask, &subtask.declared[i]);
	}
	if (subtask.fault)
		add_malformed_row(reader, &subtask);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct subtask_row *left = a;
	const struct subtask_row *right = b;
	int order = str_compare(left->subtask_id, right->subtask_id);

	if (!order)
		order = str_compare(left->agent, right->agent);
	if (!order)
		order = str_compare(left->capability, right->capability);
	return order ? order : str_compare(left->requirement_key, right->requirement_key);
}

int package_read_subtasks(struct package_compiler *compiler, const json_t *subtasks)
{
	size_t count = json_array_size(subtasks);
	struct subtask_reader reader = {.compiler = compiler};
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		most += 1 + json_array_size(json_object_get(json_array_get(subtasks, i), "mcpCapabilities"));
	reader.rows = ARENA_ARRAY(compiler->arena, most, struct subtask_row);
	reader.seen = ARENA_ARRAY(compiler->arena, count, struct str);
	if (!reader.rows || !reader.seen)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int result = read_subtask(&reader, json_array_get(subtasks, i), i);

		if (result)
			return result;
	}
	if (reader.row_count)
		qsort(reader.rows, reader.row_count, sizeof(*reader.rows), compare_rows);
	compiler->rows = reader.rows;
	compiler->package->subtasks = reader.rows;
	compiler->package->subtask_count = reader.row_count;
	return 0;
}
