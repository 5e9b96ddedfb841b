/* admitctl status: tasks, one task, or one package, and what frees what is held. */
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "cli/task_view.h"
#include "policy/cleanup.h"

/* Each held package is asked for its actions; more of them are named only. */
enum { HELD_ASKED = 20 };

static void table_drop(struct table *table)
{
	table_release(table);
}

static int show_tasks(struct cli *cli, const json_t *tasks)
{
	static const char *const headings[] = {"TASK", "STATUS", "PLAN", "PROJECT", "TITLE"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *task;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(tasks, index, task)
	{
		const char *status = document_text(task, "status");

		table_cell(&table, TABLE_BOLD, document_text(task, "id"));
		table_cell(&table, table_tone_find(status), status);
		table_cell(&table, TABLE_PLAIN, document_text(task, "planRevision"));
		table_cell(&table, TABLE_PLAIN, document_text(task, "project"));
		table_cell(&table, TABLE_PLAIN, document_text(task, "title"));
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : 0;
}

static int run_tasks(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *status = args_text(&cli->args, "status");
	const char *project = args_text(&cli->args, "project");
	const char *path = "/v1/tasks?limit=500";
	int result;

	if (status != NULL)
		path = cli_printf(cli, "%s&status=%s", path, cli_segment(cli, status));
	if (project != NULL)
		path = cli_printf(cli, "%s&project=%s", path, cli_segment(cli, project));
	result = cli_call(cli, "GET", path, (struct str){0}, &reply);
	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	if (json_array_size(json_object_get(reply.json, "items")) == 0) {
		buf_puts(&cli->out, "No task is here. Send one: admitctl task submit PLAN --id ID\n");
		return CLI_DONE;
	}
	result = show_tasks(cli, json_object_get(reply.json, "items"));
	if (json_is_string(json_object_get(reply.json, "next")))
		cli_say("there are more; narrow them with --status or --project");
	return result;
}

/* A draft's plan may be replaced as it is; a later one is sent back first. */
static bool is_draft(const json_t *package)
{
	return strcmp(document_text_or_empty(package, "status"), "draft") == 0;
}

static void show_one(struct cli *cli, const json_t *package)
{
	const struct remedy_context context = {.task = document_text(package, "task"), .takes_plan = is_draft(package)};

	show_package(cli, package, "?", &context);
	show_line(cli, "task", document_text(package, "task"));
	show_line(cli, "agent", document_text(package, "agent"));
	show_line(cli, "attempts",
		cli_printf(cli, "%lld, left %lld", (long long)json_integer_value(json_object_get(package, "attempts")),
			(long long)json_integer_value(json_object_get(package, "attemptsLeft"))));
	if (json_is_object(json_object_get(package, "hold")))
		show_line(cli, "held",
			cli_printf(cli, "%s, since %s", task_view_hold(cli, json_object_get(package, "hold")),
				show_time(cli, document_text(json_object_get(package, "hold"), "since"))));
}

static int ask_package(struct cli *cli, const char *id, struct client_reply *ret_reply)
{
	return cli_call(
		cli, "GET", cli_printf(cli, "/v1/packages/%s", cli_segment(cli, id)), (struct str){0}, ret_reply);
}

static int run_package(struct cli *cli, const char *id)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = ask_package(cli, id, &reply);

	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show_one(cli, reply.json);
	return CLI_DONE;
}

static int show_held(struct cli *cli, const json_t *package)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const struct remedy_context context = {.task = args_word(&cli->args, 0), .takes_plan = is_draft(package)};
	int result = ask_package(cli, document_text_or_empty(package, "id"), &reply);

	if (result == 0)
		show_package(cli, reply.json, "held", &context);
	return result;
}

/* What frees each held package, asked one by one: a task's own view has no actions. */
static int show_all_held(struct cli *cli, const json_t *packages)
{
	const json_t *package;
	size_t held = 0;
	size_t index;
	int result = 0;

	json_array_foreach(packages, index, package)
	{
		if (!json_is_object(json_object_get(package, "hold")))
			continue;
		if (++held <= HELD_ASKED && result == 0)
			result = show_held(cli, package);
	}
	if (held > HELD_ASKED)
		cli_say("%zu more are held; admitctl status PACKAGE shows one", held - HELD_ASKED);
	return result;
}

static int run_task(struct cli *cli, const char *id)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const json_t *packages;
	int result =
		cli_call(cli, "GET", cli_printf(cli, "/v1/tasks/%s", cli_segment(cli, id)), (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	packages = json_object_get(reply.json, "packages");
	task_view_head(cli, reply.json);
	buf_putc(&cli->out, '\n');
	result = task_view_packages(cli, packages);
	return result != 0 ? result : show_all_held(cli, packages);
}

static int run(struct cli *cli)
{
	const char *id = args_word(&cli->args, 0);

	if (id == NULL)
		return run_tasks(cli);
	return strncmp(id, "pkg_", 4) == 0 ? run_package(cli, id) : run_task(cli, id);
}

static const struct args_option options[] = {
	{"status", 0, ARGS_TEXT, "WORD", "only tasks of this status: proposed, approved, completed"},
	{"project", 0, ARGS_TEXT, "ID", "only tasks of this project"},
	{0},
};

const struct cli_command cmd_status = {
	.name = "status",
	.synopsis = "[TASK | PACKAGE]",
	.summary = "Show tasks, one task or one package, and what frees what is held",
	.text = "For everything that is held it prints the command that frees it, ready to be run.",
	.examples = "admitctl status\n"
		    "admitctl status --status proposed --project tracker\n"
		    "admitctl status tracker-42\n"
		    "admitctl status pkg_6f1x0c2v8m",
	.options = options,
	.max_words = 1,
	.run = run,
};
