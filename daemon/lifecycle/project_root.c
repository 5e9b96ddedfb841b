#include "daemon/lifecycle/project_root.h"

#include <errno.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/store/run.h"

int project_root_tell(struct world *world, const char *what, struct str reason)
{
	struct event_log event;

	event_log_begin(&event, world, "project.changed", "project", world->project.id);
	json_out_member_text(&event.out, "change", what);
	json_out_member_str(&event.out, "name", world->project.name);
	json_out_member_str(&event.out, "rootRef", world->project.root_ref);
	json_out_member_revision(&event.out, "rootRevision", world->project.root_revision);
	if (reason.bytes != NULL)
		json_out_member_str(&event.out, "reason", reason);
	return event_log_end(&event);
}

/* It was given context of the root there is. */
static bool reads_root(const struct world *world, const struct store_run *run)
{
	return run->has_grants && run->root_revision == world->project.root_revision;
}

int project_root_is_active(struct world *world, bool *ret)
{
	struct store_run_list runs = {0};
	int r = call_store_result(store_run_list_live(world->tx, world->project.id, &runs));

	*ret = false;
	for (size_t i = 0; r == 0 && i < runs.count; i++)
		*ret = *ret || reads_root(world, &runs.items[i]);
	return r;
}

int project_root_refuse_active(struct world *world)
{
	struct lifecycle_refusal *refusal = &world->call->refusal;
	struct store_run_list runs = {0};
	struct str *ids = NULL;
	int r = call_store_result(store_run_list_live(world->tx, world->project.id, &runs));

	ids = r == 0 ? ARENA_ARRAY(world->arena, runs.count, struct str) : NULL;
	if (ids == NULL)
		return r != 0 ? r : -ENOMEM;
	for (size_t i = 0; i < runs.count; i++)
		if (reads_root(world, &runs.items[i]))
			ids[refusal->id_count++] = runs.items[i].id;
	refusal->ids = ids;
	return refusal->id_count > 0 ? LIFECYCLE_RUN_ACTIVE : 0;
}

void project_root_sign(const struct world *world, struct str reason, struct store_project *row)
{
	row->changed_by = world->call->actor;
	row->changed_at = world->call->now;
	row->change_reason = reason;
}

static int write_root(struct world *world, const struct project_root *root)
{
	struct store_project row = world->project;

	row.root_path = row.root_ref = (struct str){0};
	row.root_device = row.root_inode = 0;
	if (root->path.bytes != NULL) {
		row.root_path = root->path;
		row.root_device = root->device;
		row.root_inode = root->inode;
		row.root_ref = store_id_new(world->arena, "root_");
		if (row.root_ref.bytes == NULL)
			return -ENOMEM;
	}
	project_root_sign(world, (struct str){0}, &row);
	return call_store_result(store_project_set_root(world->tx, &row));
}

int project_root_first_health(struct world *world)
{
	bool has_root = world->project.root_path.bytes != NULL;
	struct asked_root seen = {
		.root_revision = world->project.root_revision,
		.status = has_root ? HEALTH_HEALTHY : HEALTH_CONFIGURATION_REQUIRED,
		.error = has_root ? NULL : "the project has no folder",
		.checked_at = world->call->now,
	};
	struct store_health row = asked_row(&seen, &world->project);
	struct store_actor actor = world->call->actor;
	int r = 0;

	world->call->actor = (struct store_actor){0};
	r = reconcile_health(world, &row);
	world->call->actor = actor;
	return r;
}

int project_root_set(struct world *world, const struct project_root *root)
{
	int r = write_root(world, root);

	if (r == 0)
		r = world_reread(world);
	if (r == 0)
		r = project_root_tell(world, "root", (struct str){0});
	if (r == 0)
		r = project_root_first_health(world);
	return r != 0 ? r : reconcile_project(world, &(struct reconcile_scope){.readers_only = true}, NULL);
}
