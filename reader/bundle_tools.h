/* bundle_tools.h - the four tools on knowledge bundles: okf_list, okf_describe, okf_ask, okf_fetch (chapter 5.4).
 *
 * Each takes a JSON object and writes one JSON object; the MCP table and `admitctl bundle` show the same bytes. In bundle mode there
 * is one bundle and no tool takes its id; in root mode okf_fetch needs one, and the others are over all bundles without it. Whatever
 * a tool answers is read from the disk during the call: nothing is kept for the next. Lists in answers are bounded and come with
 * their whole count; a bound that cut what was looked at is named in `bounds`.
 *
 * Nothing here writes, logs or connects. One call is one thread's; calls may run at once.
 */
#ifndef ADMITD_READER_BUNDLE_TOOLS_H
#define ADMITD_READER_BUNDLE_TOOLS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/buf.h"
#include "reader/bundle_find.h"
#include "reader/tools.h"

enum {
	BUNDLE_QUESTION_BYTES = 4096,
	BUNDLE_ID_BYTES = 4096, /* of a bundle or concept, as it is shown */
	BUNDLE_ASK_LIMIT = 50,
	BUNDLE_ASK_USUAL = 10,
	BUNDLE_ANSWER_BYTES = 64 * 1024 * 1024, /* what the buffer of a call should hold */
};

struct bundle_service {
	struct bundle_place place;
	size_t concept_bytes; /* of one concept: up to BUNDLE_CONCEPT_BYTES_LIMIT; 0: BUNDLE_CONCEPT_BYTES */
	int64_t today_s;      /* the time that staleness is told by, UTC; 0: the clock's */
};

struct bundle_tool {
	const char *name;
	const char *title;
	const char *description;
	const char *input_schema;  /* JSON */
	const char *output_schema; /* JSON, an object's */
	/* 0 and one object in `answer`, which begins empty; TOOLS_REFUSED and *ret_refusal; or -errno. */
	int (*run)(const struct bundle_service *service, const json_t *arguments, struct buf *answer,
		struct tools_refusal *ret_refusal);
};

enum { BUNDLE_TOOLS = 4 };
/* The tools of a mode, in this order: list, describe, ask, fetch. Static. */
const struct bundle_tool *bundle_tools(bool is_bundle);

#endif
