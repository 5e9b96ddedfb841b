/* toml_read.h - reads TOML 1.0, as Codex's config.toml is written in (issue of what people have already; chapter 5.7).
 *
 * All of the grammar is read and a text that breaks it is refused, so that what is taken over is what the client itself would see:
 * tables defined twice, keys given twice and inline tables that are extended are faults. Values become JSON's. Dates, times, inf and nan,
 * which JSON hasn't, become null. Integers over 64 bits are refused.
 *
 * A fault has a place and never a piece of the text, which may be a secret. May use policy only. Any thread.
 */
#ifndef ADMITD_AGENTS_TOML_READ_H
#define ADMITD_AGENTS_TOML_READ_H

#include <jansson.h>

#include "policy/arena.h"

enum { TOML_READ_DEPTH_LIMIT = 64, TOML_READ_BYTES_LIMIT = 1024 * 1024, TOML_READ_TABLES_LIMIT = 4096 };

enum toml_read_result { TOML_READ_REFUSED = 1 };

struct toml_read_fault {
	const char *words; /* "this isn't TOML" */
	size_t line;       /* from 1 */
	size_t column;     /* from 1, in bytes */
};

/* 0 and *ret, an object, owned by the caller; TOML_READ_REFUSED and *ret_fault; -ENOMEM. */
int toml_read(struct str text, json_t **ret, struct toml_read_fault *ret_fault) MUST_USE;

#endif
