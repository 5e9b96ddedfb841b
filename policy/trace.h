/* trace.h - why a decision is what it is, row by row and capability by capability (chapters 1.5, 1.8, 1.9; 4.2 "decisions").
 *
 * A view of one decision and the document it was made of, for people. It walks the decision table by predicates of its own, one a row,
 * so that the tests can hold it against the engine: the first row that is met is the row of the decision. Pure, any thread.
 */
#ifndef ADMITD_POLICY_TRACE_H
#define ADMITD_POLICY_TRACE_H

#include <jansson.h>

#include "policy/admission.h"

/* The first row of 1.8 that is met, found by the trace itself. */
enum table_row trace_row(const struct evaluation *evaluation);

/* "0" … "5a" … "8", 1.8's "when" in plain words, and the row as a question: "approved, unused, covering?". */
const char *trace_row_name(enum table_row row);
const char *trace_row_when(enum table_row row);
const char *trace_row_asks(enum table_row row);
/* What is answered: "yes", "no", or "doesn't apply" where it isn't met because there is nothing to ask. */
const char *trace_row_answer(const struct evaluation *evaluation, enum table_row row);

/* One object: a decision's sign, tone and headline, and as `detail` the engine's reason. 0 or -ENOMEM. */
int trace_write_words(struct arena *arena, const struct admission *admission, struct json_out *out) MUST_USE;

/* By catalog index: the key of the requirement that prohibits a capability for the whole package, absent for none; of several the
 * first in the document. NULL when memory is out.
 */
const struct str *trace_prohibitions(struct arena *arena, const struct package *package, const json_t *document);

/* Writes the members `words`, `rule`, `requirements` and `subtasks` into an open object. All that is said in words is made here and now:
 * no part of it is in the decision's bytes.
 *  words         {sign, tone, headline, detail}: "Blocked by row 5a: it reads project files, and access doesn't cover them."
 *  rule          {row, when, because, requirementKey?, subtaskId?} of what decided the whole: the primary decision; without a
 *                block the first warning, else the first requirement; null where there is none. `row` is null but for requirements.
 *  requirements  [{requirementKey, agent, mcpId, level, goesOnWithout, pointer, status, operatorState, rule {row, when},
 *                trace [{row, met, asks, answer, because}], capabilities}]
 *  capabilities  [{asWritten, pointer, capability, class, deliveryKind, rule, because, coveredBy, prohibitedBy, nearest, classWords,
 *                reaches, coverage, verdict {sign, tone, headline}}]
 *  subtasks      one a row: the same as a capability, and subtaskId, agent, requirementKey, mcpId, status, operatorState, when
 * Pointers go into `document`; `rule` of a capability is that of 1.5. 0 or -ENOMEM; what `out` keeps is asked for by the caller.
 */
int trace_write(
	struct arena *arena, const struct admission *admission, const json_t *document, struct json_out *out) MUST_USE;

#endif
