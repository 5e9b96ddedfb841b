#include "daemon/lifecycle/reconcile.h"

#include <errno.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/recheck.h"

enum { RECONCILE_PAGE = 200 };

void reconcile_effect_init(struct reconcile_effect *effect, bool wants_state)
{
	*effect = (struct reconcile_effect){.wants_state = wants_state};
	effect->last = &effect->first;
}

static int note(struct world *world, struct reconcile_effect *effect, const struct store_package *row,
	const struct verdict *verdict, enum reconcile_change change)
{
	struct reconcile_item *item = effect != NULL ? ARENA_NEW(world->arena, struct reconcile_item) : NULL;
	struct lifecycle_hold hold = {0};
	int r = 0;

	if (effect == NULL)
		return 0;
	if (item == NULL)
		return -ENOMEM;
	*item = (struct reconcile_item){
		.package = row->id,
		.label = row->label,
		.task = row->task,
		.task_status = row->task_status,
		.status = package_status_of(row),
		.change = change,
		.is_held = row->hold_json.bytes != NULL,
	};
	*effect->last = item;
	effect->last = &item->next;
	effect->count++;
	if (!effect->wants_state || !item->is_held)
		return 0;
	r = hold_make(world, verdict, &hold);
	return r == 0 ? hold_state(world, verdict, &hold, &item->state) : r;
}

static const char *event_type(enum reconcile_change change)
{
	if (change == RECONCILE_OPENED)
		return "hold.opened";
	return change == RECONCILE_CHANGED ? "hold.changed" : "hold.cleared";
}

/* Writes the row as it is now and tells of what became of its hold. */
static int write_hold(struct world *world, struct store_package *row, const struct verdict *verdict,
	enum reconcile_change change, enum package_status before)
{
	int r = row->hold_json.bytes != NULL ? verdict_store(world, verdict) : 0;

	if (r == 0)
		r = call_store_result(store_package_update(world->tx, row));
	if (r == 0)
		r = event_log_hold(world, row, event_type(change), row->hold_json,
			row->hold_json.bytes != NULL ? verdict->decision_id : (struct str){0});
	if (r == 0)
		r = event_log_package_status(world, row, before, package_status_of(row), (struct str){0});
	return r;
}

static int stamp(struct world *world, struct store_package *row)
{
	if (str_equal(row->judged_catalog, world->catalog->digest))
		return 0;
	row->judged_catalog = world->catalog->digest;
	return call_store_result(store_package_update(world->tx, row));
}

static int clear_hold(struct world *world, struct store_package *row, const struct verdict *verdict,
	enum reconcile_change *ret_change)
{
	enum package_status before = package_status_of(row);

	if (row->hold_json.bytes == NULL)
		return stamp(world, row);
	row->hold_json = row->hold_fingerprint = (struct str){0};
	row->hold_since = 0;
	row->judged_catalog = world->catalog->digest;
	*ret_change = RECONCILE_CLEARED;
	return write_hold(world, row, verdict, RECONCILE_CLEARED, before);
}

int reconcile_apply(struct world *world, struct store_package *row, const struct verdict *verdict,
	enum reconcile_change *ret_change)
{
	enum package_status before = package_status_of(row);
	struct lifecycle_hold hold = {0};
	struct str fingerprint = {0};
	int r = 0;

	*ret_change = RECONCILE_SAME;
	if (!verdict->is_held)
		return clear_hold(world, row, verdict, ret_change);
	r = hold_make(world, verdict, &hold);
	if (r == 0 && hold.kind == HOLD_NEEDS_SETUP)
		r = recheck_note(world, hold.mcp_id, &hold.next_retry_at);
	if (r == 0)
		r = hold_fingerprint(world->arena, &hold, &fingerprint);
	if (r != 0)
		return r;
	if (row->hold_json.bytes != NULL && str_equal(row->hold_fingerprint, fingerprint))
		return stamp(world, row);
	*ret_change = row->hold_json.bytes != NULL ? RECONCILE_CHANGED : RECONCILE_OPENED;
	row->hold_since = hold.since;
	row->hold_fingerprint = fingerprint;
	row->judged_catalog = world->catalog->digest;
	r = hold_store_json(world->arena, &hold, &row->hold_json);
	return r != 0 ? r : write_hold(world, row, verdict, *ret_change, before);
}

static bool asks_for(const struct package *package, struct str mcp_id)
{
	for (size_t i = 0; i < package->requirement_count; i++)
		if (package->requirements[i].mcp != NULL && str_equal(package->requirements[i].mcp->id, mcp_id))
			return true;
	return false;
}

static bool is_concerned(const struct reconcile_scope *scope, const struct subject *subject)
{
	return (scope->mcp_id.bytes == NULL || asks_for(subject->package, scope->mcp_id)) &&
		(!scope->readers_only || subject->asked_count > 0);
}

static int reconcile_row(struct world *world, const struct reconcile_scope *scope, struct store_package *row,
	struct reconcile_effect *effect)
{
	struct subject subject = {0};
	struct verdict verdict = {0};
	enum reconcile_change change = RECONCILE_SAME;
	int r = 0;

	if (scope->task.bytes != NULL && !str_equal(scope->task, row->task))
		return 0;
	r = subject_of_row(world, row, &subject);
	if (r != 0 || !is_concerned(scope, &subject))
		return r;
	r = world_judge(world, &subject, &verdict);
	if (r == 0)
		r = reconcile_apply(world, row, &verdict, &change);
	return r != 0 ? r : note(world, effect, row, &verdict, change);
}

static int reconcile_page(struct world *world, const struct reconcile_scope *scope,
	const struct store_package_list *page, struct reconcile_effect *effect)
{
	for (size_t i = 0; i < page->count; i++) {
		int r = reconcile_row(world, scope, &page->items[i], effect);

		if (r != 0)
			return r;
	}
	return 0;
}

/* One package, if it is of those that reconciliation looks at. */
static int reconcile_one(struct world *world, const struct reconcile_scope *scope, struct reconcile_effect *effect)
{
	struct store_package row = {0};
	int r = store_package_find(world->tx, scope->package, &row);

	if (r == STORE_ABSENT)
		return 0;
	if (r != 0)
		return call_store_result(r);
	if (row.end != STORE_PACKAGE_UNFINISHED || row.live_run.bytes != NULL ||
		(row.task_status != STORE_TASK_PROPOSED && row.task_status != STORE_TASK_APPROVED &&
			row.task_status != STORE_TASK_FAILED))
		return 0;
	return reconcile_row(world, scope, &row, effect);
}

static int reconcile_all(struct world *world, const struct reconcile_scope *scope, struct reconcile_effect *effect)
{
	struct store_package_list page = {0};
	int64_t after = 0;
	int r = world_read_grants(world);

	while (r == 0) {
		r = call_store_result(
			store_package_list_to_reconcile(world->tx, world->project.id, after, RECONCILE_PAGE, &page));
		if (r != 0 || page.count == 0)
			break;
		after = page.items[page.count - 1].sequence;
		r = reconcile_page(world, scope, &page, effect);
	}
	return r;
}

int reconcile_project(struct world *world, const struct reconcile_scope *scope, struct reconcile_effect *effect)
{
	bool asks = world->asks;
	int r = 0;

	/* A hold is judged on what is known; only a surface asks. */
	world->asks = false;
	r = scope->package.bytes != NULL ? reconcile_one(world, scope, effect) : reconcile_all(world, scope, effect);
	world->asks = asks;
	return r;
}

static bool is_same_health(const struct store_health *before, const struct store_health *now)
{
	return str_equal(before->install_state, now->install_state) && str_equal(before->status, now->status) &&
		str_equal(before->error, now->error) && before->enabled == now->enabled && !before->expired &&
		before->root_revision == now->root_revision && before->server_revision == now->server_revision;
}

int reconcile_health(struct world *world, const struct store_health *row)
{
	struct store_health before = {0};
	int r = store_health_find(world->tx, row->project, row->mcp_id, &before);
	bool is_same = r == 0 && is_same_health(&before, row);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	r = store_health_put(world->tx, row);
	if (r == STORE_STALE)
		return r;
	r = call_store_result(r);
	if (r == 0)
		r = world_reread(world);
	if (r != 0 || is_same)
		return r;
	r = event_log_health(world, row);
	return r != 0 ? r : reconcile_project(world, &(struct reconcile_scope){.mcp_id = row->mcp_id}, NULL);
}

static int reconcile_root(struct world *world)
{
	const struct asked_root *asked = asked_find(world->call, world->project.id);
	struct store_health row;

	if (asked == NULL || !asked->is_asked || asked->root_revision != world->project.root_revision)
		return 0;
	row = asked_row(asked, &world->project);
	return reconcile_health(world, &row);
}

static int reconcile_servers(struct world *world)
{
	const struct asked_server *asked = world->call->asked != NULL ? world->call->asked->servers : NULL;
	int r = 0;

	for (; r == 0 && asked != NULL; asked = asked->next) {
		struct store_health row = asked_server_row(asked);
		const struct store_server *server = NULL;

		if (!asked->is_asked || !str_is(world->project.id, asked->project))
			continue;
		server = world_server(world, row.mcp_id);
		if (server != NULL && server->kind == STORE_SERVER_SPEC && server->revision == row.server_revision)
			r = reconcile_health(world, &row);
	}
	return r;
}

int reconcile_asked(struct world *world)
{
	struct store_actor actor = world->call->actor;
	int r = 0;

	/* The daemon saw it, whoever made it look. */
	world->call->actor = (struct store_actor){0};
	r = reconcile_root(world);
	if (r == 0)
		r = reconcile_servers(world);
	world->call->actor = actor;
	return r == STORE_STALE ? -EUCLEAN : r;
}
