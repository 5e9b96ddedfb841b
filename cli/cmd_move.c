/* admitctl reject, changes, cancel, retry, rework: what people do to plans and packages beside approving (chapter 2.2). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/plan_revision.h"
#include "cli/show.h"
#include "cli/task_view.h"
#include "policy/cleanup.h"

static void body_drop(struct body *body)
{
	body_release(body);
}

/* ---- a task */

static void show_ids(struct cli *cli, const char *label, const json_t *ids)
{
	const json_t *id;
	size_t index;

	json_array_foreach(ids, index, id) show_line(cli, index == 0 ? label : "", json_string_value(id));
}

static void show_task(struct cli *cli, const json_t *task)
{
	const char *who = document_text(json_object_get(task, "statusBy"), "principal");

	task_view_head(cli, task);
	show_line(cli, "by",
		cli_printf(cli, "%s, %s", who == NULL ? "somebody" : who,
			show_time(cli, document_text(task, "statusAt"))));
	show_line(cli, "reason", document_text(task, "statusReason"));
	show_ids(cli, "superseded", json_object_get(task, "superseded"));
	show_ids(cli, "cancelled", json_object_get(task, "cancelled"));
	if (strcmp(document_text_or_empty(task, "status"), "changes_requested") == 0)
		show_command(cli, "next",
			cli_printf(cli, "admitctl task submit PLAN --id %s", document_text_or_empty(task, "id")));
}

/* `revision`: NULL when the body names none. */
static int move_task(struct cli *cli, const char *what, const char *revision)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	const char *path = cli_printf(cli, "/v1/tasks/%s/%s", cli_segment(cli, args_word(&cli->args, 0)), what);
	int result;

	body_begin(&body);
	if (revision != NULL)
		json_out_member_text(&body.out, "planRevision", revision);
	body_option(&body, cli, "reason", "reason");
	result = cli_call(cli, "POST", path, body_end(&body), &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show_task(cli, reply.json);
	return CLI_DONE;
}

static int move_plan(struct cli *cli, const char *what, const char *doing)
{
	const char *revision = NULL;
	int result = plan_revision_find(cli, args_word(&cli->args, 0), doing, &revision);

	return result != 0 ? result : move_task(cli, what, revision);
}

static int run_reject(struct cli *cli)
{
	return move_plan(cli, "rejection", "rejecting");
}

static int run_changes(struct cli *cli)
{
	return move_plan(cli, "changes", "sending back");
}

/* ---- a package */

static void show_moved(struct cli *cli, const json_t *reply)
{
	const json_t *package = json_object_get(reply, "package");
	const json_t *task = json_object_get(reply, "task");
	const json_t *hold = json_object_get(package, "hold");

	show_head(cli, document_text_or_empty(package, "status"), document_text(package, "label"),
		document_text(package, "id"));
	show_line(cli, "attempts",
		cli_printf(cli, "%lld, left %lld", (long long)json_integer_value(json_object_get(package, "attempts")),
			(long long)json_integer_value(json_object_get(package, "attemptsLeft"))));
	show_ids(cli, "with it", json_object_get(reply, "along"));
	show_line(cli, "task",
		cli_printf(cli, "%s, %s", document_text_or_empty(task, "id"), document_text_or_empty(task, "status")));
	if (json_is_object(hold)) {
		show_line(cli, "held", task_view_hold(cli, hold));
		show_command(cli, "see", cli_printf(cli, "admitctl status %s", document_text_or_empty(package, "id")));
	}
}

static int move_package(struct cli *cli, const char *what)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	const char *path = cli_printf(cli, "/v1/packages/%s/%s", cli_segment(cli, args_word(&cli->args, 0)), what);
	int result;

	body_begin(&body);
	if (args_has(&cli->args, "cascade"))
		json_out_member_bool(&body.out, "cascade", true);
	body_option(&body, cli, "reason", "reason");
	result = cli_call(cli, "POST", path, body_end(&body), &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show_moved(cli, reply.json);
	return CLI_DONE;
}

/* Ids of packages are the daemon's and begin so; --task is for a task that is called like one. */
static int run_cancel(struct cli *cli)
{
	bool is_package = strncmp(args_word(&cli->args, 0), "pkg_", 4) == 0 && !args_has(&cli->args, "task");

	if (is_package)
		return move_package(cli, "cancellation");
	if (args_has(&cli->args, "cascade"))
		return cli_say_usage(cli, "--cascade belongs to a package; a task ends with all of them");
	return move_task(cli, "cancellation", args_text(&cli->args, "plan-revision"));
}

static int run_retry(struct cli *cli)
{
	return move_package(cli, "retry");
}

static int run_rework(struct cli *cli)
{
	return move_package(cli, "rework");
}

/* ---- the commands */

static const struct args_option plan_options[] = {
	{"plan-revision", 0, ARGS_TEXT, "N", "the revision that was read; else the current one, which is said"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with it, for whoever planned it"},
	{0},
};

static const struct args_option cancel_options[] = {
	{"cascade", 0, ARGS_FLAG, NULL, "a package: with what depends on it"},
	{"plan-revision", 0, ARGS_TEXT, "N", "a task: refuse when its plan is not this revision any more"},
	{"task", 0, ARGS_FLAG, NULL, "a task, although its id begins with pkg_"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with it"},
	{0},
};

static const struct args_option retry_options[] = {
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with it"},
	{0},
};

static const struct args_option rework_options[] = {
	{"cascade", 0, ARGS_FLAG, NULL, "with what is completed and depends on it"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with it, for whoever does it again"},
	{0},
};

const struct cli_command cmd_reject = {
	.name = "reject",
	.synopsis = "TASK [--plan-revision N] [--reason TEXT]",
	.summary = "Reject a plan that waits for approval",
	.text = "The task is over, unless it is sent back later. Who wants another plan sends it back instead: "
		"admitctl "
		"changes.",
	.examples = "admitctl reject tracker-42 --reason 'not this quarter'",
	.options = plan_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_reject,
};

const struct cli_command cmd_changes = {
	.name = "changes",
	.synopsis = "TASK [--plan-revision N] [--reason TEXT]",
	.summary = "Send a plan back to be changed",
	.text = "What runs is stopped, what is completed stays, all else leaves the plan with its one-time approvals. "
		"Another plan\n"
		"for the task may be sent then: what it has in common with completed work is kept.",
	.examples = "admitctl changes tracker-42 --reason 'split the migration'",
	.options = plan_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_changes,
};

const struct cli_command cmd_cancel = {
	.name = "cancel",
	.synopsis = "TASK | PACKAGE [--cascade] [--reason TEXT]",
	.summary = "End a task, or a package of one",
	.text = "What runs is stopped, which is no attempt. A package that others depend on is only cancelled with "
		"them "
		"(--cascade).",
	.examples = "admitctl cancel tracker-42 --reason 'not needed any more'\n"
		    "admitctl cancel pkg_6f1x0c2v8m --cascade",
	.options = cancel_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_cancel,
};

const struct cli_command cmd_retry = {
	.name = "retry",
	.synopsis = "PACKAGE [--reason TEXT]",
	.summary = "Give a failed package three more attempts",
	.text = "A failed task goes on by it. Approvals that were used up stay so.",
	.examples = "admitctl retry pkg_6f1x0c2v8m --reason 'the runner had no disk left'",
	.options = retry_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_retry,
};

const struct cli_command cmd_rework = {
	.name = "rework",
	.synopsis = "PACKAGE [--cascade] [--reason TEXT]",
	.summary = "Have a completed package done again",
	.text = "While its task goes on. What is completed and was built on its result is done again too (--cascade). "
		"An "
		"executor\n"
		"may ask for it that ran something which depends on it.",
	.examples = "admitctl rework pkg_6f1x0c2v8m --cascade --reason 'the schema lacks due dates'",
	.options = rework_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_rework,
};
