/* explain.h - all that is to be said of one capability, and by which rule (chapters 1.4 and 1.5).
 *
 * For people, one place for API, console and command line; never part of a decision, and it decides nothing: class and
 * delivery are capability.h's. Pure, any thread.
 */
#ifndef ADMITD_POLICY_EXPLAIN_H
#define ADMITD_POLICY_EXPLAIN_H

#include "policy/capability.h"
#include "policy/json_out.h"

/* The rules of 1.5 by their numbers. */
enum { EXPLAIN_RULES = 6 };

struct explanation {
	struct str mcp_id; /* under which it is read; absent: under none */
	struct capability capability;
	enum delivery_kind delivery;
	const struct catalog_mcp *owner; /* NULL: none */
	struct str resource;             /* both absent: no address */
	struct str operation;
	int rule; /* of 1.5, 1 to 6 */
	const struct catalog_capability *nearest;
};

/* Reads `text` under the MCP called `mcp_id`; with an absent one under the MCP that its own name says. Borrows from catalog and
 * arguments. 0 or -ENOMEM.
 */
int explain_capability(struct arena *arena, const struct catalog *catalog, struct str mcp_id, struct str text,
	struct explanation *ret_explanation) MUST_USE;

/* Which rule of 1.5 gave a capability its class when it was read under `declared` (NULL: not in the catalog). */
int explain_rule(
	const struct catalog *catalog, const struct catalog_mcp *declared, const struct capability *capability);
/* That rule in words; a literal. */
const char *explain_rule_text(int rule);

/* {requested, capability, mcpId, owner, address, class, deliveryKind, rule, because, spellings, nearest}; what there is none of is null. */
void explain_write(const struct explanation *explanation, struct json_out *out);

#endif
