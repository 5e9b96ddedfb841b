/* admitctl outcome: report how a run ended (chapter 2.5). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "cli/task_view.h"
#include "policy/cleanup.h"

static void body_drop(struct body *body)
{
	body_release(body);
}

static void show(struct cli *cli, const json_t *reply)
{
	const json_t *run = json_object_get(reply, "run");
	const json_t *package = json_object_get(reply, "package");
	const json_t *task = json_object_get(reply, "task");
	const json_t *hold = json_object_get(package, "hold");
	const char *id = document_text_or_empty(package, "id");

	show_head(cli, document_text_or_empty(run, "outcome"), document_text(package, "label"), id);
	show_line(cli, "run",
		cli_printf(cli, "%s, ended %s", document_text_or_empty(run, "id"),
			show_time(cli, document_text(run, "endedAt"))));
	show_line(cli, "package",
		cli_printf(cli, "%s, attempts %lld, left %lld", document_text_or_empty(package, "status"),
			(long long)json_integer_value(json_object_get(package, "attempts")),
			(long long)json_integer_value(json_object_get(package, "attemptsLeft"))));
	show_line(cli, "task",
		cli_printf(cli, "%s, %s", document_text_or_empty(task, "id"), document_text_or_empty(task, "status")));
	if (json_is_object(hold)) {
		show_line(cli, "held", task_view_hold(cli, hold));
		show_command(cli, "see", cli_printf(cli, "admitctl status %s", id));
	}
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	const char *id = args_word(&cli->args, 0);
	const char *outcome = args_word(&cli->args, 1);
	int result;

	if (strcmp(outcome, "succeeded") != 0 && strcmp(outcome, "failed") != 0 && strcmp(outcome, "released") != 0)
		return cli_say_usage(cli, "an outcome is succeeded, failed or released");
	body_begin(&body);
	json_out_member_text(&body.out, "outcome", outcome);
	body_option(&body, cli, "summary", "summary");
	result = cli_call(
		cli, "POST", cli_printf(cli, "/v1/runs/%s/outcome", cli_segment(cli, id)), body_end(&body), &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show(cli, reply.json);
	return CLI_DONE;
}

static const struct args_option options[] = {
	{"summary", 0, ARGS_TEXT, "TEXT", "kept with the run, for people"},
	{0},
};

const struct cli_command cmd_outcome = {
	.name = "outcome",
	.synopsis = "RUN succeeded|failed|released [--summary TEXT]",
	.summary = "Report how a run ended",
	.text = "succeeded completes the package, failed is one of its three attempts, released gives it back without "
		"one. It is\n"
		"reported once: the same again gives the same answer, another one is refused.",
	.examples = "admitctl outcome run_9v3b5h0z4n succeeded\n"
		    "admitctl outcome run_9v3b5h0z4n failed --summary 'migration did not apply'",
	.options = options,
	.min_words = 2,
	.max_words = 2,
	.run = run,
};
