#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_impact.h"
#include "daemon/lifecycle/grant_undo.h"
#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"
#include "policy/text.h"

/* What one try works on. */
struct granting {
	struct lifecycle_grant *grant;
	struct world world;
	struct store_package row;
	struct subject subject;
	struct store_task task;
	struct grant_set set; /* what the record names */
};

static void granting_drop(struct granting *granting)
{
	world_close(&granting->world);
}

static int open_package(struct store_tx *tx, struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	int r = store_package_find(tx, grant->package, &granting->row);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&grant->call.scope, granting->row.project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	r = call_store_result(store_task_find(tx, granting->row.task, &granting->task));
	if (r == 0)
		r = world_open(tx, &grant->call, granting->row.project, &granting->world);
	if (r == 0)
		r = grant_make_set(&granting->world, &granting->set);
	return r != 0 ? r : subject_of_row(&granting->world, &granting->row, &granting->subject);
}

static int check_status(struct granting *granting)
{
	int r = refusal_of_archived(&granting->world);

	if (r != 0 || granting->row.end == STORE_PACKAGE_UNFINISHED)
		return r;
	return refusal_of_package(granting->world.tx, &granting->grant->call, &granting->row, LIFECYCLE_PACKAGE_STATUS);
}

static int check_revision(struct granting *granting)
{
	const struct subject *subject = &granting->subject;
	int64_t revision = subject->has_grant ? subject->grant.revision : 0;

	if (revision == granting->grant->expected_revision)
		return 0;
	return grant_make_refusal(
		&granting->world, subject->has_grant ? &subject->grant : NULL, revision, LIFECYCLE_REVISION_CONFLICT);
}

static int check_root(struct granting *granting)
{
	struct world *world = &granting->world;

	if (!world->has_root)
		return LIFECYCLE_ROOT_MISSING;
	if (granting->grant->root_revision == world->project.root_revision)
		return 0;
	return grant_make_refusal(world, NULL, world->project.root_revision, LIFECYCLE_ROOT_CHANGED);
}

static int check_actor(struct granting *granting)
{
	bool is_own = false;
	int r = judged_is_contributor(&granting->world, &granting->task, &is_own);

	return r == 0 && is_own && !granting->world.lifecycle->allow_self_approval ? LIFECYCLE_SELF_APPROVAL : r;
}

/* Names what was asked for in vain; unsafe text is left out. */
static int refuse_names(struct granting *granting, const struct str *names, size_t count, int result)
{
	struct lifecycle_refusal *refusal = &granting->grant->call.refusal;
	struct str *ids = ARENA_ARRAY(granting->world.arena, count, struct str);

	if (ids == NULL)
		return -ENOMEM;
	refusal->id_count = 0;
	for (size_t i = 0; i < count; i++)
		if (text_is_safe(names[i]))
			ids[refusal->id_count++] = arena_str(granting->world.arena, names[i]);
	refusal->ids = ids;
	return result;
}

static int read_capabilities(struct granting *granting)
{
	const struct lifecycle_grant *grant = granting->grant;
	struct precedence_set asked = {granting->subject.asked, granting->subject.asked_count};
	struct str *wrong = ARENA_ARRAY(granting->world.arena, grant->capability_count, struct str);
	size_t wrong_count = 0;

	if (!grant->has_capabilities) {
		grant_make_add(&granting->set, &asked);
		return asked.count > 0 ? 0 : refuse_names(granting, NULL, 0, LIFECYCLE_GRANT_NOT_ASKED);
	}
	if (wrong == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < grant->capability_count; i++) {
		const struct catalog_capability *known = NULL;
		int r = grant_make_find(&granting->world, grant->capabilities[i], &known);

		if (r != 0)
			return r;
		if (known != NULL && precedence_set_has(&asked, known))
			grant_make_add(&granting->set, &(struct precedence_set){&known, 1});
		else
			wrong[wrong_count++] = grant->capabilities[i];
	}
	return wrong_count == 0 ? 0 : refuse_names(granting, wrong, wrong_count, LIFECYCLE_GRANT_NOT_ASKED);
}

static int check_covers(struct granting *granting)
{
	const struct subject *subject = &granting->subject;
	struct precedence_set set = grant_make_view(&granting->set);
	struct str *missing = ARENA_ARRAY(granting->world.arena, subject->asked_count, struct str);
	size_t count = 0;

	if (missing == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < subject->asked_count; i++)
		if (!precedence_set_has(&set, subject->asked[i]))
			missing[count++] = subject->asked[i]->name;
	return count == 0 ? 0 : refuse_names(granting, missing, count, LIFECYCLE_GRANT_INSUFFICIENT);
}

/* The project's grant counts for every requirement already; a denial that it doesn't override is in its way. */
static int check_covered(struct granting *granting)
{
	struct world *world = &granting->world;
	const struct package *package = granting->subject.package;

	for (size_t i = 0; i < package->requirement_count; i++) {
		struct precedence_input input = {
			.package = granting->subject.record,
			.project = world->record,
			.root_revision = world->project.root_revision,
			.is_consumed = granting->subject.is_consumed,
		};
		struct grant_state state = {0};
		int r = 0;

		if (!requirement_needs_grant(&package->requirements[i]))
			continue;
		r = world_needs(world, &package->requirements[i], &input.needs);
		if (r != 0)
			return r;
		(void)grant_precedence(&input, &state);
		if (state.phase != GRANT_PHASE_APPROVED || state.source != GRANT_SOURCE_PROJECT_LEVEL)
			return 0;
	}
	return grant_make_refusal(world, &world->grant, world->grant.revision, LIFECYCLE_ALREADY_COVERED);
}

static int check_approval(struct granting *granting)
{
	int r = check_root(granting);

	if (r == 0)
		r = read_capabilities(granting);
	if (r == 0)
		r = check_covers(granting);
	return r != 0 ? r : check_covered(granting);
}

static int check_revocation(struct granting *granting)
{
	const struct subject *subject = &granting->subject;
	struct world *world = &granting->world;
	int64_t attempt = 0;
	int r = 0;

	if (grant_make_is_revocable(world, subject))
		return 0;
	if (subject->has_grant && grant_make_is_spent(subject))
		r = hold_attempt(world, &subject->grant, &attempt);
	if (r == 0 && attempt > 0)
		r = words_used_up(world->arena, attempt, &granting->grant->call.refusal.detail);
	return r != 0 ? r
		      : grant_make_refusal(world, subject->has_grant ? &subject->grant : NULL,
				subject->has_grant ? subject->grant.revision : 0, LIFECYCLE_NOTHING_TO_REVOKE);
}

static int check(struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	struct fault_list faults = {.arena = granting->world.arena};
	bool is_approval = grant->decision == STORE_GRANT_APPROVED;
	int r = 0;

	grant_make_check(grant, grant->call.now, &faults);
	r = fault_list_result(&faults, &grant->call.refusal);
	if (r == 0)
		r = check_status(granting);
	if (r == 0 && is_approval)
		r = check_actor(granting);
	if (r == 0)
		r = check_revision(granting);
	if (r == 0 && is_approval)
		r = check_approval(granting);
	if (r == 0 && grant->decision == STORE_GRANT_REVOKED)
		r = check_revocation(granting);
	return r;
}

static int look_before(struct granting *granting, struct grant_before *ret)
{
	const struct subject *subject = &granting->subject;
	struct world *world = &granting->world;
	int64_t attempt = 0;
	int r = 0;

	*ret = (struct grant_before){
		.is_live = grant_make_is_revocable(world, subject),
		.expires_at = subject->grant.expires_at,
		.reads = subject->record.capabilities,
	};
	if (!ret->is_live)
		return 0;
	r = judged_is_contributor(world, &granting->task, &ret->is_own);
	ret->is_own = ret->is_own && !world->lifecycle->allow_self_approval;
	if (r == 0 && subject->is_consumed)
		r = hold_attempt(world, &subject->grant, &attempt);
	return r == 0 && subject->is_consumed ? words_used_up(world->arena, attempt, &ret->used_up) : r;
}

static int append(struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	struct world *world = &granting->world;
	struct grant_before before = {0};
	int r = grant_make_names(
		world, &granting->set, &grant->grant.capabilities_json, &grant->granted, &grant->granted_count);

	if (r == 0)
		r = look_before(granting, &before);
	if (r == 0)
		r = grant_make_append(world, grant, granting->row.task, STR("[]"), world->project.root_revision);
	if (r == 0)
		r = grant_impact_find(world, &(struct reconcile_scope){.package = granting->row.id}, grant);
	if (r == 0)
		r = grant_undo(world, &before, grant);
	return r != 0 ? r : view_make_package(world->tx, world->catalog, granting->row.id, &grant->view);
}

int grant_package_run(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(granting_drop) struct granting granting = {.grant = (struct lifecycle_grant *)call};
	int r = open_package(tx, &granting);

	if (r == 0)
		r = check(&granting);
	return r != 0 ? r : append(&granting);
}
