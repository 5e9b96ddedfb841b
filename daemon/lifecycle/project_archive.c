#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/project.h"
#include "daemon/lifecycle/project_root.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { ARCHIVE_PAGE = 200 };

/* What one try works on. */
struct archiving {
	struct lifecycle_project_move *move;
	struct world world;
	struct str reason;
	struct str *ids; /* of cancelled tasks */
	size_t capacity;
};

static void archiving_drop(struct archiving *archiving)
{
	world_close(&archiving->world);
}

static int open_project(struct store_tx *tx, struct archiving *archiving)
{
	struct lifecycle_project_move *move = archiving->move;
	int r = 0;

	move->cancelled = NULL;
	move->cancelled_count = 0;
	if (!lifecycle_scope_has(&move->call.scope, move->id))
		return LIFECYCLE_NOT_FOUND;
	r = world_open(tx, &move->call, move->id, &archiving->world);
	return r != 0 ? r : redact_copy(archiving->world.arena, move->reason, REDACT_REASON, &archiving->reason);
}

static int set_archived(struct archiving *archiving, int64_t at)
{
	struct world *world = &archiving->world;
	struct store_project row = world->project;
	int r = 0;

	row.archived_at = at;
	project_root_sign(world, archiving->reason, &row);
	r = call_store_result(store_project_update(world->tx, &row));
	if (r == 0)
		r = world_reread(world);
	return r != 0 ? r : project_root_tell(world, at != 0 ? "archived" : "unarchived", archiving->reason);
}

static bool is_open(enum store_task_status status)
{
	return status != STORE_TASK_COMPLETED && status != STORE_TASK_REJECTED && status != STORE_TASK_CANCELLED;
}

static int note(struct archiving *archiving, struct str task)
{
	struct lifecycle_project_move *move = archiving->move;

	if (move->cancelled_count == archiving->capacity) {
		size_t capacity = archiving->capacity != 0 ? 2 * archiving->capacity : ARCHIVE_PAGE;
		struct str *ids = ARENA_ARRAY(archiving->world.arena, capacity, struct str);

		if (ids == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < move->cancelled_count; i++)
			ids[i] = move->cancelled[i];
		archiving->ids = ids;
		archiving->capacity = capacity;
		move->cancelled = ids;
	}
	archiving->ids[move->cancelled_count++] = task;
	return 0;
}

static int cancel(struct archiving *archiving, struct str id)
{
	struct world *world = &archiving->world;
	struct store_package_list packages = {0};
	struct store_task task = {0};
	int r = call_store_result(store_task_find(world->tx, id, &task));

	if (r == 0)
		r = call_store_result(store_package_list_of_task(world->tx, id, false, &packages));
	if (r == 0)
		r = move_cancel_task(world, &task, &packages, archiving->reason);
	return r != 0 ? r : note(archiving, id);
}

static int cancel_open(struct archiving *archiving)
{
	struct world *world = &archiving->world;
	struct store_task_filter filter = {.project = world->project.id};
	struct store_task_list page = {0};
	int64_t before = 0;
	int r = 0;

	do {
		r = call_store_result(store_task_list(world->tx, &filter, before, ARCHIVE_PAGE, &page));
		for (size_t i = 0; r == 0 && i < page.count; i++)
			if (is_open(page.items[i].status))
				r = cancel(archiving, page.items[i].id);
		if (page.count > 0)
			before = page.items[page.count - 1].sequence;
	} while (r == 0 && page.count > 0);
	return r;
}

static int run_archive(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(archiving_drop) struct archiving archiving = {.move = (struct lifecycle_project_move *)call};
	struct world *world = &archiving.world;
	int r = open_project(tx, &archiving);

	if (r == 0 && world->project.archived_at == 0) {
		/* Runs first: afterwards nobody was given context of the root that goes. */
		r = cancel_open(&archiving);
		if (r == 0 && world->has_root)
			r = project_root_set(world, &(struct project_root){0});
		if (r == 0)
			r = set_archived(&archiving, call->now);
	}
	return r != 0 ? r : view_make_project(tx, archiving.move->id, &archiving.move->view);
}

static int run_unarchive(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(archiving_drop) struct archiving archiving = {.move = (struct lifecycle_project_move *)call};
	int r = open_project(tx, &archiving);

	if (r == 0 && archiving.world.project.archived_at != 0)
		r = set_archived(&archiving, 0);
	return r != 0 ? r : view_make_project(tx, archiving.move->id, &archiving.move->view);
}

int lifecycle_project_archive(struct lifecycle *lifecycle, struct lifecycle_project_move *call)
{
	return call_write(lifecycle, &call->call, run_archive);
}

int lifecycle_project_unarchive(struct lifecycle *lifecycle, struct lifecycle_project_move *call)
{
	return call_write(lifecycle, &call->call, run_unarchive);
}
