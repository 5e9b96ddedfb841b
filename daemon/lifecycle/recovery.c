#include "daemon/lifecycle/recovery.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/recovery_make.h"
#include "daemon/lifecycle/scope_json.h"
#include "daemon/lifecycle/surface.h"
#include "policy/cleanup.h"

enum { SCRATCH_BYTES = 16 * 1024 * 1024 };

static const char *const kind_names[STORE_QUEUE_KIND_COUNT] = {
	[STORE_QUEUE_PACKAGE_HELD] = "package_held",
	[STORE_QUEUE_PLAN_WAITS] = "plan_waits_for_approval",
	[STORE_QUEUE_PLAN_SENT_BACK] = "plan_sent_back",
	[STORE_QUEUE_PACKAGE_FAILED] = "package_failed",
	[STORE_QUEUE_RUN_SILENT] = "run_silent",
	[STORE_QUEUE_PROJECT_WITHOUT_ROOT] = "project_without_root",
};

const char *lifecycle_recovery_kind_name(enum store_queue_kind kind)
{
	CHECK(kind < STORE_QUEUE_KIND_COUNT);
	return kind_names[kind];
}

bool lifecycle_recovery_kind_find(struct str word, enum store_queue_kind *ret)
{
	for (unsigned i = 0; i < STORE_QUEUE_KIND_COUNT; i++) {
		if (!str_is(word, kind_names[i]))
			continue;
		*ret = (enum store_queue_kind)i;
		return true;
	}
	return false;
}

int recovery_open_world(struct recovering *work, struct str project, struct recovery_world **ret)
{
	struct recovery_world *place = work->worlds;
	int r = 0;

	while (place != NULL && !str_equal(place->world.project.id, project))
		place = place->next;
	*ret = place;
	if (place != NULL)
		return 0;
	place = ARENA_NEW(work->reader->arena, struct recovery_world);
	if (place == NULL)
		return -ENOMEM;
	r = world_open(work->tx, &work->call, project, &place->world);
	if (r != 0)
		return r == LIFECYCLE_NOT_FOUND ? -EUCLEAN : r;
	place->next = work->worlds;
	work->worlds = place;
	*ret = place;
	return 0;
}

int recovery_open_task(struct recovering *work, struct str id, struct recovery_task *ret)
{
	int r = call_store_result(store_task_find(work->tx, id, &ret->row));

	if (r == 0)
		r = call_store_result(store_package_list_of_task(work->tx, id, false, &ret->packages));
	if (r == 0)
		r = call_store_result(store_dependency_list(work->tx, id, &ret->edges));
	ret->context =
		(struct judged_context){.task = &ret->row, .packages = &ret->packages, .dependencies = &ret->edges};
	return r;
}

int recovery_is_held(struct recovering *work, const struct world *world, const struct subject *subject, bool *ret)
{
	struct world copy = *world;
	struct verdict verdict = {0};
	int r = 0;

	arena_reset(&work->scratch);
	copy.arena = &work->scratch;
	r = world_judge(&copy, subject, &verdict);
	*ret = r != 0 || verdict.is_held;
	return r == -EUCLEAN ? 0 : r; /* what can't be judged stays held */
}

static void recovering_drop(struct recovering *work)
{
	for (struct recovery_world *place = work->worlds; place != NULL; place = place->next)
		world_close(&place->world);
	arena_release(&work->scratch);
}

int recovery_opens_of(struct store_tx *tx, const struct lifecycle_reader *reader, const struct store_package *row,
	struct lifecycle_opens *ret)
{
	CLEANUP(recovering_drop)
	struct recovering work = {
		.reader = reader,
		.tx = tx,
		.call = {.lifecycle = reader->lifecycle,
			.actor = reader->actor,
			.now = lifecycle_now(reader->lifecycle)},
	};
	struct recovery_world *place = NULL;
	struct subject subject = {0};
	int r = 0;

	arena_init(&work.scratch, SCRATCH_BYTES);
	r = recovery_open_world(&work, row->project, &place);
	if (r == 0)
		r = subject_of_row(&place->world, row, &subject);
	return r != 0 ? r : recovery_find_opens(&work, place, &subject, ret);
}

struct page {
	const struct lifecycle_reader *reader;
	const struct lifecycle_recovery_filter *filter;
	const struct store_queue_cursor *after;
	size_t limit;
	struct lifecycle_recovery *ret;
};

/* As many items as fit into half of the request's memory: the other half is for the answer. */
static int make_items(struct recovering *work, const struct page *page, const struct store_queue_list *rows)
{
	struct lifecycle_recovery *ret = page->ret;
	struct arena *arena = page->reader->arena;
	size_t wanted = rows->count < page->limit ? rows->count : page->limit;
	int r = 0;

	ret->items = ARENA_ARRAY(arena, wanted, struct lifecycle_recovery_item);
	if (ret->items == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < wanted; i++) {
		if (i > 0 && arena->total > arena->ceiling / 2)
			break;
		r = recovery_make_item(work, &rows->items[i], &ret->items[i]);
		ret->count++;
	}
	ret->has_more = ret->count < rows->count;
	if (ret->has_more) {
		const struct store_queue_row *last = &rows->items[ret->count - 1];

		ret->next = (struct store_queue_cursor){last->since, last->sequence, last->kind, true};
	}
	return r;
}

void recovery_set_silence(const struct lifecycle *lifecycle, int64_t now, struct store_queue_filter *ret)
{
	int64_t lease_s = lifecycle_lease_seconds(lifecycle);

	ret->lease_ms = lease_s * 1000;
	ret->silent_until = now + (lease_s - RECOVERY_MISSED * lifecycle_renew_seconds(lifecycle)) * 1000;
}

static int run_page(struct store_tx *tx, void *arg)
{
	struct page *page = arg;
	const struct lifecycle_reader *reader = page->reader;
	CLEANUP(recovering_drop)
	struct recovering work = {
		.reader = reader,
		.tx = tx,
		.call = {.lifecycle = reader->lifecycle,
			.actor = reader->actor,
			.now = lifecycle_now(reader->lifecycle)},
	};
	struct store_queue_filter filter = {
		.project = page->filter->project,
		.task = page->filter->task,
	};
	struct store_queue_list rows = {0};
	int r = 0;

	recovery_set_silence(reader->lifecycle, work.call.now, &filter);
	arena_init(&work.scratch, SCRATCH_BYTES);
	*page->ret = (struct lifecycle_recovery){0};
	r = scope_json(store_tx_arena(tx), &reader->scope, &filter.projects_json);
	if (r == 0)
		r = call_store_result(store_event_head(tx, &page->ret->as_of_event));
	if (r == 0)
		r = call_store_result(store_queue_count(tx, &filter, &page->ret->counts));
	if (r == 0)
		r = call_store_result(
			store_queue_list(tx, &filter, page->filter->kinds, page->after, page->limit + 1, &rows));
	return r == 0 ? make_items(&work, page, &rows) : r;
}

int lifecycle_recovery_read(const struct lifecycle_reader *reader, const struct lifecycle_recovery_filter *filter,
	const struct store_queue_cursor *after, size_t limit, struct lifecycle_recovery *ret)
{
	struct page page = {.reader = reader, .filter = filter, .after = after, .limit = limit, .ret = ret};
	int r = store_read(reader->lifecycle->store, reader->arena, run_page, &page);

	return r < 0 ? call_store_result(r) : r;
}
