/* Lists as aligned tables, for people with curl. */
#include <string.h>

#include "daemon/http/render.h"
#include "daemon/http/text_table.h"

static void end_table(const struct text_table *table, size_t shown, bool has_more, struct http_reply *reply)
{
	text_table_reply(table, arena_printf(table->arena, "\n%zu shown%s", shown, has_more ? " of more" : ""), reply);
}

void render_tasks_text(const struct store_task_list *list, size_t shown, struct arena *arena, struct http_reply *reply)
{
	static const char *const headings[] = {"TASK", "STATUS", "PLAN", "PROJECT", "SUBMITTED", "BY", "TITLE", NULL};
	struct text_table table;

	text_table_init(&table, arena, headings);
	for (size_t i = 0; i < shown; i++) {
		const struct store_task *task = &list->items[i];
		const char *status = store_task_status_text(task->status);

		text_table_add(&table, task->id);
		text_table_add(&table, (struct str){status, strlen(status)});
		text_table_add(&table, arena_printf(arena, "%lld", (long long)task->plan_revision));
		text_table_add(&table, task->project);
		text_table_add_time(&table, task->submitted_at);
		text_table_add(&table, task->submitted_by.principal);
		text_table_add(&table, task->title);
	}
	end_table(&table, shown, list->count > shown, reply);
}

/* An array of names, which have nothing to escape, as "a, b". */
static struct str name_list(struct arena *arena, struct str json)
{
	char *text = arena_alloc(arena, 2 * json.len + 1);
	size_t len = 0;

	for (size_t i = 0; text != NULL && i < json.len; i++) {
		if (json.bytes[i] == '[' || json.bytes[i] == ']' || json.bytes[i] == '"')
			continue;
		text[len++] = json.bytes[i];
		if (json.bytes[i] == ',')
			text[len++] = ' ';
	}
	return (struct str){text, len};
}

static struct str grant_word(const struct store_grant *grant)
{
	if (grant->decision == STORE_GRANT_DENIED)
		return STR("denied");
	if (grant->decision == STORE_GRANT_REVOKED)
		return STR("revoked");
	if (grant->expired)
		return STR("ended");
	if (grant->used_by.bytes != NULL)
		return STR("used");
	return grant->mode == STORE_GRANT_ALLOW_ONCE ? STR("once") : STR("always");
}

void render_grants_text(
	const struct store_grant_list *list, size_t shown, struct arena *arena, struct http_reply *reply)
{
	static const char *const headings[] = {
		"AT", "DECISION", "PROJECT", "PACKAGE", "BY", "UNTIL", "CAPABILITIES", "REASON", NULL};
	struct text_table table;

	text_table_init(&table, arena, headings);
	for (size_t i = 0; i < shown; i++) {
		const struct store_grant *grant = &list->items[i];

		text_table_add_time(&table, grant->at);
		text_table_add(&table, grant_word(grant));
		text_table_add(&table, grant->project);
		text_table_add(&table, grant->package);
		text_table_add(&table, grant->actor.principal);
		text_table_add_time(&table, grant->expires_at);
		text_table_add(&table, name_list(arena, grant->capabilities_json));
		text_table_add(&table, grant->reason);
	}
	end_table(&table, shown, list->count > shown, reply);
}
