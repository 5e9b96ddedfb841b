#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/package_parse.h"

/* What the join works on. Requirements are appended in the order they are found and sorted in the end. */
struct join {
	struct package_compiler *compiler;
	struct entry *entries;
	size_t count;
	struct requirement *requirements;
	size_t requirement_count;
	/* Keyed entries with a valid key, sorted by key, then position: a key's entries stand together. */
	struct entry **keyed;
	size_t keyed_count;
};

/* Shows nothing of the entries: two policies with one key, or several left-over envelopes with one (1.7). */
static struct requirement *add_blank(struct join *join, struct str key, enum requirement_fault fault)
{
	size_t position = join->requirement_count++;
	struct requirement *requirement = &join->requirements[position];

	*requirement = (struct requirement){
		.position = position,
		.entry = PACKAGE_NOWHERE,
		.key = key,
		.mcp_id = STR(""),
		.agent = STR("unknown"),
		.fallback_message = STR(""),
		.fault = fault,
	};
	return requirement;
}

static int set_decision_id(struct join *join, struct requirement *requirement, struct str id)
{
	requirement->decision_id = id.bytes
		? id
		: arena_printf(join->compiler->arena, "req-%.*s", (int)requirement->key.len, requirement->key.bytes);
	return requirement->decision_id.bytes ? 0 : -ENOMEM;
}

static void set_assignment(struct requirement *requirement, const struct entry *policy, const struct entry *envelope)
{
	const struct entry *from = envelope && envelope->assignment.is_object ? envelope : policy;

	requirement->assignment = from->assignment.type;
	requirement->target_id = from->assignment.target_id;
}

static void classify(const struct join *join, struct requirement *requirement, struct capability *capabilities)
{
	for (size_t i = 0; i < requirement->capability_count; i++) {
		struct capability *capability = &capabilities[i];

		requirement->has_unknown |= capability->class == CLASS_UNKNOWN;
		requirement->has_deferred |= capability->class == CLASS_DEFERRED_LIVE_MCP;
		requirement->has_bounded |= capability->class == CLASS_BOUNDED_READ_ONLY;
		capability->is_prohibited = capability->known && join->compiler->prohibited[capability->known->index];
		requirement->has_prohibited |= capability->is_prohibited;
	}
}

/* An envelope's fault is its requirement's, and outweighs a union over its limit, which leaves everything looked up (1.2). */
static void blame_envelope(struct requirement *requirement, const struct entry *envelope)
{
	bool is_mild =
		requirement->fault == REQUIREMENT_SOUND || requirement->fault == REQUIREMENT_TOO_MANY_CAPABILITIES;

	if (is_mild)
		requirement->fault = envelope->fault == REQUIREMENT_TOO_MANY_CAPABILITIES
			? REQUIREMENT_TOO_MANY_CAPABILITIES
			: REQUIREMENT_BAD_ENVELOPE;
}

/* A requirement that shows its policy; `envelope` is the joined one or NULL. */
static int add_policy(struct join *join, struct str key, const struct entry *policy, const struct entry *envelope,
	enum requirement_fault join_fault)
{
	struct requirement *requirement = add_blank(join, key, policy->fault);
	bool is_sound;

	if (join_fault != REQUIREMENT_SOUND)
		requirement->fault = join_fault;
	if (envelope && envelope->fault != REQUIREMENT_SOUND)
		blame_envelope(requirement, envelope);
	requirement->entry = policy->position;
	requirement->mcp_id = policy->mcp_id;
	requirement->mcp = policy->mcp;
	requirement->agent = policy->agent;
	requirement->is_optional = policy->is_optional;
	requirement->fallback = policy->fallback;
	requirement->fallback_message = policy->fallback_message;
	requirement->can_proceed = policy->is_optional && policy->fallback == FALLBACK_CONTINUE_WITHOUT_MCP;
	requirement->capabilities = policy->capabilities;
	requirement->capability_count = policy->capability_count;
	requirement->evidence_refs = policy->evidence_refs;
	requirement->evidence_count = policy->evidence_count;
	requirement->overlay_claimed = envelope && envelope->overlay && join->compiler->options->believes_envelopes;
	/* Over the union's limit everything is shown and looked up all the same (1.2). */
	is_sound = requirement->fault == REQUIREMENT_SOUND || requirement->fault == REQUIREMENT_TOO_MANY_CAPABILITIES;
	requirement->looks_up = is_sound && requirement->mcp;
	if (envelope && envelope->index.is_valid)
		requirement->source_index = envelope->index.value;
	else if (policy->index.is_valid)
		requirement->source_index = policy->index.value;
	else
		requirement->source_index = (int64_t)policy->position;
	set_assignment(requirement, policy, envelope);
	classify(join, requirement, policy->capabilities);
	return set_decision_id(join, requirement, envelope ? envelope->decision_id : (struct str){0});
}

/* An envelope without a policy. Its own requirement level is shown and never used, and nothing else of it counts. */
static int add_leftover(struct join *join, struct str key, const struct entry *envelope)
{
	struct requirement *requirement = add_blank(join, key, REQUIREMENT_LEGACY);

	join->compiler->package->legacy_count++;
	requirement->mcp_id = envelope->mcp_id;
	requirement->mcp = envelope->mcp;
	requirement->agent = envelope->agent;
	requirement->is_optional = envelope->is_optional;
	requirement->fallback = envelope->fallback;
	requirement->fallback_message = envelope->fallback_message;
	requirement->evidence_refs = envelope->evidence_refs;
	requirement->evidence_count = envelope->evidence_count;
	requirement->source_index = envelope->index.is_valid ? envelope->index.value : 0;
	set_assignment(requirement, envelope, envelope);
	return set_decision_id(join, requirement, envelope->decision_id);
}

static int add_group_leftover(struct join *join, struct str key, size_t envelopes, const struct entry *only)
{
	struct requirement *requirement;

	if (envelopes == 1)
		return add_leftover(join, key, only);
	join->compiler->package->legacy_count++;
	requirement = add_blank(join, key, REQUIREMENT_LEGACY);
	return set_decision_id(join, requirement, (struct str){0});
}

static enum requirement_fault pair_fault(const struct entry *policy, const struct entry *envelope)
{
	if (!envelope->decision_id_is_valid)
		return REQUIREMENT_BAD_DECISION_ID;
	if (!str_equal(policy->mcp_id, envelope->mcp_id) || !str_equal(policy->agent, envelope->agent))
		return REQUIREMENT_ENVELOPE_DISAGREES;
	if (!policy->index.is_valid || !envelope->index.is_valid || policy->index.value != envelope->index.value)
		return REQUIREMENT_ENVELOPE_DISAGREES;
	return REQUIREMENT_SOUND;
}

/* All entries with one valid key become one requirement. */
static int join_group(struct join *join, struct entry *const *group, size_t count)
{
	struct entry *policy = NULL;
	struct entry *envelope = NULL;
	size_t policies = 0;
	size_t envelopes = 0;
	enum requirement_fault fault = REQUIREMENT_SOUND;

	for (size_t i = 0; i < count; i++) {
		group[i]->is_used = true;
		if (group[i]->is_envelope) {
			envelope = group[i];
			envelopes++;
		} else {
			policy = group[i];
			policies++;
		}
	}
	if (policies == 0)
		return add_group_leftover(join, group[0]->key, envelopes, envelope);
	if (policies > 1)
		return set_decision_id(join, add_blank(join, group[0]->key, REQUIREMENT_TWO_POLICIES), (struct str){0});
	if (envelopes > 1)
		fault = REQUIREMENT_TWO_ENVELOPES;
	else if (envelopes == 1)
		fault = pair_fault(policy, envelope);
	return add_policy(join, policy->key, policy, fault == REQUIREMENT_SOUND ? envelope : NULL, fault);
}

static int by_key(const void *a, const void *b)
{
	const struct entry *left = *(struct entry *const *)a;
	const struct entry *right = *(struct entry *const *)b;
	int order = str_compare(left->key, right->key);

	if (order)
		return order;
	return (left->position > right->position) - (left->position < right->position);
}

static int join_keyed(struct join *join)
{
	for (size_t i = 0; i < join->count; i++) {
		if (join->entries[i].key_is_valid)
			join->keyed[join->keyed_count++] = &join->entries[i];
	}
	if (join->keyed_count)
		qsort(join->keyed, join->keyed_count, sizeof(*join->keyed), by_key);
	for (size_t start = 0, end; start < join->keyed_count; start = end) {
		int result;

		for (end = start + 1; end < join->keyed_count; end++) {
			if (!str_equal(join->keyed[end]->key, join->keyed[start]->key))
				break;
		}
		result = join_group(join, join->keyed + start, end - start);
		if (result)
			return result;
	}
	return 0;
}

static bool is_free_envelope(const struct entry *entry)
{
	return entry->is_envelope && !entry->is_keyed && !entry->is_used && entry->decision_id_is_valid;
}

static bool matches_by_index(const struct entry *policy, const struct entry *envelope)
{
	return policy->index.is_valid && envelope->index.is_valid && policy->index.value == envelope->index.value &&
		str_equal(policy->agent, envelope->agent) && str_equal(policy->mcp_id, envelope->mcp_id);
}

static int compare_names(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted once: each keyless policy may be held against each keyless envelope. */
static int sort_names(struct join *join, struct entry *entry)
{
	struct str *names = ARENA_ARRAY(join->compiler->arena, entry->capability_count, struct str);

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < entry->capability_count; i++)
		names[i] = entry->capabilities[i].requested;
	if (entry->capability_count)
		qsort(names, entry->capability_count, sizeof(*names), compare_names);
	entry->sorted_names = names;
	return 0;
}

static bool has_same_capabilities(const struct entry *a, const struct entry *b)
{
	if (a->capability_count != b->capability_count)
		return false;
	for (size_t i = 0; i < a->capability_count; i++) {
		if (!str_equal(a->sorted_names[i], b->sorted_names[i]))
			return false;
	}
	return true;
}

static bool matches_by_fingerprint(const struct entry *policy, const struct entry *envelope)
{
	bool agents_fit = str_equal(policy->agent, envelope->agent) || str_is(policy->agent, "unknown") ||
		str_is(envelope->agent, "unknown");

	if (!agents_fit || (envelope->index.is_present && !envelope->index.is_valid) ||
		(policy->index.is_present && envelope->index.is_present))
		return false;
	return str_equal(policy->mcp_id, envelope->mcp_id) && policy->is_optional == envelope->is_optional &&
		policy->fallback == envelope->fallback && has_same_capabilities(policy, envelope);
}

static struct entry *find_envelope(struct join *join, const struct entry *policy,
	bool (*matches)(const struct entry *policy, const struct entry *envelope))
{
	for (size_t i = 0; i < join->count; i++) {
		struct entry *entry = &join->entries[i];

		if (is_free_envelope(entry) && matches(policy, entry))
			return entry;
	}
	return NULL;
}

static int join_keyless_policy(struct join *join, struct entry *policy)
{
	struct entry *envelope = find_envelope(join, policy, matches_by_index);
	struct str name;

	if (!envelope)
		envelope = find_envelope(join, policy, matches_by_fingerprint);
	if (envelope)
		envelope->is_used = true;
	policy->is_used = true;
	name = arena_printf(join->compiler->arena, "legacy-%zu-%s-%s", policy->position,
		policy->mcp_id.len ? policy->mcp_id.bytes : "unknown", policy->agent.bytes);
	if (!name.bytes)
		return -ENOMEM;
	return add_policy(join, name, policy, envelope, REQUIREMENT_SOUND);
}

/* A policy with a bad key joins nothing; nor does a keyed or bad envelope that is still unused. */
static int add_unjoined(struct join *join, const struct entry *entry)
{
	struct str name = arena_printf(join->compiler->arena,
		entry->is_envelope ? "legacy-grant-only-%zu" : "invalid-requirement-key-%zu", entry->position);

	if (!name.bytes)
		return -ENOMEM;
	if (entry->is_envelope)
		return add_leftover(join, name, entry);
	return add_policy(join, name, entry, NULL, REQUIREMENT_SOUND);
}

static int join_rest(struct join *join)
{
	int result = 0;

	for (size_t i = 0; i < join->count && !result; i++) {
		if (!join->entries[i].is_keyed)
			result = sort_names(join, &join->entries[i]);
	}
	for (size_t i = 0; i < join->count && !result; i++) {
		struct entry *entry = &join->entries[i];

		if (!entry->is_used && !entry->is_envelope && !entry->is_keyed)
			result = join_keyless_policy(join, entry);
	}
	for (size_t i = 0; i < join->count && !result; i++) {
		if (!join->entries[i].is_used)
			result = add_unjoined(join, &join->entries[i]);
	}
	return result;
}

/* 1.9: byte-wise by key, agent, MCP, source index as a number, decision id. */
static int compare_requirements(const void *a, const void *b)
{
	const struct requirement *left = a;
	const struct requirement *right = b;
	int order = str_compare(left->key, right->key);

	if (!order)
		order = str_compare(left->agent, right->agent);
	if (!order)
		order = str_compare(left->mcp_id, right->mcp_id);
	if (!order)
		order = (left->source_index > right->source_index) - (left->source_index < right->source_index);
	if (!order)
		order = str_compare(left->decision_id, right->decision_id);
	return order ? order : (left->position > right->position) - (left->position < right->position);
}

int package_join(struct package_compiler *compiler, struct entry *entries, size_t count)
{
	struct join join = {.compiler = compiler, .entries = entries, .count = count};
	int result;

	join.requirements = ARENA_ARRAY(compiler->arena, count, struct requirement);
	join.keyed = arena_array(compiler->arena, count, sizeof(*join.keyed));
	if (!join.requirements || !join.keyed)
		return -ENOMEM;
	result = join_keyed(&join);
	if (!result)
		result = join_rest(&join);
	if (result)
		return result;
	if (join.requirement_count)
		qsort(join.requirements, join.requirement_count, sizeof(*join.requirements), compare_requirements);
	compiler->requirements = join.requirements;
	compiler->package->requirements = join.requirements;
	compiler->package->requirement_count = join.requirement_count;
	return 0;
}
