/* admitctl register: declares our tool server in a project, in two files and by consent (chapter 5.8). */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/register.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "mcp/bundles.h"
#include "mcp/reading.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/text.h"

enum { TOOLS_LIMIT = MCP_READING_TOOLS + BUNDLE_TOOLS };

enum mode { MODE_DRY = 0, MODE_APPLY, MODE_REPORT, MODE_REMOVE, MODE_DRY_REMOVE };

static const char *const server_args[] = {"mcp"};

static const char trust[] = "Claude Code starts this command in the project whenever it is opened there, as you, and "
			    "calls these tools without asking "
			    "each time. They read files below the project's folder; none of them writes or runs "
			    "anything. Whoever can change "
			    ".mcp.json decides what is started.";

static void job_drop(struct register_job *job)
{
	register_close(job);
}

/* ---- what the command line says */

static int mode_of(struct cli *cli, enum mode *ret_mode)
{
	bool is_dry = args_has(&cli->args, "dry-run");
	bool is_apply = args_has(&cli->args, "apply");
	bool is_report = args_has(&cli->args, "report");
	bool is_remove = args_has(&cli->args, "remove");

	if (is_dry + is_apply + is_report > 1 || (is_remove && (is_apply || is_report)))
		return cli_say_usage(cli, "--dry-run, --apply, --report or --remove, one of them");
	*ret_mode = is_remove ? (is_dry ? MODE_DRY_REMOVE : MODE_REMOVE)
		: is_report   ? MODE_REPORT
		: is_apply    ? MODE_APPLY
			      : MODE_DRY;
	return 0;
}

static int root_of(struct cli *cli, const char **ret_root)
{
	const char *root = args_text(&cli->args, "cwd");

	*ret_root = root == NULL ? "." : root;
	while (root != NULL && isspace((unsigned char)*root))
		root++;
	return root != NULL && *root == '\0' ? cli_say_usage(cli, "--cwd takes a folder") : 0;
}

/* This program's own file: what a client is to start. */
static int self_path(struct cli *cli, const char **ret_path)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	if (len < 0)
		return cli_say_error("/proc/self/exe", -errno);
	if (len == sizeof(path))
		return cli_say_error("/proc/self/exe", -ENAMETOOLONG);
	for (size_t at = 0; at < (size_t)len;) {
		if (text_next((struct str){path, (size_t)len}, &at) == TEXT_INVALID) {
			cli_say("the path of admitctl isn't UTF-8, so no JSON file can name it");
			return CLI_REFUSED;
		}
	}
	*ret_path = cli_printf(cli, "%.*s", (int)len, path);
	return 0;
}

/* A word that a shell takes back as it was. */
static const char *shell_word(struct cli *cli, const char *text)
{
	const char *word = "'";

	for (const char *quote = strchr(text, '\''); quote != NULL; text = quote + 1, quote = strchr(text, '\''))
		word = cli_printf(cli, "%s%.*s'\\''", word, (int)(quote - text), text);
	return cli_printf(cli, "%s%s'", word, text);
}

static const char *command_of(struct cli *cli, const char *root, const char *option)
{
	CLEANUP(free_drop) char *whole = realpath(root, NULL);
	const char *self = NULL;

	if (self_path(cli, &self) != 0)
		self = "admitctl";
	return cli_printf(cli, "%s register %s --cwd %s", shell_word(cli, self), option,
		shell_word(cli, whole == NULL ? root : whole));
}

/* ---- showing */

static bool is_removal(enum mode mode)
{
	return mode == MODE_REMOVE || mode == MODE_DRY_REMOVE;
}

static const char *state_name(const struct register_job *job, enum mode mode)
{
	if (job->is_masked)
		return "masked";
	if (is_removal(mode))
		return register_is_done(job) ? "not_registered" : mode == MODE_REMOVE ? "removed" : "would_remove";
	if (register_is_done(job))
		return "registered";
	if (mode == MODE_APPLY)
		return "applied";
	return mode == MODE_REPORT ? "not_registered" : "would_apply";
}

/* What happens to a file that something is to be done to. */
static const char *fate(const struct register_file *file, enum mode mode)
{
	bool is_new = file->now.class == PROJECT_FILE_ABSENT;

	switch (mode) {
	case MODE_APPLY:
		return is_new ? "made" : "changed";
	case MODE_REPORT:
		return is_new ? "isn't there" : "lacks";
	case MODE_REMOVE:
		return file->is_deleted ? "deleted, it held nothing else" : "changed";
	case MODE_DRY_REMOVE:
		return file->is_deleted ? "to be deleted, it holds nothing else" : "to be changed";
	case MODE_DRY:
	default:
		return is_new ? "to be made" : "to be changed";
	}
}

static void show_file(struct cli *cli, const struct register_file *file, enum mode mode)
{
	if (file->change_count == 0)
		show_line(cli, file->path, is_removal(mode) ? "nothing of ours in it" : "complete");
	else
		show_line(cli, file->path, fate(file, mode));
	for (size_t i = 0; i < file->change_count; i++)
		show_line(cli, "",
			cli_printf(cli, "%c %.*s", is_removal(mode) ? '-' : '+', (int)file->changes[i].len,
				file->changes[i].bytes));
}

static void show_entry(struct cli *cli, const struct register_job *job, const char *words)
{
	buf_printf(&cli->out, "\n%s\n\n", words);
	json_edit_write(&cli->out, job->entry);
}

static void show_masked(struct cli *cli, const struct register_job *job)
{
	struct str body = job->settings.after.bytes != NULL ? job->settings.after : job->settings.now.text;

	show_line(cli, ".mcp.json",
		cli_printf(
			cli, "is a %s, so nothing is written; another program may have masked it", job->mcp.now.kind));
	show_entry(cli, job,
		"Merge this into the real .mcp.json as mcpServers." REGISTER_NAME
		", and keep the other servers there:");
	buf_printf(&cli->out, "\n%s as it should be, with all that it holds now:\n\n", job->settings.path);
	buf_add_str(&cli->out, body);
}

static void show_job(struct cli *cli, const struct register_job *job, enum mode mode, const char *root)
{
	const char *state = state_name(job, mode);
	char words[32] = "";

	for (size_t i = 0; i + 1 < sizeof(words) && state[i] != '\0'; i++)
		words[i] = state[i] == '_' ? ' ' : state[i];
	show_head(cli, words, REGISTER_NAME, root);
	if (job->is_masked) {
		show_masked(cli, job);
		return;
	}
	show_file(cli, &job->mcp, mode);
	show_file(cli, &job->settings, mode);
	if (job->is_disabled)
		show_line(cli, "note",
			"disabledMcpjsonServers names " REGISTER_NAME
			", so a client doesn't start it; that list is yours");
	if (mode != MODE_DRY)
		return;
	show_entry(cli, job, "The entry, mcpServers." REGISTER_NAME " of .mcp.json:");
	buf_putc(&cli->out, '\n');
	show_line(cli, "trust", trust);
	if (!register_is_done(job))
		show_command(cli, "to do it", command_of(cli, root, "--apply"));
}

/* ---- the same for programs */

static void write_file(struct json_out *out, const struct register_file *file)
{
	json_out_begin_object(out);
	json_out_member_text(out, "path", file->path);
	json_out_member_text(out, "class", file->now.kind);
	json_out_member_bool(out, "deleted", file->is_deleted);
	json_out_key(out, "changes");
	json_out_begin_array(out);
	for (size_t i = 0; i < file->change_count; i++)
		json_out_str(out, file->changes[i]);
	json_out_end_array(out);
	json_out_end_object(out);
}

static void write_job(struct cli *cli, const struct register_job *job, enum mode mode)
{
	struct json_out out;

	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "state", state_name(job, mode));
	json_out_member_raw(&out, "entry", job->entry);
	json_out_key(&out, "files");
	json_out_begin_array(&out);
	write_file(&out, &job->mcp);
	write_file(&out, &job->settings);
	json_out_end_array(&out);
	json_out_member_bool(&out, "disabled", job->is_disabled);
	if (job->is_masked)
		json_out_member_str(&out, "settings",
			job->settings.after.bytes != NULL ? job->settings.after : job->settings.now.text);
	json_out_end_object(&out);
	buf_putc(&cli->out, '\n');
}

static int refused(struct cli *cli, const struct register_job *job, const char *root)
{
	const struct register_fault *fault = &job->fault;
	const char *file = fault->file == NULL ? root : fault->file;
	struct json_out out;

	if (!cli->json) {
		cli_say("%s: %s (%s)", file, fault->text, register_code_name(fault->code));
		return CLI_REFUSED;
	}
	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "state", "refused");
	json_out_member_text(&out, "code", register_code_name(fault->code));
	json_out_member_text(&out, "file", file);
	json_out_member_text(&out, "detail", fault->text);
	json_out_end_object(&out);
	buf_putc(&cli->out, '\n');
	return CLI_REFUSED;
}

/* ---- running */

/* The tools that the server has when it is started by this entry: with no daemon, and all of its root. */
static size_t name_tools(const char *ret_names[static TOOLS_LIMIT])
{
	struct mcp_tool tools[TOOLS_LIMIT];
	size_t count = mcp_reading_fill(tools, MCP_MAY_ALL, NULL);

	mcp_bundles_fill(tools + count, false, NULL);
	count += BUNDLE_TOOLS;
	for (size_t i = 0; i < count; i++)
		ret_names[i] = tools[i].name;
	return count;
}

static int run(struct cli *cli)
{
	CLEANUP(job_drop) struct register_job job = {.arena = &cli->arena, .root = -1, .claude = -1};
	const char *tools[TOOLS_LIMIT];
	enum mode mode = MODE_DRY;
	const char *root = NULL;
	const char *self = NULL;
	int result = mode_of(cli, &mode);

	if (result == 0)
		result = root_of(cli, &root);
	if (result == 0)
		result = self_path(cli, &self);
	if (result != 0)
		return result;
	job.purpose = is_removal(mode) ? REGISTER_REMOVE : REGISTER_ADD;
	job.tools = tools;
	job.tool_count = name_tools(tools);
	job.entry = register_entry(&cli->arena, (struct str){self, strlen(self)}, server_args, 1);
	result = job.entry.bytes == NULL ? -ENOMEM : register_open(&job, root);
	if (result == 0 && !job.is_masked && (mode == MODE_APPLY || mode == MODE_REMOVE))
		result = register_apply(&job);
	if (result < 0)
		return cli_say_error(root, result);
	if (result != 0)
		return refused(cli, &job, root);
	if (cli->json)
		write_job(cli, &job, mode);
	else
		show_job(cli, &job, mode, root);
	return mode == MODE_REPORT && !register_is_done(&job) ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"dry-run", 0, ARGS_FLAG, NULL, "write nothing and say what would be written; the default"},
	{"apply", 0, ARGS_FLAG, NULL, "write it"},
	{"report", 0, ARGS_FLAG, NULL, "say what is there; exit 1 where it isn't complete"},
	{"remove", 0, ARGS_FLAG, NULL, "take out what --apply wrote; with --dry-run, say it only"},
	{"cwd", 0, ARGS_TEXT, "DIR", "the project's folder; else this one"},
	{0},
};

const struct cli_command cmd_register = {
	.name = "register",
	.synopsis = "[--dry-run | --apply | --report | --remove] [--cwd DIR]",
	.summary = "Declare our tool server in a project",
	.text = "Two files: the entry mcpServers.admitd in .mcp.json, then enabledMcpjsonServers and a rule for each "
		"tool in\n"
		".claude/settings.json. Only what is missing is put in, as the file is written; no other byte "
		"changes.\n"
		"Links are refused and not followed, and so is an entry of that name that isn't ours. Where .mcp.json "
		"is a\n"
		"device, FIFO or socket, nothing is written, and what there is to merge is printed.",
	.examples = "admitctl register\n"
		    "admitctl register --apply --cwd ~/src/tracker\n"
		    "admitctl register --remove --dry-run",
	.options = options,
	.is_local = true,
	.run = run,
};
