/* admitctl approve: let a plan go ahead (chapter 2.3). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/plan_revision.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static void body_drop(struct body *body)
{
	body_release(body);
}

static int approve(struct cli *cli, struct client_reply *ret_reply)
{
	const char *task = args_word(&cli->args, 0);
	const char *path = cli_printf(cli, "/v1/tasks/%s", cli_segment(cli, task));
	CLEANUP(body_drop) struct body body = {0};
	const char *revision;
	int result;

	body_begin(&body);
	result = plan_revision_find(cli, task, "approving", &revision);
	if (result != 0)
		return result;
	json_out_member_text(&body.out, "planRevision", revision);
	body_option(&body, cli, "rootRevision", "root-revision");
	body_option(&body, cli, "reason", "reason");
	return cli_call_expecting(
		cli, "POST", cli_printf(cli, "%s/approval", path), body_end(&body), "admission_blocked", ret_reply);
}

static void show_all(struct cli *cli, const json_t *items, const char *status)
{
	const struct remedy_context context = {.task = args_word(&cli->args, 0), .takes_plan = true};
	const json_t *item;
	size_t index;

	json_array_foreach(items, index, item) show_package(cli, item, status, &context);
}

static void show_blocked(struct cli *cli, const json_t *problem)
{
	show_all(cli, json_object_get(problem, "blocked"), "blocked");
	show_all(cli, json_object_get(problem, "warnings"), "warning");
	buf_puts(&cli->out, "\nNothing was approved");
	if (document_text(problem, "detail") != NULL) {
		buf_puts(&cli->out, ": ");
		table_text(&cli->out,
			(struct str){document_text(problem, "detail"), strlen(document_text(problem, "detail"))});
	}
	buf_putc(&cli->out, '\n');
}

/* The reason of a package stands among the warnings, or is absent. */
static const char *reason_of(const json_t *reply, const char *package)
{
	const json_t *warning;
	size_t index;

	json_array_foreach(json_object_get(reply, "warnings"), index, warning)
	{
		if (package != NULL && strcmp(document_text_or_empty(warning, "packageId"), package) == 0)
			return document_text(warning, "reason");
	}
	return NULL;
}

static void show_approved(struct cli *cli, const json_t *reply)
{
	const struct remedy_context context = {0};
	const char *who = document_text(json_object_get(reply, "approvedBy"), "principal");
	const char *task = document_text_or_empty(reply, "task");
	json_t *package;
	size_t index;

	json_array_foreach(json_object_get(reply, "packages"), index, package)
	{
		const char *reason = reason_of(reply, document_text(package, "packageId"));

		if (reason != NULL)
			json_object_set_new(package, "reason", json_string(reason));
		show_package(cli, package, "allowed", &context);
	}
	buf_putc(&cli->out, '\n');
	show_head(cli, json_is_true(json_object_get(reply, "alreadyApproved")) ? "approved before" : "approved", task,
		NULL);
	show_line(cli, "plan", cli_printf(cli, "revision %s", document_text_or_empty(reply, "planRevision")));
	show_line(cli, "by",
		cli_printf(cli, "%s, %s", who == NULL ? "somebody" : who,
			show_time(cli, document_text(reply, "approvedAt"))));
	show_line(cli, "reason", document_text(reply, "reason"));
	show_command(cli, "next", cli_printf(cli, "admitctl handoff --task %s", task));
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = approve(cli, &reply);

	if (cli->json && result == 0)
		cli_show_raw(cli, &reply);
	if (cli->json)
		return result;
	if (result == 0)
		show_approved(cli, reply.json);
	else if (strcmp(document_text_or_empty(reply.json, "code"), "admission_blocked") == 0)
		show_blocked(cli, reply.json);
	return result;
}

static const struct args_option options[] = {
	{"plan-revision", 0, ARGS_TEXT, "N", "the revision that was read; else the current one, which is said"},
	{"root-revision", 0, ARGS_TEXT, "N", "refuse when the project's folder is not this revision any more"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with the approval"},
	{0},
};

const struct cli_command cmd_approve = {
	.name = "approve",
	.synopsis = "TASK [--plan-revision N] [--root-revision N] [--reason TEXT]",
	.summary = "Approve a plan, or say what blocks it",
	.text = "All packages are judged as handoff would judge them now. If one is blocked nothing is approved, each "
		"blocked one\n"
		"is shown with what frees it, and the exit status is 1. Who sent a plan doesn't approve it.",
	.examples = "admitctl approve tracker-42 --plan-revision 1 --reason 'sprint 12'\n"
		    "admitctl approve tracker-42",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
