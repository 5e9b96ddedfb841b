#include "policy/package.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/decision_id.h"
#include "policy/json_out.h"
#include "policy/package_parse.h"
#include "policy/redact.h"

enum { PACKAGE_MEMORY_LIMIT = 64 * 1024 * 1024 };

void package_free(struct package *package)
{
	if (!package)
		return;
	arena_release(&package->arena);
	free(package);
}

void package_drop(struct package **package)
{
	package_free(*package);
	*package = NULL;
}

const char *requirement_level_name(const struct requirement *requirement)
{
	return requirement->is_optional ? "optional" : "required";
}

const char *fallback_action_name(enum fallback_action action)
{
	static const char *const names[] = {
		[FALLBACK_BLOCK] = "block",
		[FALLBACK_ASK_USER] = "ask_user",
		[FALLBACK_CONTINUE_WITHOUT_MCP] = "continue_without_mcp",
	};

	return names[action];
}

const char *assignment_type_name(enum assignment_type type)
{
	static const char *const names[] = {
		[ASSIGNMENT_AGENT] = "agent",
		[ASSIGNMENT_MULTIPLE_AGENTS] = "multiple_agents",
		[ASSIGNMENT_WORKFORCE] = "workforce",
		[ASSIGNMENT_ARCHITECT_ONLY] = "architect_only",
		[ASSIGNMENT_REVIEWER_ONLY] = "reviewer_only",
	};

	return names[type];
}

bool requirement_needs_grant(const struct requirement *requirement)
{
	return requirement->has_bounded && requirement->mcp &&
		requirement->mcp->delivery == DELIVERY_BOUNDED_CONTEXT_PACKET;
}

bool requirement_repeats_capability(const struct requirement *requirement, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (str_equal(requirement->capabilities[i].canonical, requirement->capabilities[at].canonical))
			return true;
	}
	return false;
}

/* The parts of a document in whichever spelling it has (1.2). NULL: not there. */
struct parts {
	json_t *entries; /* owned: an array, policies before envelopes */
	const json_t *subtasks;
	const char *fault; /* a literal; the whole package is blocked for it */
};

static void parts_release(struct parts *parts)
{
	json_decref(parts->entries);
}

/* The last two of the older spelling may sit under `metadata`; the top level wins. */
static const json_t *find_part(const json_t *document, const char *key)
{
	const json_t *part = json_object_get(document, key);

	return part ? part : json_object_get(json_object_get(document, "metadata"), key);
}

static bool is_wrong(const json_t *value, json_type type)
{
	return value && json_typeof(value) != type;
}

static int find_parts(const json_t *document, const struct package_options *options, struct parts *parts)
{
	const json_t *entries = json_object_get(document, "entries");
	const json_t *policies = json_object_get(document, "mcpRequirements");
	const json_t *envelopes = find_part(document, "mcpGrants");

	parts->subtasks = json_object_get(document, "subtasks");
	if (!parts->subtasks)
		parts->subtasks = find_part(document, "mcpAwareSubtasks");
	if (!json_is_object(document))
		parts->fault = "the package document is not an object";
	else if (is_wrong(entries, JSON_ARRAY) || is_wrong(policies, JSON_ARRAY) || is_wrong(envelopes, JSON_ARRAY))
		parts->fault = "the requirements are not an array";
	else if (is_wrong(parts->subtasks, JSON_ARRAY))
		parts->fault = "the subtasks are not an array";
	else if (options->believes_envelopes && is_wrong(json_object_get(document, "health"), JSON_OBJECT))
		parts->fault = "health is not an object";
	else if (options->believes_envelopes && is_wrong(json_object_get(document, "grants"), JSON_OBJECT))
		parts->fault = "grants is not an object";
	else if (options->believes_envelopes && is_wrong(json_object_get(document, "prompt"), JSON_OBJECT))
		parts->fault = "prompt is not an object";
	parts->entries = json_array();
	if (!parts->entries)
		return -ENOMEM;
	if (parts->fault)
		return 0;
	if (entries)
		return json_array_extend(parts->entries, (json_t *)(uintptr_t)entries) ? -ENOMEM : 0;
	if (policies && json_array_extend(parts->entries, (json_t *)(uintptr_t)policies))
		return -ENOMEM;
	if (envelopes && json_array_extend(parts->entries, (json_t *)(uintptr_t)envelopes))
		return -ENOMEM;
	return 0;
}

static bool has_long_list(const json_t *object, const char *const *keys)
{
	for (size_t i = 0; keys[i]; i++) {
		if (json_array_size(json_object_get(object, keys[i])) > PACKAGE_ITEM_LIMIT)
			return true;
	}
	return false;
}

static const char *find_excess(const struct parts *parts)
{
	static const char *const entry_lists[] = {"permissions", "capabilities", "requiredCapabilities",
		"mcpCapabilities", "prohibitedCapabilities", "evidenceRefs", "capabilityClasses", NULL};
	static const char *const subtask_lists[] = {"mcpCapabilities", "capabilityBindings", NULL};

	if (json_array_size(parts->entries) > PACKAGE_ENTRY_LIMIT)
		return "the package has more than 80 requirements";
	if (json_array_size(parts->subtasks) > PACKAGE_SUBTASK_LIMIT)
		return "the package has more than 40 subtasks";
	for (size_t i = 0; i < json_array_size(parts->entries); i++) {
		if (has_long_list(json_array_get(parts->entries, i), entry_lists))
			return "a list of a requirement has more than 30 items";
	}
	for (size_t i = 0; i < json_array_size(parts->subtasks); i++) {
		if (has_long_list(json_array_get(parts->subtasks, i), subtask_lists))
			return "a list of a subtask has more than 30 items";
	}
	return NULL;
}

static int compile_parts(struct package_compiler *compiler, const struct parts *parts)
{
	size_t count = json_array_size(parts->entries);
	struct entry *entries = ARENA_ARRAY(compiler->arena, count, struct entry);
	int result;

	compiler->prohibited = ARENA_ARRAY(compiler->arena, compiler->catalog->capability_count, bool);
	if (!entries || !compiler->prohibited)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		result = package_read_entry(compiler, json_array_get(parts->entries, i), i, &entries[i]);
		if (result)
			return result;
	}
	result = package_join(compiler, entries, count);
	if (!result)
		result = package_read_subtasks(compiler, parts->subtasks);
	return result ? result : package_render(compiler);
}

static int set_digest(struct package *package, const json_t *document)
{
	char digest[DIGEST_TEXT_SIZE];
	struct json_out out;
	struct buf buf;
	int result;

	buf_init(&buf, PACKAGE_MEMORY_LIMIT);
	json_out_init(&out, &buf);
	json_out_canonical(&out, document);
	result = buf_error(&buf);
	if (!result)
		digest_text(buf_str(&buf), digest);
	buf_release(&buf);
	if (result)
		return result;
	package->digest = arena_str(&package->arena, (struct str){digest, DIGEST_TEXT_SIZE - 1});
	return package->digest.bytes ? 0 : -ENOMEM;
}

static int compile(struct package_compiler *compiler, const json_t *document)
{
	__attribute__((cleanup(parts_release))) struct parts parts = {0};
	struct package *package = compiler->package;
	struct str label = package_string(json_object_get(document, "label"));
	int result = set_digest(package, document);

	if (!result)
		result = redact_copy(compiler->arena, label, REDACT_LABEL, &package->label);
	if (!result)
		result = find_parts(document, compiler->options, &parts);
	if (result)
		return result;
	package->whole_fault = parts.fault ? parts.fault : find_excess(&parts);
	return package->whole_fault ? 0 : compile_parts(compiler, &parts);
}

int package_new(const struct catalog *catalog, const json_t *document, const struct package_options *options,
	struct package **ret_package)
{
	CLEANUP(package_drop) struct package *package = calloc(1, sizeof(*package));
	struct package_compiler compiler = {.package = package, .catalog = catalog, .options = options};
	int result;

	if (!package)
		return -ENOMEM;
	arena_init(&package->arena, PACKAGE_MEMORY_LIMIT);
	compiler.arena = &package->arena;
	package->catalog = catalog;
	result = compile(&compiler, document);
	if (result)
		return result;
	package->bytes = sizeof(*package) + package->arena.total;
	*ret_package = TAKE(package);
	return 0;
}
