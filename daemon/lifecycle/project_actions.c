#include "daemon/lifecycle/project_actions.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_make.h"
#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/project_root.h"
#include "daemon/lifecycle/recovery.h"
#include "daemon/lifecycle/self_approval.h"
#include "policy/cleanup.h"

enum { OWN_ACTIONS = 4 };

static const struct lifecycle_action_body no_body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1};

/* ---- tool servers */

static const struct store_server *find_server(const struct lifecycle_project *view, struct str mcp_id)
{
	for (size_t i = 0; i < view->servers.count; i++)
		if (str_equal(view->servers.items[i].mcp_id, mcp_id))
			return &view->servers.items[i];
	return NULL;
}

/* What is only reported to the daemon it can't ask. */
static int add_check(
	struct arena *arena, const struct lifecycle_project *view, struct str mcp_id, struct lifecycle_action_list *ret)
{
	const struct store_server *server = find_server(view, mcp_id);
	struct lifecycle_action *action = ARENA_NEW(arena, struct lifecycle_action);

	*ret = (struct lifecycle_action_list){action, view->row.archived_at == 0 ? 1 : 0};
	if (action == NULL)
		return -ENOMEM;
	*action = (struct lifecycle_action){
		.id = ACTION_CHECK_SERVER,
		.target = LIFECYCLE_TARGET_SERVER_CHECK,
		.target_id = view->row.id,
		.mcp_id = mcp_id,
		.body = no_body,
		.off = server == NULL || server->kind == STORE_SERVER_REPORTED ? ACTION_OFF_REPORTED : ACTION_OFF_NOT,
		.roles = LIFECYCLE_OPERATOR,
	};
	return words_action_label(arena, action->id, ARM_NONE, view->row.id, &action->label);
}

int project_actions_of_servers(struct arena *arena, struct lifecycle_project *view)
{
	int r = 0;

	view->server_actions = ARENA_ARRAY(arena, view->servers.count, struct lifecycle_action_list);
	view->health_actions = ARENA_ARRAY(arena, view->health.count, struct lifecycle_action_list);
	if (view->server_actions == NULL || view->health_actions == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < view->servers.count; i++)
		r = add_check(arena, view, view->servers.items[i].mcp_id, &view->server_actions[i]);
	for (size_t i = 0; r == 0 && i < view->health.count; i++)
		r = add_check(arena, view, view->health.items[i].mcp_id, &view->health_actions[i]);
	return r;
}

/* ---- the project itself */

struct maker {
	struct world world;
	struct lifecycle_action_list *list;
	struct grant_set waits;    /* what held packages wait to read */
	struct precedence_set own; /* what open plans of the reader ask for */
};

static void maker_drop(struct maker *maker)
{
	world_close(&maker->world);
}

static int add(struct maker *maker, enum action_id id, enum hold_arm arm, enum lifecycle_target target,
	struct lifecycle_action **ret)
{
	struct lifecycle_action *action = &maker->list->items[maker->list->count++];

	*action = (struct lifecycle_action){
		.id = id,
		.target = target,
		.target_id = maker->world.project.id,
		.body = no_body,
		.takes_reason = id != ACTION_SET_ROOT,
		.roles = id != ACTION_SET_ROOT ? LIFECYCLE_APPROVER : LIFECYCLE_OPERATOR,
	};
	*ret = action;
	return words_action_label(maker->world.arena, id, arm, maker->world.project.id, &action->label);
}

static int read_waiting(struct maker *maker)
{
	const struct store_queue_filter filter = {.project = maker->world.project.id};
	struct world *world = &maker->world;
	struct store_queue_list rows = {0};
	int r = grant_make_set(world, &maker->waits);

	if (r == 0)
		r = call_store_result(store_queue_list(
			world->tx, &filter, STORE_QUEUE_BIT(STORE_QUEUE_PACKAGE_HELD), NULL, RECOVERY_LOOK, &rows));
	for (size_t i = 0; r == 0 && i < rows.count; i++) {
		struct lifecycle_hold hold = {0};
		struct store_package row = {0};
		struct subject subject = {0};

		r = call_store_result(store_package_find(world->tx, rows.items[i].package, &row));
		if (r == 0)
			r = hold_read_json(world->arena, row.hold_json, &hold);
		if (r != 0 || hold.kind != HOLD_NEEDS_GRANT)
			continue;
		r = subject_of_row(world, &row, &subject);
		if (r == -EUCLEAN)
			r = 0; /* damaged: it asks for nothing that is known */
		grant_make_add(&maker->waits, &(struct precedence_set){subject.asked, subject.asked_count});
	}
	if (r == 0 && grant_make_is_live(world))
		grant_make_remove(&maker->waits, &world->record.capabilities);
	return r;
}

/* The body of an approval, and whether it is of what the reader asks for himself. */
static int name_reads(struct maker *maker, struct grant_set *set, struct lifecycle_action *action)
{
	struct str json = {0};

	for (size_t i = 0; i < set->count; i++)
		action->is_self_approval = action->is_self_approval || precedence_set_has(&maker->own, set->items[i]);
	action->body.decision = "approved";
	action->body.expected_revision = maker->world.project.decision_revision;
	action->body.root_revision = maker->world.project.root_revision;
	action->takes_expiry = true;
	return grant_make_names(&maker->world, set, &json, &action->body.capabilities, &action->body.capability_count);
}

static int add_always(struct maker *maker)
{
	const struct world *world = &maker->world;
	enum hold_arm arm = grant_make_is_live(world) ? ARM_NARROWED : world->has_grant ? ARM_REMOVED : ARM_NONE;
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_APPROVE_ALWAYS, arm, LIFECYCLE_TARGET_PROJECT_GRANTS, &action);

	if (r == 0)
		r = name_reads(maker, &maker->waits, action);
	if (!world->has_root)
		action->off = ACTION_OFF_NO_ROOT;
	else if (maker->waits.count == 0)
		action->off = ACTION_OFF_NOTHING_ASKED;
	return r;
}

/* Sent unchanged it sets what there is: whoever narrows leaves names out. */
static int add_narrow(struct maker *maker)
{
	const struct world *world = &maker->world;
	struct lifecycle_action *action = NULL;
	struct grant_set set = {0};
	int r = add(maker, ACTION_NARROW, ARM_NONE, LIFECYCLE_TARGET_PROJECT_GRANTS, &action);

	action->off = ACTION_OFF_NO_ACCESS;
	if (r == 0)
		r = grant_make_set(&maker->world, &set);
	if (r == 0 && grant_make_is_live(world)) {
		grant_make_add(&set, &world->record.capabilities);
		action->off = ACTION_OFF_NOT;
		action->body.expires_at = world->grant.expires_at;
	}
	action->body.replace = true;
	return r != 0 ? r : name_reads(maker, &set, action);
}

static int add_remove(struct maker *maker)
{
	const struct world *world = &maker->world;
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_REMOVE_ACCESS, ARM_NONE, LIFECYCLE_TARGET_PROJECT_GRANTS, &action);

	action->body.decision = "revoked";
	action->body.expected_revision = world->has_grant ? world->grant.revision : 0;
	action->off = grant_make_is_live(world) ? ACTION_OFF_NOT : ACTION_OFF_NO_ACCESS;
	return r;
}

static int add_set_root(struct maker *maker)
{
	enum hold_arm arm = maker->world.has_root ? ARM_ROOT_CHANGED : ARM_NO_ROOT;
	struct lifecycle_action *action = NULL;
	bool is_active = false;
	int r = add(maker, ACTION_SET_ROOT, arm, LIFECYCLE_TARGET_PROJECT, &action);

	if (r == 0)
		r = project_root_is_active(&maker->world, &is_active);
	action->takes_root = true;
	action->off = is_active ? ACTION_OFF_RUN_ACTIVE : ACTION_OFF_NOT;
	return r;
}

int project_actions(struct store_tx *tx, const struct lifecycle_reader *reader, struct lifecycle_project *view)
{
	struct lifecycle_call call = {.lifecycle = reader->lifecycle, .actor = reader->actor};
	CLEANUP(maker_drop) struct maker maker = {.list = &view->actions};
	int r = 0;

	view->actions = (struct lifecycle_action_list){
		.items = ARENA_ARRAY(reader->arena, OWN_ACTIONS, struct lifecycle_action)};
	if (view->actions.items == NULL)
		return -ENOMEM;
	if (view->row.archived_at != 0)
		return 0;
	r = world_open(tx, &call, view->row.id, &maker.world);
	if (r == 0)
		r = read_waiting(&maker);
	if (r == 0)
		r = self_approval_reads(&maker.world, &maker.own);
	if (r == 0)
		r = add_always(&maker);
	if (r == 0)
		r = add_narrow(&maker);
	if (r == 0)
		r = add_remove(&maker);
	return r == 0 ? add_set_root(&maker) : r;
}
