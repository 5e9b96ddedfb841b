#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/package_parse.h"
#include "policy/redact.h"
#include "policy/text.h"

static const char *const capability_fields[] = {
	"permissions", "capabilities", "requiredCapabilities", "mcpCapabilities"};

struct str package_string(const json_t *value)
{
	if (!json_is_string(value))
		return (struct str){0};
	return (struct str){json_string_value(value), json_string_length(value)};
}

/* Keeps the first fault: it is the one that is told. */
static void mark(struct entry *entry, enum requirement_fault fault)
{
	if (entry->fault == REQUIREMENT_SOUND)
		entry->fault = fault;
}

bool package_read_identity(
	struct package_compiler *compiler, const json_t *value, size_t limit, struct str *ret_shown, int *ret_error)
{
	struct str text = package_string(value);
	bool is_valid = text_is_identity(text, limit);

	*ret_shown = (struct str){0};
	if (!is_valid && !text_is_safe(text))
		return false;
	*ret_shown = is_valid ? arena_str(compiler->arena, text) : text_fold(compiler->arena, text, limit);
	if (!ret_shown->bytes)
		*ret_error = -ENOMEM;
	return is_valid;
}

static const json_t *single_target_agent(const json_t *object)
{
	const json_t *agents = json_object_get(json_object_get(object, "assignment"), "targetAgents");

	return json_array_size(agents) == 1 ? json_array_get(agents, 0) : NULL;
}

int package_read_shown_agent(struct package_compiler *compiler, const json_t *object, struct str *ret_agent)
{
	const json_t *candidates[] = {
		json_object_get(object, "agent"), json_object_get(object, "assignedRole"), single_target_agent(object)};

	for (size_t i = 0; i < 3; i++) {
		int error = 0;

		(void)package_read_identity(compiler, candidates[i], TEXT_NAME_LIMIT, ret_agent, &error);
		if (error)
			return error;
		if (ret_agent->bytes)
			return 0;
	}
	*ret_agent = STR("unknown");
	return 0;
}

static bool is_agent(const json_t *value)
{
	return text_is_agent(package_string(value));
}

/* 1.7's agent row. */
static bool agent_is_valid(const json_t *object, const struct entry *entry)
{
	const json_t *agent = json_object_get(object, "agent");
	const json_t *role = json_object_get(object, "assignedRole");

	if (entry->is_envelope)
		return !entry->is_keyed || is_agent(agent);
	if (agent && role)
		return is_agent(agent) && is_agent(role) && str_equal(package_string(agent), package_string(role));
	if (agent || entry->is_keyed)
		return is_agent(agent);
	return is_agent(role ? role : single_target_agent(object));
}

/* What the texts of an entry's union hash to, so that nearly all pairs of 120 different ones are told apart without a look at
 * their bytes.
 */
struct union_hashes {
	uint32_t items[REQUIREMENT_UNION_LIMIT];
};

static uint32_t hash(struct str text)
{
	uint32_t value = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < text.len; i++)
		value = (value ^ (unsigned char)text.bytes[i]) * 16777619u;
	return value;
}

/* The union in the order of the fields; unsafe items are left out, repeated ones dropped by their normalized text. */
static int add_capability(
	struct package_compiler *compiler, struct entry *entry, struct str text, struct union_hashes *hashes)
{
	struct capability *capability = &entry->capabilities[entry->capability_count];
	int result = capability_read(compiler->arena, compiler->catalog, entry->mcp, text, capability);
	uint32_t value;

	if (result)
		return result;
	value = hash(capability->requested);
	for (size_t i = 0; i < entry->capability_count; i++) {
		if (hashes->items[i] == value && str_equal(entry->capabilities[i].requested, capability->requested))
			return 0;
	}
	CHECK(entry->capability_count < REQUIREMENT_UNION_LIMIT);
	hashes->items[entry->capability_count++] = value;
	return 0;
}

static int read_capability_field(
	struct package_compiler *compiler, const json_t *list, struct entry *entry, struct union_hashes *hashes)
{
	if (!list)
		return 0;
	if (!json_is_array(list) && !entry->is_envelope)
		mark(entry, REQUIREMENT_BAD_CAPABILITIES);
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str text = package_string(json_array_get(list, i));
		int result;

		if (!text_is_safe(text)) {
			if (!entry->is_envelope)
				mark(entry, REQUIREMENT_BAD_CAPABILITIES);
			continue;
		}
		result = add_capability(compiler, entry, text, hashes);
		if (result)
			return result;
	}
	return 0;
}

static int read_capabilities(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	struct union_hashes hashes; /* filled as far as there are capabilities */
	size_t most = 0;

	for (size_t i = 0; i < 4; i++)
		most += json_array_size(json_object_get(object, capability_fields[i]));
	entry->capabilities = ARENA_ARRAY(compiler->arena, most, struct capability);
	if (!entry->capabilities)
		return -ENOMEM;
	for (size_t i = 0; i < 4; i++) {
		int result =
			read_capability_field(compiler, json_object_get(object, capability_fields[i]), entry, &hashes);

		if (result)
			return result;
	}
	return 0;
}

/* Valid prohibitions count whatever else is wrong with the policy (1.7). */
static int read_prohibitions(struct package_compiler *compiler, const json_t *list, struct entry *entry)
{
	if (!list)
		return 0;
	if (!json_is_array(list))
		mark(entry, REQUIREMENT_BAD_PROHIBITION);
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str text = package_string(json_array_get(list, i));
		struct capability capability = {0};
		int result = 0;

		if (text_is_safe(text))
			result = capability_read(compiler->arena, compiler->catalog, entry->mcp, text, &capability);
		if (result)
			return result;
		if (capability.known)
			compiler->prohibited[capability.known->index] = true;
		else
			mark(entry, REQUIREMENT_BAD_PROHIBITION);
	}
	return 0;
}

static int read_mcp_id(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	const json_t *value = json_object_get(object, "mcpId");
	int error = 0;

	(void)package_read_identity(compiler, value, TEXT_NAME_LIMIT, &entry->mcp_id, &error);
	if (error)
		return error;
	if (!entry->mcp_id.bytes)
		entry->mcp_id = STR("");
	entry->mcp = catalog_find_mcp(compiler->catalog, entry->mcp_id);
	if (!text_is_mcp_id(package_string(value)) && !entry->is_envelope)
		mark(entry, REQUIREMENT_BAD_MCP_ID);
	return 0;
}

static void read_level(const json_t *object, struct entry *entry)
{
	struct str level = package_string(json_object_get(object, "requirement"));

	entry->is_optional = str_is(level, "optional");
	if (!entry->is_optional && !str_is(level, "required") && !entry->is_envelope)
		mark(entry, REQUIREMENT_BAD_LEVEL);
}

static int read_fallback(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	const json_t *fallback = json_object_get(object, "fallback");
	struct str action = package_string(json_object_get(fallback, "action"));
	struct str message = package_string(json_object_get(fallback, "message"));
	int result = 0;

	entry->fallback_message = STR("");
	entry->fallback_is_valid = true;
	if (str_is(action, "ask_user"))
		entry->fallback = FALLBACK_ASK_USER;
	else if (str_is(action, "continue_without_mcp"))
		entry->fallback = FALLBACK_CONTINUE_WITHOUT_MCP;
	else
		entry->fallback_is_valid = str_is(action, "block");
	if (!entry->fallback_is_valid && !entry->is_envelope)
		mark(entry, REQUIREMENT_BAD_FALLBACK);
	if (entry->fallback_is_valid && message.bytes)
		result = redact_copy(compiler->arena, message, REDACT_FIELD, &entry->fallback_message);
	return result;
}

static bool find_assignment_type(struct str name, enum assignment_type *ret_type)
{
	for (int type = ASSIGNMENT_AGENT; type <= ASSIGNMENT_REVIEWER_ONLY; type++) {
		if (str_is(name, assignment_type_name((enum assignment_type)type))) {
			*ret_type = (enum assignment_type)type;
			return true;
		}
	}
	return false;
}

static int read_assignment(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	const json_t *value = json_object_get(object, "assignment");
	const json_t *target = json_object_get(value, "targetId");
	bool type_is_known =
		find_assignment_type(package_string(json_object_get(value, "type")), &entry->assignment.type);
	bool target_is_valid;
	int error = 0;

	entry->assignment.is_object = json_is_object(value);
	target_is_valid =
		package_read_identity(compiler, target, TEXT_ID_LIMIT, &entry->assignment.target_id, &error) ||
		json_is_null(target);
	if (error)
		return error;
	entry->assignment.is_valid = type_is_known && target_is_valid;
	if (value ? !entry->assignment.is_valid : entry->is_keyed)
		mark(entry, REQUIREMENT_BAD_ASSIGNMENT);
	return 0;
}

static struct entry_index read_index(const json_t *value)
{
	const double largest = 9007199254740991.0; /* 2^53 - 1 */
	struct entry_index index = {.is_present = value != NULL};
	double number = json_number_value(value);

	if (!json_is_number(value) || number < 0 || number > largest)
		return index;
	index.value = json_is_integer(value) ? json_integer_value(value) : (int64_t)number;
	index.is_valid = json_is_integer(value) || (double)index.value == number;
	return index;
}

static int read_evidence(struct package_compiler *compiler, const json_t *list, struct entry *entry)
{
	struct str *refs = ARENA_ARRAY(compiler->arena, json_array_size(list), struct str);

	if (!refs)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct str text = package_string(json_array_get(list, i));
		int result;

		if (!text.bytes)
			continue;
		result = redact_copy(compiler->arena, text, REDACT_FIELD, &refs[entry->evidence_count]);
		if (result)
			return result;
		entry->evidence_count++;
	}
	entry->evidence_refs = refs;
	return 0;
}

static int read_key(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	const json_t *value = json_object_get(object, "requirementKey");
	struct str key = package_string(value);

	entry->is_keyed = value != NULL;
	entry->key_is_valid = text_is_key(key);
	if (entry->is_keyed && !entry->key_is_valid)
		mark(entry, REQUIREMENT_BAD_KEY);
	if (entry->key_is_valid)
		entry->key = arena_str(compiler->arena, key);
	return entry->key_is_valid && !entry->key.bytes ? -ENOMEM : 0;
}

/* What only an envelope has. */
static int read_envelope_members(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	const json_t *overlay = json_object_get(object, "promptOverlayPresent");
	int error = 0;

	entry->decision_id_is_valid = package_read_identity(
		compiler, json_object_get(object, "decisionId"), TEXT_ID_LIMIT, &entry->decision_id, &error);
	if (error)
		return error;
	if (overlay ? !json_is_boolean(overlay) : entry->is_keyed)
		mark(entry, REQUIREMENT_BAD_ENVELOPE);
	entry->overlay = json_is_true(overlay);
	return 0;
}

/* The steps in the order of 1.7's table, so that the first fault is the topmost. */
static int read_members(struct package_compiler *compiler, const json_t *object, struct entry *entry)
{
	int result = read_key(compiler, object, entry);

	if (!result)
		result = read_mcp_id(compiler, object, entry);
	if (!result)
		result = read_capabilities(compiler, object, entry);
	if (!result && !entry->is_envelope)
		result = read_prohibitions(compiler, json_object_get(object, "prohibitedCapabilities"), entry);
	if (result)
		return result;
	read_level(object, entry);
	result = read_fallback(compiler, object, entry);
	if (!result)
		result = package_read_shown_agent(compiler, object, &entry->agent);
	if (!result && !agent_is_valid(object, entry))
		mark(entry, REQUIREMENT_BAD_AGENT);
	if (!result)
		result = read_assignment(compiler, object, entry);
	entry->index = read_index(json_object_get(object, "sourceRequirementIndex"));
	if (entry->index.is_present ? !entry->index.is_valid : entry->is_keyed && !entry->is_envelope)
		mark(entry, REQUIREMENT_BAD_SOURCE_INDEX);
	if (!result && entry->is_envelope)
		result = read_envelope_members(compiler, object, entry);
	if (!result)
		result = read_evidence(compiler, json_object_get(object, "evidenceRefs"), entry);
	/* Last, so that any other fault is told instead: this one alone leaves health and prompt looked up (1.2). */
	if (entry->capability_count > PACKAGE_ITEM_LIMIT)
		mark(entry, REQUIREMENT_TOO_MANY_CAPABILITIES);
	return result;
}

int package_read_entry(struct package_compiler *compiler, const json_t *value, size_t position, struct entry *ret_entry)
{
	*ret_entry = (struct entry){
		.position = position,
		.mcp_id = STR(""),
		.agent = STR("unknown"),
		.fallback_message = STR(""),
	};
	if (!json_is_object(value)) {
		mark(ret_entry, REQUIREMENT_NOT_AN_OBJECT);
		return 0;
	}
	ret_entry->is_envelope = json_object_get(value, "decisionId") != NULL;
	return read_members(compiler, value, ret_entry);
}
