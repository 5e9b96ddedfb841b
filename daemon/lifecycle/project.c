#include "daemon/lifecycle/project.h"

#include <errno.h>
#include <string.h>

#include "daemon/health/root_health.h"
#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/name_check.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/view_make.h"
#include "daemon/store/run.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { NAME_BYTES = 4 * 240 };

/* What one try works on. */
struct changing {
	struct lifecycle_project_put *put;
	struct world world;
	struct store_project before; /* as it was; zero for a new one */
};

static void changing_drop(struct changing *changing)
{
	world_close(&changing->world);
}

/* ---- what needs no transaction: the names, and the path */

static bool is_path(struct str path)
{
	if (path.bytes == NULL || path.len == 0 || path.len >= PATH_MAX || path.bytes[0] != '/')
		return false;
	return memchr(path.bytes, '\0', path.len) == NULL;
}

static int check_request(struct lifecycle_project_put *put)
{
	struct fault_list faults = {.arena = put->call.arena};

	if (!name_check_id(put->id))
		fault_list_add(&faults,
			"a project's id is 1 to 64 lower-case letters, digits, dots, underscores or hyphens", "%s", "");
	if (put->name.bytes != NULL && (put->name.len == 0 || put->name.len > NAME_BYTES))
		fault_list_add(&faults, "must be a text of 1 to 240 characters", "/name");
	if (put->root == LIFECYCLE_ROOT_SET && !is_path(put->root_path))
		fault_list_add(&faults, "must be an absolute path", "/root");
	return fault_list_result(&faults, &put->call.refusal);
}

/* Whether `path` is `folder` or lies in it; both without links. */
static bool lies_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 1 && folder[len - 1] == '/')
		len--;
	if (len == 1 && folder[0] == '/')
		return true;
	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool is_allowed(const struct lifecycle *lifecycle, const char *path)
{
	if (lifecycle->state_folder != NULL &&
		(lies_in(path, lifecycle->state_folder) || lies_in(lifecycle->state_folder, path)))
		return false;
	if (lifecycle->root_prefix_count == 0)
		return true;
	for (size_t i = 0; i < lifecycle->root_prefix_count; i++)
		if (lies_in(path, lifecycle->root_prefixes[i]))
			return true;
	return false;
}

static int open_root(struct lifecycle_call *call)
{
	struct lifecycle_project_put *put = (struct lifecycle_project_put *)call;
	struct root_found found;
	char path[PATH_MAX];

	if (put->root != LIFECYCLE_ROOT_SET)
		return 0;
	memcpy(path, put->root_path.bytes, put->root_path.len);
	path[put->root_path.len] = '\0';
	if (root_health_open(path, ROOT_HEALTH_TIMEOUT_MS, &found) != 0 ||
		!is_allowed(call->lifecycle, found.real_path))
		return LIFECYCLE_ROOT_NOT_ALLOWED;
	put->opened_device = found.device;
	put->opened_inode = found.inode;
	return 0;
}

/* ---- the project itself */

static int tell_project(struct changing *changing, const char *what)
{
	struct event_log event;
	struct world *world = &changing->world;

	event_log_begin(&event, world, "project.changed", "project", world->project.id);
	json_out_member_text(&event.out, "change", what);
	json_out_member_str(&event.out, "name", world->project.name);
	json_out_member_str(&event.out, "rootRef", world->project.root_ref);
	json_out_member_revision(&event.out, "rootRevision", world->project.root_revision);
	return event_log_end(&event);
}

static int insert(struct store_tx *tx, struct lifecycle_project_put *put)
{
	struct store_project row = {.id = put->id, .created_at = put->call.now};
	int r = redact_copy(store_tx_arena(tx), put->name.bytes != NULL ? put->name : put->id, REDACT_FIELD, &row.name);

	return r != 0 ? r : call_store_result(store_project_insert(tx, &row));
}

static int rename_project(struct changing *changing)
{
	struct world *world = &changing->world;
	struct store_project row = world->project;
	int r = 0;

	if (changing->put->name.bytes == NULL)
		return 0;
	r = redact_copy(world->arena, changing->put->name, REDACT_FIELD, &row.name);
	if (r != 0 || str_equal(row.name, world->project.name))
		return r;
	r = call_store_result(store_project_update(world->tx, &row));
	if (r == 0)
		r = world_reread(world);
	return r != 0 ? r : tell_project(changing, "renamed");
}

/* ---- its root */

static bool is_same_root(const struct changing *changing)
{
	const struct store_project *now = &changing->world.project;
	const struct lifecycle_project_put *put = changing->put;

	if (put->root == LIFECYCLE_ROOT_REMOVE)
		return now->root_path.bytes == NULL;
	return now->root_path.bytes != NULL && str_equal(now->root_path, put->root_path) &&
		now->root_device == put->opened_device && now->root_inode == put->opened_inode;
}

/* Live runs that were given context of this root. */
static int refuse_active(struct changing *changing)
{
	struct world *world = &changing->world;
	struct lifecycle_refusal *refusal = &world->call->refusal;
	struct store_run_list runs = {0};
	struct str *ids = NULL;
	int r = call_store_result(store_run_list_live(world->tx, world->project.id, &runs));

	ids = r == 0 ? ARENA_ARRAY(world->arena, runs.count, struct str) : NULL;
	if (ids == NULL)
		return r != 0 ? r : -ENOMEM;
	for (size_t i = 0; i < runs.count; i++)
		if (runs.items[i].has_grants && runs.items[i].root_revision == world->project.root_revision)
			ids[refusal->id_count++] = runs.items[i].id;
	refusal->ids = ids;
	return refusal->id_count > 0 ? LIFECYCLE_RUN_ACTIVE : 0;
}

static int write_root(struct changing *changing)
{
	struct world *world = &changing->world;
	struct store_project row = world->project;
	const struct lifecycle_project_put *put = changing->put;

	row.root_path = row.root_ref = (struct str){0};
	row.root_device = row.root_inode = 0;
	if (put->root == LIFECYCLE_ROOT_SET) {
		row.root_path = put->root_path;
		row.root_device = put->opened_device;
		row.root_inode = put->opened_inode;
		row.root_ref = store_id_new(world->arena, "root_");
		if (row.root_ref.bytes == NULL)
			return -ENOMEM;
	}
	return call_store_result(store_project_set_root(world->tx, &row));
}

/* What was seen when the folder was opened is the first row of its health. */
static int write_first_health(struct changing *changing)
{
	struct world *world = &changing->world;
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

static int change_root(struct changing *changing)
{
	struct world *world = &changing->world;
	int r = 0;

	if (changing->put->root == LIFECYCLE_ROOT_KEEP || is_same_root(changing))
		return 0;
	r = refuse_active(changing);
	if (r == 0)
		r = write_root(changing);
	if (r == 0)
		r = world_reread(world);
	if (r == 0)
		r = tell_project(changing, "root");
	if (r == 0)
		r = write_first_health(changing);
	if (r == 0)
		r = reconcile_project(world, &(struct reconcile_scope){.readers_only = true}, NULL);
	changing->put->root_changed = true;
	return r;
}

static int open_project(struct store_tx *tx, struct changing *changing)
{
	struct lifecycle_project_put *put = changing->put;
	int r = store_project_find(tx, put->id, &changing->before);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	put->created = r == STORE_ABSENT;
	if (put->created)
		r = insert(tx, put);
	if (r == 0)
		r = world_open(tx, &put->call, put->id, &changing->world);
	return r == 0 && changing->world.project.archived_at != 0 ? LIFECYCLE_PROJECT_ARCHIVED : r;
}

static int run_put(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_project_put *put = (struct lifecycle_project_put *)call;
	CLEANUP(changing_drop) struct changing changing = {.put = put};
	int r = 0;

	put->root_changed = false;
	if (!lifecycle_scope_has(&call->scope, put->id))
		return LIFECYCLE_NOT_FOUND;
	r = open_project(tx, &changing);
	if (r == 0 && put->created) {
		r = tell_project(&changing, "created");
		if (r == 0)
			r = write_first_health(&changing);
	} else if (r == 0) {
		r = rename_project(&changing);
	}
	if (r == 0)
		r = change_root(&changing);
	return r != 0 ? r : view_make_project(tx, put->id, &put->view);
}

int lifecycle_project_put(struct lifecycle *lifecycle, struct lifecycle_project_put *call)
{
	int r = check_request(call);

	return r != 0 ? r : call_prepare_write(lifecycle, &call->call, open_root, run_put);
}
