/* One message: what it is, and what is answered. */
#include "mcp/mcp.h"

#include <errno.h>
#include <string.h>

#include "mcp/parts.h"
#include "mcp/schema.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

/* JSON's numbers are doubles to many a client: an id beyond this would come back as another. */
static const json_int_t id_max = 9007199254740991;

enum { VALUES_MAX = 256 * 1024 };

/* A message that is well-formed. */
struct taken {
	const struct mcp *mcp;
	const struct mcp_message *message;
	struct mcp_call *call;
	const char *method;
	const json_t *params; /* an object, or NULL */
	struct buf *answer;
};

void mcp_call_release(struct mcp_call *call)
{
	json_decref(call->root);
	json_decref(call->no_arguments);
	*call = (struct mcp_call){0};
}

/* ---- results */

static struct json_out begin_result(const struct taken *taken)
{
	struct json_out out = mcp_begin(taken->answer, taken->call->id);

	json_out_key(&out, "result");
	return out;
}

static int end_result(struct json_out *out)
{
	json_out_end_object(out);
	return MCP_ANSWERED;
}

static int answer_ping(const struct taken *taken)
{
	struct json_out out = begin_result(taken);

	json_out_begin_object(&out);
	json_out_end_object(&out);
	return end_result(&out);
}

static void write_capabilities(struct json_out *out)
{
	json_out_key(out, "capabilities");
	json_out_begin_object(out);
	json_out_key(out, "tools");
	json_out_begin_object(out);
	json_out_end_object(out);
	json_out_end_object(out);
}

/* What was asked for, if it is of the older era; else our newest of that. */
static const char *agree(const char *asked)
{
	for (size_t i = 0; mcp_legacy_versions[i] != NULL; i++)
		if (strcmp(asked, mcp_legacy_versions[i]) == 0)
			return mcp_legacy_versions[i];
	return mcp_legacy_versions[0];
}

static int answer_initialize(const struct taken *taken)
{
	const json_t *asked = json_object_get(taken->params, "protocolVersion");
	struct json_out out;

	if (!json_is_string(asked))
		return mcp_fail(
			taken->call, taken->answer, 200, MCP_BAD_PARAMS, "params lacks protocolVersion, a string");
	out = begin_result(taken);
	json_out_begin_object(&out);
	json_out_member_text(&out, "protocolVersion", agree(json_string_value(asked)));
	write_capabilities(&out);
	mcp_write_server_info(taken->mcp, "serverInfo", &out);
	json_out_member_text(&out, "instructions", taken->mcp->config.instructions);
	json_out_end_object(&out);
	taken->call->opens_session = true;
	return end_result(&out);
}

static int answer_discover(const struct taken *taken)
{
	struct json_out out = begin_result(taken);

	json_out_begin_object(&out);
	json_out_key(&out, "supportedVersions");
	json_out_begin_array(&out);
	json_out_text(&out, MCP_MODERN);
	json_out_end_array(&out);
	write_capabilities(&out);
	mcp_write_server_info(taken->mcp, "serverInfo", &out);
	json_out_member_text(&out, "instructions", taken->mcp->config.instructions);
	mcp_write_modern(taken->mcp, &out);
	mcp_write_caching(taken->mcp, &out);
	json_out_end_object(&out);
	return end_result(&out);
}

/* All of them are one page. */
static int answer_tools(const struct taken *taken)
{
	struct json_out out;

	if (json_object_get(taken->params, "cursor") != NULL)
		return mcp_fail(taken->call, taken->answer, 200, MCP_BAD_PARAMS,
			"There is no such cursor: all tools are on one page");
	out = begin_result(taken);
	mcp_write_tools(taken->mcp, taken->call->is_modern, &out);
	return end_result(&out);
}

/* ---- a call */

/* Of what a tool refuses, and of what it answers. */
static void write_content(
	const struct mcp *mcp, const struct mcp_call *call, struct str json, bool is_error, struct buf *answer)
{
	struct json_out out = mcp_begin(answer, call->id);

	json_out_key(&out, "result");
	json_out_begin_object(&out);
	json_out_key(&out, "content");
	json_out_begin_array(&out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "type", "text");
	json_out_member_str(&out, "text", json);
	json_out_end_object(&out);
	json_out_end_array(&out);
	json_out_member_raw(&out, "structuredContent", json);
	json_out_member_bool(&out, "isError", is_error);
	if (call->is_modern)
		mcp_write_modern(mcp, &out);
	json_out_end_object(&out);
	json_out_end_object(&out);
}

static int write_refusal(
	const struct mcp *mcp, const struct mcp_call *call, const struct mcp_refusal *refusal, struct buf *answer)
{
	CLEANUP(buf_release) struct buf json = {0};
	struct json_out out;

	buf_init(&json, 2 * (size_t)MCP_MESSAGE_MAX + 6 * (size_t)MCP_MESSAGE_MAX);
	json_out_init(&out, &json);
	json_out_begin_object(&out);
	json_out_member_text(&out, "code", refusal->code);
	json_out_member_text(&out, "message", refusal->message);
	json_out_end_object(&out);
	if (buf_error(&json) < 0)
		return buf_error(&json);
	write_content(mcp, call, buf_str(&json), true, answer);
	return buf_error(answer);
}

static int refuse_large(const struct mcp *mcp, const struct mcp_call *call, struct buf *answer)
{
	struct mcp_refusal refusal;

	mcp_refuse(&refusal, "answer_too_large", "The answer is larger than %zu bytes; ask for less", answer->ceiling);
	buf_reset(answer);
	return write_refusal(mcp, call, &refusal, answer);
}

int mcp_run(const struct mcp *mcp, struct mcp_call *call, void *context, struct buf *answer)
{
	CLEANUP(buf_release) struct buf json = {0};
	struct mcp_refusal refusal = {0};
	const struct mcp_tool_call run = {call->tool, context, call->arguments};
	int r;

	buf_init(&json, answer->ceiling);
	r = call->tool->run(&run, &json, &refusal);
	if (r == 0)
		r = buf_error(&json);
	if (r == MCP_TOOL_REFUSED)
		return write_refusal(mcp, call, &refusal, answer);
	if (r == 0) {
		write_content(mcp, call, buf_str(&json), false, answer);
		r = buf_error(answer);
	}
	if (r == -EMSGSIZE)
		return refuse_large(mcp, call, answer);
	if (r < 0) {
		buf_reset(answer);
		(void)mcp_fail(call, answer, 200, MCP_INTERNAL, "The tool failed; nothing was changed");
	}
	return buf_error(answer);
}

static int refuse_client(const struct taken *taken, const char *capability)
{
	struct json_out out = mcp_begin(taken->answer, taken->call->id);

	json_out_key(&out, "error");
	json_out_begin_object(&out);
	json_out_member_int(&out, "code", MCP_LACKS_CAPABILITY);
	json_out_member_text(&out, "message", "This tool needs a capability that the client doesn't declare");
	json_out_key(&out, "data");
	json_out_begin_object(&out);
	json_out_key(&out, "requiredCapabilities");
	json_out_begin_object(&out);
	json_out_key(&out, capability);
	json_out_begin_object(&out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	taken->call->status = 400;
	return end_result(&out);
}

static bool client_has(const struct taken *taken, const char *capability)
{
	const json_t *meta = json_object_get(taken->params, "_meta");

	return json_object_get(json_object_get(meta, MCP_META "clientCapabilities"), capability) != NULL;
}

/* Arguments of the right types with a wrong value are the tool's to refuse: it does so here, before it is run. */
static int refuse_value(const struct taken *taken, const char *fault)
{
	struct mcp_refusal refusal;
	int r;

	mcp_refuse(&refusal, "argument_invalid", "%s", fault);
	r = write_refusal(taken->mcp, taken->call, &refusal, taken->answer);
	return r < 0 ? r : MCP_ANSWERED;
}

static int take_call(const struct taken *taken)
{
	struct mcp_call *call = taken->call;
	const json_t *name = json_object_get(taken->params, "name");
	const json_t *arguments = json_object_get(taken->params, "arguments");
	const struct mcp_entry *entry;
	char fault[MCP_SCHEMA_FAULT_MAX] = "";
	int r;

	if (!json_is_string(name))
		return mcp_fail(call, taken->answer, 200, MCP_BAD_PARAMS, "params lacks name, a string");
	entry = mcp_entry_find(taken->mcp, json_string_value(name));
	if (entry == NULL)
		return mcp_fail(
			call, taken->answer, 200, MCP_BAD_PARAMS, "There is no such tool; tools/list names them");
	if (arguments == NULL)
		arguments = call->no_arguments = json_object();
	if (arguments == NULL)
		return -ENOMEM;
	if (entry->tool->needs_client != NULL && !client_has(taken, entry->tool->needs_client))
		return refuse_client(taken, entry->tool->needs_client);
	r = mcp_schema_check(entry->schema, arguments, fault);
	if (r == MCP_SCHEMA_TYPE)
		return mcp_fail(call, taken->answer, 200, MCP_BAD_PARAMS, fault);
	if (r == MCP_SCHEMA_VALUE)
		return refuse_value(taken, fault);
	call->tool = entry->tool;
	call->arguments = arguments;
	return 0;
}

/* ---- methods */

struct method {
	const char *name;
	int (*answer)(const struct taken *taken);
	bool is_legacy;
	bool is_modern;
	bool is_early; /* may come before `initialize` */
};

static const struct method methods[] = {
	{"initialize", answer_initialize, true, false, true},
	{"ping", answer_ping, true, false, true},
	{"server/discover", answer_discover, true, true, true},
	{"tools/list", answer_tools, true, true, false},
	{"tools/call", take_call, true, true, false},
};

static const struct method *find_method(const struct taken *taken)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		bool is_known = taken->call->is_modern ? methods[i].is_modern : methods[i].is_legacy;

		if (is_known && strcmp(taken->method, methods[i].name) == 0)
			return &methods[i];
	}
	return NULL;
}

/* What a message of the older era needs of its session. 0, or MCP_ANSWERED. */
static int check_session(const struct taken *taken, const struct method *method)
{
	enum mcp_session session = taken->message->session;

	if (session == MCP_SESSION_UNKNOWN)
		return mcp_fail(
			taken->call, taken->answer, 404, MCP_NO_SESSION, "There is no such session; initialize anew");
	if (session == MCP_SESSION_NONE && (method == NULL || !method->is_early))
		return mcp_fail(taken->call, taken->answer, 400, MCP_NO_REQUEST, "Nothing is served before initialize");
	return 0;
}

static int take_request(struct taken *taken)
{
	const struct method *method;
	int r = 0;

	taken->call->is_modern = mcp_claims_modern(taken->message, taken->params);
	if (taken->call->is_modern)
		r = mcp_check_modern(taken->message, taken->call, taken->method, taken->params, taken->answer);
	method = find_method(taken);
	if (r == 0 && !taken->call->is_modern)
		r = check_session(taken, method);
	if (r != 0)
		return r;
	if (method == NULL)
		return mcp_fail(taken->call, taken->answer, taken->call->is_modern ? 404 : 200, MCP_NO_METHOD,
			"There is no such method");
	return method->answer(taken);
}

/* A notification needs no answer, and none changes anything here. */
static int take_notification(struct taken *taken)
{
	taken->call->status = 202;
	if (taken->message->session == MCP_SESSION_UNKNOWN && !mcp_claims_modern(taken->message, taken->params))
		return mcp_fail(
			taken->call, taken->answer, 404, MCP_NO_SESSION, "There is no such session; initialize anew");
	return MCP_SILENT;
}

/* ---- the message */

static bool is_id(const json_t *id)
{
	if (json_is_string(id))
		return true;
	return json_is_integer(id) && json_integer_value(id) <= id_max && json_integer_value(id) >= -id_max;
}

static bool is_answer(const json_t *root)
{
	return json_object_get(root, "method") == NULL &&
		(json_object_get(root, "result") != NULL || json_object_get(root, "error") != NULL);
}

static int refuse(struct taken *taken, const char *message)
{
	return mcp_fail(taken->call, taken->answer, 400, MCP_NO_REQUEST, message);
}

static int take_object(struct taken *taken)
{
	const json_t *root = taken->call->root;
	const json_t *id = json_object_get(root, "id");
	const json_t *method = json_object_get(root, "method");

	taken->params = json_object_get(root, "params");
	if (!json_is_object(root))
		return refuse(taken, json_is_array(root) ? "Batches are not taken" : "A message is an object");
	if (id != NULL && !is_id(id))
		return refuse(taken, "An id is a string, or an integer of at most 53 bits");
	taken->call->id = id;
	if (!json_is_string(json_object_get(root, "jsonrpc")) ||
		strcmp(json_string_value(json_object_get(root, "jsonrpc")), "2.0") != 0)
		return refuse(taken, "jsonrpc is \"2.0\"");
	if (is_answer(root)) {
		taken->call->status = 202;
		return MCP_SILENT;
	}
	if (!json_is_string(method))
		return refuse(taken, "method is a string");
	if (taken->params != NULL && !json_is_object(taken->params))
		return id == NULL ? MCP_SILENT
				  : mcp_fail(taken->call, taken->answer, 400, MCP_BAD_PARAMS, "params is an object");
	taken->method = json_string_value(method);
	return id == NULL ? take_notification(taken) : take_request(taken);
}

/* A message of a few MiB must not become a hundred MiB of values; what stands in strings is no value. */
static bool has_many_values(struct str text)
{
	size_t count = 0;
	bool is_string = false;

	for (size_t i = 0; i < text.len; i++) {
		char byte = text.bytes[i];

		if (is_string && byte == '\\')
			i++;
		else if (byte == '"')
			is_string = !is_string;
		else if (!is_string)
			count += byte == ',' || byte == '[' || byte == '{';
	}
	return count > VALUES_MAX;
}

int mcp_take(const struct mcp *mcp, const struct mcp_message *message, struct mcp_call *ret_call, struct buf *answer)
{
	struct taken taken = {.mcp = mcp, .message = message, .call = ret_call, .answer = answer};
	int r;

	*ret_call = (struct mcp_call){.status = 200};
	if (has_many_values(message->text))
		return mcp_fail(ret_call, answer, 400, MCP_NO_REQUEST, "The message has too many values");
	r = json_parse(message->text, &ret_call->root, NULL);
	if (r < 0)
		return r;
	if (r > 0)
		return mcp_fail(ret_call, answer, 400, MCP_NOT_JSON, "This is no JSON that is taken here");
	r = take_object(&taken);
	return buf_error(answer) < 0 ? buf_error(answer) : r;
}
