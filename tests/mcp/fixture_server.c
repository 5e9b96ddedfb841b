/* MCP over HTTP with the tools that the official conformance suite asks a server for, and without tokens: the suite can send none.
 *
 * The front and the dispatcher are the daemon's own; only the table is another. Prints `port N` and serves until standard input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/mcp_front.h"
#include "daemon/http/server.h"
#include "daemon/jobs.h"
#include "policy/check.h"
#include "policy/json_parse.h"

enum { BODY_MAX = MCP_MESSAGE_BYTES_MAX };

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"
#define ANY_OBJECT "{\"type\":\"object\"}"

static int answer_text(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	(void)call;
	(void)ret_refusal;
	buf_puts(ret_answer, "{\"text\":\"This is a simple text response for testing.\"}");
	return 0;
}

static int refuse(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	(void)call;
	(void)ret_answer;
	mcp_refuse(ret_refusal, "always", "This tool intentionally returns an error for testing");
	return MCP_TOOL_REFUSED;
}

#define TOOL(tool_name, answers, capability)                                                                  \
	{                                                                                                     \
		.name = (tool_name), .title = (tool_name), .description = "A tool of the conformance suite.", \
		.input_schema = NO_ARGUMENTS, .output_schema = ANY_OBJECT, .needs_client = (capability),      \
		.run = (answers)                                                                              \
	}

static const struct mcp_tool tools[] = {
	TOOL("test_simple_text", answer_text, NULL),
	TOOL("test_error_handling", refuse, NULL),
	TOOL("test_missing_capability", answer_text, "sampling"),
	TOOL("test_streaming_elicitation", answer_text, NULL),
	TOOL("test_logging_tool", answer_text, NULL),
};

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

static int post(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return mcp_front_post(ctx, NULL, request, reply);
}

static int end(void *ctx, struct http_request *request, struct http_reply *reply)
{
	return mcp_front_delete(ctx, request, reply);
}

static const struct http_route rows[] = {
	{HTTP_POST, "/mcp", 0, HTTP_NEEDS_BODY | HTTP_ANY_TYPE | HTTP_WRITES | HTTP_NO_AUTH, BODY_MAX, post},
	{HTTP_DELETE, "/mcp", 0, HTTP_NO_AUTH, 0, end},
};

static int find_nobody(
	void *ctx, struct arena *arena, const unsigned char hash[AUTH_HASH_SIZE], struct auth_token *ret_token)
{
	(void)ctx;
	(void)arena;
	(void)hash;
	(void)ret_token;
	return AUTH_ABSENT;
}

int main(void)
{
	static const struct http_routes routes = {rows, sizeof(rows) / sizeof(rows[0])};
	const struct mcp_tool *table[TOOLS];
	struct mcp_front front = {0};
	struct http_config config = {.routes = &routes, .routes_count = 1, .find_token = find_nobody, .ctx = &front};
	struct http_server *server = NULL;
	struct jobs *jobs = NULL;
	char byte;

	json_parse_guard();
	for (size_t i = 0; i < TOOLS; i++)
		table[i] = &tools[i];
	CHECK(jobs_new(2, 64, &jobs) == 0);
	CHECK(mcp_front_init(&front,
		      &(struct mcp_config){.version = "0",
			      .instructions = "Tools of the conformance suite.",
			      .tools = table,
			      .tool_count = TOOLS,
			      .is_for_all = true},
		      jobs) == 0);
	CHECK(http_server_start(&config, &server) == 0);
	(void)printf("port %u\n", http_server_port(server));
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	http_server_quiesce(server);
	jobs_stop(jobs);
	http_server_stop(server);
	jobs_free(jobs);
	mcp_front_release(&front);
	return EXIT_SUCCESS;
}
