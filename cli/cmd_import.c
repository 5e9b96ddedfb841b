/* admitctl import: what a client is configured with, proposed as a project's tool servers (chapters 5.6, 5.7). */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "agents/import.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

enum { MEMBER_CEILING = 2 * SPEC_BYTES_LIMIT };

static void import_drop(struct import *import)
{
	import_release(import);
}

/* ---- reading */

/* Where the file lies, without links: what is below it is the project's own. */
static const char *folder_of(struct cli *cli, const char *path)
{
	CLEANUP(free_drop) char *whole = strcmp(path, "-") == 0 ? realpath(".", NULL) : realpath(path, NULL);

	if (whole == NULL)
		return "/";
	return strcmp(path, "-") == 0 ? cli_printf(cli, "%s", whole) : cli_printf(cli, "%s", dirname(whole));
}

static int read_file(struct cli *cli, struct import *import)
{
	const char *path = args_word(&cli->args, 0);
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	size_t len = strlen(path);
	bool is_toml = args_has(&cli->args, "toml") || (len > 5 && strcmp(path + len - 5, ".toml") == 0);
	int result;

	buf_init(&bytes, IMPORT_BYTES_LIMIT);
	result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	import->folder = folder_of(cli, path);
	result = import_read(import, buf_str(&bytes), is_toml ? IMPORT_TOML : IMPORT_JSON);
	if (result < 0)
		return cli_say_error(path, result);
	if (result == 0)
		return 0;
	cli_say("%s: %s", path, import->fault);
	return CLI_REFUSED;
}

/* ---- choosing */

static bool is_wanted(struct cli *cli, const struct import_server *server)
{
	size_t at = 0;
	const char *id = args_next(&cli->args, "only", &at);

	for (; id != NULL; id = args_next(&cli->args, "only", &at))
		if (str_is(server->id, id))
			return true;
	return !args_has(&cli->args, "only");
}

/* Each --only must be a server of the file. */
static int check_only(struct cli *cli, const struct import *import)
{
	size_t at = 0;

	for (const char *id = args_next(&cli->args, "only", &at); id != NULL; id = args_next(&cli->args, "only", &at)) {
		bool is_there = false;

		for (size_t i = 0; i < import->count; i++)
			is_there = is_there || str_is(import->servers[i].id, id);
		if (!is_there) {
			cli_say("%s: no server of this file comes to that id", id);
			return CLI_USAGE;
		}
	}
	return 0;
}

/* ---- showing */

static void show_values(struct cli *cli, const struct spec *spec)
{
	for (size_t i = 0; i < spec->value_count; i++) {
		const struct spec_value *value = &spec->values[i];

		show_line(cli,
			i > 0                                   ? ""
				: spec->transport == SPEC_STDIO ? "env"
								: "headers",
			cli_printf(cli, "%.*s: %s%s", (int)value->name.len, value->name.bytes,
				value->value.bytes == NULL ? "not set" : "set",
				value->is_credential ? ", sealed" : ""));
	}
}

static void show_lines(struct cli *cli, const struct import_server *server, enum import_kind kind, const char *label)
{
	for (size_t i = 0; i < server->line_count; i++)
		if (server->lines[i].kind == kind)
			show_line(cli, label, server->lines[i].text.bytes);
}

/* `fate`: "proposed", "taken over", "there already". */
static void show_server(struct cli *cli, const struct import_server *server, const char *fate)
{
	show_head(cli, server->is_refused ? "refused" : fate, server->id.bytes,
		strcmp(server->id.bytes, server->name.bytes) == 0 ? NULL : server->name.bytes);
	show_lines(cli, server, IMPORT_FAULT, "why");
	if (server->is_refused)
		return;
	show_line(cli, server->spec.transport == SPEC_STDIO ? "runs" : "asks", server->runs.bytes);
	show_values(cli, &server->spec);
	show_line(cli, "switched off", server->is_off ? "as it is there" : NULL);
	show_lines(cli, server, IMPORT_RISK, "risk");
	show_lines(cli, server, IMPORT_NOTE, "note");
}

static void write_lines(
	struct json_out *out, const char *key, const struct import_server *server, enum import_kind kind)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < server->line_count; i++)
		if (server->lines[i].kind == kind)
			json_out_str(out, server->lines[i].text);
	json_out_end_array(out);
}

/* Of values only whether they are set; of arguments what may be seen. */
static void write_spec(struct json_out *out, const struct import_server *server)
{
	json_out_member_text(out, "transport", server->spec.transport == SPEC_STDIO ? "stdio" : "http");
	json_out_member_str(out, "runs", server->runs);
	json_out_key(out, "values");
	json_out_begin_array(out);
	for (size_t i = 0; i < server->spec.value_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "name", server->spec.values[i].name);
		json_out_member_bool(out, "set", server->spec.values[i].value.bytes != NULL);
		json_out_member_bool(out, "credential", server->spec.values[i].is_credential);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_server(struct json_out *out, const struct import_server *server, const char *fate)
{
	json_out_begin_object(out);
	json_out_member_str(out, "id", server->id);
	json_out_member_str(out, "name", server->name);
	json_out_member_text(out, "state", server->is_refused ? "refused" : fate);
	json_out_member_bool(out, "enabled", !server->is_off);
	if (!server->is_refused)
		write_spec(out, server);
	write_lines(out, "faults", server, IMPORT_FAULT);
	write_lines(out, "risks", server, IMPORT_RISK);
	write_lines(out, "notes", server, IMPORT_NOTE);
	json_out_end_object(out);
}

/* ---- telling the daemon */

static bool is_there(const json_t *list, struct str id)
{
	size_t index;
	const json_t *item;

	json_array_foreach(json_object_get(list, "items"), index,
		item) if (str_is(id, document_text_or_empty(item, "mcpId"))) return true;
	return false;
}

static int put(struct cli *cli, const char *project, const struct import_server *server)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(cli_buf_drop) struct buf body = {0};
	struct json_out out;

	buf_init(&body, MEMBER_CEILING);
	json_out_init(&out, &body);
	json_out_begin_object(&out);
	json_out_member_raw(&out, "spec", server->body);
	if (server->is_off)
		json_out_member_bool(&out, "enabled", false);
	json_out_end_object(&out);
	if (buf_error(&body) < 0)
		return cli_say_error("the spec", buf_error(&body));
	return cli_call(cli, "PUT",
		cli_printf(cli, "/v1/projects/%s/servers/%s", cli_segment(cli, project),
			cli_segment(cli, server->id.bytes)),
		buf_str(&body), &reply);
}

/* What was done with one server, in *ret_fate; 0 or an exit code after the reason was said. */
static int apply(struct cli *cli, const json_t *there, const struct import_server *server, const char **ret_fate)
{
	int result;

	if (server->is_refused)
		return CLI_REFUSED;
	if (is_there(there, server->id) && !args_has(&cli->args, "replace")) {
		*ret_fate = "there already";
		return CLI_REFUSED;
	}
	result = put(cli, args_text(&cli->args, "project"), server);
	*ret_fate = result == 0 ? "taken over" : "not taken over";
	return result;
}

static int list_there(struct cli *cli, struct client_reply *ret_reply)
{
	return cli_call(cli, "GET",
		cli_printf(cli, "/v1/projects/%s/servers", cli_segment(cli, args_text(&cli->args, "project"))),
		(struct str){0}, ret_reply);
}

/* ---- running */

static void show_end(struct cli *cli, size_t ready, size_t count)
{
	if (count == 0)
		show_line(cli, "nothing", "the file has no tool servers");
	else if (!args_has(&cli->args, "apply"))
		show_line(cli, "nothing yet",
			cli_printf(cli, "was changed; %zu of %zu can be taken over, with --project PROJECT --apply",
				ready, count));
}

/* Goes through the servers; with --apply `there` is what the project has. */
static int go_through(struct cli *cli, const struct import *import, const json_t *there)
{
	struct json_out out;
	size_t ready = 0;
	int result = CLI_DONE;

	json_out_init(&out, &cli->out);
	if (cli->json)
		json_out_begin_array(&out);
	for (size_t i = 0; i < import->count; i++) {
		const struct import_server *server = &import->servers[i];
		const char *fate = "proposed";
		int one = server->is_refused ? CLI_REFUSED : CLI_DONE;

		if (!is_wanted(cli, server))
			continue;
		if (there != NULL)
			one = apply(cli, there, server, &fate);
		ready += !server->is_refused;
		result = one != CLI_DONE && result != CLI_UNREACHABLE ? one : result;
		if (cli->json)
			write_server(&out, server, fate);
		else
			show_server(cli, server, fate);
		if (one == CLI_UNREACHABLE)
			break;
	}
	if (cli->json) {
		json_out_end_array(&out);
		buf_putc(&cli->out, '\n');
	} else {
		show_end(cli, ready, import->count);
	}
	return result;
}

static int run(struct cli *cli)
{
	CLEANUP(import_drop) struct import import = {.arena = &cli->arena};
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	bool is_apply = args_has(&cli->args, "apply");
	int result;

	if (is_apply && !args_has(&cli->args, "project"))
		return cli_say_usage(cli, "--apply needs --project");
	if (args_has(&cli->args, "replace") && !is_apply)
		return cli_say_usage(cli, "--replace belongs to --apply");
	result = read_file(cli, &import);
	if (result == 0)
		result = check_only(cli, &import);
	if (result == 0 && is_apply && import.count > 0)
		result = list_there(cli, &reply);
	return result != 0 ? result : go_through(cli, &import, reply.json);
}

static const struct args_option options[] = {
	{"project", 0, ARGS_TEXT, "ID", "the project that gets them"},
	{"only", 0, ARGS_LIST, "SERVER", "only this one, by the id it comes to; may be repeated"},
	{"apply", 0, ARGS_FLAG, NULL, "take them over; without it nothing is changed"},
	{"replace", 0, ARGS_FLAG, NULL, "with --apply: also in place of those that the project has"},
	{"toml", 0, ARGS_FLAG, NULL, "it is TOML, whatever its name ends in"},
	{0},
};

const struct cli_command cmd_import = {
	.name = "import",
	.synopsis = "FILE [--only SERVER]... [--project ID --apply [--replace]]",
	.summary = "Propose a client's tool servers for a project",
	.text = "Reads .mcp.json, settings.json or config.toml (- for standard input) and shows what each server would "
		"be, what could be\n"
		"wrong with it (packages without a version, secrets in arguments, variables that load other code, "
		"plain http) and\n"
		"what isn't carried over. Values are never shown. Exit 1 where one of them is refused or there "
		"already.",
	.examples = "admitctl import .mcp.json\n"
		    "admitctl import ~/.codex/config.toml --only github --project tracker --apply",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
