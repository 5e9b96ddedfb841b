/* admitctl recovery: what waits for a person, and the commands that free it. */
#include "cli/commands.h"
#include "cli/queue_view.h"
#include "policy/cleanup.h"

static const char *path_of(struct cli *cli)
{
	static const char *const filters[] = {"project", "task", "kind"};
	const char *path = args_has(&cli->args, "mine") ? "/v1/recovery?limit=500&mine=true" : "/v1/recovery?limit=500";

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		const char *value = args_text(&cli->args, filters[i]);

		if (value != NULL)
			path = cli_printf(cli, "%s&%s=%s", path, filters[i], cli_segment(cli, value));
	}
	return path;
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", path_of(cli), (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	queue_view_head(cli, reply.json);
	queue_view_items(cli, json_object_get(reply.json, "items"));
	if (json_is_string(json_object_get(reply.json, "next")))
		cli_say("there are more; narrow them with --project, --task or --kind");
	return CLI_DONE;
}

static const struct args_option options[] = {
	{"project", 0, ARGS_TEXT, "ID", "only of this project"},
	{"task", 0, ARGS_TEXT, "ID", "only of this task"},
	{"kind", 0, ARGS_TEXT, "WORD", "only of this kind: package_held, plan_waits_for_approval, package_failed"},
	{"mine", 0, ARGS_FLAG, NULL, "only what this token may act on"},
	{0},
};

const struct cli_command cmd_recovery = {
	.name = "recovery",
	.synopsis = "[--project ID] [--task ID] [--kind WORD] [--mine]",
	.summary = "Show what waits for a person, oldest first, and what frees it",
	.text = "Held packages, plans to decide, plans sent back, failed packages, silent runs, and projects without a "
		"folder.",
	.examples = "admitctl recovery\n"
		    "admitctl recovery --mine --project tracker\n"
		    "admitctl recovery --kind package_held --json",
	.options = options,
	.run = run,
};
