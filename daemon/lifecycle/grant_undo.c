#include "daemon/lifecycle/grant_undo.h"

#include <errno.h>

enum { UNDO_ACTIONS = 2 };

static bool is_of_package(const struct lifecycle_grant *grant)
{
	return grant->package.bytes != NULL;
}

static int add(struct world *world, struct lifecycle_grant *grant, enum action_id id, struct lifecycle_action **ret)
{
	bool is_package = is_of_package(grant);
	struct lifecycle_action *action = &grant->actions.items[grant->actions.count++];

	*action = (struct lifecycle_action){
		.id = id,
		.target = is_package ? LIFECYCLE_TARGET_PACKAGE_GRANTS : LIFECYCLE_TARGET_PROJECT_GRANTS,
		.target_id = is_package ? grant->package : world->project.id,
		.body = {.expected_revision = grant->grant.revision, .root_revision = -1, .plan_revision = -1},
		.takes_reason = true,
		.roles = LIFECYCLE_APPROVER,
	};
	*ret = action;
	return words_action_label(world->arena, id, ARM_NONE, world->project.id, &action->label);
}

/* `is_whole`: that undoes the approval, and takes nothing else away. */
static int add_revocation(struct world *world, struct lifecycle_grant *grant, bool is_whole)
{
	struct lifecycle_action *action = NULL;
	int r = add(world, grant, is_of_package(grant) ? ACTION_TAKE_BACK : ACTION_REMOVE_ACCESS, &action);

	action->body.decision = "revoked";
	if (is_whole)
		action->undoes = grant->grant.id;
	return r;
}

/* Whether the decision left all that was allowed before. */
static bool only_added(const struct lifecycle_grant *grant, const struct grant_before *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < before->reads.count; i++)
		for (size_t k = 0; k < grant->granted_count; k++)
			kept += str_equal(before->reads.items[i]->name, grant->granted[k]);
	return grant->decision == STORE_GRANT_APPROVED && kept == before->reads.count;
}

static int add_put_back(struct world *world, const struct grant_before *before, struct lifecycle_grant *grant)
{
	enum action_id id = is_of_package(grant) ? ACTION_APPROVE_ONCE
		: only_added(grant, before)      ? ACTION_NARROW
						 : ACTION_APPROVE_ALWAYS;
	struct lifecycle_action *action = NULL;
	struct grant_set set = {0};
	struct str json = {0};
	int r = grant_make_set(world, &set);

	if (r == 0)
		r = add(world, grant, id, &action);
	if (r != 0)
		return r;
	grant_make_add(&set, &before->reads);
	action->undoes = grant->grant.id;
	action->is_self_approval = before->is_own;
	action->takes_expiry = true;
	action->body.decision = "approved";
	action->body.replace = !is_of_package(grant);
	if (!is_of_package(grant))
		action->body.expected_revision = world->project.decision_revision;
	action->body.root_revision = world->project.root_revision;
	action->body.expires_at = before->expires_at;
	return grant_make_names(world, &set, &json, &action->body.capabilities, &action->body.capability_count);
}

int grant_undo(struct world *world, const struct grant_before *before, struct lifecycle_grant *grant)
{
	bool is_approval = grant->decision == STORE_GRANT_APPROVED;
	bool puts_back = before->is_live && before->used_up.bytes == NULL && !(is_approval && is_of_package(grant));
	int r = 0;

	grant->no_undo = (struct str){0};
	grant->actions = (struct lifecycle_action_list){
		.items = ARENA_ARRAY(world->arena, UNDO_ACTIONS, struct lifecycle_action)};
	if (grant->actions.items == NULL)
		return -ENOMEM;
	if (grant->dry_run)
		return 0;
	if (is_approval)
		r = add_revocation(world, grant, !puts_back);
	if (r == 0 && puts_back)
		return add_put_back(world, before, grant);
	if (!is_approval)
		grant->no_undo = before->used_up.bytes != NULL ? before->used_up : STR("Only an approval ends it.");
	return r;
}
