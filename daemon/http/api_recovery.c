/* The recovery queue: what a person may act on. */
#include <stdio.h>
#include <string.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/render.h"
#include "daemon/http/text_table.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/words_queue.h"

enum { CURSOR_MAX = 64 };

static int refuse(const struct http_request *request, struct http_reply *reply, const char *detail)
{
	http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, detail);
	return API_LIST_REFUSED;
}

/* Kinds of which the token may do something: whoever may send a plan back may act on it, and on what it holds. */
static unsigned kinds_of_mine(const struct http_request *request)
{
	if (auth_has_role(&request->token, AUTH_OPERATOR))
		return STORE_QUEUE_ALL;
	if (auth_has_role(&request->token, AUTH_APPROVER))
		return STORE_QUEUE_BIT(STORE_QUEUE_PACKAGE_HELD) | STORE_QUEUE_BIT(STORE_QUEUE_PLAN_WAITS) |
			STORE_QUEUE_BIT(STORE_QUEUE_PACKAGE_FAILED);
	return 0;
}

static int read_filter(
	struct http_request *request, struct http_reply *reply, struct lifecycle_recovery_filter *ret_filter)
{
	struct str kind = http_request_query(request, "kind");
	enum store_queue_kind known = STORE_QUEUE_PACKAGE_HELD;
	bool is_mine = false;

	*ret_filter = (struct lifecycle_recovery_filter){
		.project = http_request_query(request, "project"),
		.task = http_request_query(request, "task"),
		.kinds = STORE_QUEUE_ALL,
	};
	if (http_request_query_bool(request, "mine", &is_mine) != 0)
		return refuse(request, reply, "mine is true or false");
	if (kind.bytes != NULL && !lifecycle_recovery_kind_find(kind, &known))
		return refuse(request, reply, "there is no such kind of item");
	if (kind.bytes != NULL)
		ret_filter->kinds = STORE_QUEUE_BIT(known);
	if (is_mine)
		ret_filter->kinds &= kinds_of_mine(request);
	return 0;
}

/* "since-kind-sequence". */
static bool read_cursor(struct str text, struct store_queue_cursor *ret)
{
	char copy[CURSOR_MAX];
	long long since = 0;
	long long sequence = 0;
	unsigned kind = 0;
	int used = 0;

	*ret = (struct store_queue_cursor){0};
	if (text.bytes == NULL)
		return true;
	if (text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.bytes, text.len);
	copy[text.len] = '\0';
	if (sscanf(copy, "%18lld-%1u-%18lld%n", &since, &kind, &sequence, &used) != 3 || (size_t)used != text.len ||
		since < 0 || sequence < 0 || kind >= STORE_QUEUE_KIND_COUNT)
		return false;
	*ret = (struct store_queue_cursor){since, sequence, (enum store_queue_kind)kind, true};
	return true;
}

static void write_json(struct api_list *list, const struct lifecycle_recovery *found)
{
	char cursor[CURSOR_MAX];

	(void)api_list_open(list, found->count);
	for (size_t i = 0; i < found->count; i++)
		render_recovery_item(&found->items[i], &list->request->token, &list->out);
	json_out_end_array(&list->out);
	render_recovery_counts(&found->counts, &list->out);
	json_out_key(&list->out, "tags");
	words_queue_write_tags(&list->out);
	json_out_member_revision(&list->out, "asOfEvent", found->as_of_event);
	(void)snprintf(cursor, sizeof(cursor), "%lld-%u-%lld", (long long)found->next.since, (unsigned)found->next.kind,
		(long long)found->next.sequence);
	api_list_write_next(list, found->has_more, api_text(cursor));
	json_out_end_object(&list->out);
}

/* What it waits for, in a few words. */
static struct str why(const struct lifecycle_recovery_item *item, struct arena *arena)
{
	if (item->has_state)
		return item->state.words.headline;
	if (item->kind == STORE_QUEUE_PLAN_WAITS && item->blocked_count > 0)
		return arena_printf(arena, "%zu of its packages blocked", item->blocked_count);
	if (item->kind == STORE_QUEUE_PLAN_WAITS)
		return STR("nothing blocks it");
	return item->reason;
}

static struct str what_frees(const struct lifecycle_recovery_item *item, struct arena *arena)
{
	struct str text = {0};

	for (size_t i = 0; i < item->actions.count; i++) {
		const char *name = action_id_name(item->actions.items[i].id);

		text = text.bytes == NULL ? arena_printf(arena, "%s", name)
			: strstr(text.bytes, name) != NULL
			? text
			: arena_printf(arena, "%.*s, %s", (int)text.len, text.bytes, name);
	}
	return text;
}

static void write_text(struct http_request *request, const struct lifecycle_recovery *found, struct http_reply *reply)
{
	static const char *const headings[] = {"SINCE", "KIND", "PROJECT", "TASK", "PACKAGE", "WHY", "ACTIONS", NULL};
	struct arena *arena = &request->arena;
	struct text_table table;
	struct str note;

	text_table_init(&table, arena, headings);
	for (size_t i = 0; i < found->count; i++) {
		const struct lifecycle_recovery_item *item = &found->items[i];

		text_table_add_time(&table, item->since);
		text_table_add(&table, api_text(lifecycle_recovery_kind_name(item->kind)));
		text_table_add(&table, item->project);
		text_table_add(&table, item->task);
		text_table_add(&table, item->label);
		text_table_add(&table, why(item, arena));
		text_table_add(&table, what_frees(item, arena));
	}
	note = arena_printf(arena, "\n%zu shown%s, %lld ready, as of event %lld", found->count,
		found->has_more ? " of more" : "", (long long)found->counts.ready, (long long)found->as_of_event);
	text_table_reply(&table, note, reply);
}

static int list_recovery(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"project", "kind", "task", "mine", NULL};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_recovery_filter filter;
	struct lifecycle_recovery found = {0};
	struct store_queue_cursor after;
	struct api_list list;
	bool is_text = false;
	int r = api_list_begin(&list, request, reply, filters, false);

	if (r == 0)
		r = text_table_wanted(request, reply, &is_text);
	if (r == 0)
		r = read_filter(request, reply, &filter);
	if (r == 0 && !read_cursor(list.after, &after))
		r = refuse(request, reply, "cursor is what `next` of a page before says");
	if (r != 0)
		return 0;
	r = lifecycle_recovery_read(&reader, &filter, &after, (size_t)list.limit, &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	if (is_text)
		write_text(request, &found, reply);
	else
		write_json(&list, &found);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/recovery", 0, 0, 0, list_recovery},
};

const struct http_routes api_recovery_routes = API_ROUTES(rows);
