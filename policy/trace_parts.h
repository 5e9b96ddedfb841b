/* trace_parts.h - inside policy only: what the files of the trace share (trace.h). */
#ifndef ADMITD_POLICY_TRACE_PARTS_H
#define ADMITD_POLICY_TRACE_PARTS_H

#include "policy/trace.h"
#include "policy/words.h"

/* What a row looks for among a requirement's capabilities. */
enum trace_sort { TRACE_UNKNOWN = 0, TRACE_PROHIBITED, TRACE_DEFERRED, TRACE_BOUNDED, TRACE_UNCOVERED };

bool trace_is_of(const struct evaluation *evaluation, const struct capability *capability, enum trace_sort sort);
bool trace_reads_packets(const struct evaluation *evaluation);
bool trace_row_is_met(const struct evaluation *evaluation, enum table_row row);

/* Why a row is met or isn't, in words. `prohibitions` as trace_prohibitions() gives them. Bytes NULL when memory is out. */
struct str trace_because(struct arena *arena, const struct evaluation *evaluation, enum table_row row,
	const struct str *prohibitions) MUST_USE;

/* What became of a grant, behind "revoked, " and "none: ": "access removed". "" for a state that says nothing of it. */
const char *trace_grant_words(const struct grant_state *state);

/* ---- trace_words.c: what a decision says to people */

/* The state of a requirement, and of a subtask's row: that of the requirement which it waits for, where it waits for one. 0 or -ENOMEM. */
struct trace_state {
	enum operator_key key;
	struct words words;
};
int trace_state_of(struct arena *arena, const struct admission *admission, const struct evaluation *evaluation,
	struct trace_state *ret) MUST_USE;
int trace_state_of_subtask(struct arena *arena, const struct admission *admission,
	const struct subtask_decision *decision, struct trace_state *ret) MUST_USE;

const char *trace_class_words(enum capability_class class);
/* How it reaches the agent: "read-only files", "text in its prompt", "live tool", "nothing". */
const char *trace_reaches(enum capability_class class, enum delivery_kind delivery);
/* What covers it: "access to the project", "none: access removed"; "needs none". `evaluation` may be NULL. */
struct str trace_coverage(
	struct arena *arena, const struct evaluation *evaluation, const struct catalog_capability *known) MUST_USE;

/* One capability's own part in what became of its requirement: sign, tone, headline. */
struct trace_verdict {
	const char *sign;
	const char *tone;
	struct str headline;
};
struct trace_verdict trace_verdict_of(
	const struct evaluation *evaluation, const struct capability *capability, const struct trace_state *state);
struct trace_verdict trace_verdict_of_subtask(const struct subtask_decision *decision, const struct trace_state *state);

/* Which row of 1.9's table decides a subtask row: its "when"; a literal. */
const char *trace_subtask_when(const struct subtask_row *row);

#endif
