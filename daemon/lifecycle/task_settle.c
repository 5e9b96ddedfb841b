#include "daemon/lifecycle/task_settle.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/package_status.h"

/* `count` itself: not among them, it left the plan. */
static size_t find_index(const struct store_package_list *packages, struct str id)
{
	size_t i = 0;

	while (i < packages->count && !str_equal(packages->items[i].id, id))
		i++;
	return i;
}

static void add_edges(const struct store_dependency_list *edges, const struct store_package_list *packages, size_t at,
	size_t *indexes, struct task_member *member)
{
	member->depends_on = indexes;
	for (size_t i = 0; i < edges->count; i++) {
		size_t target = 0;

		if (!str_equal(edges->items[i].package, packages->items[at].id))
			continue;
		target = find_index(packages, edges->items[i].depends_on);
		if (target < packages->count)
			indexes[member->depends_on_count++] = target;
	}
}

static int derive(struct world *world, const struct store_package_list *packages,
	const struct store_dependency_list *edges, enum store_task_status *ret)
{
	struct task_member *members = ARENA_ARRAY(world->arena, packages->count, struct task_member);
	size_t *indexes = ARENA_ARRAY(world->arena, edges->count, size_t);
	bool *scratch = ARENA_ARRAY(world->arena, packages->count, bool);
	size_t used = 0;

	if (members == NULL || indexes == NULL || scratch == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < packages->count; i++) {
		members[i].status = package_status_of(&packages->items[i]);
		add_edges(edges, packages, i, indexes + used, &members[i]);
		used += members[i].depends_on_count;
	}
	*ret = package_status_of_task(members, packages->count, scratch);
	return 0;
}

int task_settle(struct world *world, struct store_task *task)
{
	struct store_package_list packages = {0};
	struct store_dependency_list edges = {0};
	enum store_task_status before = task->status;
	int r = 0;

	if (task->status != STORE_TASK_APPROVED)
		return 0;
	r = call_store_result(store_package_list_of_task(world->tx, task->id, false, &packages));
	if (r == 0)
		r = call_store_result(store_dependency_list(world->tx, task->id, &edges));
	if (r == 0)
		r = derive(world, &packages, &edges, &task->status);
	if (r != 0 || task->status == before)
		return r;
	task->status_at = world->call->now;
	task->status_by = (struct store_actor){0};
	task->status_reason = (struct str){0};
	r = call_store_result(store_task_update(world->tx, task));
	return r != 0 ? r : event_log_task_status(world, task, true, before, (struct str){0});
}
