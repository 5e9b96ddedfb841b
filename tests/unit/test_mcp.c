/* MCP's dispatcher where no front can lead it: answers that are too large, tools that fail, texts that are cut. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/mcp.h"
#include "mcp/schema.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum { ANSWER_MAX = 4096 };

static int fill(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	json_int_t bytes = json_integer_value(json_object_get(call->arguments, "bytes"));

	(void)ret_refusal;
	buf_puts(ret_answer, "{\"a\":\"");
	for (json_int_t i = 0; i < bytes; i++)
		buf_putc(ret_answer, 'x');
	buf_puts(ret_answer, "\"}");
	return 0;
}

static int fail_inside(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	(void)call;
	(void)ret_refusal;
	buf_puts(ret_answer, "{\"half");
	return -EIO;
}

#define TOOL(tool_name, function)                                                                                \
	{                                                                                                        \
		.name = (tool_name), .title = "T", .description = "D", .output_schema = "{\"type\":\"object\"}", \
		.run = (function),                                                                               \
		.input_schema = "{\"type\":\"object\",\"properties\":{\"bytes\":{\"type\":\"integer\"}}}"        \
	}

static const struct mcp_tool fills = TOOL("fill", fill);
static const struct mcp_tool fails = TOOL("fail", fail_inside);

static json_t *ask(const char *text)
{
	static const struct mcp_tool *const tools[] = {&fills, &fails};
	const struct mcp_config config = {.version = "1", .instructions = "I", .tools = tools, .tool_count = 2};
	const struct mcp_message message = {.text = {text, strlen(text)}, .session = MCP_SESSION_OPEN};
	CLEANUP(mcp_call_release) struct mcp_call call = {0};
	CLEANUP(mcp_drop) struct mcp *mcp = NULL;
	CLEANUP(buf_release) struct buf answer = {0};
	json_t *json = NULL;

	buf_init(&answer, ANSWER_MAX);
	assert_int_equal(mcp_new(&config, &mcp), 0);
	assert_int_equal(mcp_take(mcp, &message, &call, &answer), 0);
	assert_int_equal(mcp_run(mcp, &call, NULL, &answer), 0);
	assert_int_equal(json_parse(buf_str(&answer), &json, NULL), 0);
	return json;
}

static const char *code_of(const json_t *answer)
{
	return json_string_value(
		json_object_get(json_object_get(json_object_get(answer, "result"), "structuredContent"), "code"));
}

static void an_answer_that_is_too_large_is_refused_as_a_whole(void **state)
{
	CLEANUP(json_drop)
	json_t *fits = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"fill\","
			   "\"arguments\":{\"bytes\":1000}}}");
	/* It fits once, and not twice: as text and as structure. */
	CLEANUP(json_drop)
	json_t *twice = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"fill\","
			    "\"arguments\":{\"bytes\":3000}}}");
	CLEANUP(json_drop)
	json_t *once = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"fill\","
			   "\"arguments\":{\"bytes\":100000}}}");

	(void)state;
	assert_null(code_of(fits));
	assert_string_equal(code_of(twice), "answer_too_large");
	assert_string_equal(code_of(once), "answer_too_large");
}

static void a_tool_that_fails_is_an_internal_error_with_the_requests_id(void **state)
{
	CLEANUP(json_drop)
	json_t *answer =
		ask("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"fail\"}}");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(json_object_get(answer, "error"), "code")), MCP_INTERNAL);
	assert_string_equal(json_string_value(json_object_get(answer, "id")), "x");
}

static void a_message_is_cut_between_two_characters(void **state)
{
	char text[MCP_MESSAGE_MAX + 8];
	struct mcp_refusal refusal;

	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		memset(text, 'a', shift);
		for (size_t i = shift; i + 2 < sizeof(text); i += 2)
			memcpy(text + i, "\xc3\xa9", 3);
		mcp_refuse(&refusal, "code", "%s", text);
		assert_true(strlen(refusal.message) > MCP_MESSAGE_MAX - 8);
		assert_int_equal((strlen(refusal.message) - shift) % 2, 0);
	}
}

static void a_schema_that_says_more_than_is_checked_is_found(void **state)
{
	static const struct {
		const char *text;
		bool is_known;
	} rows[] = {
		{"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"minLength\":1}}}", true},
		{"{\"type\":\"object\",\"pattern\":\"x\"}", false},
		{"{\"type\":\"object\",\"properties\":{\"a\":{\"format\":\"date\"}}}", false},
		{"{\"type\":\"array\",\"items\":{\"oneOf\":[]}}", false},
		{"true", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP(json_drop) json_t *schema = NULL;

		assert_int_equal(json_parse((struct str){rows[i].text, strlen(rows[i].text)}, &schema, NULL), 0);
		assert_int_equal(mcp_schema_is_known(schema), rows[i].is_known);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_that_is_too_large_is_refused_as_a_whole),
		cmocka_unit_test(a_tool_that_fails_is_an_internal_error_with_the_requests_id),
		cmocka_unit_test(a_message_is_cut_between_two_characters),
		cmocka_unit_test(a_schema_that_says_more_than_is_checked_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
