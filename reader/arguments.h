/* arguments.h - what a tool takes: a closed object of a few members with exact limits, read by a table (chapters 5.2, 5.3).
 *
 * The table is the one place where limits are. Tools that came over MCP were held against their schema before, which a test compares with the
 * table; whoever calls a tool otherwise is checked by this alone. Nothing of the machine is touched here. Pure functions; any thread.
 */
#ifndef ADMITD_READER_ARGUMENTS_H
#define ADMITD_READER_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/arena.h"

enum arguments_type {
	ARGUMENTS_BOOL = 0,
	ARGUMENTS_INTEGER, /* between `least` and `most` */
	ARGUMENTS_TEXT,    /* so many bytes */
	ARGUMENTS_NAMES, /* texts, at least so many and at most so many different ones, each once; shown names are read back */
};

struct arguments_rule {
	const char *name;
	enum arguments_type type;
	bool is_required;
	int64_t least;
	int64_t most;
	int64_t usual; /* of an integer or bool that isn't given */
};

struct arguments_names {
	struct str *items;
	size_t count;
};

/* One value for each rule; which member is meant is told by the rule's type. */
struct arguments_value {
	bool is_given;
	int64_t number; /* a bool is 0 or 1 */
	struct str text;
	struct arguments_names names;
};

enum { ARGUMENTS_FAULT_MAX = 160 };

enum arguments_result { ARGUMENTS_REFUSED = 1 };

/* Reads `object` into one value a rule, in their order; what is borrowed from it must outlive them. 0; ARGUMENTS_REFUSED and a sentence
 * that names the member and quotes no value; or -ENOMEM. */
int arguments_read(struct arena *arena, const struct arguments_rule *rules, size_t count, const json_t *object,
	struct arguments_value *ret_values, char ret_fault[static ARGUMENTS_FAULT_MAX]) MUST_USE;

/* Keeps the first of names that are the same, in their order. 0 or -ENOMEM. */
int arguments_unique(struct arena *arena, struct arguments_names *names) MUST_USE;

#endif
