#include "daemon/lifecycle/project.h"

#include <errno.h>
#include <string.h>

#include "daemon/health/root_health.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/name_check.h"
#include "daemon/lifecycle/project_root.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/view_make.h"
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

static int insert(struct store_tx *tx, struct lifecycle_project_put *put)
{
	struct store_project row = {.id = put->id, .created_at = put->call.now, .changed_by = put->call.actor};
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
	project_root_sign(world, (struct str){0}, &row);
	r = call_store_result(store_project_update(world->tx, &row));
	if (r == 0)
		r = world_reread(world);
	return r != 0 ? r : project_root_tell(world, "renamed", (struct str){0});
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

static int change_root(struct changing *changing)
{
	const struct lifecycle_project_put *put = changing->put;
	struct project_root root = {0};
	int r = 0;

	if (put->root == LIFECYCLE_ROOT_KEEP || is_same_root(changing))
		return 0;
	if (put->root == LIFECYCLE_ROOT_SET)
		root = (struct project_root){put->root_path, put->opened_device, put->opened_inode};
	r = project_root_refuse_active(&changing->world);
	if (r == 0)
		r = project_root_set(&changing->world, &root);
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
	if (!lifecycle_condition_holds(&put->condition, !put->created, changing->before.revision))
		return refusal_of_condition(&put->call, changing->before.revision, &changing->before.changed_by,
			changing->before.changed_at, changing->before.change_reason);
	if (put->created)
		r = insert(tx, put);
	if (r == 0)
		r = world_open(tx, &put->call, put->id, &changing->world);
	return r != 0 ? r : refusal_of_archived(&changing->world);
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
		r = project_root_tell(&changing.world, "created", (struct str){0});
		if (r == 0)
			r = project_root_first_health(&changing.world);
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
