#include "daemon/lifecycle/package_end.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/run_end.h"

static void forget_hold(struct store_package *row)
{
	row->hold_json = row->hold_fingerprint = (struct str){0};
	row->hold_since = 0;
}

/* Leaves the id of the run that it ended; absent: none was live. */
static int end_live_run(struct world *world, struct store_package *row, struct str *ret_run)
{
	struct store_run run = {0};
	int r = 0;

	*ret_run = row->live_run;
	if (row->live_run.bytes == NULL)
		return 0;
	r = call_store_result(store_run_find(world->tx, row->live_run, &run));
	row->live_run = (struct str){0};
	return r != 0 ? r : run_end_write(world, &run, STORE_RUN_CANCELLED, (struct str){0});
}

int package_end(struct world *world, struct store_package *row, enum store_package_end end, struct str reason)
{
	enum package_status before = package_status_of(row);
	bool was_held = row->hold_json.bytes != NULL;
	struct str run = {0};
	int r = end_live_run(world, row, &run);

	row->end = end;
	row->ended_at = world->call->now;
	forget_hold(row);
	if (r == 0)
		r = call_store_result(store_package_update(world->tx, row));
	if (r == 0 && was_held)
		r = event_log_hold(world, row, "hold.cleared", (struct str){0}, (struct str){0});
	return r != 0 ? r : event_log_package_move(world, row, before, package_status_of(row), run, reason);
}

int package_end_hold(struct world *world, struct store_package *row)
{
	int r = 0;

	if (row->hold_json.bytes == NULL)
		return 0;
	forget_hold(row);
	r = call_store_result(store_package_update(world->tx, row));
	return r != 0 ? r : event_log_hold(world, row, "hold.cleared", (struct str){0}, (struct str){0});
}

int package_end_undo(struct world *world, struct store_package *row)
{
	row->end = STORE_PACKAGE_UNFINISHED;
	row->ended_at = 0;
	return call_store_result(store_package_update(world->tx, row));
}

int package_end_tell_again(struct world *world, struct str package, enum store_package_end before, struct str reason)
{
	struct store_package row = {0};
	struct package_facts facts = {.end = before};
	int r = call_store_result(store_package_find(world->tx, package, &row));

	if (r == 0)
		r = event_log_package_move(
			world, &row, package_status(&facts), package_status_of(&row), (struct str){0}, reason);
	return r != 0 ? r : reconcile_project(world, &(struct reconcile_scope){.package = package}, NULL);
}

/* ---- dependents */

static size_t find(const struct store_package_list *packages, struct str id)
{
	size_t i = 0;

	while (i < packages->count && !str_equal(packages->items[i].id, id))
		i++;
	return i;
}

/* Marks what depends on something marked, until nothing is added. */
static void mark(const struct store_package_list *packages, const struct store_dependency_list *edges, bool *is_marked)
{
	bool was_added = true;

	while (was_added) {
		was_added = false;
		for (size_t i = 0; i < edges->count; i++) {
			size_t from = find(packages, edges->items[i].package);
			size_t to = find(packages, edges->items[i].depends_on);

			if (from == packages->count || to == packages->count || is_marked[from] || !is_marked[to])
				continue;
			is_marked[from] = was_added = true;
		}
	}
}

int package_end_all_dependents(struct world *world, const struct store_package *row, struct store_package_list *ret)
{
	struct store_package_list packages = {0};
	struct store_dependency_list edges = {0};
	bool *is_marked = NULL;
	size_t self = 0;
	int r = call_store_result(store_package_list_of_task(world->tx, row->task, false, &packages));

	*ret = (struct store_package_list){0};
	if (r == 0)
		r = call_store_result(store_dependency_list(world->tx, row->task, &edges));
	if (r != 0)
		return r;
	self = find(&packages, row->id);
	is_marked = ARENA_ARRAY(world->arena, packages.count, bool);
	if (is_marked == NULL)
		return -ENOMEM;
	if (self == packages.count)
		return 0;
	is_marked[self] = true;
	mark(&packages, &edges, is_marked);
	ret->items = packages.items;
	for (size_t i = 0; i < packages.count; i++)
		if (is_marked[i] && i != self)
			ret->items[ret->count++] = packages.items[i];
	return 0;
}

int package_end_dependents(struct world *world, const struct store_package *row, enum store_package_end end,
	struct store_package_list *ret)
{
	int r = package_end_all_dependents(world, row, ret);
	size_t kept = 0;

	for (size_t i = 0; r == 0 && i < ret->count; i++)
		if (ret->items[i].end == end)
			ret->items[kept++] = ret->items[i];
	ret->count = kept;
	return r;
}
