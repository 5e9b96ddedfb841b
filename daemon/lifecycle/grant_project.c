#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_impact.h"
#include "daemon/lifecycle/grant_undo.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/self_approval.h"
#include "policy/cleanup.h"

/* What one try works on. */
struct granting {
	struct lifecycle_grant *grant;
	struct world world;
	struct grant_set requested;
	struct grant_set set;     /* what the record names */
	struct grant_set dropped; /* what earlier records of this root named and this one doesn't */
};

static void granting_drop(struct granting *granting)
{
	world_close(&granting->world);
}

static int open_project(struct store_tx *tx, struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	int r = lifecycle_scope_has(&grant->call.scope, grant->project)
		? world_open(tx, &grant->call, grant->project, &granting->world)
		: LIFECYCLE_NOT_FOUND;

	if (r == 0)
		r = refusal_of_archived(&granting->world);
	if (r == 0)
		r = grant_make_set(&granting->world, &granting->requested);
	if (r == 0)
		r = grant_make_set(&granting->world, &granting->set);
	return r != 0 ? r : grant_make_set(&granting->world, &granting->dropped);
}

static int read_capabilities(struct granting *granting, struct fault_list *faults)
{
	const struct lifecycle_grant *grant = granting->grant;

	if (grant->decision == STORE_GRANT_APPROVED && grant->capability_count == 0)
		fault_list_add(faults, "must name what may be read", "/capabilities");
	for (size_t i = 0; i < grant->capability_count; i++) {
		const struct catalog_capability *known = NULL;
		int r = grant_make_find(&granting->world, grant->capabilities[i], &known);

		if (r != 0)
			return r;
		if (known != NULL)
			grant_make_add(&granting->requested, &(struct precedence_set){&known, 1});
		else
			fault_list_add(faults, "isn't a read that a project can allow", "/capabilities/%zu", i);
	}
	return 0;
}

static int check_request(struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	struct fault_list faults = {.arena = granting->world.arena};
	int r = 0;

	grant_make_check(grant, grant->call.now, &faults);
	if (grant->decision == STORE_GRANT_DENIED)
		fault_list_add(
			&faults, "a project's access is approved or revoked; a package's is denied", "/decision");
	r = read_capabilities(granting, &faults);
	return r != 0 ? r : fault_list_result(&faults, &grant->call.refusal);
}

static const struct store_grant *latest(const struct granting *granting)
{
	return granting->world.has_grant ? &granting->world.grant : NULL;
}

/* An approval may override denials, so all records must have been seen; a revocation is about the project's own. */
static int check_revision(struct granting *granting)
{
	struct world *world = &granting->world;
	int64_t own = world->has_grant ? world->grant.revision : 0;
	int64_t revision = granting->grant->decision == STORE_GRANT_APPROVED ? world->project.decision_revision : own;
	struct store_grant_list newest = {0};
	struct store_grant_filter filter = {.project = world->project.id};
	int r = 0;

	if (revision == granting->grant->expected_revision)
		return 0;
	if (granting->grant->decision != STORE_GRANT_APPROVED)
		return grant_make_refusal(world, latest(granting), revision, LIFECYCLE_REVISION_CONFLICT);
	r = call_store_result(store_grant_list(world->tx, &filter, 0, 1, &newest));
	return r != 0 ? r
		      : grant_make_refusal(world, newest.count > 0 ? &newest.items[0] : NULL, revision,
				LIFECYCLE_REVISION_CONFLICT);
}

/* ---- no one allows a project what his own open plan asks for (4.1) */

static int check_actor(struct granting *granting)
{
	struct precedence_set own = {0};
	int r = self_approval_reads(&granting->world, &own);

	for (size_t i = 0; r == 0 && i < granting->requested.count; i++)
		if (precedence_set_has(&own, granting->requested.items[i]))
			return LIFECYCLE_SELF_APPROVAL;
	return r;
}

/* ---- what the record says */

static int check_root(struct granting *granting)
{
	struct world *world = &granting->world;

	if (!world->has_root)
		return LIFECYCLE_ROOT_MISSING;
	if (granting->grant->root_revision == world->project.root_revision)
		return 0;
	return grant_make_refusal(world, NULL, world->project.root_revision, LIFECYCLE_ROOT_CHANGED);
}

/* Approving adds, unless it replaces: an approval never takes another one away (2.4). */
static void name_set(struct granting *granting)
{
	struct world *world = &granting->world;
	struct precedence_set requested = grant_make_view(&granting->requested);
	struct precedence_set set;

	grant_make_add(&granting->set, &requested);
	if (granting->grant->decision == STORE_GRANT_APPROVED && !granting->grant->replace && grant_make_is_live(world))
		grant_make_add(&granting->set, &world->record.capabilities);
	if (world->has_grant && world->record.root_revision == world->project.root_revision) {
		grant_make_add(&granting->dropped, &world->record.dropped);
		grant_make_add(&granting->dropped, &world->record.capabilities);
	}
	set = grant_make_view(&granting->set);
	grant_make_remove(&granting->dropped, &set);
}

static int check(struct granting *granting)
{
	bool is_approval = granting->grant->decision == STORE_GRANT_APPROVED;
	int r = check_request(granting);

	if (r == 0 && is_approval)
		r = check_actor(granting);
	if (r == 0)
		r = check_revision(granting);
	if (r == 0 && is_approval)
		r = check_root(granting);
	if (r == 0 && !is_approval && !grant_make_is_live(&granting->world))
		r = grant_make_refusal(&granting->world, latest(granting),
			granting->world.has_grant ? granting->world.grant.revision : 0, LIFECYCLE_NOTHING_TO_REVOKE);
	return r;
}

static int look_before(struct granting *granting, struct grant_before *ret)
{
	struct world *world = &granting->world;
	struct precedence_set own = {0};
	int r = 0;

	*ret = (struct grant_before){
		.is_live = grant_make_is_live(world),
		.expires_at = world->grant.expires_at,
		.reads = world->record.capabilities,
	};
	if (!ret->is_live)
		return 0;
	r = self_approval_reads(world, &own);
	for (size_t i = 0; i < ret->reads.count; i++)
		ret->is_own = ret->is_own || precedence_set_has(&own, ret->reads.items[i]);
	return r;
}

static int append(struct granting *granting)
{
	struct lifecycle_grant *grant = granting->grant;
	struct world *world = &granting->world;
	struct str dropped = {0};
	const struct str *names = NULL;
	struct grant_before before = {0};
	size_t count = 0;
	int r = look_before(granting, &before);

	name_set(granting);
	if (r == 0)
		r = grant_make_names(world, &granting->dropped, &dropped, &names, &count);
	if (r == 0)
		r = grant_make_names(
			world, &granting->set, &grant->grant.capabilities_json, &grant->granted, &grant->granted_count);
	if (r == 0)
		r = grant_make_append(world, grant, (struct str){0}, dropped, world->project.root_revision);
	if (r == 0)
		r = grant_impact_find(world, &(struct reconcile_scope){.readers_only = true}, grant);
	return r != 0 ? r : grant_undo(world, &before, grant);
}

int grant_project_run(struct store_tx *tx, struct lifecycle_call *call)
{
	CLEANUP(granting_drop) struct granting granting = {.grant = (struct lifecycle_grant *)call};
	int r = open_project(tx, &granting);

	if (r == 0)
		r = check(&granting);
	return r != 0 ? r : append(&granting);
}
