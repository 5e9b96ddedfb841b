/* package_parse.h - inside policy only: the steps from a document to a compiled package (chapters 1.2, 1.7, 1.9).
 *
 * package.c runs them in this order: entries are read one by one (package_entry.c), joined into requirements
 * (package_join.c), and subtasks are bound to them (package_subtask.c). All pieces live in the package's arena but for the
 * JSON, which is borrowed while compiling. Not thread-safe; one compilation has its own structs.
 */
#ifndef ADMITD_POLICY_PACKAGE_PARSE_H
#define ADMITD_POLICY_PACKAGE_PARSE_H

#include <jansson.h>

#include "policy/package.h"

/* What the four capability fields of an entry hold together at most (1.2). */
enum { REQUIREMENT_UNION_LIMIT = 4 * PACKAGE_ITEM_LIMIT };

/* What every step shares. */
struct package_compiler {
	struct package *package;
	struct arena *arena; /* the package's */
	const struct catalog *catalog;
	const struct package_options *options;
	struct requirement *requirements; /* the package's own, while they are still ours to write */
	struct subtask_row *rows;         /* the same */
	bool *prohibited;                 /* by catalog index: the union over all valid prohibitions of all policies */
};

/* An index of 1.4. */
struct entry_index {
	bool is_present;
	bool is_valid;
	int64_t value;
};

struct entry_assignment {
	bool is_object; /* usable for showing: an unknown type is shown as agent (1.7) */
	bool is_valid;  /* known type, and targetId null or an identity */
	enum assignment_type type;
	struct str target_id; /* as shown */
};

/* One entry, policy or envelope, before the join. */
struct entry {
	size_t position;
	bool is_envelope;
	bool is_keyed; /* has the member requirementKey, valid or not */
	bool key_is_valid;
	bool is_used; /* joined, or spent in a failed join */
	struct str key;
	struct str decision_id; /* as shown; absent when it isn't safe */
	bool decision_id_is_valid;
	struct str mcp_id; /* as shown */
	const struct catalog_mcp *mcp;
	struct str agent; /* as shown */
	bool is_optional;
	bool fallback_is_valid;
	enum fallback_action fallback;
	struct str fallback_message;
	struct entry_assignment assignment;
	struct entry_index index;
	bool overlay;                    /* an envelope says, well-formed, that prompt context exists */
	struct capability *capabilities; /* a set by normalized text */
	size_t capability_count;
	const struct str *sorted_names; /* of a keyless entry: their normalized texts, for the fingerprint of 1.7 */
	const struct str *evidence_refs;
	size_t evidence_count;
	enum requirement_fault fault; /* the first one */
};

/* Reads one entry; bad ones are marked, not refused. 0 or -ENOMEM. Adds a policy's prohibitions to the union. */
int package_read_entry(
	struct package_compiler *compiler, const json_t *value, size_t position, struct entry *ret_entry) MUST_USE;

/* A member that is an identity of at most `limit` characters: true when valid; *ret_shown is what is shown of it, absent when
 * it isn't safe text. Sets *ret_error to -ENOMEM when memory ran out.
 */
bool package_read_identity(
	struct package_compiler *compiler, const json_t *value, size_t limit, struct str *ret_shown, int *ret_error);

/* What is shown for the agent of a policy, envelope or subtask: `agent`, else `assignedRole`, else a single target agent,
 * else "unknown" (1.7). 0 or -ENOMEM.
 */
int package_read_shown_agent(struct package_compiler *compiler, const json_t *object, struct str *ret_agent) MUST_USE;

/* Joins entries into the package's requirements, sorted as 1.9 says. 0 or -ENOMEM. */
int package_join(struct package_compiler *compiler, struct entry *entries, size_t count) MUST_USE;

/* Decides all of a subtask that needs no grant or health; fills the package's subtask rows, sorted. 0 or -ENOMEM. */
int package_read_subtasks(struct package_compiler *compiler, const json_t *subtasks) MUST_USE;

/* Renders the JSON members of requirements and subtask rows that no input changes. 0 or -ENOMEM. */
int package_render(struct package_compiler *compiler) MUST_USE;

/* A JSON string as str; absent for anything else. Borrowed. */
struct str package_string(const json_t *value);

#endif
