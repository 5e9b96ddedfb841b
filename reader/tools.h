/* tools.h - the tools that read a root, as the MCP table and the command line have them: path_inventory and repo_search (5.2, 5.3).
 *
 * Each takes a JSON object and writes one JSON object; over MCP and on a terminal the answer is the same bytes. What a call may cost
 * is bounded by its arguments, whose limits are here, and each bound that fires is named in the answer. One call is one thread's; calls
 * may run at once over one root. Nothing here writes, logs or connects.
 */
#ifndef ADMITD_READER_TOOLS_H
#define ADMITD_READER_TOOLS_H

#include <jansson.h>
#include <stddef.h>

#include "policy/buf.h"
#include "reader/contained.h"

enum {
	TOOLS_ANSWER_BYTES = 256 * 1024 * 1024, /* what the buffer of a call should hold */
	TOOLS_MESSAGE_BYTES = 512,
};

/* What the tools read, and what an operator may set of it. */
struct tools_scope {
	const struct contained_root *root;
	size_t search_entries; /* how many a search may walk; 0: SEARCH_ENTRIES_USUAL */
};

/* Why a call isn't answered. */
struct tools_refusal {
	const char *code;                  /* static: "argument_invalid", "target_outside", … */
	char message[TOOLS_MESSAGE_BYTES]; /* names a target as the caller wrote it, never the machine's path */
};

enum tools_result { TOOLS_REFUSED = 1 };

struct tools_tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input_schema;  /* JSON */
	const char *output_schema; /* JSON, an object's */
	/* 0 and one object in `answer`, which begins empty; TOOLS_REFUSED and *ret_refusal; or -errno (-EMSGSIZE: the answer is larger than
	 * the buffer may be). */
	int (*run)(const struct tools_scope *scope, const json_t *arguments, struct buf *answer,
		struct tools_refusal *ret_refusal);
};

enum { TOOLS_COUNT = 2 };
extern const struct tools_tool tools_table[TOOLS_COUNT];

/* Fills a refusal; a message that is too long is cut between two characters. Always TOOLS_REFUSED. */
int tools_refuse(struct tools_refusal *refusal, const char *code, const char *message);
/* The same of a target: its shown form, then what is wrong with it. `result` is a contained_result. TOOLS_REFUSED or -ENOMEM. */
int tools_refuse_target(struct tools_refusal *refusal, struct str target, int result) MUST_USE;

#endif
