/* import_entry.h - inside import: one entry of a client's file becomes a spec, and its risks are told.
 *
 * May use policy only. Memory that runs out is seen at the end, in the arena.
 */
#ifndef ADMITD_AGENTS_IMPORT_ENTRY_H
#define ADMITD_AGENTS_IMPORT_ENTRY_H

#include "agents/import.h"

/* Fills *server from the entry `value` of that name; 0 or -ENOMEM. An entry that can't be one is refused in its lines. */
int import_entry_read(
	struct import *import, struct str name, const json_t *value, struct import_server *server) MUST_USE;

/* A line of its own; beyond IMPORT_LINES_LIMIT nothing more is told. */
void import_tell(struct import *import, struct import_server *server, enum import_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A text of the file for a person: redacted and cut. Never NULL. */
const char *import_shown(struct import *import, struct str text);

/* The risks of a spec that was taken: import_risk.c. */
void import_risk_tell(struct import *import, struct import_server *server);

#endif
