/* projection.h - views over one whole result that never decide again (chapters 1.11 and 1.12).
 *
 * Pure, any thread.
 */
#ifndef ADMITD_POLICY_PROJECTION_H
#define ADMITD_POLICY_PROJECTION_H

#include "policy/admission.h"
#include "policy/json_out.h"

/* Chapter 2.2. The zero value is the one that only a person can free. */
enum hold_kind { HOLD_NEEDS_PLAN_CHANGE = 0, HOLD_NEEDS_GRANT, HOLD_NEEDS_SETUP };

/* Chapter 2.2; ARM_NONE for holds of another kind. */
enum hold_arm {
	ARM_NONE = 0,
	ARM_NEVER_APPROVED,
	ARM_DENIED,
	ARM_USED_UP,
	ARM_INSUFFICIENT,
	ARM_REMOVED,
	ARM_NARROWED,
	ARM_ROOT_CHANGED,
	ARM_EXPIRED,
	ARM_TAKEN_BACK,
	ARM_NO_ROOT,
};

/* The origin of a package's hold (2.2): a blocked requirement, or a blocked subtask. */
struct hold_origin {
	enum hold_kind kind;
	enum hold_arm arm;
	const struct evaluation *evaluation;    /* set, or */
	const struct subtask_decision *subtask; /* this one */
	enum admission_mode mode;
	enum recovery_action recovery;
	bool retryable; /* every origin is install_or_fix_mcp */
};

/* True when the engine blocks the package, with its origin; `has_root` false puts arm no_root before all. */
bool projection_hold_origin(const struct admission *admission, bool has_root, struct hold_origin *ret_origin);

enum hold_arm projection_arm(const struct grant_state *state);

/* 1.12's keys. The zero value: nothing is assumed of it. */
enum operator_key {
	OPERATOR_RECOMPUTE = 0,
	OPERATOR_PLANNING_CONTEXT,
	OPERATOR_NEEDS_PROJECT_CONTEXT,
	OPERATOR_MCP_NEEDS_SETUP,
	OPERATOR_DEFERRED_BOUNDARY,
	OPERATOR_CONTEXT_APPROVED,
	OPERATOR_PLAN_NEEDS_CHANGES,
};

/* From mode, status and action alone (1.12). */
enum operator_key projection_operator_key(
	enum admission_mode mode, enum admission_status status, enum recovery_action recovery);

/* The package's state: its hold's origin, else its first warning evaluation, else its first; *ret_evaluation is what it came
 * from (NULL: from a subtask or none).
 */
enum operator_key projection_package_key(
	const struct admission *admission, bool has_root, const struct evaluation **ret_evaluation);

/* The five projections of 1.11, each one JSON value. */
void projection_write_validation(const struct admission *admission, struct json_out *out);
void projection_write_grant_preview(const struct admission *admission, struct json_out *out);
void projection_write_broker_check(const struct admission *admission, struct json_out *out);
void projection_write_filesystem_gate(const struct admission *admission, bool has_root, struct json_out *out);
void projection_write_operator_state(const struct admission *admission, bool has_root, struct json_out *out);

const char *hold_kind_name(enum hold_kind kind);
const char *hold_arm_name(enum hold_arm arm); /* NULL for none */
bool hold_arm_find(struct str name, enum hold_arm *ret_arm);
bool hold_kind_find(struct str name, enum hold_kind *ret_kind);
const char *operator_key_name(enum operator_key key);
const char *operator_key_tone(enum operator_key key);

#endif
