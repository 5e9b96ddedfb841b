/* admitctl rejudge, catalog liveness: what was decided, judged by another catalog, and what its prohibitions did (chapter 2.7). */
#include <errno.h>
#include <string.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

static void body_drop(struct body *body)
{
	body_release(body);
}

static void table_drop(struct table *table)
{
	table_release(table);
}

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

/* ---- the request */

static void write_period(struct body *body, const struct cli *cli)
{
	body_option(body, cli, "project", "project");
	body_option(body, cli, "from", "from");
	body_option(body, cli, "to", "to");
}

/* The catalog goes as it is; the daemon says what is wrong with it. */
static int write_catalog(struct body *body, const struct cli *cli)
{
	CLEANUP(json_drop) json_t *catalog = NULL;
	const char *path = args_text(&cli->args, "catalog");
	int result = path != NULL ? body_read_file(path, &catalog) : 0;

	if (result != 0 || path == NULL)
		return result;
	json_out_key(&body->out, "catalog");
	json_out_canonical(&body->out, catalog);
	return 0;
}

/* ---- what changed */

static void show_requirement(struct cli *cli, const json_t *item)
{
	const json_t *before = json_object_get(item, "before");
	const json_t *after = json_object_get(item, "after");

	show_line(cli, "requires",
		cli_printf(cli, "%s: row %s %s -> row %s %s", document_text_or_empty(item, "requirementKey"),
			document_text_or_empty(before, "row"), document_text_or_empty(before, "status"),
			document_text_or_empty(after, "row"), document_text_or_empty(after, "status")));
	show_line(cli, "", document_text(after, "reason"));
}

static void show_subtask(struct cli *cli, const json_t *item)
{
	const json_t *before = json_object_get(item, "before");
	const json_t *after = json_object_get(item, "after");

	show_line(cli, "subtask",
		cli_printf(cli, "%s, %s: %s -> %s", document_text_or_empty(item, "subtaskId"),
			document_text_or_empty(item, "capability"), document_text_or_empty(before, "status"),
			document_text_or_empty(after, "status")));
}

/* NULL where it was made for nothing that is stored. */
static const char *named(struct cli *cli, const json_t *change)
{
	if (document_text(change, "label") == NULL)
		return NULL;
	return cli_printf(cli, "%s in %s", document_text(change, "label"), document_text_or_empty(change, "project"));
}

static void show_change(struct cli *cli, const json_t *change)
{
	const json_t *requirements = json_object_get(change, "requirements");
	const json_t *subtasks = json_object_get(change, "subtasks");

	show_head(cli, document_text_or_empty(change, "after"), document_text(change, "decisionId"),
		show_time(cli, document_text(change, "createdAt")));
	show_line(cli, "package", named(cli, change));
	show_line(cli, "was", document_text(json_object_get(change, "wordsBefore"), "headline"));
	show_line(cli, "becomes", document_text(json_object_get(change, "wordsAfter"), "headline"));
	for (size_t i = 0; i < json_array_size(requirements); i++)
		show_requirement(cli, json_array_get(requirements, i));
	for (size_t i = 0; i < json_array_size(subtasks); i++)
		show_subtask(cli, json_array_get(subtasks, i));
	buf_putc(&cli->out, '\n');
}

static void show_counts(struct cli *cli, const json_t *result)
{
	const json_t *counts = json_object_get(result, "counts");
	const json_t *pairs = json_object_get(result, "byStatus");

	buf_printf(&cli->out, "%lld of %lld decisions would change by %s\n", number_of(counts, "changed"),
		number_of(counts, "judged"), document_text_or_empty(result, "catalogDigest"));
	if (number_of(counts, "reasons") > 0)
		buf_printf(&cli->out, "  %lld of them keep their outcome, for another reason\n",
			number_of(counts, "reasons"));
	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);

		buf_printf(&cli->out, "  %lld %s -> %s\n", number_of(pair, "count"),
			document_text_or_empty(pair, "before"), document_text_or_empty(pair, "after"));
	}
	if (number_of(counts, "notKept") > 0)
		buf_printf(&cli->out, "  %lld can't be judged: their documents are no longer kept\n",
			number_of(counts, "notKept"));
	if (number_of(counts, "otherEngine") > 0)
		buf_printf(
			&cli->out, "  %lld were made by another engine revision\n", number_of(counts, "otherEngine"));
	if (number_of(counts, "unlike") > 0)
		buf_printf(&cli->out, "  ALARM: %lld gave other bytes than they gave, by their own catalog\n",
			number_of(counts, "unlike"));
	if (json_is_string(json_object_get(result, "next")))
		show_command(cli, "more",
			cli_printf(cli, "admitctl rejudge --cursor %s with the same options",
				document_text_or_empty(result, "next")));
}

static void show_list(struct cli *cli, const json_t *changes)
{
	for (size_t i = 0; i < json_array_size(changes); i++)
		show_change(cli, json_array_get(changes, i));
}

static void show(struct cli *cli, const json_t *result)
{
	show_list(cli, json_object_get(result, "changes"));
	show_list(cli, json_object_get(result, "reasons"));
	show_counts(cli, result);
}

static int run(struct cli *cli)
{
	CLEANUP(body_drop) struct body body = {0};
	CLEANUP(json_drop) json_t *result = NULL;
	const char *decision = args_word(&cli->args, 0);
	long limit = 0;
	int error = cli_number(cli, "limit", 1, 500, &limit);

	if (error != 0)
		return error;
	body_begin(&body);
	if (decision != NULL)
		json_out_member_text(&body.out, "decisionId", decision);
	write_period(&body, cli);
	body_option(&body, cli, "cursor", "cursor");
	if (limit > 0)
		json_out_member_int(&body.out, "limit", limit);
	error = write_catalog(&body, cli);
	if (error == 0)
		error = cli_call_job(cli, "/v1/rejudge", body_end(&body), &result);
	if (error != 0)
		return error;
	if (!cli->json)
		show(cli, result);
	if (args_has(&cli->args, "fail-changed") && number_of(json_object_get(result, "counts"), "changed") > 0)
		return CLI_REFUSED;
	return number_of(json_object_get(result, "counts"), "unlike") > 0 ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"catalog", 0, ARGS_TEXT, "FILE", "judge by this catalog, not by the one in force"},
	{"project", 0, ARGS_TEXT, "ID", "only decisions of this project"},
	{"from", 0, ARGS_TEXT, "TIME", "only what was decided then or later (RFC 3339)"},
	{"to", 0, ARGS_TEXT, "TIME", "and not after it"},
	{"limit", 0, ARGS_TEXT, "NUMBER", "how many changes are listed (100)"},
	{"cursor", 0, ARGS_TEXT, "NUMBER", "go on where the list of the run before ended"},
	{"fail-changed", 0, ARGS_FLAG, NULL, "exit 1 when a decision would change"},
	{0},
};

const struct cli_command cmd_rejudge = {
	.name = "rejudge",
	.synopsis = "[DECISION | --project ID --from TIME --to TIME] [--catalog FILE]",
	.summary = "Say which decisions another catalog would change, and how",
	.text = "Judges one decision, or all of a period, with the inputs they had and another catalog. Nothing is "
		"changed.\n"
		"The exit status is 1 when a decision gives other bytes than it gave, by its own catalog and the same "
		"engine.",
	.examples = "admitctl rejudge --catalog next.json --from 2026-11-01T00:00:00Z\n"
		    "admitctl rejudge sha256:c04d91aa --catalog next.json\n"
		    "admitctl rejudge --project tracker --catalog next.json --fail-changed",
	.options = options,
	.max_words = 1,
	.run = run,
};

/* ---- liveness */

static int show_liveness(struct cli *cli, const json_t *list)
{
	static const char *const headings[] = {"CAPABILITY", "PROHIBITED IN", "MATCHED IN", "LAST MATCHED"};
	CLEANUP(table_drop) struct table table = {0};
	int error;

	if (json_array_size(list) == 0) {
		buf_puts(&cli->out, "No decision of that time had a prohibition.\n");
		return 0;
	}
	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const json_t *last = json_object_get(item, "lastMatched");
		bool is_live = number_of(item, "matched") > 0;

		table_cell(&table, is_live ? TABLE_PLAIN : TABLE_AMBER, document_text(item, "capability"));
		table_cell(&table, TABLE_PLAIN, cli_printf(cli, "%lld", number_of(item, "declared")));
		table_cell(&table, TABLE_PLAIN, cli_printf(cli, "%lld", number_of(item, "matched")));
		table_cell(&table, TABLE_PLAIN, is_live ? show_time(cli, document_text(last, "createdAt")) : "never");
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : 0;
}

static int run_liveness(struct cli *cli)
{
	CLEANUP(body_drop) struct body body = {0};
	CLEANUP(json_drop) json_t *result = NULL;
	int error;

	body_begin(&body);
	write_period(&body, cli);
	json_out_member_bool(&body.out, "prohibitions", true);
	json_out_member_int(&body.out, "limit", 1);
	error = cli_call_job(cli, "/v1/rejudge", body_end(&body), &result);
	if (error != 0 || cli->json)
		return error;
	return show_liveness(cli, json_object_get(result, "prohibitions"));
}

static const struct args_option liveness_options[] = {
	{"project", 0, ARGS_TEXT, "ID", "only decisions of this project"},
	{"from", 0, ARGS_TEXT, "TIME", "only what was decided then or later (RFC 3339)"},
	{"to", 0, ARGS_TEXT, "TIME", "and not after it"},
	{0},
};

const struct cli_command cmd_catalog_liveness = {
	.name = "catalog liveness",
	.synopsis = "[--project ID] [--from TIME] [--to TIME]",
	.summary = "Say which prohibitions of the plans ever matched anything",
	.text = "Counts, for each capability that plans prohibit, the decisions in which it was prohibited, and those "
		"in "
		"which something\n"
		"asked for it. One that never matched is needed by nobody, or is spelled past what it means.",
	.examples = "admitctl catalog liveness\n"
		    "admitctl catalog liveness --project tracker --from 2026-11-01T00:00:00Z",
	.options = liveness_options,
	.run = run_liveness,
};
