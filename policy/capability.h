/* capability.h - from a capability as written to its canonical form and class (chapters 1.4 and 1.5).
 *
 * Pure, any thread. Nothing is repaired but what `normalize` and the alias table of 1.4 say.
 */
#ifndef ADMITD_POLICY_CAPABILITY_H
#define ADMITD_POLICY_CAPABILITY_H

#include <stdbool.h>

#include "policy/arena.h"
#include "policy/catalog.h"

struct capability {
	struct str requested;                   /* normalized, as asked for */
	struct str canonical;                   /* after the alias table of its MCP */
	enum capability_class class;            /* first match of 1.5 */
	const struct catalog_capability *known; /* NULL when class is CLASS_UNKNOWN */
	bool is_prohibited;                     /* by the package it is asked for in; false until that is joined */
};

/* What precedes the first dot, if that is an MCP of the catalog; else NULL. `normalized` as text_normalize gives it. */
const struct catalog_mcp *capability_owner(const struct catalog *catalog, struct str normalized);

/* Classifies safe text under the declared `mcp` (NULL: not in the catalog). 0 or -ENOMEM. The pieces live in `arena`
 * or in the catalog, which must outlive them.
 */
int capability_read(struct arena *arena, const struct catalog *catalog, const struct catalog_mcp *mcp, struct str text,
	struct capability *ret_capability) MUST_USE;

/* The same for any text, safe or not: unsafe text is CLASS_UNKNOWN with absent names. For `explain` and tests. */
int capability_explain(struct arena *arena, const struct catalog *catalog, struct str mcp_id, struct str text,
	struct capability *ret_capability, enum delivery_kind *ret_delivery) MUST_USE;

/* How an MCP delivers, whatever the class; DELIVERY_NONE for NULL. */
enum delivery_kind capability_delivery(const struct catalog_mcp *mcp);

/* Wire names; NULL for DELIVERY_NONE. */
const char *capability_class_name(enum capability_class class);
const char *delivery_kind_name(enum delivery_kind kind);

/* The known capability of any MCP whose name, or an alias of it, is closest to `text` by edit distance, at most 3 edits away,
 * the first among equals in the catalog's order; or NULL. For people who mistyped; never part of a decision.
 */
const struct catalog_capability *capability_nearest(const struct catalog *catalog, struct str text);

#endif
