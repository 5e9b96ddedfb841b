/* admitctl task submit: send a plan (chapter 4.2, PUT task). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "cli/task_view.h"
#include "policy/cleanup.h"

/* The id of --id, else the file's own, which is no member of the body and is taken out. NULL after saying so. */
static const char *task_id(struct cli *cli, json_t *plan)
{
	const char *own = document_text(plan, "id");
	const char *id = args_text(&cli->args, "id");

	if (id == NULL && own != NULL)
		id = cli_printf(cli, "%s", own);
	if (own != NULL)
		json_object_del(plan, "id");
	if (id == NULL)
		cli_say_usage(cli, "which task? The plan has no \"id\", and --id was not given");
	return id;
}

static int send(struct cli *cli, const char *id, const json_t *plan, struct client_reply *ret_reply)
{
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct json_out out;

	buf_init(&bytes, 2 * DOCUMENT_LIMIT);
	json_out_init(&out, &bytes);
	json_out_canonical(&out, plan);
	if (buf_error(&bytes) < 0)
		return cli_say_error("the plan", buf_error(&bytes));
	return cli_call(cli, "PUT", cli_printf(cli, "/v1/tasks/%s", cli_segment(cli, id)), buf_str(&bytes), ret_reply);
}

static int run(struct cli *cli)
{
	CLEANUP(json_drop) json_t *plan = NULL;
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *id;
	int result = body_read_file(args_word(&cli->args, 0), &plan);

	if (result != 0)
		return result;
	id = task_id(cli, plan);
	if (id == NULL)
		return CLI_USAGE;
	result = send(cli, id, plan, &reply);
	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	task_view_head(cli, reply.json);
	buf_putc(&cli->out, '\n');
	result = task_view_packages(cli, json_object_get(reply.json, "packages"));
	buf_putc(&cli->out, '\n');
	if (result == 0)
		show_command(cli, "next", cli_printf(cli, "admitctl preview %s", id));
	return result;
}

static const struct args_option options[] = {
	{"id", 0, ARGS_TEXT, "ID", "the task; else the plan's own \"id\""},
	{0},
};

const struct cli_command cmd_task_submit = {
	.name = "task submit",
	.synopsis = "FILE [--id ID]",
	.summary = "Send a plan: a new one, or the next revision of one",
	.text = "FILE (- for standard input) has project, title and packages, each with label, agent, dependsOn, "
		"document and\n"
		"promptOverlays. The same plan again changes nothing. Faults are told with their places, all of them.",
	.examples = "admitctl task submit plan.json --id tracker-42\n"
		    "admitctl task submit - < plan-with-id.json",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
