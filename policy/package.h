/* package.h - a package document compiled once: parsed, joined, classified (chapters 1.2, 1.7, 1.9).
 *
 * A compiled package is immutable and may be shared by threads. It keeps no JSON: deciding it (admission.h) reads structs only.
 * It borrows from the catalog it was compiled with, which must outlive it. Whatever is wrong with a document is
 * part of what is compiled (a malformed requirement, a malformed subtask, a package blocked as a whole): compiling fails
 * only when memory is out.
 */
#ifndef ADMITD_POLICY_PACKAGE_H
#define ADMITD_POLICY_PACKAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/capability.h"
#include "policy/catalog.h"

enum { PACKAGE_ENTRY_LIMIT = 80, PACKAGE_SUBTASK_LIMIT = 40, PACKAGE_ITEM_LIMIT = 30 };

#define PACKAGE_NOWHERE SIZE_MAX

enum fallback_action { FALLBACK_BLOCK = 0, FALLBACK_ASK_USER, FALLBACK_CONTINUE_WITHOUT_MCP };

enum assignment_type {
	ASSIGNMENT_AGENT = 0,
	ASSIGNMENT_MULTIPLE_AGENTS,
	ASSIGNMENT_WORKFORCE,
	ASSIGNMENT_ARCHITECT_ONLY,
	ASSIGNMENT_REVIEWER_ONLY,
};

/* Why a requirement cannot be read; the first fault found, in the order of the table of 1.7. */
enum requirement_fault {
	REQUIREMENT_SOUND = 0,
	REQUIREMENT_NOT_AN_OBJECT,
	REQUIREMENT_BAD_KEY,
	REQUIREMENT_BAD_CAPABILITIES,
	REQUIREMENT_TOO_MANY_CAPABILITIES,
	REQUIREMENT_BAD_PROHIBITION,
	REQUIREMENT_BAD_MCP_ID,
	REQUIREMENT_BAD_LEVEL,
	REQUIREMENT_BAD_FALLBACK,
	REQUIREMENT_BAD_AGENT,
	REQUIREMENT_BAD_ASSIGNMENT,
	REQUIREMENT_BAD_SOURCE_INDEX,
	REQUIREMENT_BAD_ENVELOPE, /* the joined envelope is malformed */
	REQUIREMENT_BAD_DECISION_ID,
	REQUIREMENT_TWO_POLICIES, /* two policies share the key */
	REQUIREMENT_TWO_ENVELOPES,
	REQUIREMENT_ENVELOPE_DISAGREES,
	REQUIREMENT_LEGACY, /* an envelope without a policy */
};

/* One logical requirement after the join: one row of the result. */
struct requirement {
	size_t position;   /* as found; decides where all that 1.9 orders by is equal */
	size_t entry;      /* where its policy stands in `entries`; PACKAGE_NOWHERE: there is none, or two */
	struct str key;    /* the row's name (1.7); another row may have it, see decision_id.h */
	struct str mcp_id; /* as shown; "" when unusable */
	struct str agent;  /* as shown; "unknown" when unusable */
	const struct catalog_mcp *mcp; /* NULL: not in the catalog */
	bool is_optional;
	bool can_proceed;     /* optional and continue_without_mcp */
	bool overlay_claimed; /* a joined envelope says that prompt context exists, and is believed */
	enum requirement_fault fault;
	bool looks_up;                         /* whether health and prompt are looked up for it (1.11) */
	const struct capability *capabilities; /* requested order */
	size_t capability_count;
	enum fallback_action fallback;
	struct str fallback_message; /* redacted; "" when none */
	enum assignment_type assignment;
	struct str target_id; /* absent = null */
	struct str decision_id;
	int64_t source_index;
	const struct str *evidence_refs; /* redacted */
	size_t evidence_count;
	/* What the classes come to, worked out once. */
	bool has_unknown;
	bool has_prohibited; /* by the package-wide union of prohibitions */
	bool has_deferred;
	bool has_bounded;
	/* JSON members of the result that no input changes, rendered once: they are most of its bytes (chapter 6.1). */
	struct str decision_head; /* from schemaVersion to capabilityClasses */
	struct str decision_tail; /* evidenceRefs */
	struct str source_head;   /* all of `source` but promptOverlayPresent */
};

/* One row of subtaskDecisions, but for what grants and health decide. */
struct subtask_row {
	size_t position; /* as found; decides where all that 1.9 orders by is equal */
	size_t subtask;  /* where it stands in `subtasks` */
	size_t item;     /* where its capability stands in the subtask's; PACKAGE_NOWHERE for a malformed row */
	struct str subtask_id;
	struct str agent;
	struct str requirement_key; /* "" for none */
	struct str mcp_id;          /* the owner's; "" for none */
	struct str capability;      /* canonical under its owner */
	enum capability_class class;
	enum delivery_kind delivery;
	const struct requirement *bound; /* NULL for none */
	bool is_malformed;
	bool is_prohibited;
	const char *fault; /* a literal that says what is malformed; NULL otherwise */
	struct str head;   /* JSON members from subtaskId to deliveryKind, rendered once */
};

struct package {
	struct arena arena;
	const struct catalog *catalog;
	struct str label;                       /* redacted */
	struct str digest;                      /* "sha256:…" of the canonical document */
	const char *whole_fault;                /* not NULL: the package is blocked as a whole, and there are no rows */
	const struct requirement *requirements; /* in the order of 1.9 */
	size_t requirement_count;
	const struct subtask_row *subtasks; /* in the order of 1.9 */
	size_t subtask_count;
	size_t legacy_count; /* compatibility warnings */
	size_t bytes;        /* held, for the cache's bound */
};

struct package_options {
	/* True for `evaluate`: an envelope's promptOverlayPresent counts, and the document brings health, grants and prompt, whose
	 * types are checked. False for stored packages (1.7), whose world the daemon knows itself.
	 */
	bool believes_envelopes;
};

/* Compiles a document in either spelling of 1.2. 0 and *ret_package, owned by the caller; -ENOMEM, or -EMSGSIZE when its
 * canonical bytes are more than 64 MiB. Any thread.
 */
int package_new(const struct catalog *catalog, const json_t *document, const struct package_options *options,
	struct package **ret_package) MUST_USE;
void package_free(struct package *package);
void package_drop(struct package **package); /* for CLEANUP() */

/* Whether a requirement reads through a packet, which needs a grant: bounded reads of an MCP with a packet producer. */
bool requirement_needs_grant(const struct requirement *requirement);

/* Whether its capability at `at` is another spelling of an earlier one: people are told each capability once. */
bool requirement_repeats_capability(const struct requirement *requirement, size_t at);

const char *requirement_level_name(const struct requirement *requirement);
const char *fallback_action_name(enum fallback_action action);
const char *assignment_type_name(enum assignment_type type);

#endif
