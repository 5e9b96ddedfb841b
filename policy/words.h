/* words.h - what people read: headline, body, button labels (chapters 1.12 and 7.4).
 *
 * One table for API, console, command line and MCP. The words come from facts that the caller gives; every fact is
 * redacted already. Pure, any thread.
 */
#ifndef ADMITD_POLICY_WORDS_H
#define ADMITD_POLICY_WORDS_H

#include "policy/arena.h"
#include "policy/health_row.h"
#include "policy/projection.h"

/* Facts that a body may name; absent ones are worded around. */
struct words_facts {
	struct str package; /* label */
	struct str project;
	struct str capabilities; /* as a phrase: "a, b" */
	struct str who;          /* principal of the record that decided */
	struct str when;         /* a time for people, e.g. "09:04" */
	struct str reason;       /* the record's, or the engine's for a plan change */
	struct str until;        /* end of an approval */
	struct str left;         /* capabilities still allowed */
	struct str missing;      /* capabilities not covered */
	struct str server;       /* display name of the tool server */
	struct str error;
	struct str age;        /* of the health row, for people */
	struct str next_check; /* until the next one, for people */
	enum health_status health;
	enum health_install_state install_state;
	bool observed;
	bool is_switched_off;       /* the server has a row and isn't enabled */
	int attempt;                /* that used a one-time approval; 0 = unknown */
	int64_t root_revision_then; /* of the decision; -1 unknown */
	int64_t root_revision_now;
	bool is_project_grant; /* context_approved: for the project, not once */
	bool goes_on_without;  /* optional: the package goes on without it */
};

struct words {
	struct str headline;
	struct str body;
	const char *sign; /* 7.4's sign, in words, for accessible icons */
};

/* 0 or -ENOMEM; pieces live in `arena`. `arm` matters for OPERATOR_NEEDS_PROJECT_CONTEXT only. */
int words_state(struct arena *arena, enum operator_key key, enum hold_arm arm, const struct words_facts *facts,
	struct words *ret_words) MUST_USE;

/* `operatorState` as every answer has it: {key, tone, sign, headline, body}. */
void words_state_write(enum operator_key key, const struct words *words, struct json_out *out);

enum action_id {
	ACTION_APPROVE_ONCE = 0,
	ACTION_APPROVE_ALWAYS,
	ACTION_DENY,
	ACTION_SET_ROOT,
	ACTION_CHECK_SERVER,
	ACTION_REQUEST_CHANGES,
	ACTION_CANCEL_PACKAGE,
	ACTION_APPROVE_PLAN,
	ACTION_REJECT,
	ACTION_RETRY,
	ACTION_CANCEL_TASK,
	ACTION_REWORK,
	ACTION_TAKE_BACK,
	ACTION_REMOVE_ACCESS,
	ACTION_NARROW,
};

const char *action_id_name(enum action_id action);

/* Why an action that stays can't be done now, by anybody. */
enum action_off {
	ACTION_OFF_NOT = 0, /* it can */
	ACTION_OFF_NO_ACCESS,
	ACTION_OFF_NOTHING_ASKED,
	ACTION_OFF_NO_ROOT,
	ACTION_OFF_RUN_ACTIVE,
	ACTION_OFF_REPORTED,
	ACTION_OFF_USED_UP, /* its sentence names the attempt: words_used_up() */
	ACTION_OFF_COUNT
};

/* The wire word, and a sentence. Not for ACTION_OFF_NOT. */
const char *action_off_name(enum action_off off);
const char *action_off_text(enum action_off off);
/* The same for a one-time approval that this attempt used. 0 or -ENOMEM. */
int words_used_up(struct arena *arena, int64_t attempt, struct str *ret) MUST_USE;
/* What is said of a package or plan whose record is damaged. */
struct str words_unreadable(void);
/* The button's label, e.g. "Approve once more…" for used_up. 0 or -ENOMEM. */
int words_action_label(struct arena *arena, enum action_id action, enum hold_arm arm, struct str project,
	struct str *ret_label) MUST_USE;

#endif
