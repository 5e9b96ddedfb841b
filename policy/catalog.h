/* catalog.h - the catalog of tool servers, as data (chapter 1.3).
 *
 * A catalog is loaded and checked once and immutable afterwards; any number of threads may read it. It is
 * known by the SHA-256 of its canonical bytes. Every capability it knows stands in it once, under its canonical
 * name, so that sets of capabilities compare by index. The default catalog ships in policy/catalog_default.json and is
 * compiled in.
 */
#ifndef ADMITD_POLICY_CATALOG_H
#define ADMITD_POLICY_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"

/* 1.5. */
enum capability_class {
	CLASS_UNKNOWN = 0,
	CLASS_PLANNING_ONLY,
	CLASS_DEFERRED_LIVE_MCP,
	CLASS_BOUNDED_READ_ONLY,
};

/* 1.5; NONE is written as null: the MCP is unknown. */
enum delivery_kind {
	DELIVERY_NONE = 0,
	DELIVERY_PLANNING_CONTEXT_ONLY,
	DELIVERY_BOUNDED_CONTEXT_PACKET,
};

/* One capability that the catalog knows, under its canonical name. */
struct catalog_capability {
	struct str name;
	enum capability_class class;
	uint32_t index; /* unique in the catalog, below catalog->capability_count */
};

struct catalog_alias {
	struct str from; /* normalized */
	const struct catalog_capability *to;
};

struct catalog_deferred {
	struct str resource;
	const struct str *operations;
	size_t operation_count;
};

/* What a person does about an unhealthy server, by its status (words of 1.6, and "missing"). */
struct catalog_remediation {
	struct str status;
	struct str text;
};

struct catalog_mcp {
	struct str id;
	struct str display_name;
	struct str description;
	struct str root_resource; /* absent when null */
	bool recommended;
	bool requires_auth;
	bool health_gated;
	enum delivery_kind delivery;
	const struct catalog_capability *capabilities; /* sorted by name */
	size_t capability_count;
	const struct catalog_alias *aliases; /* sorted by from */
	size_t alias_count;
	const struct catalog_deferred *deferred; /* sorted by resource */
	size_t deferred_count;
	const struct catalog_remediation *remediations;
	size_t remediation_count;
};

struct catalog {
	struct arena arena;
	const struct catalog_mcp *mcps; /* sorted by id */
	size_t mcp_count;
	uint32_t capability_count; /* over all MCPs */
	struct str bytes;          /* canonical */
	struct str digest;         /* "sha256:<64 hex>" */
	atomic_uint owners;        /* the only thing that changes */
};

/* Results of catalog_new besides 0 and negative errno. */
enum catalog_result { CATALOG_REFUSED = 1 };

/* Why a catalog was refused: which entry (a JSON pointer) and what is wrong with it. Both live in `text`. */
struct catalog_fault {
	char pointer[256];
	char text[512];
};

/* Parses and checks `bytes` (JSON, at most 4 MiB). 0 and *ret_catalog, owned by the caller; CATALOG_REFUSED with
 * *ret_fault filled, naming the first offending entry; -ENOMEM.
 */
int catalog_new(struct str bytes, struct catalog **ret_catalog, struct catalog_fault *ret_fault) MUST_USE;
/* One more owner, who ends it by catalog_free() too. Any thread that has it. */
struct catalog *catalog_hold(const struct catalog *catalog);
/* The last owner's frees it. NULL is fine. */
void catalog_free(struct catalog *catalog);
void catalog_drop(struct catalog **catalog); /* for CLEANUP() */

/* The bytes of the default catalog, as shipped. */
struct str catalog_default_bytes(void);

/* Borrowed, or NULL when the catalog does not know it. */
const struct catalog_mcp *catalog_find_mcp(const struct catalog *catalog, struct str id);
const struct catalog_capability *catalog_find_capability(const struct catalog_mcp *mcp, struct str canonical_name);
/* The canonical capability that `normalized` is an alias of, or NULL. */
const struct catalog_capability *catalog_find_alias(const struct catalog_mcp *mcp, struct str normalized);

/* What to do about a server in `status`; absent when the catalog has no words for it. */
struct str catalog_find_remediation(const struct catalog_mcp *mcp, struct str status);

#endif
