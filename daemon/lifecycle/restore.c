#include "daemon/lifecycle/restore.h"

#include <errno.h>
#include <sodium.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/run_end.h"
#include "policy/cleanup.h"

enum { RESTORE_ARENA_BYTES = 256 * 1024 * 1024, PAGE = 200, PAYLOAD_CEILING = 4096 };

static const char why[] = "a backup was restored; this grant may have been used since it was made";

/* ---- live runs, and grants that no run has used, of one project */

struct restoring {
	struct lifecycle_call call;
	struct str project;
	struct lifecycle_restored *restored;
	int64_t runs;
	int64_t grants;
};

static int end_run(struct world *world, struct store_run *run)
{
	struct store_package package = {0};
	int r = call_store_result(store_package_find(world->tx, run->package, &package));

	if (r == 0)
		r = run_end_write(world, run, STORE_RUN_CANCELLED, STR("a backup was restored"));
	if (r != 0)
		return r;
	package.live_run = (struct str){0};
	return event_log_package_status(world, &package, PACKAGE_RUNNING, package_status_of(&package), run->id);
}

static int end_runs(struct world *world, struct restoring *restoring)
{
	struct store_run_list list = {0};
	int r = call_store_result(store_run_list_live(world->tx, world->project.id, &list));

	for (size_t i = 0; r == 0 && i < list.count; i++)
		r = end_run(world, &list.items[i]);
	restoring->runs = (int64_t)list.count;
	return r;
}

static int take_back(struct world *world, const struct store_grant *grant)
{
	struct store_package package = {0};
	struct store_grant row = {
		.id = store_id_new(world->arena, "grt_"),
		.project = world->project.id,
		.package = grant->package,
		.decision = STORE_GRANT_REVOKED,
		.capabilities_json = STR("[]"),
		.dropped_json = STR("[]"),
		.root_revision = world->project.root_revision,
		.reason = {why, sizeof(why) - 1},
		.at = world->call->now,
	};
	int r = row.id.bytes != NULL ? call_store_result(store_package_find(world->tx, grant->package, &package))
				     : -ENOMEM;

	if (r == 0)
		r = call_store_result(store_grant_append(world->tx, &row, grant->revision));
	return r != 0 ? r : event_log_grant(world, &row, package.task);
}

static int take_back_grants(struct world *world, struct restoring *restoring)
{
	const struct store_grant_filter filter = {.project = world->project.id, .latest_only = true};
	struct store_grant_list list = {0};
	int64_t before = 0;
	int r = 0;

	do {
		r = call_store_result(store_grant_list(world->tx, &filter, before, PAGE, &list));
		for (size_t i = 0; r == 0 && i < list.count; i++) {
			const struct store_grant *grant = &list.items[i];

			before = grant->sequence;
			if (grant->package.bytes == NULL || grant->decision != STORE_GRANT_APPROVED || grant->expired ||
				grant->used_by.bytes != NULL)
				continue;
			r = take_back(world, grant);
			restoring->grants++;
		}
	} while (r == 0 && list.count == PAGE);
	return r;
}

static int run_project(struct store_tx *tx, struct lifecycle_call *call)
{
	struct restoring *restoring = (struct restoring *)call;
	CLEANUP(world_close) struct world world = {0};
	int r = world_open(tx, call, restoring->project, &world);

	restoring->grants = 0;
	if (r == 0)
		r = end_runs(&world, restoring);
	if (r == 0)
		r = take_back_grants(&world, restoring);
	if (r == 0)
		r = world_reread(&world);
	return r != 0 ? r : reconcile_project(&world, &(struct reconcile_scope){0}, NULL);
}

static int restore_project(struct lifecycle *lifecycle, struct str project, struct lifecycle_restored *restored)
{
	struct arena arena;
	struct restoring restoring = {.call.arena = &arena, .project = project};
	int r = 0;

	arena_init(&arena, RESTORE_ARENA_BYTES);
	r = call_write(lifecycle, &restoring.call, run_project);
	arena_release(&arena);
	restored->runs += restoring.runs;
	restored->grants += restoring.grants;
	return r;
}

struct project_page {
	struct str after;
	struct store_project_list list;
};

static int read_page(struct store_tx *tx, void *arg)
{
	struct project_page *page = arg;

	return store_project_list(tx, (struct str){0}, page->after, PAGE, &page->list);
}

static int restore_projects(struct lifecycle *lifecycle, struct lifecycle_restored *restored)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = RESTORE_ARENA_BYTES};
	struct project_page page = {0};
	int r = 0;

	do {
		r = call_store_result(store_read(lifecycle->store, &arena, read_page, &page));
		for (size_t i = 0; r == 0 && i < page.list.count; i++)
			r = restore_project(lifecycle, page.list.items[i].id, restored);
		if (page.list.count > 0)
			page.after = page.list.items[page.list.count - 1].id;
	} while (r == 0 && page.list.count == PAGE);
	return r;
}

/* ---- the epoch */

struct opening {
	struct store_epoch epoch;
	struct lifecycle_restored *restored;
};

static void write_head(struct json_out *out, const char *key, const struct store_chain *head)
{
	char hex[2 * STORE_HASH_BYTES + 1];

	json_out_key(out, key);
	if (head->sequence == 0) {
		json_out_null(out);
		return;
	}
	(void)sodium_bin2hex(hex, sizeof(hex), head->hash, sizeof(head->hash));
	json_out_begin_object(out);
	json_out_member_int(out, "sequence", head->sequence);
	json_out_member_text(out, "hash", hex);
	json_out_end_object(out);
}

static int tell(struct store_tx *tx, const struct opening *opening)
{
	CLEANUP(buf_release) struct buf payload = {0};
	struct store_event event = {.type = STR("store.restored"),
		.subject_kind = STR("store"),
		.subject_id = arena_printf(store_tx_arena(tx), "%lld", (long long)opening->epoch.epoch),
		.at = opening->epoch.at};
	struct json_out out;

	buf_init(&payload, PAYLOAD_CEILING);
	json_out_init(&out, &payload);
	json_out_begin_object(&out);
	json_out_member_int(&out, "epoch", opening->epoch.epoch);
	write_head(&out, "restoredHead", &opening->epoch.from);
	write_head(&out, "replacedHead", &opening->epoch.replaced);
	json_out_member_int(&out, "tokensRevoked", opening->restored->tokens);
	json_out_end_object(&out);
	event.payload_json = buf_str(&payload);
	if (buf_error(&payload) != 0 || event.subject_id.bytes == NULL)
		return -ENOMEM;
	return store_event_append(tx, &event);
}

static int run_open(struct store_tx *tx, void *arg)
{
	struct opening *opening = arg;
	int r = store_epoch_open(tx, &opening->epoch);

	if (r == 0)
		r = store_epoch_disarm(tx, opening->epoch.at, &opening->restored->tokens);
	return r != 0 ? r : tell(tx, opening);
}

int lifecycle_restore(struct lifecycle *lifecycle, const struct store_chain *replaced, struct lifecycle_restored *ret)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = RESTORE_ARENA_BYTES};
	struct opening opening = {.restored = ret};
	int r = 0;

	*ret = (struct lifecycle_restored){0};
	opening.epoch.at = lifecycle_now(lifecycle);
	opening.epoch.replaced = *replaced;
	r = call_store_result(store_call(lifecycle->store, &arena, run_open, &opening));
	ret->epoch = opening.epoch.epoch;
	ret->from = opening.epoch.from;
	if (r == 0)
		r = restore_projects(lifecycle, ret);
	return r > 0 ? -EIO : r;
}
