/* admitctl inventory: what paths below a folder are (chapter 5.2). */
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/reading.h"
#include "policy/cleanup.h"
#include "reader/inventory.h"

static void table_drop(struct table *table)
{
	table_release(table);
}

static const char *number_of(struct cli *cli, const json_t *target, const char *key)
{
	const json_t *value = json_object_get(target, key);

	return json_is_integer(value) ? cli_printf(cli, "%lld", (long long)json_integer_value(value)) : NULL;
}

/* What the type alone doesn't say. */
static const char *note_of(struct cli *cli, const json_t *target)
{
	const char *bound = document_text(target, "bound");
	const char *message = document_text(target, "message");

	if (bound != NULL)
		return cli_printf(cli, "cut by --%s", bound);
	if (message != NULL)
		return message;
	if (document_text(target, "withheld") != NULL)
		return "holds credentials: not opened";
	if (json_is_true(json_object_get(target, "leavesRoot")))
		return "leads out of the root";
	if (json_is_false(json_object_get(target, "resolves")))
		return "dangles";
	if (json_is_true(json_object_get(target, "binary")))
		return "binary";
	return document_text_or_empty(target, "kind");
}

static void add_entries(struct table *table, struct cli *cli, const json_t *target)
{
	const char *path = document_text_or_empty(target, "path");
	const json_t *entry;
	size_t index;

	json_array_foreach(json_object_get(target, "entries"), index, entry)
	{
		const char *slash = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";

		table_cell(table, TABLE_PLAIN,
			cli_printf(cli, "%s%s%s", path, slash, document_text_or_empty(entry, "name")));
		table_cell(table, TABLE_DIM, document_text(entry, "type"));
		for (int i = 0; i < 3; i++)
			table_cell(table, TABLE_PLAIN, "");
	}
}

static void add_target(struct table *table, struct cli *cli, const json_t *target)
{
	const char *type = document_text_or_empty(target, "type");
	const char *bytes = number_of(cli, target, "bytes");

	table_cell(table, TABLE_PLAIN, document_text(target, "path"));
	table_cell(table, strcmp(type, "unreadable") == 0 ? TABLE_AMBER : TABLE_PLAIN, type);
	table_cell(table, TABLE_PLAIN, bytes != NULL ? bytes : number_of(cli, target, "count"));
	table_cell(table, TABLE_PLAIN, number_of(cli, target, "lines"));
	table_cell(table, TABLE_PLAIN, note_of(cli, target));
	add_entries(table, cli, target);
}

static void show_contents(struct cli *cli, const json_t *targets)
{
	const json_t *target;
	size_t index;

	json_array_foreach(targets, index, target)
	{
		const char *contents = document_text(target, "contents");
		const char *path = document_text_or_empty(target, "path");

		if (contents == NULL)
			continue;
		buf_puts(&cli->out, "\n== ");
		table_text(&cli->out, (struct str){path, strlen(path)});
		buf_putc(&cli->out, '\n');
		buf_puts(&cli->out, contents);
		if (contents[0] != '\0' && contents[strlen(contents) - 1] != '\n')
			buf_putc(&cli->out, '\n');
	}
}

static int show(struct cli *cli, const json_t *answer)
{
	static const char *const headings[] = {"PATH", "IS", "SIZE", "LINES", ""};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *targets = json_object_get(answer, "targets");
	const json_t *target;
	size_t index;
	int r = 0;

	table_init(&table, headings, 5);
	json_array_foreach(targets, index, target) add_target(&table, cli, target);
	r = table_write(&table, &cli->style, &cli->out);
	if (r != 0)
		return cli_say_error("the table", r);
	show_contents(cli, targets);
	reading_show_bounds(cli, answer);
	return CLI_DONE;
}

static int read_request(struct cli *cli, struct inventory_request *request)
{
	int result = reading_names(cli, 0, INVENTORY_PATHS_LIMIT, &request->paths);

	request->contents = args_has(&cli->args, "contents");
	if (result == 0)
		result = reading_limit(
			cli, "max-content-bytes", INVENTORY_CONTENT_BYTES_LIMIT, &request->max_content_bytes);
	if (result == 0)
		result = reading_limit(cli, "max-total-bytes", INVENTORY_TOTAL_BYTES_LIMIT, &request->max_total_bytes);
	if (result == 0)
		result = reading_limit(cli, "max-entries", INVENTORY_ENTRIES_LIMIT, &request->max_entries);
	if (result == 0)
		result = reading_limit(
			cli, "max-total-entries", INVENTORY_TOTAL_ENTRIES_LIMIT, &request->max_total_entries);
	return result;
}

static int run(struct cli *cli)
{
	CLEANUP(contained_root_close) struct contained_root root = {0};
	CLEANUP(cli_buf_drop) struct buf answer = {0};
	CLEANUP(json_drop) json_t *parsed = NULL;
	struct inventory_request request;
	int result = 0;
	int r = 0;

	buf_init(&answer, TOOLS_ANSWER_BYTES);
	inventory_request_init(&request);
	result = read_request(cli, &request);
	if (result == 0)
		result = reading_root(cli, &root);
	if (result != 0)
		return result;
	r = inventory_run(&root, &request, &answer);
	if (r != 0)
		return cli_say_error("the answer", r);
	result = reading_answer(cli, buf_str(&answer), &parsed);
	return result != 0 || parsed == NULL ? result : show(cli, parsed);
}

static const struct args_option options[] = {
	{"root", 0, ARGS_TEXT, "DIR", "the folder that paths are below; else the current one"},
	{"contents", 0, ARGS_FLAG, NULL, "show what is in text files too"},
	{"max-content-bytes", 0, ARGS_TEXT, "BYTES", "of one file (1048576, up to 16777216)"},
	{"max-total-bytes", 0, ARGS_TEXT, "BYTES", "read in all (8388608, up to 67108864)"},
	{"max-entries", 0, ARGS_TEXT, "COUNT", "of one directory (500, up to 20000)"},
	{"max-total-entries", 0, ARGS_TEXT, "COUNT", "listed in all (20000, up to 200000)"},
	{0},
};

const struct cli_command cmd_inventory = {
	.name = "inventory",
	.synopsis = "[--root DIR] [--contents] PATH...",
	.summary = "Say what paths below a folder are, as agents are told",
	.text = "Absent, a link (never followed), a directory with its entries, a file with its bytes and lines, "
		"something\n"
		"special, or unreadable and why. Nothing outside of the folder is opened, files that hold credentials "
		"aren't\n"
		"either, and what a limit cuts is named. Bytes of names that can't be shown stand as \\xNN; a name may "
		"be given\n"
		"like that too.",
	.examples = "admitctl inventory src README.md\n"
		    "admitctl inventory --root /srv/tracker --contents docs/plan.md\n"
		    "admitctl inventory . --json | jq '.targets[0].entries'",
	.options = options,
	.min_words = 1,
	.max_words = SIZE_MAX,
	.is_local = true,
	.run = run,
};
