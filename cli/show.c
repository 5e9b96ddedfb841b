#include "cli/show.h"

#include <ctype.h>
#include <string.h>

#include "cli/document.h"
#include "policy/cleanup.h"

enum { LABEL_COLUMN = 13, VALUE_CEILING = 64 * 1024, CHANGES_SHOWN = 12 };

static void add_label(struct cli *cli, const char *label)
{
	size_t length = strlen(label) + 2;

	buf_puts(&cli->out, "  ");
	if (*label != '\0') {
		table_paint(&cli->out, &cli->style, TABLE_DIM);
		buf_puts(&cli->out, label);
		table_paint_end(&cli->out, &cli->style, TABLE_DIM);
	}
	do
		buf_putc(&cli->out, ' ');
	while (++length < LABEL_COLUMN);
}

/* Wraps as if the label stood before it, then drops the blanks that it made room with. */
void show_line(struct cli *cli, const char *label, const char *text)
{
	CLEANUP(cli_buf_drop) struct buf wrapped = {0};

	if (text == NULL || *text == '\0')
		return;
	buf_init(&wrapped, VALUE_CEILING);
	table_wrap(&wrapped, &cli->style, (struct str){text, strlen(text)}, LABEL_COLUMN);
	if (buf_error(&wrapped) < 0) {
		buf_fail(&cli->out, buf_error(&wrapped));
		return;
	}
	add_label(cli, label);
	buf_add(&cli->out, wrapped.bytes + LABEL_COLUMN, wrapped.len - LABEL_COLUMN);
}

void show_command(struct cli *cli, const char *label, const char *command)
{
	add_label(cli, label);
	table_paint(&cli->out, &cli->style, TABLE_BOLD);
	table_text(&cli->out, (struct str){command, strlen(command)});
	table_paint_end(&cli->out, &cli->style, TABLE_BOLD);
	buf_putc(&cli->out, '\n');
}

const char *show_time(struct cli *cli, const char *time)
{
	if (time == NULL)
		return "";
	if (strlen(time) < 20 || time[10] != 'T' || time[strlen(time) - 1] != 'Z')
		return time;
	return cli_printf(cli, "%.10s %.8s UTC", time, time + 11);
}

static void add_part(struct cli *cli, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	buf_puts(&cli->out, "  ");
	table_text(&cli->out, (struct str){text, strlen(text)});
}

void show_head(struct cli *cli, const char *status, const char *label, const char *id)
{
	enum table_tone tone = table_tone_find(status);

	char word[32] = "";

	for (size_t i = 0; i + 1 < sizeof(word) && status[i] != '\0'; i++)
		word[i] = (char)toupper((unsigned char)status[i]);
	table_paint(&cli->out, &cli->style, tone);
	table_text(&cli->out, (struct str){word, strlen(word)});
	table_paint_end(&cli->out, &cli->style, tone);
	add_part(cli, label);
	add_part(cli, id);
	buf_putc(&cli->out, '\n');
}

static void add_value(struct buf *out, json_t *value);

/* {"phase":"approved","source":"package-local"} as "approved, source package-local". */
static void add_object(struct buf *out, json_t *object)
{
	const char *phase = document_text(object, "phase");
	bool is_first = phase == NULL;
	const char *key;
	json_t *value;

	if (phase != NULL)
		buf_puts(out, phase);
	json_object_foreach(object, key, value)
	{
		if (strcmp(key, "phase") == 0)
			continue;
		buf_printf(out, "%s%s ", is_first ? "" : ", ", key);
		add_value(out, value);
		is_first = false;
	}
}

static void add_value(struct buf *out, json_t *value)
{
	CLEANUP(free_drop) char *text = NULL;

	if (value == NULL || json_is_null(value)) {
		buf_puts(out, "nothing");
		return;
	}
	if (json_is_string(value)) {
		buf_puts(out, json_string_value(value));
		return;
	}
	if (json_is_object(value) && json_object_size(value) > 0) {
		add_object(out, value);
		return;
	}
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	buf_puts(out, text == NULL ? "?" : text);
}

static void show_change(struct cli *cli, const json_t *change)
{
	CLEANUP(cli_buf_drop) struct buf text = {0};
	const char *path = document_text_or_empty(change, "path");

	buf_init(&text, VALUE_CEILING);
	buf_printf(&text, "%s: ", *path == '/' ? path + 1 : path);
	add_value(&text, json_object_get(change, "before"));
	buf_puts(&text, " -> ");
	add_value(&text, json_object_get(change, "after"));
	show_line(cli, "", buf_str(&text).bytes);
}

void show_changes(struct cli *cli, const json_t *item)
{
	const char *surface = document_text(json_object_get(item, "comparedWith"), "surface");
	const json_t *changes = json_object_get(item, "changedInputs");
	size_t count = json_array_size(changes);
	const json_t *change;
	size_t index;

	if (surface == NULL)
		return;
	show_line(cli, "changed",
		cli_printf(cli, "%ssince %s%s", count == 0 ? "nothing " : "", surface, count == 0 ? "" : ":"));
	json_array_foreach(changes, index, change)
	{
		if (index == CHANGES_SHOWN) {
			show_line(cli, "", cli_printf(cli, "and %zu more (--json)", count - index));
			return;
		}
		show_change(cli, change);
	}
}

/* The action with that id, or NULL. */
static const json_t *find_action(const json_t *actions, const char *id)
{
	const json_t *action;
	size_t index;

	json_array_foreach(actions, index, action)
	{
		if (strcmp(document_text_or_empty(action, "id"), id) == 0)
			return action;
	}
	return NULL;
}

static void show_action(struct cli *cli, const char *label, const json_t *action, const struct remedy_context *context,
	bool says_why_not)
{
	CLEANUP(cli_buf_drop) struct buf command = {0};
	CLEANUP(cli_buf_drop) struct buf why_not = {0};

	buf_init(&command, VALUE_CEILING);
	buf_init(&why_not, VALUE_CEILING);
	remedy_why_not(&why_not, action);
	if (!remedy_command(&command, action, context)) {
		show_line(cli, label,
			cli_printf(cli, "%s%s", document_text_or_empty(action, "label"), buf_str(&why_not).bytes));
		return;
	}
	show_command(cli, label, buf_str(&command).bytes);
	show_line(cli, "", says_why_not && why_not.len > 1 ? why_not.bytes + 1 : NULL);
}

void show_remedies(struct cli *cli, const json_t *actions, const struct remedy_context *context)
{
	const json_t *first = remedy_first(actions);
	const json_t *always = find_action(actions, "approve_always");

	if (first == NULL)
		return;
	show_action(cli, "to free", first, context, true);
	if (always != NULL && always != first)
		show_action(cli, "or always", always, context, false);
}

/* The reason of the item itself, else of the decision that it carries. */
static const char *reason_of(const json_t *item)
{
	const json_t *aggregate = json_object_get(json_object_get(item, "result"), "aggregate");
	const char *reason = document_text(item, "reason");

	if (reason == NULL)
		reason = document_text(json_object_get(item, "primaryDecision"), "reason");
	if (reason == NULL)
		reason = document_text(aggregate, "blockedReason");
	if (reason == NULL)
		reason = json_string_value(json_array_get(json_object_get(aggregate, "warnings"), 0));
	return reason;
}

static void show_state(struct cli *cli, const json_t *state)
{
	enum table_tone tone = table_tone_find(document_text(state, "tone"));
	const char *headline = document_text(state, "headline");
	const char *body = document_text(state, "body");

	if (headline != NULL) {
		table_paint(&cli->out, &cli->style, tone);
		table_wrap(&cli->out, &cli->style, (struct str){headline, strlen(headline)}, 2);
		table_paint_end(&cli->out, &cli->style, tone);
	}
	if (body != NULL && *body != '\0')
		table_wrap(&cli->out, &cli->style, (struct str){body, strlen(body)}, 2);
}

void show_package(struct cli *cli, const json_t *item, const char *status, const struct remedy_context *context)
{
	const json_t *state = json_object_get(item, "operatorState");
	const char *own = document_text(item, "status");
	const char *reason = reason_of(item);
	const char *body = document_text_or_empty(state, "body");
	const char *id = document_text(item, "packageId");

	if (cli->out.len > 0)
		buf_putc(&cli->out, '\n');
	show_head(cli, own == NULL || json_is_integer(json_object_get(item, "status")) ? status : own,
		document_text(item, "label"), id == NULL ? document_text(item, "id") : id);
	show_state(cli, state);
	if (reason != NULL && strcmp(reason, body) != 0)
		show_line(cli, "why", reason);
	show_changes(cli, item);
	show_remedies(cli, json_object_get(item, "actions"), context);
	if (json_array_size(json_object_get(item, "actions")) == 0 && context->takes_plan && context->task != NULL &&
		strcmp(document_text_or_empty(state, "key"), "plan_needs_changes") == 0)
		show_command(cli, "to free", cli_printf(cli, "admitctl task submit PLAN --id %s", context->task));
}
