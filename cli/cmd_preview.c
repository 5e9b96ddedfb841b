/* admitctl preview: what would become of a plan (chapter 2.3). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static long long count_of(const json_t *reply, const char *status)
{
	return json_integer_value(json_object_get(json_object_get(reply, "counts"), status));
}

/* What a person does next. */
static void show_next(struct cli *cli, const json_t *reply)
{
	const char *task = document_text(reply, "task");
	const char *revision = document_text(reply, "planRevision");
	bool is_blocked = strcmp(document_text_or_empty(reply, "status"), "blocked") == 0;

	buf_printf(&cli->out, "\n%lld allowed, %lld with a warning, %lld blocked\n", count_of(reply, "allowed"),
		count_of(reply, "warning"), count_of(reply, "blocked"));
	if (!is_blocked && task != NULL && revision != NULL)
		show_command(cli, "next", cli_printf(cli, "admitctl approve %s --plan-revision %s", task, revision));
}

static void show(struct cli *cli, const json_t *reply)
{
	const struct remedy_context context = {.task = document_text(reply, "task"), .takes_plan = true};
	const json_t *package;
	size_t index;

	json_array_foreach(json_object_get(reply, "packages"), index, package)
		show_package(cli, package, "judged", &context);
	show_next(cli, reply);
}

/* A plan that is not stored: what it has of PUT task, but for its id. */
static int preview_file(struct cli *cli, const char *path, struct client_reply *ret_reply)
{
	CLEANUP(json_drop) json_t *plan = NULL;
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct json_out out;
	int result = body_read_file(path, &plan);

	buf_init(&bytes, 2 * DOCUMENT_LIMIT);
	if (result != 0)
		return result;
	if (json_object_get(plan, "id") != NULL)
		json_object_del(plan, "id");
	json_out_init(&out, &bytes);
	json_out_canonical(&out, plan);
	if (buf_error(&bytes) < 0)
		return cli_say_error(path, buf_error(&bytes));
	return cli_call(cli, "POST", "/v1/preview", buf_str(&bytes), ret_reply);
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *file = args_text(&cli->args, "file");
	const char *task = args_word(&cli->args, 0);
	int result;

	if ((file == NULL) == (task == NULL))
		return cli_say_usage(cli, "a task or --file, one of them");
	if (file != NULL)
		result = preview_file(cli, file, &reply);
	else
		result = cli_call(cli, "POST", cli_printf(cli, "/v1/tasks/%s/preview", cli_segment(cli, task)),
			(struct str){0}, &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show(cli, reply.json);
	return strcmp(document_text_or_empty(reply.json, "status"), "blocked") == 0 ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"file", 'f', ARGS_TEXT, "PLAN", "a plan that is not sent: the file of task submit, or {project, document}"},
	{0},
};

const struct cli_command cmd_preview = {
	.name = "preview",
	.synopsis = "TASK | --file PLAN",
	.summary = "Say what would become of a plan, and what frees what is held",
	.text = "Judges every package of a stored task, or of a plan in a file, as approval and handoff would judge it "
		"now.\n"
		"Nothing is changed. The exit status is 1 when something is blocked.",
	.examples = "admitctl preview tracker-42\n"
		    "admitctl preview --file plan.json\n"
		    "admitctl preview tracker-42 --json | jq '.packages[].operatorState'",
	.options = options,
	.max_words = 1,
	.run = run,
};
