/* admitctl token: create, list and revoke tokens (chapter 4.1, "Auth"). */
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

/* "a, b" of an array of texts; "all" for one that is absent. */
static const char *joined(struct cli *cli, const json_t *items)
{
	const char *text = "";
	const json_t *item;
	size_t index;

	json_array_foreach(items, index, item) text = cli_printf(cli, "%s%s%s", text, index == 0 ? "" : ", ",
		json_string_value(item) == NULL ? "?" : json_string_value(item));
	return json_is_array(items) ? text : "all";
}

/* The secret is shown once: in a file, or alone on standard output where a script reads it. */
static int show_created(struct cli *cli, const struct client_reply *reply, struct cli_secret *file)
{
	const char *secret = document_text(reply->json, "secret");
	const char *id = document_text_or_empty(reply->json, "id");
	int result;

	if (secret == NULL) {
		cli_say("the daemon's answer has no secret");
		return CLI_REFUSED;
	}
	result = cli_secret_write(file, secret);
	if (result != 0)
		cli_say("token %s was made and its secret is lost; admitctl token revoke %s ends it", id, id);
	else if (file->path != NULL)
		cli_say("token %s is in %s", id, file->path);
	else if (cli->json)
		cli_show_raw(cli, reply);
	else
		buf_printf(&cli->out, "%s\n", secret);
	return result;
}

static int run_create(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(cli_secret_close) struct cli_secret file = {.descriptor = -1};
	CLEANUP(body_drop) struct body body = {0};
	int result;

	body_begin(&body);
	if (!args_has(&cli->args, "principal") || !args_has(&cli->args, "role"))
		return cli_say_usage(cli, "--principal and --role are needed");
	body_option(&body, cli, "principal", "principal");
	body_list(&body, cli, "roles", "role");
	body_list(&body, cli, "projects", "project");
	result = body_expiry(&body, cli);
	if (result == 0)
		result = cli_secret_open(&file, args_text(&cli->args, "out"));
	if (result == 0)
		result = cli_call(cli, "POST", "/v1/tokens", body_end(&body), &reply);
	return result != 0 ? result : show_created(cli, &reply, &file);
}

static int show_list(struct cli *cli, const json_t *tokens)
{
	static const char *const headings[] = {"TOKEN", "PRINCIPAL", "ROLES", "PROJECTS", "ENDS"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *token;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(tokens, index, token)
	{
		const char *end = document_text(token, "expiresAt");

		table_cell(&table, TABLE_BOLD, document_text(token, "id"));
		table_cell(&table, TABLE_PLAIN, document_text(token, "principal"));
		table_cell(&table, TABLE_PLAIN, joined(cli, json_object_get(token, "roles")));
		table_cell(&table, TABLE_PLAIN, joined(cli, json_object_get(token, "projects")));
		table_cell(&table, TABLE_PLAIN, end == NULL ? "never" : show_time(cli, end));
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : CLI_DONE;
}

static int run_list(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", "/v1/tokens?limit=500", (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	return show_list(cli, json_object_get(reply.json, "items"));
}

static int run_revoke(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *id = args_word(&cli->args, 0);
	int result = cli_call(
		cli, "DELETE", cli_printf(cli, "/v1/tokens/%s", cli_segment(cli, id)), (struct str){0}, &reply);

	if (result == 0 && cli->json)
		cli_show_raw(cli, &reply);
	else if (result == 0)
		cli_say("token %s is revoked", id);
	return result;
}

static const struct args_option create_options[] = {
	{"principal", 0, ARGS_TEXT, "NAME", "the person or service that holds it"},
	{"role", 0, ARGS_LIST, "ROLE", "planner, approver, executor, operator, auditor or admin; repeat it"},
	{"project", 0, ARGS_LIST, "ID", "only this project; repeat it. All of them, if left out"},
	{"expires", 0, ARGS_TEXT, "WHEN", "90s, 30m, 12h, 7d from now, or a time like 2026-12-07T00:00:00Z"},
	{"out", 0, ARGS_TEXT, "FILE", "write the secret to this new file, mode 0600, and show it nowhere"},
	{0},
};

const struct cli_command cmd_token_create = {
	.name = "token create",
	.synopsis = "--principal NAME --role ROLE... [--project ID...] [--expires WHEN] [--out FILE]",
	.summary = "Make a token; its secret is shown once",
	.text = "Without --out the secret is all that is printed. Who approves must not be who submits: give them "
		"other\n"
		"principals.",
	.examples =
		"admitctl token create --principal planner-service --role planner --out planner.token\n"
		"admitctl token create --principal ana --role approver --role operator --expires 90d --out ana.token",
	.options = create_options,
	.run = run_create,
};

const struct cli_command cmd_token_list = {
	.name = "token list",
	.synopsis = "",
	.summary = "List tokens, never their secrets",
	.examples = "admitctl token list",
	.run = run_list,
};

const struct cli_command cmd_token_revoke = {
	.name = "token revoke",
	.synopsis = "TOKEN",
	.summary = "End a token",
	.examples = "admitctl token revoke tok_5s0a8r3e6w",
	.min_words = 1,
	.max_words = 1,
	.run = run_revoke,
};
