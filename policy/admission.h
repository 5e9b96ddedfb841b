/* admission.h - the decision over one package: every surface calls this and nothing else (chapters 1.8, 1.9, 1.11).
 *
 * admit_work_package_mcp() is pure: a compiled package and what is known of the world in, a decision out. It touches no
 * JSON, file, clock or database, so for equal inputs every surface gets equal bytes. Any thread; the result lives in the
 * arena that was given and borrows from the package and the inputs.
 */
#ifndef ADMITD_POLICY_ADMISSION_H
#define ADMITD_POLICY_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "policy/grant_state.h"
#include "policy/health_row.h"
#include "policy/json_out.h"
#include "policy/package.h"

/* Raised whenever equal inputs would give other bytes (chapter 2.1). */
enum { ADMISSION_SCHEMA_VERSION = 2, ADMISSION_ENGINE_REVISION = 1 };

enum admission_status { ADMISSION_BLOCKED = 0, ADMISSION_WARNING, ADMISSION_ALLOWED };

/* In the order in which 1.9 prefers them for the primary decision. */
enum admission_mode {
	MODE_BLOCKED = 0,
	MODE_UNKNOWN_LEGACY,
	MODE_DEFERRED_LIVE_MCP,
	MODE_BOUNDED_CONTEXT_REQUIRED,
	MODE_BOUNDED_CONTEXT_APPROVED,
	MODE_PLANNING_ONLY,
};

/* The first three are in 1.9's order of preference. */
enum recovery_action {
	RECOVERY_NONE = 0,
	RECOVERY_REVISE_PLAN,
	RECOVERY_APPROVE_PROJECT_FILESYSTEM_CONTEXT,
	RECOVERY_INSTALL_OR_FIX_MCP,
	RECOVERY_DEFER_LIVE_MCP_FEATURE,
	RECOVERY_CONTINUE_AS_PROMPT_CONTEXT,
};

/* The rows of the decision table (1.8). */
enum table_row {
	ROW_0_MALFORMED = 0,
	ROW_1_MCP_UNKNOWN,
	ROW_2_CAPABILITY_UNKNOWN,
	ROW_3_PROHIBITED,
	ROW_4_DEFERRED,
	ROW_5A_GRANT_MISSING,
	ROW_5B_UNHEALTHY,
	ROW_5C_ADMITTED,
	ROW_6A_NOT_MATERIALISED,
	ROW_6B_UNHEALTHY,
	ROW_6C_MATERIALISED,
	ROW_7_EMPTY,
	ROW_8_REST,
};

struct admission_grant {
	struct str name; /* requirement key, or MCP id */
	struct grant_state state;
};

/* What is known of the world. All three arrays are sorted byte-wise by name (admission_inputs_sort() does it). */
struct admission_inputs {
	struct health_row *health; /* observed rows only, by mcp_id */
	size_t health_count;
	struct admission_grant *grants; /* by requirement key or MCP id */
	size_t grant_count;
	struct str *prompt; /* requirement keys for which the store holds an overlay */
	size_t prompt_count;
};

struct evaluation {
	const struct requirement *requirement;
	enum table_row row;
	enum admission_mode mode;
	enum admission_status status;
	enum recovery_action recovery; /* RECOVERY_NONE: none */
	struct str reason;
	struct grant_state grant; /* as looked up; shown on rows 5a-5c */
	struct health_row health; /* as looked up; unobserved where none */
	bool materialised;
};

struct subtask_decision {
	const struct subtask_row *row;
	enum admission_status status;
	enum recovery_action recovery;
	struct str reason;
};

struct admission {
	const struct package *package;
	struct evaluation *evaluations;
	size_t evaluation_count;
	struct subtask_decision *subtasks;
	size_t subtask_count;
	enum admission_status status;
	bool retryable;
	/* With a block, exactly one of these is set, unless the package is blocked as a whole. */
	const struct evaluation *primary_evaluation;
	const struct subtask_decision *primary_subtask;
	enum admission_mode primary_mode;      /* meaningful when status is ADMISSION_BLOCKED */
	enum recovery_action primary_recovery; /* the same */
};

/* The engine. 0 or -ENOMEM. */
int admit_work_package_mcp(struct arena *arena, const struct package *package, const struct admission_inputs *inputs,
	struct admission *ret_admission) MUST_USE;

/* Sorts the three arrays as the engine needs them. */
void admission_inputs_sort(struct admission_inputs *inputs);

/* Reads `health`, `grants` and `prompt` of an evaluate document (1.2). Returns 0, -ENOMEM; wrong-typed containers are the
 * package's fault and read as empty here. Pieces live in `arena` and borrow from `document`.
 */
int admission_inputs_read(struct arena *arena, const struct catalog *catalog, const json_t *document,
	struct admission_inputs *ret_inputs) MUST_USE;

/* The state a requirement is decided with: by its key; if none, by its MCP id; if none, phase none. */
struct grant_state admission_find_grant(const struct admission_inputs *inputs, const struct requirement *requirement);

/* Writes the result of 1.11. The stored form leaves out what changes without deciding (checkedAt and error text). */
void admission_write(const struct admission *admission, bool stored_form, struct json_out *out);
/* Only its `aggregate`. */
void admission_write_aggregate(const struct admission *admission, struct json_out *out);
/* `primaryDecision`, or null where there is none. */
void admission_write_primary(const struct admission *admission, struct json_out *out);
/* With a block, the members primaryMode, primaryRecoveryAction and, unless the package is blocked as a whole,
 * primaryDecision; nothing otherwise.
 */
void admission_write_primary_members(const struct admission *admission, struct json_out *out);

/* The parts of it, each one JSON value, for the projections. */
void admission_write_decision(const struct evaluation *evaluation, struct json_out *out);
void admission_write_source(const struct evaluation *evaluation, struct json_out *out);
void admission_write_evaluations(const struct admission *admission, bool stored_form, struct json_out *out);
void admission_write_subtasks(const struct admission *admission, struct json_out *out);
void admission_write_referenced_health(const struct admission *admission, bool stored_form, struct json_out *out);
/* The reasons of one status in the order of 1.9, compatibility warnings last. */
void admission_write_reasons(const struct admission *admission, enum admission_status status, struct json_out *out);
/* The primary decision's reason, or that of the whole package; absent when nothing is blocked. Borrowed. */
struct str admission_blocked_reason(const struct admission *admission);

const char *admission_status_name(enum admission_status status);
const char *admission_mode_name(enum admission_mode mode);
const char *recovery_action_name(enum recovery_action action); /* NULL for none */

#endif
