#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/parts.h"
#include "mcp/schema.h"
#include "policy/json_parse.h"

enum { LIST_FRESH_MS = 5 * 60 * 1000 };

/* What stands beside every output schema: a refusal is structured too. */
static const char refusal_schema[] = "{\"type\":\"object\",\"description\":\"A refusal; the result has "
				     "isError.\",\"properties\":{\"code\":{\"type\":"
				     "\"string\"},\"message\":{\"type\":\"string\"}},\"required\":[\"code\","
				     "\"message\"],\"additionalProperties\":false}";

void mcp_refuse(struct mcp_refusal *refusal, const char *code, const char *format, ...)
{
	va_list args;
	size_t len;

	(void)snprintf(refusal->code, sizeof(refusal->code), "%s", code);
	va_start(args, format);
	(void)vsnprintf(refusal->message, sizeof(refusal->message), format, args);
	va_end(args);
	/* A cut in the middle of a character would be no UTF-8. */
	len = strlen(refusal->message);
	if (len + 1 < sizeof(refusal->message))
		return;
	while (len > 0 && ((unsigned char)refusal->message[len - 1] & 0xc0) == 0x80)
		len--;
	refusal->message[len > 0 ? len - 1 : 0] = '\0';
}

static int load(struct mcp_entry *entry, const struct mcp_tool *tool)
{
	int r = json_parse((struct str){tool->input_schema, strlen(tool->input_schema)}, &entry->schema, NULL);

	CHECK(r <= 0 && strlen(tool->description) < MCP_TEXT_MAX);
	if (r < 0)
		return r;
	CHECK(mcp_schema_is_known(entry->schema));
	entry->tool = tool;
	return 0;
}

int mcp_new(const struct mcp_config *config, struct mcp **ret)
{
	struct mcp *mcp = calloc(1, sizeof(*mcp));
	int r = 0;

	CHECK(strlen(config->instructions) < MCP_TEXT_MAX);
	if (mcp == NULL)
		return -ENOMEM;
	mcp->config = *config;
	mcp->entries = calloc(config->tool_count + 1, sizeof(*mcp->entries));
	if (mcp->entries == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < config->tool_count; i++)
		r = load(&mcp->entries[i], config->tools[i]);
	if (r != 0)
		mcp_free(mcp);
	else
		*ret = mcp;
	return r;
}

void mcp_free(struct mcp *mcp)
{
	if (mcp == NULL)
		return;
	for (size_t i = 0; mcp->entries != NULL && i < mcp->config.tool_count; i++)
		json_decref(mcp->entries[i].schema);
	free(mcp->entries);
	free(mcp);
}

void mcp_drop(struct mcp **mcp)
{
	mcp_free(*mcp);
	*mcp = NULL;
}

size_t mcp_tool_count(const struct mcp *mcp)
{
	return mcp->config.tool_count;
}

const struct mcp_entry *mcp_entry_find(const struct mcp *mcp, const char *name)
{
	for (size_t i = 0; i < mcp->config.tool_count; i++)
		if (strcmp(mcp->entries[i].tool->name, name) == 0)
			return &mcp->entries[i];
	return NULL;
}

const struct mcp_tool *mcp_tool_find(const struct mcp *mcp, const char *name)
{
	const struct mcp_entry *entry = mcp_entry_find(mcp, name);

	return entry != NULL ? entry->tool : NULL;
}

/* ---- what is told of them */

static struct str text_of(const char *text)
{
	return (struct str){text, strlen(text)};
}

/* Either the answer or a refusal; an object both times, which the older era wants said. */
static void write_output_schema(const struct mcp_tool *tool, struct json_out *out)
{
	json_out_key(out, "outputSchema");
	json_out_begin_object(out);
	json_out_member_text(out, "type", "object");
	json_out_key(out, "anyOf");
	json_out_begin_array(out);
	json_out_raw(out, text_of(tool->output_schema));
	json_out_raw(out, text_of(refusal_schema));
	json_out_end_array(out);
	json_out_end_object(out);
}

static void write_tool(const struct mcp_tool *tool, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "name", tool->name);
	json_out_member_text(out, "title", tool->title);
	json_out_member_text(out, "description", tool->description);
	json_out_member_raw(out, "inputSchema", text_of(tool->input_schema));
	if (tool->output_schema != NULL)
		write_output_schema(tool, out);
	json_out_key(out, "annotations");
	json_out_begin_object(out);
	json_out_member_text(out, "title", tool->title);
	json_out_member_bool(out, "readOnlyHint", true);
	json_out_member_bool(out, "destructiveHint", false);
	json_out_member_bool(out, "idempotentHint", true);
	json_out_member_bool(out, "openWorldHint", false);
	json_out_end_object(out);
	json_out_end_object(out);
}

void mcp_write_server_info(const struct mcp *mcp, const char *key, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_object(out);
	json_out_member_text(out, "name", "admitd");
	json_out_member_text(out, "title", "admitd: what agents may read, and what they are waiting for");
	json_out_member_text(out, "version", mcp->config.version);
	json_out_end_object(out);
}

void mcp_write_modern(const struct mcp *mcp, struct json_out *out)
{
	json_out_member_text(out, "resultType", "complete");
	json_out_key(out, "_meta");
	json_out_begin_object(out);
	mcp_write_server_info(mcp, MCP_META "serverInfo", out);
	json_out_end_object(out);
}

void mcp_write_caching(const struct mcp *mcp, struct json_out *out)
{
	json_out_member_int(out, "ttlMs", LIST_FRESH_MS);
	json_out_member_text(out, "cacheScope", mcp->config.is_for_all ? "public" : "private");
}

void mcp_write_tools(const struct mcp *mcp, bool is_modern, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_key(out, "tools");
	json_out_begin_array(out);
	for (size_t i = 0; i < mcp->config.tool_count; i++)
		write_tool(mcp->entries[i].tool, out);
	json_out_end_array(out);
	if (is_modern) {
		mcp_write_modern(mcp, out);
		mcp_write_caching(mcp, out);
	}
	json_out_end_object(out);
}
