/* trace_source.h - inside policy only: where in a document what was decided is written (chapters 1.2 and 1.7).
 *
 * A compiled package keeps no JSON; it knows the positions of entries and subtasks. Pointers are RFC 6901. Pure, any thread.
 */
#ifndef ADMITD_POLICY_TRACE_SOURCE_H
#define ADMITD_POLICY_TRACE_SOURCE_H

#include <jansson.h>

#include "policy/package.h"

struct trace_place {
	const json_t *value; /* NULL: nowhere */
	char pointer[96];
};

/* An entry or a subtask by its position, in whichever spelling of 1.2 the document has. */
struct trace_place trace_source_entry(const json_t *document, size_t position);
struct trace_place trace_source_subtask(const json_t *document, size_t position);

/* Where an entry asks for a capability for the first time. Nowhere when memory is out. */
struct trace_place trace_source_capability(
	struct arena *arena, const struct trace_place *entry, const struct capability *capability);
/* A subtask's declared capability. */
struct trace_place trace_source_declared(const struct trace_place *subtask, size_t item);

#endif
