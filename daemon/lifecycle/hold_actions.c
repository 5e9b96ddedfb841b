#include <errno.h>

#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/self_approval.h"

enum { ACTION_LIMIT = 8 };

struct maker {
	struct world *world;
	const struct verdict *verdict;
	const struct lifecycle_hold *hold;
	const struct action_context *context;
	struct lifecycle_action_list *list;
	const struct str *asked; /* every bounded read of the package */
	size_t asked_count;
	bool asks_for_own; /* one of them is what an open plan of the actor asks for */
};

static const struct lifecycle_action_body no_body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1};

/* The next one, labelled; its target and body are the caller's. */
static int add(struct maker *maker, enum action_id id, unsigned roles, struct lifecycle_action **ret)
{
	struct lifecycle_action *action = &maker->list->items[maker->list->count];

	CHECK(maker->list->count < ACTION_LIMIT);
	*action = (struct lifecycle_action){.id = id, .body = no_body, .roles = roles};
	*ret = action;
	maker->list->count++;
	return words_action_label(maker->world->arena, id, maker->hold->arm, maker->world->project.id, &action->label);
}

static int add_approval(struct maker *maker, enum action_id id)
{
	bool is_once = id == ACTION_APPROVE_ONCE;
	const struct lifecycle_hold_facts *facts = &maker->hold->facts;
	struct lifecycle_action *action = NULL;
	int r = add(maker, id, LIFECYCLE_APPROVER, &action);

	action->target = is_once ? LIFECYCLE_TARGET_PACKAGE_GRANTS : LIFECYCLE_TARGET_PROJECT_GRANTS;
	action->target_id = is_once ? maker->verdict->subject.row->id : maker->world->project.id;
	action->body.decision = "approved";
	action->body.capabilities = maker->asked;
	action->body.capability_count = maker->asked_count;
	action->body.expected_revision = is_once ? facts->package_revision : facts->project_revision;
	action->body.root_revision = facts->root_revision;
	action->takes_reason = action->takes_expiry = true;
	action->is_self_approval = is_once ? maker->context->is_self_approval : maker->asks_for_own;
	return r;
}

static int add_deny(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_DENY, LIFECYCLE_APPROVER, &action);

	action->target = LIFECYCLE_TARGET_PACKAGE_GRANTS;
	action->target_id = maker->verdict->subject.row->id;
	action->body.decision = "denied";
	action->body.expected_revision = maker->hold->facts.package_revision;
	action->takes_reason = true;
	return r;
}

static int add_set_root(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_SET_ROOT, LIFECYCLE_OPERATOR, &action);

	action->target = LIFECYCLE_TARGET_PROJECT;
	action->target_id = maker->world->project.id;
	action->takes_root = true;
	return r;
}

static int add_check(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_CHECK_SERVER, LIFECYCLE_OPERATOR, &action);

	action->target = LIFECYCLE_TARGET_SERVER_CHECK;
	action->target_id = maker->world->project.id;
	action->mcp_id = maker->hold->mcp_id;
	return r;
}

static int add_changes(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_REQUEST_CHANGES, LIFECYCLE_APPROVER | LIFECYCLE_OPERATOR, &action);

	action->target = LIFECYCLE_TARGET_TASK_CHANGES;
	action->target_id = maker->context->task;
	action->body.plan_revision = maker->context->plan_revision;
	action->takes_reason = true;
	return r;
}

static int add_cancel(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_CANCEL_PACKAGE, LIFECYCLE_OPERATOR, &action);

	action->target = LIFECYCLE_TARGET_PACKAGE_CANCELLATION;
	action->target_id = maker->verdict->subject.row->id;
	action->body.cascade = maker->context->has_dependents;
	action->takes_reason = true;
	return r;
}

static int add_grant_actions(struct maker *maker)
{
	int r = 0;

	if (maker->hold->arm == ARM_NO_ROOT)
		r = add_set_root(maker);
	else
		r = add_approval(maker, ACTION_APPROVE_ONCE);
	if (r == 0 && maker->hold->arm != ARM_NO_ROOT)
		r = add_approval(maker, ACTION_APPROVE_ALWAYS);
	if (r == 0 && maker->hold->arm != ARM_DENIED)
		r = add_deny(maker);
	return r;
}

/* Only an approval asks who sent what. */
static int find_own(struct maker *maker)
{
	const struct subject *subject = &maker->verdict->subject;
	struct precedence_set own = {0};
	int r = maker->hold->kind == HOLD_NEEDS_GRANT ? self_approval_reads(maker->world, &own) : 0;

	for (size_t i = 0; r == 0 && i < subject->asked_count; i++)
		maker->asks_for_own = maker->asks_for_own || precedence_set_has(&own, subject->asked[i]);
	return r;
}

static int name_asked(struct maker *maker)
{
	const struct subject *subject = &maker->verdict->subject;
	struct str *names = ARENA_ARRAY(maker->world->arena, subject->asked_count, struct str);

	if (names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < subject->asked_count; i++)
		names[i] = subject->asked[i]->name;
	maker->asked = names;
	maker->asked_count = subject->asked_count;
	return find_own(maker);
}

int hold_actions(struct world *world, const struct verdict *verdict, const struct lifecycle_hold *hold,
	const struct action_context *context, struct lifecycle_action_list *ret)
{
	struct maker maker = {.world = world, .verdict = verdict, .hold = hold, .context = context, .list = ret};
	int r = name_asked(&maker);

	*ret = (struct lifecycle_action_list){
		.items = ARENA_ARRAY(world->arena, ACTION_LIMIT, struct lifecycle_action)};
	if (ret->items == NULL)
		return -ENOMEM;
	if (r == 0 && hold->kind == HOLD_NEEDS_GRANT)
		r = add_grant_actions(&maker);
	if (r == 0 && hold->kind == HOLD_NEEDS_SETUP)
		r = add_check(&maker);
	if (r == 0)
		r = add_changes(&maker);
	if (r == 0 && context->task_status != STORE_TASK_PROPOSED)
		r = add_cancel(&maker);
	return r;
}
