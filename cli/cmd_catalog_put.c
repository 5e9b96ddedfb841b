/* admitctl catalog put: another catalog in force, or what it would change (chapters 1.3, 2.4). */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static void show_names(struct cli *cli, const char *label, const json_t *list, const char *member, const char *second)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const char *name =
			json_is_string(item) ? json_string_value(item) : document_text_or_empty(item, member);

		show_line(cli, label,
			second == NULL ? name : cli_printf(cli, "%s, %s", name, document_text_or_empty(item, second)));
	}
}

static void show_changes_of(struct cli *cli, const json_t *changes)
{
	const json_t *mcps = json_object_get(changes, "mcps");
	const json_t *capabilities = json_object_get(changes, "capabilities");
	const json_t *aliases = json_object_get(changes, "aliases");
	const json_t *reclassified = json_object_get(capabilities, "reclassified");

	show_names(cli, "new MCP", json_object_get(mcps, "added"), "", NULL);
	show_names(cli, "gone MCP", json_object_get(mcps, "removed"), "", NULL);
	show_names(cli, "other MCP", json_object_get(mcps, "changed"), "", NULL);
	show_names(cli, "new", json_object_get(capabilities, "added"), "capability", "class");
	show_names(cli, "gone", json_object_get(capabilities, "removed"), "capability", "class");
	for (size_t i = 0; i < json_array_size(reclassified); i++) {
		const json_t *item = json_array_get(reclassified, i);

		show_line(cli, "other",
			cli_printf(cli, "%s, %s -> %s", document_text_or_empty(item, "capability"),
				document_text_or_empty(item, "before"), document_text_or_empty(item, "after")));
	}
	show_names(cli, "new alias", json_object_get(aliases, "added"), "alias", "capability");
	show_names(cli, "gone alias", json_object_get(aliases, "removed"), "alias", "capability");
}

/* Each row says what changes and for whom; what keeps its outcome is only counted. */
static void show_decisions(struct cli *cli, const json_t *changes)
{
	for (size_t i = 0; i < json_array_size(changes); i++) {
		const json_t *change = json_array_get(changes, i);
		const char *label = document_text(change, "label");

		show_line(cli, document_text_or_empty(change, "after"),
			label != NULL ? cli_printf(cli, "%s in %s", label, document_text_or_empty(change, "project"))
				      : document_text_or_empty(change, "decisionId"));
		show_line(cli, "", document_text(json_object_get(change, "wordsBefore"), "headline"));
		show_line(cli, "", document_text(json_object_get(change, "wordsAfter"), "headline"));
	}
}

static void show_dry(struct cli *cli, const json_t *reply)
{
	const json_t *decisions = json_object_get(reply, "decisions");
	const json_t *counts = json_object_get(decisions, "counts");
	const json_t *pairs = json_object_get(decisions, "byStatus");

	show_head(cli, "nothing was changed", document_text(reply, "digest"), NULL);
	show_line(cli, "in force", document_text(reply, "current"));
	show_changes_of(cli, json_object_get(reply, "changes"));
	show_line(cli, "decisions",
		cli_printf(cli, "%lld of %lld would change%s", number_of(counts, "changed"),
			number_of(counts, "judged"),
			json_is_true(json_object_get(decisions, "complete"))
				? ""
				: "; the time was over, admitctl rejudge judges all"));
	show_decisions(cli, json_object_get(decisions, "changes"));
	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);

		show_line(cli, "",
			cli_printf(cli, "%lld %s -> %s", number_of(pair, "count"),
				document_text_or_empty(pair, "before"), document_text_or_empty(pair, "after")));
	}
}

static void show(struct cli *cli, const json_t *reply)
{
	bool is_changed = json_is_true(json_object_get(reply, "changed"));

	show_head(cli, is_changed ? "in force" : "unchanged", document_text(reply, "digest"), NULL);
	show_line(cli, is_changed ? "before" : "", is_changed ? document_text(reply, "previous") : NULL);
	show_line(cli, "epoch", document_text(reply, "epoch"));
}

/* What stands behind the question mark. 0, or an exit code. */
static int query_of(struct cli *cli, const char **ret_query)
{
	long days = -1;
	int result = cli_number(cli, "days", 0, 3650, &days);

	*ret_query = "";
	if (result != 0)
		return result;
	if (days >= 0 && !args_has(&cli->args, "dry-run"))
		return cli_say_usage(cli, "--days belongs to --dry-run");
	if (args_has(&cli->args, "dry-run"))
		*ret_query = days < 0 ? "?dryRun=true" : cli_printf(cli, "?dryRun=true&days=%ld", days);
	return 0;
}

/* The one that is in force now must still be it then, unless a person says otherwise. */
static int put(struct cli *cli, struct str bytes, const char *query, struct client_reply *ret_reply)
{
	CLEANUP(cli_reply_drop) struct client_reply current = {0};
	const char *seen = args_text(&cli->args, "if-digest");
	int result = seen != NULL ? 0 : cli_call(cli, "GET", "/v1/catalog", (struct str){0}, &current);

	if (result != 0)
		return result;
	return cli_call_if(cli, "PUT", cli_printf(cli, "/v1/catalog%s", query), bytes,
		seen != NULL ? seen : current.etag, ret_reply);
}

static int run(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	const char *path = args_word(&cli->args, 0);
	const char *query = "";
	int result = query_of(cli, &query);

	if (result != 0)
		return result;
	buf_init(&bytes, DOCUMENT_LIMIT);
	result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	result = put(cli, buf_str(&bytes), query, &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else if (*query != '\0')
		show_dry(cli, reply.json);
	else
		show(cli, reply.json);
	return CLI_DONE;
}

static const struct args_option options[] = {
	{"dry-run", 0, ARGS_FLAG, NULL, "change nothing; say what would change, and which decisions"},
	{"days", 0, ARGS_TEXT, "NUMBER", "with --dry-run: judge the decisions of so many days (7)"},
	{"if-digest", 0, ARGS_TEXT, "DIGEST", "only in place of this catalog; else of the one in force now"},
	{0},
};

const struct cli_command cmd_catalog_put = {
	.name = "catalog put",
	.synopsis = "FILE [--dry-run [--days NUMBER]]",
	.summary = "Put another catalog in force, or say what it would change",
	.text = "Whatever is asked after that is judged by it, and holds follow. One that doesn't load changes "
		"nothing, and "
		"its first\n"
		"faulty entry is named.",
	.examples = "admitctl catalog put next.json --dry-run\n"
		    "admitctl catalog put next.json",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.run = run,
};
