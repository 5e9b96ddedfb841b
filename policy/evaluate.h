/* evaluate.h - one JSON document in, one result out: what `evaluate` does everywhere (chapters 1.2, 1.11, 4.2).
 *
 * Library, command line and HTTP route share it. Pure, any thread.
 */
#ifndef ADMITD_POLICY_EVALUATE_H
#define ADMITD_POLICY_EVALUATE_H

#include <jansson.h>

#include "policy/admission.h"
#include "policy/buf.h"
#include "policy/catalog.h"

enum { EVALUATE_RESULT_LIMIT = 64 * 1024 * 1024 };

/* Compiles, decides and appends the result of 1.11. 0, -ENOMEM, or the error of `out`. */
int evaluate_document(const struct catalog *catalog, const json_t *document, struct buf *out) MUST_USE;

/* The same with another view: `write` gets the admission. */
int evaluate_with(const struct catalog *catalog, const json_t *document,
	void (*write)(const struct admission *admission, void *arg), void *arg) MUST_USE;

#endif
