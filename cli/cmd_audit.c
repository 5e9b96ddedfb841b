/* admitctl audit verify: whether the log is sound, asked of the daemon or looked at in a file (chapters 2.8 and 4.3). */
#include "cli/admitd_exec.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "policy/cleanup.h"

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static void show(struct cli *cli, const json_t *verdict)
{
	const json_t *item;
	size_t index;

	json_array_foreach(json_object_get(verdict, "faults"), index, item) buf_printf(
		&cli->out, "%s: %s\n", document_text_or_empty(item, "kind"), document_text_or_empty(item, "detail"));
	buf_printf(&cli->out,
		"%s: rows %lld to %lld, %lld records, %lld checkpoints (%lld signed, %lld exported), sealed through "
		"%lld",
		json_is_true(json_object_get(verdict, "ok")) ? "sound" : "NOT SOUND",
		number_of(verdict, "firstSequence"), number_of(json_object_get(verdict, "head"), "sequence"),
		number_of(verdict, "records"), number_of(verdict, "checkpoints"),
		number_of(verdict, "signedCheckpoints"), number_of(verdict, "exportedCheckpoints"),
		number_of(verdict, "sealedThrough"));
	buf_printf(&cli->out, " at %s\n", document_text_or_empty(verdict, "sealedAt"));
	json_array_foreach(json_object_get(verdict, "warnings"), index, item)
		buf_printf(&cli->out, "WARNING: %s\n", json_string_value(item));
}

static int verify_file(struct cli *cli)
{
	struct admitd_exec exec = {0};
	const char *key;
	size_t at = 0;

	admitd_exec_add(&exec, "audit-verify");
	admitd_exec_option(&exec, "--config", args_text(&cli->args, "config"));
	admitd_exec_option(&exec, "--store", args_text(&cli->args, "store"));
	admitd_exec_option(&exec, "--export", args_text(&cli->args, "export"));
	while ((key = args_next(&cli->args, "key", &at)) != NULL)
		admitd_exec_option(&exec, "--key", key);
	return admitd_exec_run(cli, &exec);
}

static int run(struct cli *cli)
{
	CLEANUP(json_drop) json_t *verdict = NULL;
	bool is_file =
		args_has(&cli->args, "store") || args_has(&cli->args, "export") || args_has(&cli->args, "config");
	int result = 0;

	if (is_file)
		return verify_file(cli);
	if (args_has(&cli->args, "key"))
		return cli_say_usage(
			cli, "--key is for --store and --export; a daemon believes the keys it is configured with");
	result = cli_call_job(cli, "/v1/audit/verify", (struct str){0}, &verdict);
	if (result != 0)
		return result;
	if (!cli->json)
		show(cli, verdict);
	return json_is_true(json_object_get(verdict, "ok")) ? CLI_DONE : CLI_REFUSED;
}

static const struct args_option options[] = {
	{"store", 0, ARGS_TEXT, "FILE", "no daemon: a copy of the database, such as a backup"},
	{"export", 0, ARGS_TEXT, "FILE", "no daemon: exported lines, alone or to compare --store with"},
	{"key", 0, ARGS_LIST, "PUBKEY", "with these: a public key that is believed, or the file with it"},
	{"config", 0, ARGS_TEXT, "FILE", "no daemon: the store, keys and export folder of admitd's configuration"},
	{0},
};

const struct cli_command cmd_audit_verify = {
	.name = "audit verify",
	.synopsis = "[--store FILE] [--export FILE] [--key PUBKEY]",
	.summary = "Check that nobody changed, removed or added anything in the log",
	.text = "Looks at every row, what it names, the signed checkpoints and the exported ones. Without a file the "
		"daemon does it,\n"
		"for a token with the role auditor; with one, admitd on this machine. The first bad rows are named.",
	.examples = "admitctl audit verify\n"
		    "admitctl audit verify --store backup.db --export /mnt/elsewhere/checkpoints.jsonl --key "
		    "audit.key.pub\n"
		    "admitctl audit verify --export log-000000000001-000000001000.jsonl --key audit.key.pub",
	.options = options,
	.min_words = 0,
	.max_words = 0,
	.run = run,
};
