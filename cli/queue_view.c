#include "cli/queue_view.h"

#include <string.h>

#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

/* Each kind as a word before an item, and how many of it are spoken of. */
static const struct {
	const char *kind;
	const char *word;
	const char *many;
} kinds[] = {
	{"package_held", "held", "packages held"},
	{"plan_waits_for_approval", "plan", "plans to decide"},
	{"plan_sent_back", "sent back", "plans sent back"},
	{"package_failed", "failed", "packages failed"},
	{"run_silent", "silent", "runs silent"},
	{"project_without_root", "no folder", "projects without a folder"},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *word_of(const json_t *item)
{
	const char *kind = document_text_or_empty(item, "kind");

	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].word;
	return kind;
}

void queue_view_head(struct cli *cli, const json_t *queue)
{
	const json_t *counts = json_object_get(queue, "counts");
	const json_t *ready = json_object_get(counts, "ready");
	const char *since = document_text(ready, "oldestSince");
	const char *list = "";
	json_int_t total = 0;

	for (size_t i = 0; i < KINDS; i++) {
		json_int_t count = json_integer_value(json_object_get(counts, kinds[i].kind));

		total += count;
		if (count > 0)
			list = cli_printf(
				cli, "%s%s%lld %s", list, *list == '\0' ? "" : ", ", (long long)count, kinds[i].many);
	}
	if (total == 0)
		buf_puts(&cli->out, "Nothing waits for a person.");
	else
		buf_printf(&cli->out, "%lld wait for a person: %s.", (long long)total, list);
	if (since != NULL)
		buf_printf(&cli->out, " %lld ready, the oldest since %s.",
			(long long)json_integer_value(json_object_get(ready, "count")), show_time(cli, since));
	buf_putc(&cli->out, '\n');
}

/* What an item is about: a package's label, else its task, else its project. */
static const char *name_of(const json_t *item)
{
	static const char *const members[] = {"label", "task", "project"};
	const char *name = NULL;

	for (size_t i = 0; name == NULL && i < sizeof(members) / sizeof(members[0]); i++)
		name = document_text(item, members[i]);
	return name != NULL ? name : "?";
}

static const char *why(struct cli *cli, const json_t *item)
{
	const char *text = document_text(json_object_get(item, "operatorState"), "headline");
	size_t blocked = json_array_size(json_object_get(item, "blocked"));

	if (text == NULL)
		text = document_text(item, "reason");
	if (text == NULL)
		text = document_text(json_object_get(item, "facts"), "reason");
	if (text == NULL && blocked > 0)
		text = cli_printf(cli, "%zu of its packages blocked", blocked);
	if (text == NULL)
		text = strcmp(document_text_or_empty(item, "kind"), "plan_waits_for_approval") == 0
			? "nothing blocks it"
			: "";
	return text;
}

static void show_item(struct cli *cli, const json_t *item)
{
	const struct remedy_context context = {.task = document_text(item, "task")};
	const json_t *cause = json_object_get(item, "cause");
	const char *body = document_text(json_object_get(item, "operatorState"), "body");

	buf_putc(&cli->out, '\n');
	show_head(cli, word_of(item), name_of(item),
		document_text(item, json_object_get(item, "packageId") != NULL ? "packageId" : "task"));
	show_line(cli, "why", why(cli, item));
	show_line(cli, "", body);
	show_line(cli, "in",
		cli_printf(cli, "%s%s%s", document_text_or_empty(item, "project"),
			document_text(item, "task") != NULL ? ", " : "", document_text_or_empty(item, "task")));
	show_line(cli, "since", show_time(cli, document_text(item, "since")));
	show_remedies(cli, json_object_get(item, "actions"), &context);
	if (cause != NULL)
		show_line(cli, "together",
			cli_printf(cli, "%lld packages wait for the same",
				(long long)json_integer_value(json_object_get(cause, "count"))));
}

void queue_view_items(struct cli *cli, const json_t *items)
{
	const json_t *item;
	size_t index;

	json_array_foreach(items, index, item) show_item(cli, item);
}

static void table_drop(struct table *table)
{
	table_release(table);
}

int queue_view_table(struct cli *cli, const json_t *items, size_t limit)
{
	static const char *const headings[] = {"SINCE", "KIND", "WHAT", "PROJECT", "WHY", "WHAT FREES IT"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *item;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(items, index, item)
	{
		const json_t *first = remedy_first(json_object_get(item, "actions"));

		if (index == limit)
			break;
		table_cell(&table, TABLE_DIM, show_time(cli, document_text(item, "since")));
		table_cell(&table, table_tone_find(document_text(json_object_get(item, "operatorState"), "tone")),
			word_of(item));
		table_cell(&table, TABLE_BOLD, name_of(item));
		table_cell(&table, TABLE_PLAIN, document_text(item, "project"));
		table_cell(&table, TABLE_PLAIN, why(cli, item));
		table_cell(&table, TABLE_PLAIN, first != NULL ? document_text(first, "label") : NULL);
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : 0;
}
