/* admitctl replay: one decision made again by its own inputs and catalog (chapter 2.7). */
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static void show_pair(struct cli *cli, const char *label, const json_t *pair)
{
	const char *recorded = document_text_or_empty(pair, "recorded");
	const char *replayed = document_text(pair, "replayed");

	if (replayed == NULL || strcmp(recorded, replayed) == 0)
		show_line(cli, label, recorded);
	else
		show_line(cli, label, cli_printf(cli, "%s, now %s", recorded, replayed));
}

static const char *verdict(const json_t *reply)
{
	if (json_is_false(json_object_get(reply, "documentKept")))
		return "not kept";
	return json_is_true(json_object_get(reply, "same")) ? "same bytes" : "other bytes";
}

static void show(struct cli *cli, const json_t *reply)
{
	const json_t *engine = json_object_get(reply, "engineRevision");

	show_head(cli, verdict(reply), document_text(reply, "decisionId"), NULL);
	show_pair(cli, "inputs", json_object_get(reply, "inputsDigest"));
	show_pair(cli, "result", json_object_get(reply, "resultDigest"));
	show_line(cli, "catalog", document_text(reply, "catalogDigest"));
	show_line(cli, "engine",
		cli_printf(cli, "revision %lld, now %lld",
			(long long)json_integer_value(json_object_get(engine, "recorded")),
			(long long)json_integer_value(json_object_get(engine, "replayed"))));
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *path = cli_printf(cli, "/v1/decisions/%s/replay", cli_segment(cli, args_word(&cli->args, 0)));
	int result = cli_call(cli, "POST", path, (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show(cli, reply.json);
	return json_is_true(json_object_get(reply.json, "same")) ? CLI_DONE : CLI_REFUSED;
}

const struct cli_command cmd_replay = {
	.name = "replay",
	.synopsis = "DECISION",
	.summary = "Make a decision again by its own inputs, and compare the bytes",
	.text = "With the catalog it was made with and the engine of today. The exit status is 1 when the bytes "
		"differ, "
		"which with\n"
		"the same engine revision is an alarm, or when its document is no longer kept.",
	.examples = "admitctl replay sha256:c04d91aa\n"
		    "admitctl replay sha256:c04d91aa --json | jq .same",
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
