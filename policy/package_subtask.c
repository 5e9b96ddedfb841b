#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/package_parse.h"
#include "policy/text.h"

/* One capability that a subtask declares, and what binds it. */
struct declared {
	size_t item; /* where it stands among the declared */
	struct str normalized;
	struct capability capability;    /* under its owner */
	const struct catalog_mcp *owner; /* NULL for none */
	size_t bindings;                 /* usable ones */
	struct str bound_key;            /* the explicit key, when bindings == 1 */
};

struct subtask {
	size_t position;
	struct str id;
	struct str agent;
	struct declared *declared;
	size_t declared_count;
	const char *fault; /* the first one; NULL: sound */
	bool is_nameless;  /* bad or repeated id, or a bad agent: none of its capabilities is decided */
};

/* That a requirement asks for a capability, in whatever spelling. */
struct asked {
	struct str canonical;
	const struct requirement *requirement;
};

struct subtask_reader {
	struct package_compiler *compiler;
	struct asked *asked; /* by canonical capability, then requirement; each pair once */
	size_t asked_count;
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

static int declare(struct subtask_reader *reader, struct subtask *subtask, struct str text, size_t item)
{
	struct package_compiler *compiler = reader->compiler;
	struct declared declared = {.item = item, .normalized = text_normalize(compiler->arena, text)};
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
		result = declare(reader, subtask, text, i);
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

static int compare_asked(const void *a, const void *b)
{
	const struct asked *left = a;
	const struct asked *right = b;
	int order = str_compare(left->canonical, right->canonical);

	return order ? order : (left->requirement > right->requirement) - (left->requirement < right->requirement);
}

/* Subtasks look up 1200 capabilities among the 9600 of a package at its limits: by a walk over all of them, a small document
 * would cost many times what others of its size do (chapter 6.1).
 */
static int index_asked(struct subtask_reader *reader)
{
	const struct package *package = reader->compiler->package;
	size_t most = 0;
	size_t count = 0;

	for (size_t i = 0; i < package->requirement_count; i++)
		most += package->requirements[i].capability_count;
	reader->asked = calloc(most ? most : 1, sizeof(*reader->asked));
	if (!reader->asked)
		return -ENOMEM;
	for (size_t i = 0; i < package->requirement_count; i++) {
		const struct requirement *requirement = &package->requirements[i];

		for (size_t j = 0; j < requirement->capability_count; j++)
			reader->asked[count++] = (struct asked){requirement->capabilities[j].canonical, requirement};
	}
	if (count)
		qsort(reader->asked, count, sizeof(*reader->asked), compare_asked);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || compare_asked(&reader->asked[i], &reader->asked[i - 1]) != 0)
			reader->asked[reader->asked_count++] = reader->asked[i];
	}
	return 0;
}

/* The first that asks for `canonical`, or asked_count. */
static size_t find_asked(const struct subtask_reader *reader, struct str canonical)
{
	size_t low = 0;
	size_t high = reader->asked_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_compare(reader->asked[middle].canonical, canonical) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* 1.9: none if bound twice; the explicit one if that is a candidate, else none; without one the only candidate, else none. */
static const struct requirement *find_bound(
	const struct subtask_reader *reader, const struct subtask *subtask, const struct declared *declared)
{
	struct str canonical = declared->capability.canonical;
	const struct requirement *bound = NULL;

	if (declared->bindings > 1 || !declared->owner)
		return NULL;
	for (size_t i = find_asked(reader, canonical); i < reader->asked_count; i++) {
		const struct requirement *requirement = reader->asked[i].requirement;

		if (!str_equal(reader->asked[i].canonical, canonical))
			break;
		if (declared->bindings == 1 && !str_equal(requirement->key, declared->bound_key))
			continue;
		if (!str_equal(requirement->agent, subtask->agent) ||
			!str_equal(requirement->mcp_id, declared->owner->id))
			continue;
		if (bound)
			return NULL;
		bound = requirement;
	}
	return bound;
}

static void add_declared_row(
	struct subtask_reader *reader, const struct subtask *subtask, const struct declared *declared)
{
	const struct requirement *bound = find_bound(reader, subtask, declared);
	const struct catalog_capability *known = declared->capability.known;

	reader->rows[reader->row_count] = (struct subtask_row){
		.position = reader->row_count,
		.subtask = subtask->position,
		.item = declared->item,
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
	reader->row_count++;
}

static void add_malformed_row(struct subtask_reader *reader, const struct subtask *subtask)
{
	reader->rows[reader->row_count] = (struct subtask_row){
		.position = reader->row_count,
		.subtask = subtask->position,
		.item = PACKAGE_NOWHERE,
		.subtask_id = subtask->id,
		.agent = subtask->agent,
		.requirement_key = STR(""),
		.mcp_id = STR(""),
		.capability = STR("invalid.subtask.mcp-declaration"),
		.is_malformed = true,
		.fault = subtask->fault,
	};
	reader->row_count++;
}

static int read_subtask(struct subtask_reader *reader, const json_t *value, size_t position)
{
	struct subtask subtask = {.position = position, .agent = STR("unknown")};
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
	if (!order)
		order = str_compare(left->requirement_key, right->requirement_key);
	return order ? order : (left->position > right->position) - (left->position < right->position);
}

static int read_all(struct subtask_reader *reader, const json_t *subtasks)
{
	int result = index_asked(reader);

	for (size_t i = 0; i < json_array_size(subtasks) && !result; i++)
		result = read_subtask(reader, json_array_get(subtasks, i), i);
	free(reader->asked);
	return result;
}

int package_read_subtasks(struct package_compiler *compiler, const json_t *subtasks)
{
	size_t count = json_array_size(subtasks);
	struct subtask_reader reader = {.compiler = compiler};
	size_t most = 0;
	int result;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		most += 1 + json_array_size(json_object_get(json_array_get(subtasks, i), "mcpCapabilities"));
	reader.rows = ARENA_ARRAY(compiler->arena, most, struct subtask_row);
	reader.seen = ARENA_ARRAY(compiler->arena, count, struct str);
	if (!reader.rows || !reader.seen)
		return -ENOMEM;
	result = read_all(&reader, subtasks);
	if (result)
		return result;
	if (reader.row_count)
		qsort(reader.rows, reader.row_count, sizeof(*reader.rows), compare_rows);
	compiler->rows = reader.rows;
	compiler->package->subtasks = reader.rows;
	compiler->package->subtask_count = reader.row_count;
	return 0;
}
