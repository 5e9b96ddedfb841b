#include "cli/task_view.h"

#include <string.h>

#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

/* Wire words as people write them: "never_approved" is "never approved". */
static const char *spaced(struct cli *cli, const char *word)
{
	CLEANUP(cli_buf_drop) struct buf text = {0};

	buf_init(&text, 4096);
	for (; *word != '\0'; word++)
		buf_putc(&text, *word == '_' ? ' ' : *word);
	return cli_printf(cli, "%s", buf_str(&text).bytes);
}

const char *task_view_hold(struct cli *cli, const json_t *hold)
{
	const char *kind = document_text(hold, "kind");
	const char *arm = document_text(hold, "arm");

	if (kind == NULL)
		return "-";
	return cli_printf(
		cli, "%s%s%s", spaced(cli, kind), arm == NULL ? "" : ", ", arm == NULL ? "" : spaced(cli, arm));
}

void task_view_head(struct cli *cli, const json_t *task)
{
	const char *sender = document_text(json_object_get(task, "submittedBy"), "principal");
	const char *revision = document_text(task, "planRevision");

	show_head(cli, spaced(cli, document_text_or_empty(task, "status")), document_text(task, "id"),
		document_text(task, "title"));
	show_line(cli, "plan",
		cli_printf(cli, "revision %s%s%s", revision == NULL ? "?" : revision,
			sender == NULL ? "" : ", sent by ", sender == NULL ? "" : sender));
	show_line(cli, "project", document_text(task, "project"));
}

static void table_drop(struct table *table)
{
	table_release(table);
}

int task_view_packages(struct cli *cli, const json_t *packages)
{
	static const char *const headings[] = {"PACKAGE", "LABEL", "AGENT", "STATUS", "ATTEMPTS", "HOLD"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *package;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(packages, index, package)
	{
		const char *status = document_text(package, "status");
		const char *hold = task_view_hold(cli, json_object_get(package, "hold"));
		const json_t *attempts = json_object_get(package, "attempts");

		table_cell(&table, TABLE_PLAIN, document_text(package, "id"));
		table_cell(&table, TABLE_BOLD, document_text(package, "label"));
		table_cell(&table, TABLE_PLAIN, document_text(package, "agent"));
		table_cell(&table, table_tone_find(status), status);
		table_cell(&table, TABLE_PLAIN, cli_printf(cli, "%lld", (long long)json_integer_value(attempts)));
		table_cell(&table, *hold == '-' ? TABLE_PLAIN : TABLE_AMBER, hold);
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : 0;
}
