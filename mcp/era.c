/* Which era a message is of, and what the stateless one wants of each request. */
#include <string.h>

#include "mcp/parts.h"

const char *const mcp_legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", NULL};

enum { NAME_MAX_BYTES = 256 };

/* ---- answers */

struct json_out mcp_begin(struct buf *answer, const json_t *id)
{
	struct json_out out;

	json_out_init(&out, answer);
	json_out_begin_object(&out);
	json_out_member_text(&out, "jsonrpc", "2.0");
	json_out_key(&out, "id");
	if (json_is_string(id))
		json_out_str(&out, (struct str){json_string_value(id), json_string_length(id)});
	else if (json_is_integer(id))
		json_out_int(&out, json_integer_value(id));
	else
		json_out_null(&out);
	return out;
}

static struct json_out begin_error(struct buf *answer, const json_t *id, int code, const char *message)
{
	struct json_out out = mcp_begin(answer, id);

	json_out_key(&out, "error");
	json_out_begin_object(&out);
	json_out_member_int(&out, "code", code);
	json_out_member_text(&out, "message", message);
	return out;
}

static void end_error(struct json_out *out)
{
	json_out_end_object(out);
	json_out_end_object(out);
}

void mcp_write_error(struct buf *answer, const json_t *id, int code, const char *message)
{
	struct json_out out = begin_error(answer, id, code, message);

	end_error(&out);
}

int mcp_fail(struct mcp_call *call, struct buf *answer, unsigned status, int code, const char *message)
{
	call->status = status;
	mcp_write_error(answer, call->id, code, message);
	return MCP_ANSWERED;
}

/* ---- the era */

static bool is_legacy(struct str version)
{
	for (size_t i = 0; mcp_legacy_versions[i] != NULL; i++)
		if (str_is(version, mcp_legacy_versions[i]))
			return true;
	return false;
}

/* A progress token and the like may stand in the older era's `_meta` too. */
bool mcp_claims_modern(const struct mcp_message *message, const json_t *params)
{
	static const char *const words[] = {
		MCP_META "protocolVersion", MCP_META "clientCapabilities", MCP_META "clientInfo"};
	const json_t *meta = json_object_get(params, "_meta");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (json_object_get(meta, words[i]) != NULL)
			return true;
	return message->has_headers && message->version_header.bytes != NULL && !is_legacy(message->version_header);
}

static int refuse_version(struct mcp_call *call, struct buf *answer, const json_t *version)
{
	struct json_out out = begin_error(answer, call->id, MCP_NO_VERSION, "This protocol version is not supported");

	json_out_key(&out, "data");
	json_out_begin_object(&out);
	json_out_key(&out, "supported");
	json_out_begin_array(&out);
	json_out_text(&out, MCP_MODERN);
	json_out_end_array(&out);
	json_out_member_str(&out, "requested", (struct str){json_string_value(version), json_string_length(version)});
	json_out_end_object(&out);
	end_error(&out);
	call->status = 400;
	return MCP_ANSWERED;
}

/* ---- headers */

static int base64_digit(char byte)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = byte != '\0' ? strchr(digits, byte) : NULL;

	return found != NULL ? (int)(found - digits) : -1;
}

/* Whole groups of four with their padding, and nothing else. */
static bool decode_base64(struct str text, char ret[static NAME_MAX_BYTES], size_t *ret_len)
{
	size_t padding = 0;
	unsigned bits = 0;

	*ret_len = 0;
	while (padding < 2 && padding < text.len && text.bytes[text.len - 1 - padding] == '=')
		padding++;
	if (text.len % 4 != 0 || text.len / 4 * 3 > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < text.len - padding; i++) {
		int digit = base64_digit(text.bytes[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (unsigned)digit;
		if (i % 4 != 0)
			ret[(*ret_len)++] = (char)(bits >> (6 - i % 4 * 2));
	}
	return true;
}

static struct str trim(struct str text)
{
	while (text.len > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t')) {
		text.bytes++;
		text.len--;
	}
	while (text.len > 0 && (text.bytes[text.len - 1] == ' ' || text.bytes[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* `=?base64?…?=` stands for bytes that a header can't hold. */
static bool header_is(struct str header, struct str wanted)
{
	static const char mark[] = "=?base64?";
	const size_t mark_len = sizeof(mark) - 1;
	struct str value = trim(header);
	char decoded[NAME_MAX_BYTES];
	size_t len = 0;

	if (value.len < mark_len + 2 || memcmp(value.bytes, mark, mark_len) != 0 ||
		memcmp(value.bytes + value.len - 2, "?=", 2) != 0)
		return str_equal(value, wanted);
	value = (struct str){value.bytes + mark_len, value.len - mark_len - 2};
	return decode_base64(value, decoded, &len) && str_equal((struct str){decoded, len}, wanted);
}

static const char *header_fault(
	const struct mcp_message *message, const json_t *version, const char *method, const json_t *params)
{
	const json_t *name = json_object_get(params, "name");

	if (message->version_header.bytes == NULL)
		return "The header MCP-Protocol-Version is missing";
	if (!header_is(message->version_header, (struct str){json_string_value(version), json_string_length(version)}))
		return "The header MCP-Protocol-Version is not what the body says";
	if (message->method_header.bytes == NULL)
		return "The header Mcp-Method is missing";
	if (!header_is(message->method_header, (struct str){method, strlen(method)}))
		return "The header Mcp-Method is not what the body says";
	if (strcmp(method, "tools/call") != 0 || !json_is_string(name))
		return NULL;
	if (message->name_header.bytes == NULL)
		return "The header Mcp-Name is missing";
	if (!header_is(message->name_header, (struct str){json_string_value(name), json_string_length(name)}))
		return "The header Mcp-Name is not what the body says";
	return NULL;
}

int mcp_check_modern(const struct mcp_message *message, struct mcp_call *call, const char *method, const json_t *params,
	struct buf *answer)
{
	const json_t *meta = json_object_get(params, "_meta");
	const json_t *version = json_object_get(meta, MCP_META "protocolVersion");
	const char *fault;

	if (!json_is_string(version))
		return mcp_fail(
			call, answer, 400, MCP_BAD_PARAMS, "params/_meta lacks " MCP_META "protocolVersion, a string");
	if (!json_is_object(json_object_get(meta, MCP_META "clientCapabilities")))
		return mcp_fail(call, answer, 400, MCP_BAD_PARAMS,
			"params/_meta lacks " MCP_META "clientCapabilities, an object");
	fault = message->has_headers ? header_fault(message, version, method, params) : NULL;
	if (fault != NULL)
		return mcp_fail(call, answer, 400, MCP_HEADER_MISMATCH, fault);
	return strcmp(json_string_value(version), MCP_MODERN) == 0 ? 0 : refuse_version(call, answer, version);
}
