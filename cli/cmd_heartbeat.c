/* admitctl heartbeat: renew the lease of a run (chapter 2.5). */
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static void show(struct cli *cli, const json_t *reply)
{
	const json_t *run = json_object_get(reply, "run");
	const json_t *lease = json_object_get(run, "lease");

	show_head(cli, document_text_or_empty(run, "status"), document_text(run, "id"), document_text(run, "task"));
	show_line(cli, "lease",
		cli_printf(cli, "until %s, to be renewed every %lld s",
			show_time(cli, document_text(lease, "expiresAt")),
			(long long)json_integer_value(json_object_get(lease, "renewAfterSeconds"))));
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *path = cli_printf(cli, "/v1/runs/%s/heartbeat", cli_segment(cli, args_word(&cli->args, 0)));
	int result = cli_call(cli, "POST", path, (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show(cli, reply.json);
	return CLI_DONE;
}

const struct cli_command cmd_heartbeat = {
	.name = "heartbeat",
	.synopsis = "RUN",
	.summary = "Renew the lease of a run",
	.text = "A run that isn't renewed in time is over, which is an attempt. The exit status is 1 when it is over "
		"already: then\n"
		"stop working on it.",
	.examples = "admitctl heartbeat run_9v3b5h0z4n\n"
		    "while admitctl heartbeat run_9v3b5h0z4n --token-file run.token; do sleep 20; done",
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
