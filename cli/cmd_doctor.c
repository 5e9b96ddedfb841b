/* admitctl doctor: what is wrong with a daemon and its state folder, and the way out (chapter 4.3). */
#include "cli/admitd_exec.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "policy/cleanup.h"

static void find(struct cli *cli, const char *grade, const char *what, const char *text)
{
	buf_printf(&cli->out, "%-5s  %-12s %s\n", grade, what, text);
}

static bool is_on(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Null where plain HTTP is spoken. */
static void look_at_certificate(struct cli *cli, const json_t *tls)
{
	const char *warning = document_text(tls, "warning");

	if (warning != NULL)
		find(cli, "odd", "certificate", warning);
	else if (json_is_object(tls))
		find(cli, "good", "certificate",
			cli_printf(cli, "valid until %s", document_text_or_empty(tls, "validUntil")));
}

static void look_at_version(struct cli *cli, const json_t *version)
{
	const json_t *audit = json_object_get(version, "audit");
	const json_t *sandbox = json_object_get(version, "sandbox");
	const json_t *warning;
	size_t index;

	find(cli, "good", "daemon",
		cli_printf(cli, "version %s, catalog %s", document_text_or_empty(version, "version"),
			document_text_or_empty(version, "catalogDigest")));
	json_array_foreach(json_object_get(audit, "warnings"), index, warning)
		find(cli, "odd", "log", json_string_value(warning));
	look_at_certificate(cli, json_object_get(version, "tls"));
	if (is_on(audit, "failing"))
		find(cli, "wrong", "checkpoint",
			"the last one could not be made or exported: read the daemon's log for why");
	else
		find(cli, "good", "checkpoint",
			cli_printf(cli, "number %lld, %s",
				(long long)json_integer_value(json_object_get(audit, "checkpoint")),
				document_text_or_empty(audit, "sealedAt")));
	if (!is_on(json_object_get(sandbox, "prober"), "running"))
		find(cli, "odd", "prober",
			"it is down: tool servers can't be checked, and their health is unknown; look whether "
			"admitd-prober is installed beside admitd");
	else
		find(cli, "good", "prober", "it is running");
	if (!is_on(sandbox, "landlock") || !is_on(sandbox, "seccomp"))
		find(cli, "odd", "sandbox",
			"this kernel lacks Landlock or seccomp: run admitd in a container or unit that limits it");
}

/* With a state folder given, a daemon need not be running: admitd looks at it itself. */
static int look_at_state(struct cli *cli)
{
	struct admitd_exec exec = {0};

	admitd_exec_add(&exec, "doctor");
	admitd_exec_option(&exec, "--config", args_text(&cli->args, "config"));
	admitd_exec_option(&exec, "--state", args_text(&cli->args, "state"));
	return admitd_exec_run(cli, &exec);
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply ready = {0};
	CLEANUP(cli_reply_drop) struct client_reply version = {0};
	int result = 0;

	if (args_has(&cli->args, "state") || args_has(&cli->args, "config"))
		return look_at_state(cli);
	result = cli_call(cli, "GET", "/readyz", (struct str){0}, &ready);
	if (result == 0)
		result = cli_call(cli, "GET", "/v1/version", (struct str){0}, &version);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &version);
	else
		look_at_version(cli, version.json);
	return is_on(json_object_get(version.json, "audit"), "failing") ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"config", 0, ARGS_TEXT, "FILE",
		"admitd's configuration: looks at its state folder, audit key and export folder"},
	{0},
};

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.synopsis = "[--state DIR | --config FILE]",
	.summary = "Look for what is wrong, and say the way out",
	.text = "Asks the daemon how it is: its catalog, certificate, checkpoints, prober and sandbox. With --state or "
		"--config it looks\n"
		"at the state folder on this machine instead, whether a daemon runs or not: who may read it, schema, "
		"end of the log,\n"
		"age and export of the last checkpoint, room on the disk.",
	.examples = "admitctl doctor\n"
		    "admitctl doctor --config /etc/admitd.conf",
	.options = options,
	.min_words = 0,
	.max_words = 0,
	.run = run,
};
