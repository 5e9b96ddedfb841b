/* admitctl server: how a project's tool servers are reached (chapters 4.2, 5.6). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static void body_drop(struct body *body)
{
	body_release(body);
}

static void table_drop(struct table *table)
{
	table_release(table);
}

static const char *list_path(struct cli *cli)
{
	return cli_printf(cli, "/v1/projects/%s/servers", cli_segment(cli, args_word(&cli->args, 0)));
}

static const char *path_of(struct cli *cli)
{
	return cli_printf(cli, "%s/%s", list_path(cli), cli_segment(cli, args_word(&cli->args, 1)));
}

/* ---- showing one */

static void show_values(struct cli *cli, const char *label, const json_t *values)
{
	const char *name;
	const json_t *value;

	json_object_foreach((json_t *)(uintptr_t)values, name, value)
	{
		bool is_set = json_is_true(json_object_get(value, "set"));
		bool is_credential = json_is_true(json_object_get(value, "credential"));

		show_line(cli, label,
			cli_printf(cli, "%s: %s", name,
				!is_set                 ? "not set"
					: is_credential ? "set, sealed"
							: "set"));
		label = "";
	}
}

static void show_texts(struct cli *cli, const char *label, const json_t *texts)
{
	const json_t *text;
	size_t index;

	json_array_foreach(texts, index, text) show_line(cli, index == 0 ? label : "", json_string_value(text));
}

static void show_spec(struct cli *cli, const json_t *spec)
{
	show_line(cli, "command", document_text(spec, "command"));
	show_texts(cli, "args", json_object_get(spec, "args"));
	show_line(cli, "url", document_text(spec, "url"));
	show_values(cli, "env", json_object_get(spec, "env"));
	show_values(cli, "headers", json_object_get(spec, "headers"));
	show_texts(cli, "tools", json_object_get(spec, "allowedTools"));
}

static void show_health(struct cli *cli, const json_t *health)
{
	const char *error = document_text(health, "error");

	if (!json_is_object(health))
		return;
	show_line(cli, "health",
		cli_printf(cli, "%s, %s%s%s", document_text_or_empty(health, "installState"),
			document_text_or_empty(health, "status"), error != NULL ? ": " : "",
			error != NULL ? error : ""));
	show_line(cli, "checked", show_time(cli, document_text(health, "checkedAt")));
}

static int show_reply(struct cli *cli, const struct client_reply *reply)
{
	const json_t *server = reply->json;
	const char *kind = document_text(server, "kind");

	if (cli->json) {
		cli_show_raw(cli, reply);
		return CLI_DONE;
	}
	show_head(cli, json_is_true(json_object_get(server, "enabled")) ? "server" : "switched off",
		document_text(server, "mcpId"), kind);
	show_spec(cli, json_object_get(server, "spec"));
	show_health(cli, json_object_get(server, "health"));
	return CLI_DONE;
}

static int run_show(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", path_of(cli), (struct str){0}, &reply);

	return result != 0 ? result : show_reply(cli, &reply);
}

/* ---- setting one */

/* The spec of a file as it stands: the daemon says what is wrong with it. 0 or an exit code. */
static int write_spec(struct cli *cli, struct body *body)
{
	const char *path = args_text(&cli->args, "file");
	CLEANUP(json_drop) json_t *spec = NULL;
	int result = path != NULL ? body_read_file(path, &spec) : 0;

	if (result == 0 && spec != NULL) {
		json_out_key(&body->out, "spec");
		json_out_canonical(&body->out, spec);
	}
	return result;
}

static int run_set(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	int result;

	if (args_has(&cli->args, "file") && args_has(&cli->args, "reported"))
		return cli_say_usage(cli, "--file or --reported, one of them");
	body_begin(&body);
	result = write_spec(cli, &body);
	if (args_has(&cli->args, "reported"))
		json_out_member_text(&body.out, "kind", "reported");
	if (args_has(&cli->args, "off"))
		json_out_member_bool(&body.out, "enabled", false);
	if (result == 0)
		result = cli_call(cli, "PUT", path_of(cli), body_end(&body), &reply);
	return result != 0 ? result : show_reply(cli, &reply);
}

static int run_remove(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};

	return cli_call(cli, "DELETE", path_of(cli), (struct str){0}, &reply);
}

/* ---- listing them */

static const char *address_of(const json_t *server)
{
	const json_t *spec = json_object_get(server, "spec");
	const char *command = document_text(spec, "command");

	return command != NULL ? command : document_text(spec, "url");
}

static int show_list(struct cli *cli, const json_t *servers)
{
	static const char *const headings[] = {"SERVER", "KIND", "IN USE", "REACHED BY"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *server;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(servers, index, server)
	{
		table_cell(&table, TABLE_BOLD, document_text(server, "mcpId"));
		table_cell(&table, TABLE_PLAIN, document_text(server, "kind"));
		table_cell(&table, TABLE_PLAIN, json_is_true(json_object_get(server, "enabled")) ? "yes" : "no");
		table_cell(&table, TABLE_PLAIN, address_of(server));
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : CLI_DONE;
}

static int run_list(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", list_path(cli), (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	return show_list(cli, json_object_get(reply.json, "items"));
}

/* ---- looking at one now */

static int run_check(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const json_t *health;
	const char *status;
	int result = cli_call(cli, "POST", cli_printf(cli, "%s/check", path_of(cli)), STR("{}"), &reply);

	if (result != 0)
		return result;
	health = json_object_get(reply.json, "health");
	status = document_text_or_empty(health, "status");
	if (cli->json) {
		cli_show_raw(cli, &reply);
	} else {
		show_head(cli, json_is_object(health) ? status : "unknown", document_text(reply.json, "mcpId"),
			json_is_true(json_object_get(reply.json, "asked")) ? "asked now"
									   : "as an outside checker said");
		show_health(cli, health);
		show_line(cli, "next", show_time(cli, document_text(reply.json, "nextRetryAt")));
	}
	return strcmp(status, "healthy") == 0 ? CLI_DONE : CLI_REFUSED;
}

static const struct args_option set_options[] = {
	{"file", 'f', ARGS_TEXT, "FILE", "its spec, as JSON; - for standard input"},
	{"reported", 0, ARGS_FLAG, NULL, "an outside checker says how it is"},
	{"off", 0, ARGS_FLAG, NULL, "switched off for this project"},
	{0},
};

const struct cli_command cmd_server_set = {
	.name = "server set",
	.synopsis = "PROJECT SERVER [--file FILE | --reported] [--off]",
	.summary = "Set how a tool server is reached",
	.text = "Replaces all of it. Values of variables and headers are never shown again, and credentials (named by\n"
		"secretKeys) are kept sealed. A server with a spec is asked at once.",
	.examples = "admitctl server set tracker github --file github.json",
	.options = set_options,
	.min_words = 2,
	.max_words = 2,
	.run = run_set,
};

const struct cli_command cmd_server_show = {
	.name = "server show",
	.synopsis = "PROJECT SERVER",
	.summary = "Show how a tool server is reached",
	.examples = "admitctl server show tracker github",
	.min_words = 2,
	.max_words = 2,
	.run = run_show,
};

const struct cli_command cmd_server_list = {
	.name = "server list",
	.synopsis = "PROJECT",
	.summary = "List a project's tool servers",
	.examples = "admitctl server list tracker",
	.min_words = 1,
	.max_words = 1,
	.run = run_list,
};

const struct cli_command cmd_server_remove = {
	.name = "server remove",
	.synopsis = "PROJECT SERVER",
	.summary = "Forget how a tool server is reached",
	.examples = "admitctl server remove tracker github",
	.min_words = 2,
	.max_words = 2,
	.run = run_remove,
};

const struct cli_command cmd_server_check = {
	.name = "server check",
	.synopsis = "PROJECT SERVER",
	.summary = "Ask a tool server now whether it is well",
	.text = "Exit 0 where it is healthy, else 1. Packages that waited for it are freed.",
	.examples = "admitctl server check tracker github",
	.min_words = 2,
	.max_words = 2,
	.run = run_check,
};
