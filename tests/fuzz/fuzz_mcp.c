/* Any bytes as a message of MCP, with and without a session and headers: one JSON object on one line, or silence; twice the same. */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "mcp/mcp.h"
#include "policy/check.h"
#include "policy/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANSWER_MAX = 1024 * 1024 };

static int echo(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	CHECK(json_is_object(call->arguments));
	if (json_object_get(call->arguments, "refuse") != NULL) {
		mcp_refuse(ret_refusal, "asked", "%s", json_string_value(json_object_get(call->arguments, "refuse")));
		return MCP_TOOL_REFUSED;
	}
	buf_puts(ret_answer, "{\"a\":\"\xc3\xa9\\n\"}");
	return 0;
}

static const struct mcp_tool tool = {
	.name = "echo",
	.title = "Echo",
	.description = "Answers.",
	.input_schema = "{\"type\":\"object\",\"properties\":{\"refuse\":{\"type\":\"string\",\"minLength\":1,"
			"\"maxLength\":9},\"n\":{\"type\":"
			"\"integer\",\"minimum\":0,\"maximum\":9},\"list\":{\"type\":\"array\",\"items\":{\"type\":"
			"\"boolean\"},\"maxItems\":3},"
			"\"word\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}},\"additionalProperties\":false}",
	.output_schema = "{\"type\":\"object\"}",
	.run = echo,
};

static const struct mcp *server(void)
{
	static const struct mcp_tool *const tools[] = {&tool};
	static struct mcp *made;
	const struct mcp_config config = {.version = "1", .instructions = "Nothing.", .tools = tools, .tool_count = 1};

	if (made == NULL)
		CHECK(mcp_new(&config, &made) == 0);
	return made;
}

/* One answer. False: silence. */
static bool answer(const struct mcp_message *message, struct buf *ret_answer)
{
	CLEANUP(mcp_call_release) struct mcp_call call = {0};
	int r = mcp_take(server(), message, &call, ret_answer);

	if (r == 0)
		r = mcp_run(server(), &call, NULL, ret_answer);
	CHECK(r == 0 || r == MCP_ANSWERED || r == MCP_SILENT);
	CHECK(call.status == 200 || call.status == 202 || call.status == 400 || call.status == 404);
	CHECK((r == MCP_SILENT) == (ret_answer->len == 0));
	return r != MCP_SILENT;
}

static void look(const struct mcp_message *message)
{
	CLEANUP(buf_release) struct buf once = {0};
	CLEANUP(buf_release) struct buf twice = {0};
	CLEANUP(json_drop) json_t *json = NULL;

	buf_init(&once, ANSWER_MAX);
	buf_init(&twice, ANSWER_MAX);
	if (!answer(message, &once))
		return;
	CHECK(answer(message, &twice) && str_equal(buf_str(&once), buf_str(&twice)));
	CHECK(memchr(once.bytes, '\n', once.len) == NULL);
	json = json_loadb(once.bytes, once.len, JSON_REJECT_DUPLICATES, NULL);
	CHECK(json_is_string(json_object_get(json, "jsonrpc")) && json_object_get(json, "id") != NULL);
	CHECK((json_object_get(json, "result") != NULL) != (json_object_get(json, "error") != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = {(const char *)data, size};

	look(&(struct mcp_message){.text = text});
	look(&(struct mcp_message){.text = text, .session = MCP_SESSION_OPEN});
	look(&(struct mcp_message){.text = text, .session = MCP_SESSION_UNKNOWN, .has_headers = true});
	/* What follows the last line feed is a header too. */
	for (size_t at = size; at > 0; at--) {
		if (data[at - 1] != '\n')
			continue;
		look(&(struct mcp_message){.text = {text.bytes, at},
			.has_headers = true,
			.version_header = STR("2026-07-28"),
			.method_header = STR("tools/call"),
			.name_header = {text.bytes + at, size - at}});
		break;
	}
	return 0;
}
