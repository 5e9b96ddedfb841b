#include "cli/mcp_daemon.h"

#include <errno.h>
#include <stdio.h>

#include "cli/document.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

enum { REQUEST_CEILING = 8 * 1024 * 1024 };

#define MODERN "2026-07-28"

int mcp_daemon_open(struct mcp_daemon *daemon, struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const struct client_request session = {.method = "GET", .path = "/v1/session", .is_once = true};
	int result = cli_open_client(cli, &daemon->client);

	if (result != 0)
		return result;
	result = client_call(daemon->client, &session, &reply);
	if (result == 0 && reply.status == 200)
		return 0;
	if (result < 0)
		cli_say("the daemon: out of memory");
	else if (result != 0)
		cli_say("the daemon: %s", client_error(daemon->client));
	else
		cli_say("the daemon: %s (%s)", document_text_or_empty(reply.json, "title"),
			document_text_or_empty(reply.json, "code"));
	mcp_daemon_close(daemon);
	return CLI_UNREACHABLE;
}

void mcp_daemon_close(struct mcp_daemon *daemon)
{
	client_close(daemon->client);
	daemon->client = NULL;
}

void mcp_daemon_stay(struct mcp_daemon *daemon)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const struct client_request alive = {.method = "GET", .path = "/healthz", .is_once = true};

	if (daemon->client == NULL || daemon->is_gone)
		return;
	daemon->is_gone = client_call(daemon->client, &alive, &reply) != 0;
}

/* ---- a call, passed on */

static void write_request(const struct mcp_tool_call *call, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "jsonrpc", "2.0");
	json_out_member_int(out, "id", 1);
	json_out_member_text(out, "method", "tools/call");
	json_out_key(out, "params");
	json_out_begin_object(out);
	json_out_member_text(out, "name", call->tool->name);
	json_out_key(out, "arguments");
	json_out_canonical(out, call->arguments);
	json_out_key(out, "_meta");
	json_out_begin_object(out);
	json_out_member_text(out, "io.modelcontextprotocol/protocolVersion", MODERN);
	json_out_key(out, "io.modelcontextprotocol/clientCapabilities");
	json_out_begin_object(out);
	json_out_end_object(out);
	json_out_end_object(out);
	json_out_end_object(out);
	json_out_end_object(out);
}

static int refuse(struct mcp_refusal *refusal, const char *code, const char *message)
{
	mcp_refuse(refusal, code, "%s", message);
	return MCP_TOOL_REFUSED;
}

/* {code, message} of a result with isError, or a problem of the route itself: {code, title}. */
static int pass_refusal(const struct client_reply *reply, const json_t *content, struct mcp_refusal *ret_refusal)
{
	const char *code = document_text(content != NULL ? content : reply->json, "code");
	const char *message =
		document_text(content != NULL ? content : reply->json, content != NULL ? "message" : "title");

	if (code == NULL || message == NULL)
		return refuse(ret_refusal, "daemon_failed", "The daemon's answer was none that is known here");
	return refuse(ret_refusal, code, message);
}

static int pass_answer(const struct client_reply *reply, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	const json_t *result = json_object_get(reply->json, "result");
	const json_t *content = json_object_get(result, "structuredContent");
	struct json_out out;

	if (!json_is_object(content) || json_is_true(json_object_get(result, "isError")))
		return pass_refusal(reply, content, ret_refusal);
	json_out_init(&out, ret_answer);
	json_out_canonical(&out, content);
	return buf_error(ret_answer);
}

int mcp_daemon_call(struct mcp_daemon *daemon, const struct mcp_tool_call *call, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(cli_buf_drop) struct buf body = {0};
	char name[128];
	const char *const headers[] = {"MCP-Protocol-Version: " MODERN, "Mcp-Method: tools/call", name, NULL};
	struct client_request request = {.method = "POST", .path = "/mcp", .headers = headers, .is_once = true};
	struct json_out out;
	int r;

	if (daemon->is_gone)
		return refuse(ret_refusal, "daemon_gone",
			"The connection to the daemon ended, and none is made from here: start this server anew");
	(void)snprintf(name, sizeof(name), "Mcp-Name: %s", call->tool->name);
	buf_init(&body, REQUEST_CEILING);
	json_out_init(&out, &body);
	write_request(call, &out);
	if (buf_error(&body) < 0)
		return buf_error(&body);
	request.body = buf_str(&body);
	r = client_call(daemon->client, &request, &reply);
	if (r < 0)
		return r;
	daemon->is_gone = r == CLIENT_UNREACHABLE || r == CLIENT_NO_ANSWER;
	if (r != 0)
		return refuse(ret_refusal, daemon->is_gone ? "daemon_gone" : "daemon_slow",
			"The daemon didn't answer; if it was started anew, start this server anew too");
	return pass_answer(&reply, ret_answer, ret_refusal);
}
