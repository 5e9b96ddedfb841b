/* admitctl materialize: what a run's agent is given, written for it (chapter 5.7). */
#include <errno.h>
#include <string.h>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/materialize.h"
#include "policy/cleanup.h"

enum { WORDS_MOST = 1000 };

/* ---- running the agent */

static int run_agent(struct materialize *plan)
{
	struct cli *cli = plan->cli;
	size_t count = cli->args.word_count;
	char **arguments = ARENA_ARRAY(&cli->arena, count + plan->arguments.count + 1, char *);
	struct secret_mask mask;
	struct child child = {.arguments = arguments, .environment = materialize_environment(plan), .mask = &mask};
	int result = secrets_mask(cli, &plan->secrets, &mask);

	if (arguments == NULL)
		return cli_say_error("the arguments", -ENOMEM);
	if (result != 0)
		return result;
	memcpy(arguments, cli->args.words, count * sizeof(*arguments));
	for (size_t i = 0; i < plan->arguments.count; i++)
		arguments[count + i] = (char *)(uintptr_t)plan->arguments.items[i].bytes;
	result = child_run(cli, &child);
	materialize_undo(plan);
	return result;
}

/* ---- the command line */

static int read_options(struct materialize *plan)
{
	struct cli *cli = plan->cli;
	const char *agent = args_text(&cli->args, "agent");
	bool ungoverned = args_has(&cli->args, "ungoverned");

	plan->run = args_text(&cli->args, "run");
	plan->with_http = args_has(&cli->args, "codex-http");
	if ((plan->run != NULL) == ungoverned)
		return cli_say_usage(cli, "--run RUN, or --ungoverned where no decision is asked, one of them");
	if (ungoverned && !args_has(&cli->args, "body"))
		return cli_say_usage(cli, "--ungoverned needs --body: the servers and skills to be written");
	if (agent != NULL && agent_kind_find((struct str){agent, strlen(agent)}, &plan->agent) != 0)
		return cli_say_usage(cli, "--agent takes claude-code or codex");
	if (args_has(&cli->args, "home") && args_has(&cli->args, "own-home"))
		return cli_say_usage(cli, "--home or --own-home, one of them");
	if (plan->agent == AGENT_CODEX && (args_has(&cli->args, "home") || args_has(&cli->args, "own-home")))
		return cli_say_usage(
			cli, "--home and --own-home are for claude-code: Codex has its folder as its home");
	if (cli->args.word_count == 0 && !args_has(&cli->args, "owner"))
		return cli_say_usage(cli, "a command to run, or --owner PID: the process that the files are for");
	if (cli->args.word_count > 0 && args_has(&cli->args, "owner"))
		return cli_say_usage(cli, "a command or --owner, one of them");
	return cli_number(cli, "owner", 1, MATERIALIZE_PID_MOST, &plan->owner);
}

static int make(struct cli *cli)
{
	CLEANUP(materialize_drop) struct materialize *plan = materialize_new(cli);
	int result = plan != NULL ? read_options(plan) : cli_say_error("the plan", -ENOMEM);

	if (result == 0)
		result = materialize_sweep(cli, materialize_base(cli));
	if (result == 0)
		result = materialize_plan(plan);
	if (result == 0)
		result = materialize_write(plan, materialize_base(cli));
	if (result != 0) {
		if (plan != NULL)
			materialize_undo(plan);
		return result;
	}
	materialize_say_left_out(plan);
	if (cli->args.word_count > 0)
		return run_agent(plan);
	materialize_show(plan);
	return CLI_DONE;
}

static int run(struct cli *cli)
{
	const char *check = args_text(&cli->args, "check");
	const char *removed = args_text(&cli->args, "remove");
	bool sweeps = args_has(&cli->args, "sweep");

	if ((check != NULL) + (removed != NULL) + sweeps > 1)
		return cli_say_usage(cli, "--check, --remove or --sweep, one of them");
	if (check != NULL)
		return materialize_check(cli, check);
	if (removed != NULL)
		return materialize_remove(cli, removed);
	return sweeps ? materialize_sweep(cli, materialize_base(cli)) : make(cli);
}

static const struct args_option options[] = {
	{"run", 0, ARGS_TEXT, "RUN", "write what this run's decision admits"},
	{"ungoverned", 0, ARGS_FLAG, NULL, "no decision: write all servers of the body"},
	{"agent", 0, ARGS_TEXT, "AGENT", "claude-code (the usual) or codex"},
	{"body", 0, ARGS_TEXT, "FILE", "servers and skills, as JSON; - for standard input"},
	{"codex-http", 0, ARGS_FLAG, NULL, "write http servers for Codex too"},
	{"own-home", 0, ARGS_FLAG, NULL, "a home within the run's folder, with the skills"},
	{"home", 0, ARGS_TEXT, "DIR", "put the skills into this home, which is no person's"},
	{"checkout", 0, ARGS_TEXT, "DIR", "without a home: put the skills' resources into this checkout"},
	{"base", 0, ARGS_TEXT, "DIR", "where run folders lie; else XDG_RUNTIME_DIR/admitd, else /tmp/admitd-UID"},
	{"owner", 0, ARGS_TEXT, "PID", "keep the files while this process is there"},
	{"check", 0, ARGS_TEXT, "DIR", "say what has changed in a run's folder since it was written"},
	{"remove", 0, ARGS_TEXT, "DIR", "take a run's folder away"},
	{"sweep", 0, ARGS_FLAG, NULL, "take away the folders whose run has ended or crashed"},
	{0},
};

const struct cli_command cmd_materialize = {
	.name = "materialize",
	.synopsis = "--run RUN | --ungoverned [--body FILE] [-- COMMAND [ARGUMENT...]]",
	.summary = "Write what a run's agent may use, run it, and take it away",
	.text = "Into a folder of the run alone: the agent's config with the tool servers that the decision admits, "
		"and\n"
		"admission.json, which says why and what was withheld. With a command, that is run with the config, "
		"what it\n"
		"prints is kept free of the run's secrets wherever it isn't a terminal, and the folder goes when it "
		"ends.\n"
		"Without one the folder stays as long as --owner does; each call sweeps away what a crash left.\n"
		"Exit status: the command's own; with --check 1 for drift.",
	.examples = "admitctl materialize --run run_9v3b5h0z4n --token-file run.token -- claude -p 'fix the build'\n"
		    "admitctl materialize --run run_9v3b5h0z4n --agent codex --owner $$ --json\n"
		    "admitctl materialize --ungoverned --body job.json --own-home -- claude\n"
		    "admitctl materialize --check /run/user/1000/admitd/run-5c1f0a2b3d4e5f60",
	.options = options,
	.max_words = WORDS_MOST,
	.run = run,
};
