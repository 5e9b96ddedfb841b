#include "agents/agent_config.h"

#include <errno.h>
#include <string.h>

enum { LIST_CEILING = 4 * 1024 * 1024 };

static const char *const kind_names[AGENT_KINDS] = {"claude-code", "codex"};

const char *agent_kind_name(enum agent_kind kind)
{
	CHECK(kind < AGENT_KINDS);
	return kind_names[kind];
}

int agent_kind_find(struct str name, enum agent_kind *ret)
{
	for (enum agent_kind kind = AGENT_CLAUDE_CODE; kind < AGENT_KINDS; kind++) {
		if (name.bytes != NULL && str_is(name, kind_names[kind])) {
			*ret = kind;
			return 0;
		}
	}
	return 1;
}

const char *agent_config_refusal(enum agent_kind kind, const struct spec *spec, bool with_http)
{
	if (spec_missing_credential(spec).bytes != NULL)
		return "credential_not_set";
	if (kind == AGENT_CODEX && spec->transport == SPEC_HTTP && !with_http)
		return "http_not_asked_for";
	return NULL;
}

/* ---- Claude Code */

static void write_json_values(const struct spec *spec, const char *key, struct json_out *out)
{
	if (spec->value_count == 0)
		return;
	json_out_key(out, key);
	json_out_begin_object(out);
	for (size_t i = 0; i < spec->value_count; i++) {
		json_out_key_str(out, spec->values[i].name);
		json_out_str(out, spec->values[i].value);
	}
	json_out_end_object(out);
}

static void write_json_server(const struct spec *spec, struct json_out *out)
{
	json_out_key_str(out, spec->id);
	json_out_begin_object(out);
	json_out_member_text(out, "type", spec->transport == SPEC_HTTP ? "http" : "stdio");
	if (spec->transport == SPEC_HTTP) {
		json_out_member_str(out, "url", spec->url);
		write_json_values(spec, "headers", out);
	} else {
		json_out_member_str(out, "command", spec->command);
		json_out_key(out, "args");
		json_out_begin_array(out);
		for (size_t i = 0; i < spec->arg_count; i++)
			json_out_str(out, spec->args[i]);
		json_out_end_array(out);
		write_json_values(spec, "env", out);
	}
	json_out_end_object(out);
}

void agent_config_write_claude(const struct spec *servers, size_t count, struct buf *buf)
{
	struct json_out out;

	json_out_init(&out, buf);
	json_out_begin_object(&out);
	json_out_key(&out, "mcpServers");
	json_out_begin_object(&out);
	for (size_t i = 0; i < count; i++)
		write_json_server(&servers[i], &out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	buf_putc(buf, '\n');
}

/* What the client brings along itself; a list of allowed tools that left them out would take them away. */
static const char built_in[] =
	"Agent,Bash,BashOutput,Edit,ExitPlanMode,Glob,Grep,KillBash,KillShell,ListMcpResources,MultiEdit,NotebookEdit,"
	"NotebookRead,Read,ReadMcpResource,SlashCommand,Skill,Task,TaskCreate,TaskUpdate,TodoWrite,WebFetch,WebSearch,"
	"Write";

static bool narrows(const struct spec *servers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (servers[i].narrows_tools)
			return true;
	return false;
}

static void write_tools(const struct spec *spec, struct buf *buf)
{
	if (!spec->narrows_tools)
		buf_printf(buf, "mcp__%.*s,", (int)spec->id.len, spec->id.bytes);
	for (size_t i = 0; i < spec->allowed_tool_count; i++)
		buf_printf(buf, "mcp__%.*s__%.*s,", (int)spec->id.len, spec->id.bytes, (int)spec->allowed_tools[i].len,
			spec->allowed_tools[i].bytes);
}

static int make_tools(struct arena *arena, const struct spec *servers, size_t count, struct str *ret)
{
	struct buf buf;
	int r = 0;

	buf_init(&buf, LIST_CEILING);
	for (size_t i = 0; i < count; i++)
		write_tools(&servers[i], &buf);
	buf_puts(&buf, built_in);
	r = buf_error(&buf);
	if (r == 0)
		*ret = arena_str(arena, buf_str(&buf));
	buf_release(&buf);
	return r == 0 && ret->bytes == NULL ? -ENOMEM : r;
}

int agent_config_claude_arguments(
	struct arena *arena, struct str path, const struct spec *servers, size_t count, struct agent_arguments *ret)
{
	*ret = (struct agent_arguments){0};
	if (path.bytes != NULL) {
		ret->items[ret->count++] = STR("--mcp-config");
		ret->items[ret->count++] = path;
	}
	ret->items[ret->count++] = STR("--strict-mcp-config");
	if (!narrows(servers, count))
		return 0;
	ret->items[ret->count++] = STR("--allowedTools");
	return make_tools(arena, servers, count, &ret->items[ret->count++]);
}

/* ---- Codex */

static void write_toml_text(struct str text, struct buf *buf)
{
	buf_putc(buf, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.bytes[i];

		if (byte == '"' || byte == '\\')
			buf_printf(buf, "\\%c", byte);
		else if (byte == '\n')
			buf_puts(buf, "\\n");
		else if (byte == '\t')
			buf_puts(buf, "\\t");
		else if (byte < 0x20 || byte == 0x7f)
			buf_printf(buf, "\\u%04X", (unsigned)byte);
		else
			buf_putc(buf, (char)byte);
	}
	buf_putc(buf, '"');
}

static void write_toml_list(const char *key, const struct str *items, size_t count, struct buf *buf)
{
	buf_printf(buf, "%s = [", key);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_puts(buf, ", ");
		write_toml_text(items[i], buf);
	}
	buf_puts(buf, "]\n");
}

/* In a table of its own: an inline one would have to stand on one line. */
static void write_toml_values(const struct spec *spec, const char *key, struct buf *buf)
{
	if (spec->value_count == 0)
		return;
	buf_printf(buf, "\n[mcp_servers.%.*s.%s]\n", (int)spec->id.len, spec->id.bytes, key);
	for (size_t i = 0; i < spec->value_count; i++) {
		write_toml_text(spec->values[i].name, buf);
		buf_puts(buf, " = ");
		write_toml_text(spec->values[i].value, buf);
		buf_putc(buf, '\n');
	}
}

static void write_toml_server(const struct spec *spec, struct buf *buf)
{
	bool is_http = spec->transport == SPEC_HTTP;

	buf_printf(buf, "\n[mcp_servers.%.*s]\n%s = ", (int)spec->id.len, spec->id.bytes, is_http ? "url" : "command");
	write_toml_text(is_http ? spec->url : spec->command, buf);
	buf_putc(buf, '\n');
	if (!is_http)
		write_toml_list("args", spec->args, spec->arg_count, buf);
	if (spec->narrows_tools)
		write_toml_list("enabled_tools", spec->allowed_tools, spec->allowed_tool_count, buf);
	write_toml_values(spec, is_http ? "http_headers" : "env", buf);
}

void agent_config_write_codex(const struct spec *servers, size_t count, struct buf *buf)
{
	buf_puts(buf, "cli_auth_credentials_store = \"file\"\n");
	for (size_t i = 0; i < count; i++)
		write_toml_server(&servers[i], buf);
}

/* ---- our own reader */

int agent_config_reader(struct arena *arena, struct str command, struct str root, const struct str *capabilities,
	size_t count, struct spec *ret)
{
	struct str *args = ARENA_ARRAY(arena, 3 + 2 * count, struct str);

	if (args == NULL)
		return -ENOMEM;
	args[0] = STR("mcp");
	args[1] = STR("--root");
	args[2] = root;
	for (size_t i = 0; i < count; i++) {
		args[3 + 2 * i] = STR("--only");
		args[4 + 2 * i] = capabilities[i];
	}
	*ret = (struct spec){
		.id = STR(AGENT_READER_ID),
		.transport = SPEC_STDIO,
		.command = command,
		.args = args,
		.arg_count = 3 + 2 * count,
	};
	return 0;
}
