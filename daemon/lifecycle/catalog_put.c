#include "daemon/lifecycle/catalog_put.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/rejudge.h"
#include "daemon/store/catalog.h"
#include "daemon/store/event.h"
#include "policy/cleanup.h"

/* ---- putting it in force */

/* On the writer's thread, after the sync and before the next batch: no call that comes after is judged by the old one. */
static void switch_over(struct lifecycle_catalog_put *put)
{
	struct lifecycle *lifecycle = put->call.lifecycle;
	struct catalog *before;

	(void)pthread_mutex_lock(&lifecycle->catalog_lock);
	before = lifecycle->catalog;
	lifecycle->catalog = TAKE(put->catalog);
	package_cache_keep(lifecycle->cache, lifecycle->catalog);
	(void)pthread_mutex_unlock(&lifecycle->catalog_lock);
	catalog_free(before);
	rejudge_wake(lifecycle);
}

static void settle(struct lifecycle_catalog_put *put, int result)
{
	if (result == 0 && put->is_changed)
		switch_over(put);
	catalog_drop(&put->catalog);
}

static void switch_and_tell(struct lifecycle_call *call, int result)
{
	struct lifecycle_catalog_put *put = (struct lifecycle_catalog_put *)call; /* its first member */

	settle(put, result);
	put->done(call, result);
}

/* ---- the transaction */

static int write_event(struct store_tx *tx, const struct lifecycle_catalog_put *put)
{
	struct str payload = arena_printf(store_tx_arena(tx),
		"{\"digest\":\"%.*s\",\"epoch\":%lld,\"previous\":\"%.*s\"}", (int)put->digest.len, put->digest.bytes,
		(long long)put->epoch, (int)put->previous.len, put->previous.bytes);
	struct store_event event = {
		.type = STR("catalog.replaced"),
		.subject_kind = STR("catalog"),
		.subject_id = put->digest,
		.actor = put->call.actor,
		.at = put->call.now,
		.payload_json = payload,
	};

	return payload.bytes != NULL ? call_store_result(store_event_append(tx, &event)) : -ENOMEM;
}

static int open_epoch(struct store_tx *tx, struct lifecycle_catalog_put *put)
{
	const struct catalog *catalog = put->catalog;
	struct store_catalog row = {.digest = catalog->digest, .actor = put->call.actor, .at = put->call.now};
	int r = call_store_result(store_catalog_put(tx, catalog->digest, catalog->bytes));

	if (r == 0)
		r = call_store_result(store_catalog_set_current(tx, &row));
	put->epoch = row.epoch;
	put->is_changed = true;
	return r != 0 ? r : write_event(tx, put);
}

static int run_put(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_catalog_put *put = (struct lifecycle_catalog_put *)call;
	struct store_catalog current = {0};
	int r = call_store_result(store_catalog_current(tx, &current));

	if (r != 0)
		return r;
	put->is_changed = false;
	put->previous = current.digest;
	put->epoch = current.epoch;
	put->digest = arena_str(store_tx_arena(tx), put->catalog->digest);
	if (put->digest.bytes == NULL)
		return -ENOMEM;
	if (put->if_digest.bytes != NULL && !str_equal(put->if_digest, current.digest)) {
		call->refusal.status = current.digest;
		return refusal_of_condition(call, current.epoch, &current.actor, current.at, (struct str){0});
	}
	return str_equal(current.digest, put->digest) ? 0 : open_epoch(tx, put);
}

/* ---- loading it */

static int refuse(struct lifecycle_catalog_put *put, const struct catalog_fault *fault)
{
	struct fault_list faults = {.arena = put->call.arena};
	struct str text = arena_printf(put->call.arena, "%s", fault->text);

	if (text.bytes == NULL)
		return -ENOMEM;
	fault_list_add(&faults, text.bytes, "%s", fault->pointer);
	return fault_list_result(&faults, &put->call.refusal);
}

static int load(struct lifecycle_catalog_put *put)
{
	struct catalog_fault fault = {0};
	int r = catalog_new(put->bytes, &put->catalog, &fault);

	return r == CATALOG_REFUSED ? refuse(put, &fault) : r;
}

int lifecycle_catalog_put(struct lifecycle *lifecycle, struct lifecycle_catalog_put *call)
{
	bool waits = call->call.done == NULL;
	int r = load(call);

	call->done = call->call.done;
	if (!waits)
		call->call.done = switch_and_tell;
	if (r == 0)
		r = call_write(lifecycle, &call->call, run_put);
	if (waits)
		settle(call, r);
	else if (r != 0)
		catalog_drop(&call->catalog);
	return r;
}
