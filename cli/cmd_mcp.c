/* admitctl mcp: the reading tools, and the daemon's windows, for one agent over standard input and output (chapters 5.1 and 5.5). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/mcp_daemon.h"
#include "confine/confine.h"
#include "mcp/bundles.h"
#include "mcp/mcp.h"
#include "mcp/reading.h"
#include "mcp/stdio.h"
#include "mcp/windows.h"
#include "policy/cleanup.h"

enum {
	ANSWER_MAX = TOOLS_ANSWER_BYTES,
	ROOTS_MAX = 16,
	TOOLS_MAX = MCP_READING_TOOLS + BUNDLE_TOOLS + MCP_WINDOWS,
};

static const char instructions[] = "Reads what this agent was granted, and what it is waiting for. Nothing here "
				   "changes anything: files are read below one root, "
				   "and the admission tools only show what a person or a decision has to do. A result "
				   "with isError carries {code, message}: "
				   "go by the code.";

/* What the tools are given. */
struct serving {
	struct contained_root roots[ROOTS_MAX]; /* the first is that of path_inventory and repo_search */
	size_t root_count;
	struct bundle_service bundles; /* below all of them */
	unsigned rights;
	struct mcp_daemon daemon;
	struct mcp_tool reading[MCP_READING_TOOLS];
	struct mcp_tool asking[BUNDLE_TOOLS];
	struct mcp_tool windows[MCP_WINDOWS];
	const struct mcp_tool *tools[TOOLS_MAX];
	size_t tool_count;
};

static void serving_release(struct serving *serving)
{
	for (size_t i = 0; i < serving->root_count; i++)
		contained_root_close(&serving->roots[i]);
	mcp_daemon_close(&serving->daemon);
}

static void add_tools(struct serving *serving, const struct mcp_tool *tools, size_t count)
{
	for (size_t i = 0; i < count; i++)
		serving->tools[serving->tool_count++] = &tools[i];
}

/* ---- the root, and what of it was granted */

static int run_reading(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	const struct serving *serving = call->context;

	return mcp_reading_run(call, &serving->roots[0], serving->rights, ret_answer, ret_refusal);
}

static int run_bundles(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	const struct serving *serving = call->context;

	return mcp_bundles_run(call, &serving->bundles, ret_answer, ret_refusal);
}

static int open_root(struct cli *cli, struct serving *serving, const char *path)
{
	int r;

	if (path[0] == '\0')
		return cli_say_usage(cli, "a root is the empty text");
	if (serving->root_count == ROOTS_MAX)
		return cli_say_usage(cli, "there are more than 16 roots");
	r = contained_root_open(&serving->roots[serving->root_count], path);
	if (r != 0)
		return cli_say_error(path, r);
	serving->root_count++;
	return 0;
}

/* --bundle or --root; else what the agent's client calls the project; else where it was started. */
static int open_roots(struct cli *cli, struct serving *serving)
{
	const char *bundle = args_text(&cli->args, "bundle");
	const char *project = getenv("CLAUDE_PROJECT_DIR");
	const char *root;
	size_t at = 0;
	int r = 0;

	if (bundle != NULL && args_has(&cli->args, "root"))
		return cli_say_usage(cli, "--bundle or --root, one of them");
	if (bundle != NULL)
		return open_root(cli, serving, bundle);
	while (r == 0 && (root = args_next(&cli->args, "root", &at)) != NULL)
		r = open_root(cli, serving, root);
	if (r == 0 && serving->root_count == 0)
		r = open_root(cli, serving, project != NULL ? project : ".");
	return r;
}

/* A bundle is served alone: what else lies in its folder is nobody's business. */
static void add_reading(struct cli *cli, struct serving *serving)
{
	bool is_bundle = args_has(&cli->args, "bundle");

	serving->bundles.place = (struct bundle_place){serving->roots, serving->root_count, is_bundle};
	if (!is_bundle)
		add_tools(serving, serving->reading, mcp_reading_fill(serving->reading, serving->rights, run_reading));
	if ((serving->rights & MCP_MAY_READ) == 0)
		return;
	mcp_bundles_fill(serving->asking, is_bundle, run_bundles);
	add_tools(serving, serving->asking, BUNDLE_TOOLS);
}

/* What --only names; all of it without. */
static int read_rights(struct cli *cli, unsigned *ret_rights)
{
	size_t at = 0;
	const char *capability;

	*ret_rights = args_has(&cli->args, "only") ? 0 : MCP_MAY_ALL;
	while ((capability = args_next(&cli->args, "only", &at)) != NULL) {
		if (mcp_right_find(capability) == 0) {
			cli_say("%s: not a capability that reads a project's files", capability);
			return CLI_USAGE;
		}
		*ret_rights |= mcp_right_find(capability);
	}
	return 0;
}

/* ---- the daemon's windows */

static int run_window(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	struct serving *serving = call->context;

	return mcp_daemon_call(&serving->daemon, call, ret_answer, ret_refusal);
}

static void stay(void *context)
{
	struct serving *serving = context;

	mcp_daemon_stay(&serving->daemon);
}

/* Windows are asked for by naming the daemon, and are nobody's capability. Without the daemon the other tools serve all the same. */
static void open_windows(struct cli *cli, struct serving *serving)
{
	bool is_wanted = args_has(&cli->args, "daemon") || args_has(&cli->args, "url") ||
		args_has(&cli->args, "token-file") || args_has(&cli->args, "state");

	if (!is_wanted || args_has(&cli->args, "only"))
		return;
	if (mcp_daemon_open(&serving->daemon, cli) != 0) {
		cli_say("the daemon's windows are not listed");
		return;
	}
	mcp_windows_fill(serving->windows, run_window);
	add_tools(serving, serving->windows, MCP_WINDOWS);
}

/* ---- what is given up */

/* The leak checker of a sanitized build looks at its own process at the end. */
static int allow_checker(struct confine_paths *paths)
{
#if defined(__SANITIZE_ADDRESS__)
	return confine_paths_allow(paths, "/proc", CONFINE_READ);
#else
	(void)paths;
	return 0;
#endif
}

/* The very directories that were opened, whatever has their names now. */
static int allow_roots(struct confine_paths *paths, const struct serving *serving)
{
	char path[64];
	int r = 0;

	for (size_t i = 0; r == 0 && i < serving->root_count; i++) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", serving->roots[i].fd);
		r = confine_paths_allow(paths, path, CONFINE_READ);
	}
	return r;
}

static int confine_files(const struct serving *serving)
{
	CLEANUP(confine_paths_close) struct confine_paths paths = {.ruleset = -1};
	int r = confine_paths_open(&paths, false);

	if (r == 0)
		r = allow_roots(&paths, serving);
	if (r == 0)
		r = allow_checker(&paths);
	return r != 0 ? r : confine_paths_enforce(&paths);
}

/* What the kernel lacks is said and is no failure: the reader contains itself. */
static int confine(const struct serving *serving)
{
	int r = confine_no_new_privileges();

	if (r == 0)
		r = confine_files(serving);
	if (r == CONFINE_MISSING)
		cli_say("this kernel has no Landlock; that nothing is written is left to the filter of system calls");
	if (r >= 0)
		r = confine_calls_reading();
	return r == 0 ? 0 : cli_say_error("giving rights up", r);
}

static int serve(struct serving *serving)
{
	CLEANUP(mcp_drop) struct mcp *mcp = NULL;
	const struct mcp_config config = {.version = PACKAGE_VERSION,
		.instructions = instructions,
		.tools = serving->tools,
		.tool_count = serving->tool_count};
	const struct mcp_stdio stdio = {.context = serving,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.answer_max = ANSWER_MAX,
		.idle = serving->daemon.client != NULL ? stay : NULL,
		.idle_ms = MCP_DAEMON_STAY_MS};
	struct mcp_stdio with = stdio;
	int r = mcp_new(&config, &mcp);

	if (r < 0)
		return cli_say_error("the table of tools", r);
	r = confine(serving);
	if (r != 0)
		return r;
	with.mcp = mcp;
	r = mcp_stdio_serve(&with);
	if (r == MCP_STDIO_TOO_LONG)
		cli_say("a message over 4 MiB came; nothing behind it is read");
	return r == 0 ? CLI_DONE : r > 0 ? CLI_REFUSED : cli_say_error("standard input or output", r);
}

static int run(struct cli *cli)
{
	CLEANUP(serving_release) struct serving serving = {0};
	int r = read_rights(cli, &serving.rights);

	/* A client that went away is an answer of write(), not the end of the process. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (r == 0)
		r = open_roots(cli, &serving);
	if (r != 0)
		return r;
	add_reading(cli, &serving);
	open_windows(cli, &serving);
	return serve(&serving);
}

static const struct args_option options[] = {
	{"root", 0, ARGS_LIST, "DIR",
		"what is read; else CLAUDE_PROJECT_DIR, else where it is started. More of them: for bundles"},
	{"bundle", 0, ARGS_TEXT, "DIR", "serve this knowledge bundle and nothing else"},
	{"only", 0, ARGS_LIST, "CAPABILITY",
		"just the tools of this one: filesystem.project.list, .search or .read; repeat it"},
	{"daemon", 0, ARGS_FLAG, NULL,
		"show the daemon's read-only windows too; so do --url, --token-file and --state"},
	{0},
};

const struct cli_command cmd_mcp = {
	.name = "mcp",
	.synopsis = "[--root DIR... | --bundle DIR] [--only CAPABILITY...] [--daemon]",
	.summary = "Serve an agent the reading tools over standard input and output (MCP)",
	.text = "Speaks the Model Context Protocol, of both its eras, one JSON object a line. Every tool only reads:\n"
		"path_inventory and repo_search below the first root, okf_list, okf_describe, okf_ask and okf_fetch on "
		"the\n"
		"knowledge bundles below all, and, when the daemon is named, its windows: recovery_list, "
		"admission_preview,\n"
		"admission_explain, admission_status. After its start the process can neither write to a file, nor "
		"execute,\n"
		"nor connect: what it shows of the daemon comes over a connection that is made before.",
	.examples = "admitctl mcp --root /srv/projects/tracker\n"
		    "admitctl mcp --root . --only filesystem.project.list --only filesystem.project.search\n"
		    "admitctl mcp --bundle docs/knowledge\n"
		    "admitctl mcp --root . --daemon --token-file planner.token",
	.options = options,
	.run = run,
};
