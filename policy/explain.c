#include "policy/explain.h"

#include <errno.h>
#include <string.h>

#include "policy/text.h"

const char *explain_rule_text(int rule)
{
	static const char *const texts[EXPLAIN_RULES + 1] = {
		[1] = "the MCP isn't in the catalog, or the text is unsafe",
		[2] = "it isn't owned by the MCP under which it is asked",
		[3] = "it is listed as planning only",
		[4] = "its address is in the registry of deferred operations",
		[5] = "it is listed as a safe read",
		[6] = "nothing lists it",
	};

	CHECK(rule >= 1 && rule <= EXPLAIN_RULES);
	return texts[rule];
}

int explain_rule(const struct catalog *catalog, const struct catalog_mcp *declared, const struct capability *capability)
{
	if (!declared || !capability->canonical.bytes)
		return 1;
	if (capability_owner(catalog, capability->canonical) != declared)
		return 2;
	switch (capability->class) {
	case CLASS_PLANNING_ONLY:
		return 3;
	case CLASS_DEFERRED_LIVE_MCP:
		return 4;
	case CLASS_BOUNDED_READ_ONLY:
		return 5;
	case CLASS_UNKNOWN:
		break;
	}
	return 6;
}

/* <mcp>.<resource>.<operation>, or <mcp>.<operation> where the MCP has a resource for the short form (1.4). */
static void find_address(struct explanation *explanation)
{
	struct str name = explanation->capability.canonical;
	struct str root = explanation->owner->root_resource;
	size_t head = explanation->owner->id.len + 1;
	struct str rest = {name.bytes + head, name.len - head};
	const char *dot = memchr(rest.bytes, '.', rest.len);
	size_t len = dot ? (size_t)(dot - rest.bytes) : 0;

	if (!dot) {
		if (!root.bytes || rest.len == 0)
			return;
		explanation->resource = root;
		explanation->operation = rest;
		return;
	}
	if (len == 0 || len + 1 == rest.len || memchr(dot + 1, '.', rest.len - len - 1))
		return;
	if (root.bytes && str_equal((struct str){rest.bytes, len}, root))
		return;
	explanation->resource = (struct str){rest.bytes, len};
	explanation->operation = (struct str){dot + 1, rest.len - len - 1};
}

int explain_capability(struct arena *arena, const struct catalog *catalog, struct str mcp_id, struct str text,
	struct explanation *ret_explanation)
{
	struct explanation explanation = {.mcp_id = mcp_id};
	struct str normalized = text_normalize(arena, text);
	const struct catalog_mcp *declared;
	int result;

	if (!normalized.bytes)
		return -ENOMEM;
	declared = mcp_id.bytes ? catalog_find_mcp(catalog, mcp_id) : capability_owner(catalog, normalized);
	if (declared)
		explanation.mcp_id = declared->id;
	result = capability_explain(arena, catalog, explanation.mcp_id.bytes ? explanation.mcp_id : STR(""), text,
		&explanation.capability, &explanation.delivery);
	if (result)
		return result;
	if (explanation.capability.canonical.bytes)
		explanation.owner = capability_owner(catalog, explanation.capability.canonical);
	if (explanation.owner)
		find_address(&explanation);
	explanation.rule = explain_rule(catalog, declared, &explanation.capability);
	if (explanation.capability.class == CLASS_UNKNOWN && text_is_safe(text))
		explanation.nearest = capability_nearest(catalog, normalized);
	*ret_explanation = explanation;
	return 0;
}

static void write_address(const struct explanation *explanation, struct json_out *out)
{
	json_out_key(out, "address");
	if (!explanation->resource.bytes) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "resource", explanation->resource);
	json_out_member_str(out, "operation", explanation->operation);
	json_out_end_object(out);
}

/* 1.4's keys: the canonical name, then its aliases. */
static void write_spellings(const struct explanation *explanation, struct json_out *out)
{
	const struct catalog_capability *known = explanation->capability.known;
	const struct catalog_mcp *mcp = explanation->owner;

	json_out_key(out, "spellings");
	json_out_begin_array(out);
	if (known)
		json_out_str(out, known->name);
	for (size_t i = 0; known && mcp && i < mcp->alias_count; i++) {
		if (mcp->aliases[i].to == known)
			json_out_str(out, mcp->aliases[i].from);
	}
	json_out_end_array(out);
}

void explain_write(const struct explanation *explanation, struct json_out *out)
{
	const char *delivery = delivery_kind_name(explanation->delivery);

	json_out_begin_object(out);
	json_out_member_str(out, "requested", explanation->capability.requested);
	json_out_member_str(out, "capability", explanation->capability.canonical);
	json_out_member_str(out, "mcpId", explanation->mcp_id);
	json_out_member_str(out, "owner", explanation->owner ? explanation->owner->id : (struct str){0});
	write_address(explanation, out);
	json_out_member_text(out, "class", capability_class_name(explanation->capability.class));
	json_out_member_str(out, "deliveryKind", delivery ? (struct str){delivery, strlen(delivery)} : (struct str){0});
	json_out_member_int(out, "rule", explanation->rule);
	json_out_member_text(out, "because", explain_rule_text(explanation->rule));
	write_spellings(explanation, out);
	json_out_member_str(out, "nearest", explanation->nearest ? explanation->nearest->name : (struct str){0});
	json_out_end_object(out);
}
