/* schema.h - holds the arguments of a call against the schema that tools/list shows for them (chapter 5.5).
 *
 * Of JSON Schema it knows what our tables use: `type` (a word), `properties`, `required`, `additionalProperties` false, `items`, `enum`
 * of texts, `minimum`, `maximum`, `minLength`, `maxLength` (code points), `minItems`, `maxItems`. Anything else is a mistake of ours and
 * CHECKed by mcp_schema_is_known(). Some clients pass schemas to services that refuse `oneOf` and its like at the top, so there is
 * none: a tool refuses by itself what only several members together tell. Pure functions; any thread.
 */
#ifndef ADMITD_MCP_SCHEMA_H
#define ADMITD_MCP_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

enum { MCP_SCHEMA_FAULT_MAX = 256 };

enum mcp_schema_result {
	MCP_SCHEMA_TYPE = 1, /* another type, an unknown member, or a missing one: -32602 */
	MCP_SCHEMA_VALUE,    /* the right type and a value out of its bounds: a refusal */
};

/* Whether a schema says nothing that isn't understood here. */
bool mcp_schema_is_known(const json_t *schema);

/* 0, or a result with what is wrong in words of ours that name the member and never quote a value. Types are looked at first, everywhere. */
int mcp_schema_check(const json_t *schema, const json_t *value, char ret_fault[static MCP_SCHEMA_FAULT_MAX]) MUST_USE;

#endif
