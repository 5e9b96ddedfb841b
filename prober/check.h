/* check.h - is this tool server well? One function a transport (chapters 2.3, 3.2 "Processes").
 *
 * They settle the finding, and may go on a little to end what they started. Blocking; one thread a check.
 */
#ifndef ADMITD_PROBER_CHECK_H
#define ADMITD_PROBER_CHECK_H

#include "prober/finding.h"

struct check {
	const struct probe_hello *allowed;
	const struct spec *spec;
	int64_t end_ms; /* deadline_now_ms() */
	struct finding *finding;
};

/* A server that is running for this check, until check_stdio_end(). */
struct check_child;

/* Starts the command, if it is allowed, and asks it. *ret_child may be NULL. */
void check_stdio(struct check *check, struct check_child **ret_child);
/* Lets it end by itself for a moment, then ends it with everything that it started. NULL is fine. */
void check_stdio_end(struct check_child *child);

void check_http(struct check *check);

#endif
