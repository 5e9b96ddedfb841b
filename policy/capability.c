#include "policy/capability.h"

#include <errno.h>
#include <string.h>

#include "policy/text.h"

enum { NEAREST_LIMIT = 3, NEAREST_LENGTH = 120 };

const struct catalog_mcp *capability_owner(const struct catalog *catalog, struct str normalized)
{
	const char *dot = normalized.len ? memchr(normalized.bytes, '.', normalized.len) : NULL;

	if (!dot)
		return NULL;
	return catalog_find_mcp(catalog, (struct str){normalized.bytes, (size_t)(dot - normalized.bytes)});
}

enum delivery_kind capability_delivery(const struct catalog_mcp *mcp)
{
	return mcp ? mcp->delivery : DELIVERY_NONE;
}

int capability_read(struct arena *arena, const struct catalog *catalog, const struct catalog_mcp *mcp, struct str text,
	struct capability *ret_capability)
{
	struct capability capability = {.requested = text_normalize(arena, text)};
	const struct catalog_capability *known = NULL;

	if (!capability.requested.bytes)
		return -ENOMEM;
	if (mcp)
		known = catalog_find_alias(mcp, capability.requested);
	capability.canonical = known ? known->name : capability.requested;
	/* Rule 2 of 1.5 before all others: what another MCP owns is never repaired. The catalog holds owned names only, so a name
	 * that is found there is owned by `mcp`. */
	if (mcp && !known && capability_owner(catalog, capability.canonical) == mcp)
		known = catalog_find_capability(mcp, capability.canonical);
	if (known) {
		capability.known = known;
		capability.class = known->class;
	}
	*ret_capability = capability;
	return 0;
}

int capability_explain(struct arena *arena, const struct catalog *catalog, struct str mcp_id, struct str text,
	struct capability *ret_capability, enum delivery_kind *ret_delivery)
{
	const struct catalog_mcp *mcp = catalog_find_mcp(catalog, mcp_id);

	*ret_delivery = capability_delivery(mcp);
	if (!text_is_safe(text)) {
		*ret_capability = (struct capability){0};
		return 0;
	}
	return capability_read(arena, catalog, mcp, text, ret_capability);
}

const char *capability_class_name(enum capability_class class)
{
	static const char *const names[] = {
		[CLASS_UNKNOWN] = "unknown",
		[CLASS_PLANNING_ONLY] = "planning_only",
		[CLASS_DEFERRED_LIVE_MCP] = "deferred_live_mcp",
		[CLASS_BOUNDED_READ_ONLY] = "bounded_read_only",
	};

	return names[class];
}

const char *delivery_kind_name(enum delivery_kind kind)
{
	static const char *const names[] = {
		[DELIVERY_NONE] = NULL,
		[DELIVERY_PLANNING_CONTEXT_ONLY] = "planning_context_only",
		[DELIVERY_BOUNDED_CONTEXT_PACKET] = "bounded_context_packet",
	};

	return names[kind];
}

/* Levenshtein distance over bytes, in one row; both at most NEAREST_LENGTH long. */
static unsigned distance(struct str a, struct str b)
{
	unsigned row[NEAREST_LENGTH + 1];

	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b.len; j++) {
			unsigned change = diagonal + (a.bytes[i - 1] != b.bytes[j - 1]);
			unsigned least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < least ? change : least;
		}
	}
	return row[b.len];
}

/* The best so far. */
struct nearest {
	struct str text;
	const struct catalog_capability *capability;
	unsigned edits;
};

static void consider(struct nearest *nearest, struct str name, const struct catalog_capability *capability)
{
	unsigned edits = name.len <= NEAREST_LENGTH ? distance(nearest->text, name) : nearest->edits;

	if (edits < nearest->edits) {
		nearest->edits = edits;
		nearest->capability = capability;
	}
}

const struct catalog_capability *capability_nearest(const struct catalog *catalog, struct str text)
{
	struct nearest nearest = {.text = text, .edits = NEAREST_LIMIT + 1};

	if (!text.bytes || text.len > NEAREST_LENGTH)
		return NULL;
	for (size_t i = 0; i < catalog->mcp_count; i++) {
		const struct catalog_mcp *mcp = &catalog->mcps[i];

		for (size_t j = 0; j < mcp->capability_count; j++)
			consider(&nearest, mcp->capabilities[j].name, &mcp->capabilities[j]);
		for (size_t j = 0; j < mcp->alias_count; j++)
			consider(&nearest, mcp->aliases[j].from, mcp->aliases[j].to);
	}
	return nearest.capability;
}
