/* admitctl project: set, show and list projects (chapters 2.1 and 4.2). */
#include <limits.h>
#include <stdlib.h>
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

static const char *path_of(struct cli *cli)
{
	return cli_printf(cli, "/v1/projects/%s", cli_segment(cli, args_word(&cli->args, 0)));
}

/* The folder, which the daemon wants from the root on: a relative one is of this shell. 0 or CLI_USAGE. */
static int write_root(struct cli *cli, struct body *body)
{
	const char *root = args_text(&cli->args, "root");
	CLEANUP(free_drop) char *whole = NULL;

	if (root == NULL)
		return 0;
	if (*root != '/') {
		whole = realpath(root, NULL);
		if (whole == NULL) {
			cli_say("%s: no such folder here; a path of the daemon's machine begins with /", root);
			return CLI_USAGE;
		}
		root = whole;
	}
	json_out_member_text(&body->out, "root", root);
	return 0;
}

static void show_health(struct cli *cli, const json_t *health)
{
	const json_t *row;
	size_t index;

	json_array_foreach(health, index, row) show_line(cli, index == 0 ? "servers" : "",
		cli_printf(cli, "%s: %s, %s%s", document_text_or_empty(row, "mcpId"),
			document_text_or_empty(row, "installState"), document_text_or_empty(row, "status"),
			json_is_true(json_object_get(row, "enabled")) ? "" : ", off"));
}

static void show_project(struct cli *cli, const json_t *project)
{
	const json_t *grant = json_object_get(project, "grant");
	const char *root = document_text(project, "root");
	bool is_archived = json_is_true(json_object_get(project, "archived"));

	show_head(cli, is_archived ? "archived" : "project", document_text(project, "id"),
		document_text(project, "name"));
	show_line(cli, "folder",
		cli_printf(cli, "revision %s%s%s", document_text_or_empty(project, "rootRevision"),
			root == NULL ? "" : ", ", root == NULL ? "" : root));
	show_line(
		cli, "decisions", cli_printf(cli, "revision %s", document_text_or_empty(project, "decisionRevision")));
	if (json_is_object(grant))
		show_line(cli, "last",
			cli_printf(cli, "%s, revision %s, %s", document_text_or_empty(grant, "decision"),
				document_text_or_empty(grant, "revision"), document_text_or_empty(grant, "id")));
	show_health(cli, json_object_get(project, "health"));
}

static int show_reply(struct cli *cli, const struct client_reply *reply)
{
	if (cli->json)
		cli_show_raw(cli, reply);
	else
		show_project(cli, reply->json);
	return CLI_DONE;
}

static int run_set(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	int result;

	body_begin(&body);
	if (args_has(&cli->args, "root") && args_has(&cli->args, "no-root"))
		return cli_say_usage(cli, "--root or --no-root, one of them");
	body_option(&body, cli, "name", "name");
	result = write_root(cli, &body);
	if (args_has(&cli->args, "no-root"))
		json_out_member_null(&body.out, "root");
	if (result == 0)
		result = cli_call(cli, "PUT", path_of(cli), body_end(&body), &reply);
	return result != 0 ? result : show_reply(cli, &reply);
}

static int run_show(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", path_of(cli), (struct str){0}, &reply);

	return result != 0 ? result : show_reply(cli, &reply);
}

static int show_list(struct cli *cli, const json_t *projects)
{
	static const char *const headings[] = {"PROJECT", "NAME", "FOLDER", "DECISIONS"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *project;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(projects, index, project)
	{
		const char *revision = document_text_or_empty(project, "rootRevision");

		table_cell(&table, TABLE_BOLD, document_text(project, "id"));
		table_cell(&table, TABLE_PLAIN, document_text(project, "name"));
		table_cell(&table, TABLE_PLAIN, strcmp(revision, "0") == 0 ? "none" : cli_printf(cli, "r%s", revision));
		table_cell(&table, TABLE_PLAIN, document_text(project, "decisionRevision"));
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : CLI_DONE;
}

static int run_list(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", "/v1/projects?limit=500", (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	return show_list(cli, json_object_get(reply.json, "items"));
}

/* ---- out of use, and into it again */

static int move(struct cli *cli, const char *what)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	const json_t *id;
	size_t index;
	int result;

	body_begin(&body);
	body_option(&body, cli, "reason", "reason");
	result = cli_call(cli, "POST", cli_printf(cli, "%s/%s", path_of(cli), what), body_end(&body), &reply);
	if (result != 0)
		return result;
	result = show_reply(cli, &reply);
	if (!cli->json)
		json_array_foreach(json_object_get(reply.json, "cancelled"), index, id)
			show_line(cli, index == 0 ? "cancelled" : "", json_string_value(id));
	return result;
}

static int run_archive(struct cli *cli)
{
	return move(cli, "archive");
}

static int run_unarchive(struct cli *cli)
{
	return move(cli, "unarchive");
}

static const struct args_option move_options[] = {
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with it"},
	{0},
};

const struct cli_command cmd_project_archive = {
	.name = "project archive",
	.synopsis = "ID [--reason TEXT]",
	.summary = "Take a project out of use",
	.text = "Its open tasks are cancelled and its folder is taken away; what was decided stays to be read.",
	.examples = "admitctl project archive tracker --reason 'moved to another daemon'",
	.options = move_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_archive,
};

const struct cli_command cmd_project_unarchive = {
	.name = "project unarchive",
	.synopsis = "ID [--reason TEXT]",
	.summary = "Take a project into use again",
	.text = "It has no folder then: admitctl project set gives it one. No approval of before counts again.",
	.examples = "admitctl project unarchive tracker",
	.options = move_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_unarchive,
};

static const struct args_option set_options[] = {
	{"name", 0, ARGS_TEXT, "TEXT", "for people; a new project is called by its id"},
	{"root", 0, ARGS_TEXT, "DIR", "its folder on the daemon's machine; another one ends all earlier approvals"},
	{"no-root", 0, ARGS_FLAG, NULL, "take its folder away"},
	{0},
};

const struct cli_command cmd_project_set = {
	.name = "project set",
	.synopsis = "ID [--name TEXT] [--root DIR | --no-root]",
	.summary = "Create a project, or change its name or folder",
	.text = "Reads can only be approved for a project with a folder, which must lie beneath what the daemon's "
		"[roots] allow.",
	.examples = "admitctl project set tracker --name 'Issue tracker' --root /srv/tracker",
	.options = set_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_set,
};

const struct cli_command cmd_project_show = {
	.name = "project show",
	.synopsis = "ID",
	.summary = "Show a project: folder, decisions, tool servers",
	.examples = "admitctl project show tracker",
	.min_words = 1,
	.max_words = 1,
	.run = run_show,
};

const struct cli_command cmd_project_list = {
	.name = "project list",
	.synopsis = "",
	.summary = "List the projects",
	.examples = "admitctl project list",
	.run = run_list,
};
