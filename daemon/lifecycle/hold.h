/* hold.h - why a package waits, in full, and what a person may do about it (chapters 2.2, 2.6, 4.2, 7.4).
 *
 * Plain data for answers: http writes them out and adds only `href`, `allowed` and `whyNot`. Everything lives in the arena of the
 * call or view that made it. Texts are redacted.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_HOLD_H
#define ADMITD_DAEMON_LIFECYCLE_HOLD_H

#include "daemon/store/store.h"
#include "policy/projection.h"
#include "policy/words.h"

/* Absent members (0, absent str, empty arrays) don't apply. */
struct lifecycle_hold_facts {
	struct store_actor actor; /* of the grant record that decided */
	int64_t at;
	struct str reason; /* the record's */
	const struct str *left;
	size_t left_count;
	const struct str *missing;
	size_t missing_count;
	int64_t attempt; /* that used the one-time approval */
	int64_t expires_at;
	int64_t root_revision_then; /* the record's, where the root has changed since */
	struct str error;           /* of the health row */
	int64_t checked_at;         /* of the health row */
	int64_t package_revision;   /* `revisions`, as they are now */
	int64_t project_revision;
	int64_t root_revision;
};

struct lifecycle_hold {
	enum hold_kind kind;
	enum hold_arm arm;
	enum admission_mode mode;
	enum recovery_action recovery;
	struct str requirement_key; /* "" when a subtask without one decides */
	struct str subtask_id;      /* absent: a requirement decides */
	struct str mcp_id;
	struct str agent;
	struct str decision_id;
	struct str reason; /* the engine's */
	int64_t since;
	bool retryable;
	int64_t next_retry_at; /* 0 = null */
	struct lifecycle_hold_facts facts;
};

/* Writes a hold as answers show it (2.2), one JSON object. */
void lifecycle_hold_write(const struct lifecycle_hold *hold, struct json_out *out);

/* Its `facts` alone. */
void lifecycle_hold_facts_write(const struct lifecycle_hold_facts *facts, struct json_out *out);

/* `operatorState`. */
struct lifecycle_state {
	enum operator_key key; /* operator_key_name(), operator_key_tone() */
	struct words words;
};

/* One JSON object: key, tone, sign, headline, body. */
void lifecycle_state_write(const struct lifecycle_state *state, struct json_out *out);

enum lifecycle_role {
	LIFECYCLE_APPROVER = 1,
	LIFECYCLE_OPERATOR = 2,
	LIFECYCLE_EXECUTOR = 4,
};

/* Which route an action goes to; target_id is the id in it. */
enum lifecycle_target {
	LIFECYCLE_TARGET_PACKAGE_GRANTS = 0,
	LIFECYCLE_TARGET_PROJECT_GRANTS,
	LIFECYCLE_TARGET_PROJECT,      /* PUT: set the root */
	LIFECYCLE_TARGET_SERVER_CHECK, /* target_id: the project; mcp_id: the server */
	LIFECYCLE_TARGET_TASK_CHANGES,
	LIFECYCLE_TARGET_TASK_APPROVAL,
	LIFECYCLE_TARGET_TASK_REJECTION,
	LIFECYCLE_TARGET_TASK_CANCELLATION,
	LIFECYCLE_TARGET_PACKAGE_CANCELLATION,
	LIFECYCLE_TARGET_PACKAGE_RETRY,
	LIFECYCLE_TARGET_PACKAGE_REWORK,
};

/* The body's members, in this order; those that don't apply are left out. */
struct lifecycle_action_body {
	const char *decision; /* "approved", "denied", "revoked"; NULL: none */
	const struct str *capabilities;
	size_t capability_count;
	int64_t expected_revision; /* -1: none */
	int64_t root_revision;     /* -1: none */
	int64_t plan_revision;     /* -1: none */
	int64_t expires_at;        /* 0: none */
	bool replace;              /* written when true, as the next */
	bool cascade;
};

struct lifecycle_action {
	enum action_id id;
	struct str label;
	enum lifecycle_target target;
	struct str target_id;
	struct str mcp_id;
	struct lifecycle_action_body body;
	struct str undoes; /* the grant that this takes back; absent: none */
	bool takes_reason; /* `inputs` */
	bool takes_expiry;
	bool takes_root;
	unsigned roles;        /* any one of enum lifecycle_role */
	enum action_off off;   /* nobody can do it now, and why */
	struct str off_text;   /* absent: action_off_text() */
	bool is_self_approval; /* the caller is a contributor and may not (4.1): whyNot self_approval */
};

struct lifecycle_action_list {
	struct lifecycle_action *items;
	size_t count;
};

struct lifecycle_opens_line {
	const char *sign; /* NULL: none, nor a tone */
	const char *tone;
	struct str text;
};

enum { LIFECYCLE_OPENS_LINES = 2 };

/* What an approval of a held package would open: packages, itself among them, and the same in words. */
struct lifecycle_opens {
	const struct str *once;
	size_t once_count;
	const struct str *always;
	size_t always_count;
	struct lifecycle_opens_line once_lines[LIFECYCLE_OPENS_LINES]; /* the second may have no text */
	struct lifecycle_opens_line always_lines[LIFECYCLE_OPENS_LINES];
};

#endif
