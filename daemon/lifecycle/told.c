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
