#include "daemon/lifecycle/grant_impact.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"

struct ids {
	struct str *items;
	size_t count;
};

static int ids_init(struct world *world, size_t limit, struct ids *ret)
{
	ret->count = 0;
	ret->items = ARENA_ARRAY(world->arena, limit, struct str);
	return ret->items != NULL ? 0 : -ENOMEM;
}

static int sort_effect(struct world *world, const struct reconcile_effect *effect, struct lifecycle_impact *ret)
{
	struct ids opens, holds, stays;
	int r = ids_init(world, effect->count, &opens);

	if (r == 0)
		r = ids_init(world, effect->count, &holds);
	if (r == 0)
		r = ids_init(world, effect->count, &stays);
	if (r != 0)
		return r;
	for (const struct reconcile_item *item = effect->first; item != NULL; item = item->next) {
		if (item->change == RECONCILE_CLEARED)
			opens.items[opens.count++] = item->package;
		else if (item->change == RECONCILE_OPENED)
			holds.items[holds.count++] = item->package;
		else if (item->is_held)
			stays.items[stays.count++] = item->package;
	}
	*ret = (struct lifecycle_impact){
		.opens = opens.items,
		.open_count = opens.count,
		.holds = holds.items,
		.hold_count = holds.count,
		.stays = stays.items,
		.stay_count = stays.count,
		.revision = world->project.decision_revision,
	};
	return 0;
}

/* Whether the project's record counts for everything this package reads, over its denial (P1). */
static int overrides(struct world *world, const struct store_grant *denial, struct store_package *ret_row, bool *ret)
{
	struct subject subject = {0};
	struct precedence_set asked;
	int r = call_store_result(store_package_find(world->tx, denial->package, ret_row));

	*ret = false;
	if (r == 0)
		r = subject_of_row(world, ret_row, &subject);
	if (r != 0)
		return r;
	asked = (struct precedence_set){subject.asked, subject.asked_count};
	*ret = subject.asked_count > 0 && world->record.revision > denial->revision &&
		grant_precedence_is_usable(&world->record, &asked, world->project.root_revision);
	return 0;
}

static int list_overrides(struct world *world, struct lifecycle_impact *impact, struct lifecycle_named **ret_named)
{
	struct ids ids;
	int r = world_read_grants(world);

	if (r == 0)
		r = ids_init(world, world->package_grants.count, &ids);
	*ret_named = ARENA_ARRAY(world->arena, world->package_grants.count, struct lifecycle_named);
	if (r == 0 && *ret_named == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < world->package_grants.count; i++) {
		const struct store_grant *record = &world->package_grants.items[i];
		struct store_package row = {0};
		bool is_overridden = false;

		if (record->decision != STORE_GRANT_DENIED || record->root_revision != world->project.root_revision)
			continue;
		r = overrides(world, record, &row, &is_overridden);
		if (r != 0 || !is_overridden)
			continue;
		(*ret_named)[ids.count] = (struct lifecycle_named){record->package, row.label};
		ids.items[ids.count++] = record->package;
	}
	impact->overrides = ids.items;
	impact->override_count = ids.count;
	return r;
}

static bool has_id(const struct ids *ids, struct str id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (str_equal(ids->items[i], id))
			return true;
	return false;
}

int grant_impact_frees(struct world *world, struct str task, bool *ret)
{
	struct store_package_list packages = {0};
	int r = call_store_result(store_package_list_of_task(world->tx, task, false, &packages));

	*ret = r == 0;
	for (size_t i = 0; r == 0 && i < packages.count; i++)
		*ret = *ret && packages.items[i].hold_json.bytes == NULL;
	return r;
}

static int list_plans(struct world *world, const struct reconcile_effect *effect, struct lifecycle_impact *impact)
{
	struct ids plans;
	int r = ids_init(world, impact->open_count, &plans);

	for (const struct reconcile_item *item = effect->first; r == 0 && item != NULL; item = item->next) {
		bool is_freed = false;

		if (item->change != RECONCILE_CLEARED || item->task_status != STORE_TASK_PROPOSED ||
			has_id(&plans, item->task))
			continue;
		r = grant_impact_frees(world, item->task, &is_freed);
		if (is_freed)
			plans.items[plans.count++] = item->task;
	}
	impact->plans = plans.items;
	impact->plan_count = plans.count;
	return r;
}

int grant_impact_find(struct world *world, const struct reconcile_scope *scope, struct lifecycle_grant *grant)
{
	struct lifecycle_impact *impact = &grant->impact;
	struct lifecycle_named *named = NULL;
	struct reconcile_effect effect;
	int r = 0;

	reconcile_effect_init(&effect, grant->dry_run);
	r = reconcile_project(world, scope, &effect);
	if (r == 0)
		r = sort_effect(world, &effect, impact);
	if (r == 0 && grant->package.bytes == NULL)
		r = list_overrides(world, impact, &named);
	if (r == 0 && grant->package.bytes == NULL)
		r = list_plans(world, &effect, impact);
	return r == 0 && grant->dry_run ? grant_impact_tell(world, &effect, named, grant) : r;
}
