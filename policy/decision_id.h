/* decision_id.h - the identity of a decision is its inputs (chapter 2.1).
 *
 * The canonical inputs name contract version, engine revision, catalog digest, package digest, and of health, grants and
 * prompt evidence what the package refers to. Their SHA-256 is the decision's id. What a surface saw is compared by
 * comparing two such records. Pure, any thread.
 */
#ifndef ADMITD_POLICY_DECISION_ID_H
#define ADMITD_POLICY_DECISION_ID_H

#include <jansson.h>

#include "policy/admission.h"
#include "policy/buf.h"
#include "policy/json_out.h"

enum { DIGEST_TEXT_SIZE = 7 + 64 + 1 }; /* "sha256:" + hex + NUL */

/* "sha256:<hex>" of bytes. */
void digest_text(struct str bytes, char ret_text[static DIGEST_TEXT_SIZE]);

/* Appends the canonical inputs of a decision to `out` (an object, members sorted byte-wise). `admission` is the decision
 * that was made; it holds everything the engine looked up.
 */
void decision_inputs_write(const struct admission *admission, struct json_out *out);

/* Writes `changedInputs` of chapter 4.2, an array of {path, before, after}, for two records of canonical inputs; an empty one when
 * they are equal. A grant whose phase, source, mode, reason or record changed is one change that shows {phase, source?, grantMode?, grantApprovalId?,
 * revocationReason?}; otherwise each changed member is one.
 */
void decision_inputs_diff(const json_t *before, const json_t *after, struct json_out *out);

#endif
