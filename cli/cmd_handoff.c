/* admitctl handoff: claim a package for a worker (chapters 2.3 and 2.5). */
#include <errno.h>
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/materialize.h"
#include "cli/show.h"
#include "policy/cleanup.h"

enum { WAIT_SECONDS = 30, LINE_CEILING = 64 * 1024 };

static void body_drop(struct body *body)
{
	body_release(body);
}

/* Exactly one of PACKAGE, --task and --any; NULL after saying so. */
static const char *path_of(struct cli *cli)
{
	const char *package = args_word(&cli->args, 0);
	const char *task = args_text(&cli->args, "task");
	bool any = args_has(&cli->args, "any");

	if ((package != NULL) + (task != NULL) + any != 1) {
		cli_say_usage(cli, "a package, --task or --any, one of them");
		return NULL;
	}
	if (!any &&
		(args_has(&cli->args, "project") || args_has(&cli->args, "agent") || args_has(&cli->args, "wait"))) {
		cli_say_usage(cli, "--project, --agent and --wait belong to --any");
		return NULL;
	}
	if (package != NULL)
		return cli_printf(cli, "/v1/packages/%s/handoff", cli_segment(cli, package));
	if (task != NULL)
		return cli_printf(cli, "/v1/tasks/%s/handoff", cli_segment(cli, task));
	return "/v1/handoffs";
}

/* "a, b" of an array of texts, in the run's arena. */
static const char *joined(struct cli *cli, const json_t *items)
{
	const char *text = "";
	const json_t *item;
	size_t index;

	json_array_foreach(items, index, item) text = cli_printf(cli, "%s%s%s", text, *text == '\0' ? "" : ", ",
		json_string_value(item) == NULL ? "?" : json_string_value(item));
	return text;
}

static void show_given(struct cli *cli, const json_t *given)
{
	const json_t *overlays = json_object_get(given, "promptOverlays");
	const json_t *scope;
	size_t index;

	json_array_foreach(json_object_get(given, "readScope"), index, scope)
		show_line(cli, index == 0 ? "may read" : "",
			cli_printf(cli, "%s (%s)", joined(cli, json_object_get(scope, "capabilities")),
				document_text_or_empty(scope, "requirementKey")));
	show_line(cli, "subtasks", joined(cli, json_object_get(given, "subtasks")));
	if (json_object_size(overlays) > 0)
		show_line(cli, "prompt", cli_printf(cli, "%zu texts (--json shows them)", json_object_size(overlays)));
}

static void show_grants(struct cli *cli, const json_t *grants)
{
	const json_t *grant;
	size_t index;

	json_array_foreach(grants, index, grant) show_line(cli, index == 0 ? "grants" : "",
		cli_printf(cli, "%s, %s, for %s", document_text_or_empty(grant, "id"),
			document_text_or_empty(grant, "mode"), joined(cli, json_object_get(grant, "requirementKeys"))));
}

static void show_run(struct cli *cli, const json_t *reply)
{
	const json_t *run = json_object_get(reply, "run");
	const json_t *package = json_object_get(reply, "package");
	const json_t *lease = json_object_get(run, "lease");
	const char *id = document_text_or_empty(run, "id");

	show_head(cli, "running", document_text(package, "label"), document_text(package, "id"));
	show_line(cli, "run",
		cli_printf(cli, "%s, attempt %lld of task %s", id,
			(long long)json_integer_value(json_object_get(run, "attempt")),
			document_text_or_empty(run, "task")));
	show_line(cli, "agent", document_text(package, "agent"));
	show_given(cli, json_object_get(reply, "given"));
	show_grants(cli, json_object_get(run, "grants"));
	show_changes(cli, reply);
	show_line(cli, "lease",
		cli_printf(cli, "until %s, to be renewed every %lld s",
			show_time(cli, document_text(lease, "expiresAt")),
			(long long)json_integer_value(json_object_get(lease, "renewAfterSeconds"))));
	show_command(cli, "at the end", cli_printf(cli, "admitctl outcome %s succeeded", id));
}

/* ---- the agent's config */

static bool is_living(long pid)
{
	CLEANUP(cli_buf_drop) struct buf buf = {0};
	struct json_out out;

	buf_init(&buf, LINE_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	return materialize_write_owner(pid, &out);
}

/* What is asked for beside the run: *ret, NULL where nothing is. What could fail later is tried before anything is claimed. */
static int read_config_options(struct cli *cli, struct materialize **ret)
{
	const char *agent = args_text(&cli->args, "agent-config");
	struct materialize *plan = agent != NULL ? materialize_new(cli) : NULL;
	int result = 0;

	if (agent == NULL)
		return args_has(&cli->args, "owner") || args_has(&cli->args, "base")
			? cli_say_usage(cli, "--owner and --base belong to --agent-config")
			: 0;
	if (plan == NULL)
		return cli_say_error("the plan", -ENOMEM);
	*ret = plan;
	if (agent_kind_find((struct str){agent, strlen(agent)}, &plan->agent) != 0)
		return cli_say_usage(cli, "--agent-config takes claude-code or codex");
	if (args_has(&cli->args, "base") && !args_has(&cli->args, "owner"))
		return cli_say_usage(cli, "--base needs --owner PID: the process that the files are for");
	result = cli_number(cli, "owner", 1, MATERIALIZE_PID_MOST, &plan->owner);
	if (result != 0 || plan->owner == 0)
		return result;
	if (!is_living(plan->owner)) {
		cli_say("--owner %ld: there is no such process", plan->owner);
		return CLI_USAGE;
	}
	return materialize_sweep(cli, materialize_base(cli));
}

static void show_config(const struct materialize *plan)
{
	struct cli *cli = plan->cli;

	if (cli->json)
		return;
	for (size_t i = 0; i < plan->server_count; i++)
		show_line(cli, i == 0 ? "servers" : "", plan->servers[i].id.bytes);
	show_command(cli, "run it with",
		cli_printf(cli, "admitctl materialize --run %s --agent %s -- COMMAND", plan->run,
			agent_kind_name(plan->agent)));
}

/* The run is claimed, whatever comes of this. */
static int give_config(struct materialize *plan, const json_t *answer)
{
	struct cli *cli = plan->cli;
	int result = 0;

	plan->run = document_text_or_empty(json_object_get(answer, "run"), "id");
	result = materialize_take(plan, json_object_get(answer, "agentConfig"));
	if (result == 0 && plan->owner > 0)
		result = materialize_write(plan, materialize_base(cli));
	if (result != 0) {
		materialize_undo(plan);
		cli_say("the run is claimed; admitctl materialize --run %s --agent %s writes its config", plan->run,
			agent_kind_name(plan->agent));
		return result;
	}
	materialize_say_left_out(plan);
	if (plan->owner > 0)
		materialize_show(plan);
	else
		show_config(plan);
	return CLI_DONE;
}

/* ---- the whole */

/* The run's token is a secret: it goes to a file, or with --json to whoever reads that. */
static int show_answer(
	struct cli *cli, const struct client_reply *reply, struct cli_secret *file, struct materialize *plan)
{
	int result;

	if (reply->status == 204) {
		if (!cli->json)
			cli_say("nothing is ready to be handed over; come again in %ld s",
				reply->retry_after_s < 0 ? 1 : reply->retry_after_s);
		return CLI_REFUSED;
	}
	result = cli_secret_write(file, document_text_or_empty(reply->json, "runToken"));
	if (cli->json)
		cli_show_raw(cli, reply);
	else
		show_run(cli, reply->json);
	return result == 0 && plan != NULL ? give_config(plan, reply->json) : result;
}

static int run(struct cli *cli)
{
	const struct remedy_context context = {0};
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(cli_secret_close) struct cli_secret file = {.descriptor = -1};
	CLEANUP(body_drop) struct body body = {0};
	CLEANUP(materialize_drop) struct materialize *plan = NULL;
	const char *path = path_of(cli);
	long wait_s = 0;
	int result = cli_number(cli, "wait", 1, WAIT_SECONDS, &wait_s);

	if (path == NULL || result != 0)
		return CLI_USAGE;
	result = read_config_options(cli, &plan);
	if (result != 0)
		return result;
	body_begin(&body);
	if (wait_s > 0)
		json_out_member_int(&body.out, "waitSeconds", wait_s);
	/* The wait is the daemon's time, not the attempt's. */
	cli->extra_timeout_s = wait_s;
	body_option(&body, cli, "worker", "worker");
	body_option(&body, cli, "project", "project");
	body_option(&body, cli, "agent", "agent");
	body_option(&body, cli, "agentConfig", "agent-config");
	result = cli_secret_open(&file, args_text(&cli->args, "token-out"));
	if (result != 0)
		return result;
	result = cli_call_expecting(cli, "POST", path, body_end(&body), "admission_blocked", &reply);
	if (result == 0)
		return show_answer(cli, &reply, &file, plan);
	if (!cli->json && strcmp(document_text_or_empty(reply.json, "code"), "admission_blocked") == 0) {
		show_package(cli, reply.json, "blocked", &context);
		show_line(cli, "detail", document_text(reply.json, "detail"));
	}
	return result;
}

static const struct args_option options[] = {
	{"task", 0, ARGS_TEXT, "TASK", "the next package of this task that can go"},
	{"any", 0, ARGS_FLAG, NULL, "the next package of all approved tasks, oldest approval first"},
	{"project", 0, ARGS_TEXT, "ID", "with --any: of this project"},
	{"agent", 0, ARGS_TEXT, "NAME", "with --any: for this agent"},
	{"wait", 0, ARGS_TEXT, "SECONDS", "with --any: when none is ready, wait so long for one (up to 30)"},
	{"worker", 0, ARGS_TEXT, "NAME", "who works on it, for people"},
	{"token-out", 0, ARGS_TEXT, "FILE", "write the run's token to this new file, mode 0600"},
	{"agent-config", 0, ARGS_TEXT, "AGENT",
		"claude-code or codex: bring what its client reads, in the same answer"},
	{"owner", 0, ARGS_TEXT, "PID", "write that config into a folder of the run, kept while this process is there"},
	{"base", 0, ARGS_TEXT, "DIR", "where run folders lie; else XDG_RUNTIME_DIR/admitd, else /tmp/admitd-UID"},
	{0},
};

const struct cli_command cmd_handoff = {
	.name = "handoff",
	.synopsis = "PACKAGE | --task TASK | --any [--worker NAME] [--agent-config AGENT [--owner PID]]",
	.summary = "Claim a package: judge it once more and begin a run",
	.text = "An approval for one attempt is used up by it. A package that is held by now is shown with what frees "
		"it, and\n"
		"the exit status is 1, as it is when nothing is ready. The token that claims may also report the "
		"outcome; the run's\n"
		"own token is only shown by --json, and written by --token-out. With --owner the agent's config is "
		"written as\n"
		"admitctl materialize does, and --json prints what was written in a second line.",
	.examples =
		"admitctl handoff pkg_6f1x0c2v8m --worker runner-3\n"
		"admitctl handoff --task tracker-42 --token-out run.token\n"
		"admitctl handoff --any --agent backend --json\n"
		"admitctl handoff --any --wait 30\n"
		"admitctl handoff --any --agent backend --agent-config claude-code --owner $$ --token-out run.token",
	.options = options,
	.max_words = 1,
	.run = run,
};
