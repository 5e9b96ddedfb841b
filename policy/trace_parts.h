/* trace_parts.h - inside policy only: what the files of the trace share (trace.h). */
#ifndef ADMITD_POLICY_TRACE_PARTS_H
#define ADMITD_POLICY_TRACE_PARTS_H

#include "policy/trace.h"

/* What a row looks for among a requirement's capabilities. */
enum trace_sort { TRACE_UNKNOWN = 0, TRACE_PROHIBITED, TRACE_DEFERRED, TRACE_BOUNDED, TRACE_UNCOVERED };

bool trace_is_of(const struct evaluation *evaluation, const struct capability *capability, enum trace_sort sort);
bool trace_reads_packets(const struct evaluation *evaluation);
bool trace_row_is_met(const struct evaluation *evaluation, enum table_row row);

/* Why a row is met or isn't, in words. `prohibitions` as trace_prohibitions() gives them. Bytes NULL when memory is out. */
struct str trace_because(struct arena *arena, const struct evaluation *evaluation, enum table_row row,
	const struct str *prohibitions) MUST_USE;

/* Which row of 1.9's table decides a subtask row: its "when"; a literal. */
const char *trace_subtask_when(const struct subtask_row *row);

#endif
