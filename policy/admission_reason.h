/* admission_reason.h - inside policy only: the sentence beside each verdict (chapter 1.11).
 *
 * Reasons are ours to word: they name the capabilities concerned and the way out, have at most 500 code points, and never quote
 * unsafe text, since what a compiled package keeps of capabilities is safe text already. Pure, any thread.
 */
#ifndef ADMITD_POLICY_ADMISSION_REASON_H
#define ADMITD_POLICY_ADMISSION_REASON_H

#include "policy/admission.h"

/* Words for an evaluation whose row, mode, status and action are set. 0 or -ENOMEM. */
int admission_reason_evaluation(
	struct arena *arena, const struct evaluation *evaluation, struct str *ret_reason) MUST_USE;

/* The same for a subtask row; `bound` is the evaluation of the requirement it is bound to, or NULL. */
int admission_reason_subtask(struct arena *arena, const struct subtask_decision *decision,
	const struct evaluation *bound, struct str *ret_reason) MUST_USE;

#endif
