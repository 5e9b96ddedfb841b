/* admitctl: everything that a person or a script does with admitd, from a terminal (chapter 4.3). */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "policy/json_parse.h"

enum { OUTPUT_CEILING = 512 * 1024 * 1024, RUN_CEILING = 64 * 1024 * 1024 };

const struct cli_command *const cli_commands[] = {
	&cmd_status,
	&cmd_recovery,
	&cmd_watch,
	&cmd_task_submit,
	&cmd_preview,
	&cmd_approve,
	&cmd_reject,
	&cmd_changes,
	&cmd_cancel,
	&cmd_retry,
	&cmd_rework,
	&cmd_handoff,
	&cmd_heartbeat,
	&cmd_outcome,
	&cmd_grant,
	&cmd_deny,
	&cmd_revoke,
	&cmd_project_set,
	&cmd_project_show,
	&cmd_project_list,
	&cmd_project_archive,
	&cmd_project_unarchive,
	&cmd_server_set,
	&cmd_server_show,
	&cmd_server_list,
	&cmd_server_check,
	&cmd_server_remove,
	&cmd_import,
	&cmd_register,
	&cmd_health_list,
	&cmd_health_report,
	&cmd_token_create,
	&cmd_token_list,
	&cmd_token_revoke,
	&cmd_audit_verify,
	&cmd_backup,
	&cmd_restore,
	&cmd_doctor,
	&cmd_inventory,
	&cmd_search,
	&cmd_mcp,
	&cmd_evaluate,
	&cmd_explain,
	&cmd_test,
	&cmd_replay,
	&cmd_rejudge,
	&cmd_catalog_check,
	&cmd_catalog_show,
	&cmd_catalog_put,
	&cmd_catalog_liveness,
	&cmd_materialize,
	&cmd_redact,
	&cmd_bundle_list,
	&cmd_bundle_card,
	&cmd_bundle_ask,
	&cmd_bundle_fetch,
	NULL,
};

static const struct args_option program_options[] = {
	{"version", 'V', ARGS_FLAG, NULL, "print the version"},
	{0},
};

/* How many words of `words` the command's name takes: 0 if it is another one. */
static size_t name_words(const struct cli_command *command, char *const *words, size_t count)
{
	const char *blank = strchr(command->name, ' ');
	size_t first = blank == NULL ? strlen(command->name) : (size_t)(blank - command->name);

	if (count == 0 || strlen(words[0]) != first || strncmp(words[0], command->name, first) != 0)
		return 0;
	if (blank == NULL)
		return 1;
	return count > 1 && strcmp(words[1], blank + 1) == 0 ? 2 : 0;
}

static const struct cli_command *find_command(char *const *words, size_t count, size_t *ret_taken)
{
	for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
		*ret_taken = name_words(*command, words, count);
		if (*ret_taken > 0)
			return *command;
	}
	return NULL;
}

/* "project" alone names three commands: it is told which. */
static int say_unknown(char *const *words, size_t count)
{
	size_t length = strlen(words[0]);
	bool is_group = false;

	for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
		if (strncmp((*command)->name, words[0], length) == 0 && (*command)->name[length] == ' ') {
			cli_say("usage: admitctl %s %s", (*command)->name, (*command)->synopsis);
			is_group = true;
		}
	}
	if (!is_group || count > 1)
		cli_say("%s%s%s: no such command; admitctl --help lists them", words[0], is_group ? " " : "",
			is_group ? words[1] : "");
	return CLI_USAGE;
}

static int check_words(const struct cli *cli)
{
	if (cli->args.word_count < cli->command->min_words)
		return cli_say_usage(cli, "an argument is missing");
	if (cli->args.word_count > cli->command->max_words)
		return cli_say_usage(cli, "there are too many arguments");
	return 0;
}

static int run_command(struct cli *cli, char **words, size_t count, size_t taken)
{
	const struct args_option none[] = {{0}};
	const struct args_option *tables[] = {cli->command->options == NULL ? none : cli->command->options, cli_options,
		cli->command->is_local ? NULL : cli_daemon_options, NULL};
	char name[64];
	int result;

	/* getopt's messages begin with it; the word before the arguments makes room for it. */
	snprintf(name, sizeof(name), "admitctl %s", cli->command->name);
	words[taken - 1] = name;
	if (args_parse(&cli->args, tables, false, (int)(count - taken + 1), words + taken - 1) != 0) {
		cli_say("admitctl %s --help says more", cli->command->name);
		return CLI_USAGE;
	}
	if (args_has(&cli->args, "help")) {
		cli_help_of(&cli->out, cli->command);
		return CLI_DONE;
	}
	result = check_words(cli);
	if (result != 0)
		return result;
	cli->json = args_has(&cli->args, "json");
	if (args_has(&cli->args, "no-color"))
		cli->style.colour = false;
	return cli->command->run(cli);
}

/* "admitctl help [COMMAND]" and "admitctl --help [COMMAND]". */
static int run_help(struct cli *cli, char *const *words, size_t count)
{
	size_t taken;

	if (count == 0) {
		cli_help(&cli->out);
		return CLI_DONE;
	}
	cli->command = find_command(words, count, &taken);
	if (cli->command == NULL)
		return say_unknown(words, count);
	cli_help_of(&cli->out, cli->command);
	return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	const struct args_option *const tables[] = {cli_options, cli_daemon_options, program_options, NULL};
	char **words;
	size_t count;
	size_t taken = 0;

	if (args_parse(&cli->args, tables, true, argc, argv) != 0)
		return CLI_USAGE;
	words = cli->args.words;
	count = cli->args.word_count;
	if (args_has(&cli->args, "version")) {
		buf_puts(&cli->out, "admitctl " PACKAGE_VERSION "\n");
		return CLI_DONE;
	}
	if (args_has(&cli->args, "help"))
		return run_help(cli, words, count);
	if (count > 0 && strcmp(words[0], "help") == 0)
		return run_help(cli, words + 1, count - 1);
	if (count == 0) {
		cli_say("no command; admitctl --help lists them");
		return CLI_USAGE;
	}
	cli->command = find_command(words, count, &taken);
	return cli->command == NULL ? say_unknown(words, count) : run_command(cli, words, count, taken);
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	int result;
	int flushed;

	json_parse_guard();
	table_setup();
	arena_init(&cli.arena, RUN_CEILING);
	buf_init(&cli.out, OUTPUT_CEILING);
	cli.style = table_style_of(STDOUT_FILENO);
	result = run(&cli, argc, argv);
	flushed = cli_flush(&cli);
	client_close(cli.client);
	buf_release(&cli.out);
	arena_release(&cli.arena);
	return result != 0 ? result : flushed;
}
