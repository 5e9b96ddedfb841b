/* tool.h - one tool of the MCP table: what a client is told of it, and the function that answers (chapter 5.5).
 *
 * Every tool reads. Nothing in this room can name a function that changes anything: it includes neither the lifecycle nor the store, and
 * whoever fills the table gives it the same promise, which the annotations repeat to the client. What the schema says of the
 * arguments is checked before `run` is called, so that what is told and what is enforced are one text. Tables are constants; any thread.
 */
#ifndef ADMITD_MCP_TOOL_H
#define ADMITD_MCP_TOOL_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/buf.h"
#include "policy/check.h"

/* Clients cut descriptions and instructions here, silently. */
enum { MCP_TEXT_MAX = 2048 };

enum { MCP_CODE_MAX = 64, MCP_MESSAGE_MAX = 1024 };

/* Why a call that was understood isn't answered: what a program goes by, and what a person reads. */
struct mcp_refusal {
	char code[MCP_CODE_MAX]; /* "argument_invalid", "bundle_unknown" */
	char message[MCP_MESSAGE_MAX];
};

/* Fills a refusal; a message that is too long is cut between two characters. */
void mcp_refuse(struct mcp_refusal *refusal, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum mcp_tool_result { MCP_TOOL_REFUSED = 1 };

struct mcp_tool;

struct mcp_tool_call {
	const struct mcp_tool *tool;
	void *context;           /* the front's: a root, a request */
	const json_t *arguments; /* an object that fits the schema; borrowed */
};

/* Writes one JSON object that fits the output schema into an empty buffer. 0; MCP_TOOL_REFUSED and *ret_refusal; or -errno, an
 * internal error of ours (-EMSGSIZE: the answer is larger than the buffer may be).
 */
typedef int mcp_tool_fn(
	const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal) MUST_USE;

struct mcp_tool {
	const char *name;
	const char *title;
	const char *description;   /* under MCP_TEXT_MAX bytes */
	const char *input_schema;  /* JSON; what mcp/schema.h knows of JSON Schema */
	const char *output_schema; /* JSON; an object's */
	const char *needs_client;  /* a capability that the client must declare; NULL: none. Of the stateless era */
	bool is_quick;             /* one look into the store: a front may run it where nothing may wait */
	mcp_tool_fn *run;
};

#endif
