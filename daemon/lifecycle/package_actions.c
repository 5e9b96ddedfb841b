#include "daemon/lifecycle/package_actions.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_make.h"
#include "daemon/lifecycle/move_make.h"
#include "daemon/lifecycle/package_end.h"

enum { OWN_ACTIONS = 4 };

struct maker {
	struct world *world;
	const struct store_package *row;
	const struct judged_context *context;
	struct lifecycle_action_list *list;
};

static int add(struct maker *maker, enum action_id id, enum lifecycle_target target, struct str target_id,
	unsigned roles, struct lifecycle_action **ret)
{
	struct lifecycle_action *action = &maker->list->items[maker->list->count++];

	*action = (struct lifecycle_action){
		.id = id,
		.target = target,
		.target_id = target_id,
		.body = {.expected_revision = -1, .root_revision = -1, .plan_revision = -1},
		.takes_reason = true,
		.roles = roles,
	};
	*ret = action;
	return words_action_label(maker->world->arena, id, ARM_NONE, maker->world->project.id, &action->label);
}

static int add_changes(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_REQUEST_CHANGES, LIFECYCLE_TARGET_TASK_CHANGES, maker->context->task->id,
		LIFECYCLE_APPROVER | LIFECYCLE_OPERATOR, &action);

	action->body.plan_revision = maker->context->task->plan_revision;
	return r;
}

static int add_cancel(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_CANCEL_PACKAGE, LIFECYCLE_TARGET_PACKAGE_CANCELLATION, maker->row->id,
		LIFECYCLE_OPERATOR, &action);

	action->body.cascade = judged_has_dependents(maker->context, maker->row->id);
	return r;
}

static int add_after_failure(struct maker *maker)
{
	struct lifecycle_action *action = NULL;
	int r = add(maker, ACTION_RETRY, LIFECYCLE_TARGET_PACKAGE_RETRY, maker->row->id, LIFECYCLE_OPERATOR, &action);

	if (r == 0)
		r = add_changes(maker);
	return r != 0 ? r
		      : add(maker, ACTION_CANCEL_TASK, LIFECYCLE_TARGET_TASK_CANCELLATION, maker->context->task->id,
				LIFECYCLE_OPERATOR, &action);
}

/* By an operator, or an executor that ran what depends on it; others are told of the role that they would need. */
static int add_rework(struct maker *maker)
{
	struct store_package_list along = {0};
	struct lifecycle_action *action = NULL;
	bool has_run = false;
	int r = package_end_dependents(maker->world, maker->row, STORE_PACKAGE_COMPLETED, &along);

	if (r == 0)
		r = package_rework_has_run(maker->world, maker->row, &has_run);
	if (r == 0)
		r = add(maker, ACTION_REWORK, LIFECYCLE_TARGET_PACKAGE_REWORK, maker->row->id,
			LIFECYCLE_OPERATOR | (has_run ? (unsigned)LIFECYCLE_EXECUTOR : 0u), &action);
	if (r == 0)
		action->body.cascade = along.count > 0;
	return r;
}

static int add_of_status(struct maker *maker)
{
	enum package_status status = package_status_of(maker->row);
	enum store_task_status task = maker->context->task->status;
	bool is_approved = task == STORE_TASK_APPROVED;
	bool is_whole = maker->row->end == STORE_PACKAGE_UNFINISHED;
	int r = 0;

	if (status == PACKAGE_COMPLETED)
		return is_approved ? add_rework(maker) : 0;
	if (status == PACKAGE_FAILED)
		return is_approved || task == STORE_TASK_FAILED ? add_after_failure(maker) : 0;
	if (!is_whole)
		return 0;
	r = add_changes(maker);
	return r == 0 && (is_approved || task == STORE_TASK_FAILED) ? add_cancel(maker) : r;
}

/* One that is used up stays, and says so. */
static int add_take_back(struct maker *maker)
{
	struct subject subject = {0};
	struct lifecycle_action *action = NULL;
	bool is_spent = false;
	int64_t attempt = 0;
	int r = maker->row->end == STORE_PACKAGE_UNFINISHED ? subject_of_row(maker->world, maker->row, &subject) : 0;

	if (r != 0)
		return r == -EUCLEAN ? 0 : r; /* damaged: what its approval covered isn't known */
	is_spent = subject.has_grant && subject.grant.decision == STORE_GRANT_APPROVED && grant_make_is_spent(&subject);
	if (!is_spent && !grant_make_is_revocable(maker->world, &subject))
		return 0;
	r = add(maker, ACTION_TAKE_BACK, LIFECYCLE_TARGET_PACKAGE_GRANTS, maker->row->id, LIFECYCLE_APPROVER, &action);
	action->body.decision = "revoked";
	action->body.expected_revision = subject.grant.revision;
	action->undoes = subject.grant.id;
	if (r != 0 || !is_spent)
		return r;
	action->off = ACTION_OFF_USED_UP;
	r = hold_attempt(maker->world, &subject.grant, &attempt);
	return r == 0 ? words_used_up(maker->world->arena, attempt, &action->off_text) : r;
}

int package_actions(struct world *world, const struct store_package *row, const struct judged_context *context,
	const struct lifecycle_action_list *held, struct lifecycle_action_list *ret)
{
	struct maker maker = {.world = world, .row = row, .context = context, .list = ret};
	int r = 0;

	*ret = (struct lifecycle_action_list){
		.items = ARENA_ARRAY(world->arena, held->count + OWN_ACTIONS, struct lifecycle_action)};
	if (ret->items == NULL)
		return -ENOMEM;
	if (world->project.archived_at != 0)
		return 0;
	for (size_t i = 0; i < held->count; i++)
		ret->items[ret->count++] = held->items[i];
	if (held->count == 0)
		r = add_of_status(&maker);
	return r == 0 ? add_take_back(&maker) : r;
}
