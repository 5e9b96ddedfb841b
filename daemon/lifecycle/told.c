/* What events say to people: the table's words (policy/words_event.h) with what the log itself knows beside the event. */
#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/view.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

static int count_effects(struct store_tx *tx, const struct store_event *event, struct event_facts *facts)
{
	struct store_event_effects effects = {0};
	int r = 0;

	if (!str_is(event->type, "grant.recorded"))
		return 0;
	r = call_store_result(store_event_count_effects(tx, event, &effects));
	facts->held = effects.held;
	facts->freed = effects.freed;
	return r;
}

/* A quotation points into the parsed payload. */
static int keep_quote(struct arena *arena, struct event_words *words)
{
	if (words->quote.bytes == NULL)
		return 0;
	words->quote = arena_str(arena, words->quote);
	words->by = words->by.bytes != NULL ? arena_str(arena, words->by) : words->by;
	return arena->failed ? -ENOMEM : 0;
}

static int tell(struct store_tx *tx, const struct store_event *event, struct str package, struct event_words *ret)
{
	CLEANUP(json_drop) json_t *payload = NULL;
	struct event_facts facts = {
		.type = event->type,
		.who = event->actor.principal,
		.project = event->project,
		.is_of_package = event->package.bytes != NULL,
		.is_of_dependency =
			package.bytes != NULL && event->package.bytes != NULL && !str_equal(event->package, package),
	};
	int r = event->payload_json.bytes != NULL ? json_parse(event->payload_json, &payload, NULL) : 0;

	if (r < 0)
		return r;
	facts.payload = payload;
	r = count_effects(tx, event, &facts);
	if (r == 0)
		r = event_words(store_tx_arena(tx), &facts, ret);
	return r == 0 ? keep_quote(store_tx_arena(tx), ret) : r;
}

int lifecycle_tell(
	struct store_tx *tx, const struct store_event_list *events, struct str package, struct lifecycle_told *ret)
{
	struct event_words *words = ARENA_ARRAY(store_tx_arena(tx), events->count, struct event_words);
	int r = words != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < events->count; i++)
		r = tell(tx, &events->items[i], package, &words[i]);
	*ret = (struct lifecycle_told){*events, words};
	return r;
}

/* ---- what they are about */

/* What people call the package, plan or project that an event is about. STORE_ABSENT: nothing. */
static int find_label(struct store_tx *tx, const struct store_event *event, struct str *ret)
{
	struct store_package package = {0};
	struct store_project project = {0};
	struct store_task task = {0};
	int r = STORE_ABSENT;

	if (event->package.bytes != NULL)
		r = store_package_find(tx, event->package, &package);
	else if (event->task.bytes != NULL)
		r = store_task_find(tx, event->task, &task);
	else if (event->project.bytes != NULL)
		r = store_project_find(tx, event->project, &project);
	*ret = event->package.bytes != NULL ? package.label : event->task.bytes != NULL ? task.title : project.name;
	return r;
}

int lifecycle_name_events(struct store_tx *tx, const struct store_event_list *list, struct str **ret)
{
	struct str *labels = ARENA_ARRAY(store_tx_arena(tx), list->count, struct str);
	int r = labels != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < list->count; i++) {
		r = find_label(tx, &list->items[i], &labels[i]);
		r = r == STORE_ABSENT ? 0 : r;
	}
	*ret = labels;
	return r;
}
