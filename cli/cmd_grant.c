/* admitctl grant, deny, revoke: decide on read access (chapter 2.4). */
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

/* Whom a decision is for, and what it was made on. */
struct subject {
	const char *package; /* or */
	const char *project; /* one of them */
	const char *path;    /* of its grants */
	const char *decision;
	const char *expected_revision;
	const char *root_revision;
};

static void body_drop(struct body *body)
{
	body_release(body);
}

static int read_subject(struct cli *cli, const char *decision, struct subject *ret)
{
	struct subject subject = {
		.package = args_word(&cli->args, 0),
		.project = args_text(&cli->args, "project"),
		.decision = decision,
		.expected_revision = args_text(&cli->args, "expected-revision"),
		.root_revision = args_text(&cli->args, "root-revision"),
	};

	if ((subject.package == NULL) == (subject.project == NULL))
		return cli_say_usage(cli, "a package or --project, one of them");
	if (subject.package != NULL)
		subject.path = cli_printf(cli, "/v1/packages/%s/grants", cli_segment(cli, subject.package));
	else
		subject.path = cli_printf(cli, "/v1/projects/%s/grants", cli_segment(cli, subject.project));
	*ret = subject;
	return 0;
}

static bool is_approval(const struct subject *subject)
{
	return strcmp(subject->decision, "approved") == 0;
}

static bool is_whole(const struct subject *subject)
{
	return subject->expected_revision != NULL && (!is_approval(subject) || subject->root_revision != NULL);
}

static void keep(struct cli *cli, const char **revision, const char *found)
{
	if (*revision == NULL && found != NULL)
		*revision = cli_printf(cli, "%s", found);
}

/* The action of that decision on the package itself carries what the daemon wants to see again. */
static void keep_from_actions(struct cli *cli, struct subject *subject, const json_t *actions)
{
	const json_t *action;
	size_t index;

	json_array_foreach(actions, index, action)
	{
		const json_t *body = json_object_get(action, "body");
		const char *decision = document_text_or_empty(body, "decision");

		if (strcmp(decision, subject->decision) != 0 ||
			strcmp(document_text_or_empty(action, "href"), subject->path) != 0)
			continue;
		keep(cli, &subject->expected_revision, document_text(body, "expectedRevision"));
		keep(cli, &subject->root_revision, document_text(body, "rootRevision"));
	}
}

/* The latest record of a package, "0" where there is none. */
static int read_ledger(struct cli *cli, struct subject *subject)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const json_t *latest;
	int result = cli_call(cli, "GET",
		cli_printf(cli, "/v1/grants?package=%s&limit=1", cli_segment(cli, subject->package)), (struct str){0},
		&reply);

	if (result != 0)
		return result;
	latest = json_array_get(json_object_get(reply.json, "items"), 0);
	keep(cli, &subject->expected_revision, latest == NULL ? "0" : document_text(latest, "revision"));
	return 0;
}

/* A project's approval is made on all decisions in it, anything else on its own latest record. */
static int read_project(struct cli *cli, struct subject *subject, const char *project)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const json_t *grant;
	int result = cli_call(
		cli, "GET", cli_printf(cli, "/v1/projects/%s", cli_segment(cli, project)), (struct str){0}, &reply);

	if (result != 0)
		return result;
	grant = json_object_get(reply.json, "grant");
	keep(cli, &subject->root_revision, document_text(reply.json, "rootRevision"));
	if (subject->project != NULL && is_approval(subject))
		keep(cli, &subject->expected_revision, document_text(reply.json, "decisionRevision"));
	else if (subject->project != NULL)
		keep(cli, &subject->expected_revision, json_is_object(grant) ? document_text(grant, "revision") : "0");
	return 0;
}

static int read_package(struct cli *cli, struct subject *subject)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *project;
	int result = cli_call(cli, "GET", cli_printf(cli, "/v1/packages/%s", cli_segment(cli, subject->package)),
		(struct str){0}, &reply);

	if (result != 0)
		return result;
	keep_from_actions(cli, subject, json_object_get(reply.json, "actions"));
	project = document_text(reply.json, "project");
	if (subject->expected_revision == NULL)
		result = read_ledger(cli, subject);
	if (result == 0 && !is_whole(subject) && project != NULL)
		result = read_project(cli, subject, project);
	return result;
}

/* What was not given is read first, and said: the decision is made on it. */
static int read_revisions(struct cli *cli, struct subject *subject)
{
	int result;

	if (is_whole(subject))
		return 0;
	if (subject->package != NULL)
		result = read_package(cli, subject);
	else
		result = read_project(cli, subject, subject->project);
	if (result != 0)
		return result;
	if (!is_whole(subject)) {
		cli_say("the revisions to decide on could not be read; give --expected-revision and --root-revision");
		return CLI_REFUSED;
	}
	if (is_approval(subject))
		cli_say("deciding on revision %s, folder revision %s", subject->expected_revision,
			subject->root_revision);
	else
		cli_say("deciding on revision %s", subject->expected_revision);
	return 0;
}

/* "opens" and the like: packages by id, or plans. */
static void show_ids(struct cli *cli, const char *label, const json_t *ids)
{
	const char *text = "";
	const json_t *id;
	size_t index;

	json_array_foreach(ids, index, id) text = cli_printf(cli, "%s%s%s", text, index == 0 ? "" : ", ",
		json_string_value(id) == NULL ? "?" : json_string_value(id));
	show_line(cli, label, text);
}

static void show_impact(struct cli *cli, const json_t *impact)
{
	show_ids(cli, "opens", json_object_get(impact, "opens"));
	show_ids(cli, "holds", json_object_get(impact, "holds"));
	show_ids(cli, "stays held", json_object_get(impact, "stays"));
	show_ids(cli, "overrides", json_object_get(impact, "overrides"));
	show_ids(cli, "frees plan", json_object_get(impact, "plans"));
}

static void show(struct cli *cli, const struct subject *subject, const json_t *reply)
{
	const json_t *grant = json_object_get(reply, "grant");
	const char *label = document_text(json_object_get(reply, "package"), "label");

	if (grant == NULL)
		show_head(cli, "would do this", subject->package == NULL ? subject->project : subject->package, NULL);
	else
		show_head(cli, document_text_or_empty(grant, "decision"), label == NULL ? subject->project : label,
			document_text(grant, "id"));
	show_ids(cli, "may read", json_object_get(grant, "capabilities"));
	if (is_approval(subject))
		show_line(cli, "mode", document_text(grant, "mode"));
	show_line(cli, "until", show_time(cli, document_text(grant, "expiresAt")));
	show_line(cli, "reason", document_text(grant, "reason"));
	show_impact(cli, json_object_get(reply, "impact"));
}

static int write_body(struct cli *cli, const struct subject *subject, struct body *body)
{
	json_out_member_text(&body->out, "decision", subject->decision);
	if (is_approval(subject)) {
		body_list(body, cli, "capabilities", "capability");
		if (args_has(&cli->args, "replace"))
			json_out_member_bool(&body->out, "replace", true);
	}
	body_option(body, cli, "reason", "reason");
	json_out_member_text(&body->out, "expectedRevision", subject->expected_revision);
	if (is_approval(subject))
		json_out_member_text(&body->out, "rootRevision", subject->root_revision);
	return is_approval(subject) ? body_expiry(body, cli) : 0;
}

static int decide(struct cli *cli, const char *decision)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	struct subject subject = {0};
	int result;

	body_begin(&body);
	result = read_subject(cli, decision, &subject);
	if (result == 0)
		result = read_revisions(cli, &subject);
	if (result == 0)
		result = write_body(cli, &subject, &body);
	if (result == 0)
		result = cli_call(cli, "POST",
			cli_printf(cli, "%s%s", subject.path, args_has(&cli->args, "dry-run") ? "?dryRun=true" : ""),
			body_end(&body), &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show(cli, &subject, reply.json);
	return CLI_DONE;
}

static int run_grant(struct cli *cli)
{
	if (args_has(&cli->args, "project") && !args_has(&cli->args, "capability"))
		return cli_say_usage(cli, "--project needs --capability: what is allowed always is said, one by one");
	return decide(cli, "approved");
}

static int run_deny(struct cli *cli)
{
	return decide(cli, "denied");
}

static int run_revoke(struct cli *cli)
{
	return decide(cli, "revoked");
}

static const struct args_option grant_options[] = {
	{"project", 0, ARGS_TEXT, "ID", "for every package of this project, always"},
	{"capability", 'c', ARGS_LIST, "NAME", "what may be read; repeat it. A package: all it asks for, if left out"},
	{"replace", 0, ARGS_FLAG, NULL, "with --project: exactly these from now on, which may take some away"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with the decision"},
	{"expires", 0, ARGS_TEXT, "WHEN", "90s, 30m, 12h, 7d from now, or a time like 2026-12-07T00:00:00Z"},
	{"expected-revision", 0, ARGS_TEXT, "N", "refuse when the latest decision is another; else it is read first"},
	{"root-revision", 0, ARGS_TEXT, "N", "refuse when the folder is another; else it is read first"},
	{"dry-run", 0, ARGS_FLAG, NULL, "say what it would open and hold, and write nothing"},
	{0},
};

static const struct args_option deny_options[] = {
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with the decision"},
	{"expected-revision", 0, ARGS_TEXT, "N", "refuse when the latest decision is another; else it is read first"},
	{"dry-run", 0, ARGS_FLAG, NULL, "say what it would hold, and write nothing"},
	{0},
};

static const struct args_option revoke_options[] = {
	{"project", 0, ARGS_TEXT, "ID", "take back what every package of this project may read"},
	{"reason", 0, ARGS_TEXT, "TEXT", "kept with the decision"},
	{"expected-revision", 0, ARGS_TEXT, "N", "refuse when the latest decision is another; else it is read first"},
	{"dry-run", 0, ARGS_FLAG, NULL, "say what it would hold, and write nothing"},
	{0},
};

const struct cli_command cmd_grant = {
	.name = "grant",
	.synopsis = "PACKAGE | --project ID --capability NAME... [--expires WHEN] [--reason TEXT]",
	.summary = "Allow reading: a package once, or a project always",
	.text = "For a package: one attempt, all that it asks to read. For a project: every package of it, plans to "
		"come included,\n"
		"until --expires. Who sent a plan doesn't grant to it.",
	.examples =
		"admitctl grant pkg_6f1x0c2v8m --reason 'read only, one run' --expires 7d\n"
		"admitctl grant --project tracker --capability filesystem.project.read --dry-run\n"
		"admitctl grant --project tracker -c filesystem.project.read -c filesystem.project.list --expires 7d",
	.options = grant_options,
	.max_words = 1,
	.run = run_grant,
};

const struct cli_command cmd_deny = {
	.name = "deny",
	.synopsis = "PACKAGE [--reason TEXT]",
	.summary = "Deny a package what it asks to read",
	.text = "A later approval, of the package or of its project, overrides it.",
	.examples = "admitctl deny pkg_6f1x0c2v8m --reason 'not on this machine'",
	.options = deny_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_deny,
};

const struct cli_command cmd_revoke = {
	.name = "revoke",
	.synopsis = "PACKAGE | --project ID [--reason TEXT]",
	.summary = "Take an approval back",
	.text = "What is running keeps what it was handed; the next handoff sees the change.",
	.examples = "admitctl revoke pkg_6f1x0c2v8m\n"
		    "admitctl revoke --project tracker --reason 'the client asked' --dry-run",
	.options = revoke_options,
	.max_words = 1,
	.run = run_revoke,
};
