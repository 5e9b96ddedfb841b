/* register_edit.h - inside register: what our part of the two files is, and the text of a file with it or without it (chapter 5.8).
 *
 * register.c calls these with the files read and checked as JSON. May use policy only.
 */
#ifndef ADMITD_AGENTS_REGISTER_EDIT_H
#define ADMITD_AGENTS_REGISTER_EDIT_H

#include "agents/register.h"

/* Fills job->fault and gives REGISTER_REFUSED. `file` NULL: the root. */
int register_refuse(struct register_job *job, enum register_code code, const struct register_file *file,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether the members that we keep, where they are, have their types. 0 or REGISTER_REFUSED. */
int register_edit_check_mcp(struct register_job *job) MUST_USE;
int register_edit_check_settings(struct register_job *job) MUST_USE;

/* What the file shall be. 0; REGISTER_REFUSED for an entry that differs; -ENOMEM. */
int register_edit_mcp(struct register_job *job) MUST_USE;
int register_edit_settings(struct register_job *job) MUST_USE;

#endif
