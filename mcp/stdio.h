/* stdio.h - MCP over two descriptors: one JSON object a line, answers in the order of the requests (chapter 5.5).
 *
 * One message is taken, answered, and the answer written before the next is read, so that a client which stops reading stops being
 * served, and memory is bounded by one message and one answer. One thread.
 */
#ifndef ADMITD_MCP_STDIO_H
#define ADMITD_MCP_STDIO_H

#include "mcp/mcp.h"

struct mcp_stdio {
	const struct mcp *mcp;
	void *context; /* of the tools */
	int in;
	int out;
	size_t answer_max; /* bytes */
	/* Called about every `idle_ms` while nothing comes; NULL: never. */
	void (*idle)(void *context);
	int idle_ms;
};

enum mcp_stdio_result {
	MCP_STDIO_TOO_LONG = 1, /* a line over MCP_MESSAGE_BYTES_MAX was answered, and nothing is read behind it */
	MCP_STDIO_DEAF,         /* nobody reads the answers any more */
};

/* Serves until the input ends: 0, a result, or -errno. */
int mcp_stdio_serve(const struct mcp_stdio *stdio) MUST_USE;

#endif
