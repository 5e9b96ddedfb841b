#include "daemon/lifecycle/hold_make.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/recheck.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/store/run.h"
#include "policy/words_evaluation.h"

/* Names of `from` that are in `other` (wanted true) or aren't. */
static int pick_names(struct arena *arena, const struct precedence_set *from, const struct precedence_set *other,
	bool wanted, const struct str **ret_names, size_t *ret_count)
{
	struct str *names = ARENA_ARRAY(arena, from->count, struct str);

	*ret_count = 0;
	if (names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++)
		if (precedence_set_has(other, from->items[i]) == wanted)
			names[(*ret_count)++] = from->items[i]->name;
	*ret_names = names;
	return 0;
}

/* The ledger's record behind an effective state; NULL where nobody decided. */
static const struct store_grant *deciding_grant(
	const struct world *world, const struct subject *subject, const struct grant_state *state)
{
	if (state->source == GRANT_SOURCE_PACKAGE_LOCAL && subject->has_grant)
		return &subject->grant;
	if (state->source == GRANT_SOURCE_PROJECT_LEVEL && world->has_grant)
		return &world->grant;
	return NULL;
}

/* What is still allowed: the record's coverage, or what the project's record gives though it isn't enough. */
static struct precedence_set allowed_now(const struct world *world, const struct grant_state *state)
{
	bool is_partial = state->phase == GRANT_PHASE_PROPOSED || state->reason == REVOCATION_PROJECT_GRANT_NARROWED;

	if (state->phase == GRANT_PHASE_APPROVED)
		return (struct precedence_set){state->covered, state->covered_count};
	if (is_partial && world->record.decision == PRECEDENCE_APPROVED && !world->record.is_expired &&
		world->record.root_revision == world->project.root_revision)
		return world->record.capabilities;
	return (struct precedence_set){0};
}

int hold_attempt(struct world *world, const struct store_grant *grant, int64_t *ret)
{
	struct store_run run = {0};
	int r = 0;

	if (grant->used_by.bytes == NULL)
		return 0;
	r = store_run_find(world->tx, grant->used_by, &run);
	*ret = r == 0 ? run.attempt : 0;
	return call_store_result(r);
}

static int add_record(struct world *world, const struct store_grant *grant, struct lifecycle_hold_facts *facts)
{
	facts->actor = grant->actor;
	facts->at = grant->at;
	facts->reason = grant->reason;
	facts->expires_at = grant->expires_at;
	if (grant->root_revision != world->project.root_revision)
		facts->root_revision_then = grant->root_revision;
	return hold_attempt(world, grant, &facts->attempt);
}

static int grant_facts(struct world *world, const struct verdict *verdict, struct lifecycle_hold *hold)
{
	const struct evaluation *evaluation = verdict->origin.evaluation;
	struct lifecycle_hold_facts *facts = &hold->facts;
	const struct store_grant *grant = deciding_grant(world, &verdict->subject, &evaluation->grant);
	struct precedence_set allowed = allowed_now(world, &evaluation->grant);
	struct precedence_set needs = {0};
	int r = world_needs(world, evaluation->requirement, &needs);

	if (r == 0)
		r = pick_names(world->arena, &needs, &allowed, false, &facts->missing, &facts->missing_count);
	if (r == 0)
		r = pick_names(world->arena, &allowed, &allowed, true, &facts->left, &facts->left_count);
	if (r == 0 && grant != NULL && hold->arm != ARM_NO_ROOT)
		r = add_record(world, grant, facts);
	return r;
}

static void setup_facts(const struct evaluation *evaluation, struct lifecycle_hold_facts *facts)
{
	facts->error = evaluation->health.error;
	if (!time_text_read(evaluation->health.checked_at, &facts->checked_at))
		facts->checked_at = 0;
}

static void name_origin(const struct hold_origin *origin, struct lifecycle_hold *hold)
{
	if (origin->evaluation != NULL) {
		hold->requirement_key = origin->evaluation->requirement->key;
		hold->mcp_id = origin->evaluation->requirement->mcp_id;
		hold->agent = origin->evaluation->requirement->agent;
		hold->reason = origin->evaluation->reason;
	} else if (origin->subtask != NULL) {
		hold->requirement_key = origin->subtask->row->requirement_key;
		hold->subtask_id = origin->subtask->row->subtask_id;
		hold->mcp_id = origin->subtask->row->mcp_id;
		hold->agent = origin->subtask->row->agent;
		hold->reason = origin->subtask->reason;
	} else {
		/* The package is blocked as a whole: there are no rows. */
		hold->requirement_key = hold->mcp_id = hold->agent = STR("");
		hold->reason = STR("the document can't be read as a package");
	}
}

static bool keeps_since(const struct store_package *row, const struct lifecycle_hold *hold, struct arena *arena)
{
	struct lifecycle_hold before = {0};

	if (row == NULL || row->hold_json.bytes == NULL || hold_read_json(arena, row->hold_json, &before) != 0)
		return false;
	return before.kind == hold->kind && before.arm == hold->arm;
}

int hold_make(struct world *world, const struct verdict *verdict, struct lifecycle_hold *ret)
{
	const struct hold_origin *origin = &verdict->origin;
	const struct subject *subject = &verdict->subject;
	int r = 0;

	*ret = (struct lifecycle_hold){
		.kind = origin->kind,
		.arm = origin->arm,
		.mode = origin->mode,
		.recovery = origin->recovery,
		.decision_id = verdict->decision_id,
		.retryable = origin->retryable,
		.facts.package_revision = subject->has_grant ? subject->grant.revision : 0,
		.facts.project_revision = world->project.decision_revision,
		.facts.root_revision = world->project.root_revision,
	};
	name_origin(origin, ret);
	if (origin->kind == HOLD_NEEDS_GRANT && origin->evaluation != NULL)
		r = grant_facts(world, verdict, ret);
	else if (origin->kind == HOLD_NEEDS_SETUP && origin->evaluation != NULL)
		setup_facts(origin->evaluation, &ret->facts);
	if (r == 0 && origin->kind == HOLD_NEEDS_SETUP && ret->mcp_id.bytes != NULL)
		r = recheck_find(world->tx, world->project.id, ret->mcp_id, &ret->next_retry_at);
	ret->since = keeps_since(subject->row, ret, world->arena) ? subject->row->hold_since : world->call->now;
	return r;
}

/* ---- words */

static void record_words(struct world *world, const struct store_grant *grant, struct words_facts *facts)
{
	int64_t now = world->call->now;

	facts->who = grant->actor.principal;
	facts->when = time_text_clock(world->arena, grant->at, now);
	facts->until = time_text_clock(world->arena, grant->expires_at, now);
	facts->is_project_grant = grant->package.bytes == NULL;
}

static int hold_words(struct world *world, const struct lifecycle_hold *hold, struct words_facts *facts)
{
	const struct lifecycle_hold_facts *held = &hold->facts;
	int64_t now = world->call->now;
	int r = words_phrase(world->arena, held->left, held->left_count, &facts->left);

	if (r == 0)
		r = words_phrase(world->arena, held->missing, held->missing_count, &facts->missing);
	facts->reason = hold->kind == HOLD_NEEDS_GRANT ? held->reason : hold->reason;
	if (held->at != 0) {
		facts->who = held->actor.principal;
		facts->when = time_text_clock(world->arena, held->at, now);
		facts->until = time_text_clock(world->arena, held->expires_at, now);
	}
	if (held->checked_at != 0)
		facts->age = time_text_age(world->arena, now - held->checked_at);
	facts->attempt = (int)held->attempt;
	facts->root_revision_then = held->root_revision_then != 0 ? held->root_revision_then : -1;
	facts->root_revision_now = held->root_revision;
	return r;
}

int hold_state(struct world *world, const struct verdict *verdict, const struct lifecycle_hold *hold,
	struct lifecycle_state *ret)
{
	struct words_facts facts = {
		.package = verdict->subject.label, .project = world->project.id, .root_revision_then = -1};
	const struct evaluation *evaluation = NULL;
	const struct store_grant *grant = NULL;
	int r = 0;

	ret->key = projection_package_key(&verdict->admission, world->has_root, &evaluation);
	if (evaluation != NULL)
		r = words_evaluation_facts(world->arena, evaluation, &facts);
	if (r == 0 && hold != NULL)
		r = hold_words(world, hold, &facts);
	grant = evaluation != NULL ? deciding_grant(world, &verdict->subject, &evaluation->grant) : NULL;
	if (hold == NULL && grant != NULL)
		record_words(world, grant, &facts);
	if (r != 0)
		return r;
	return words_state(world->arena, ret->key, hold != NULL ? hold->arm : ARM_NONE, &facts, &ret->words);
}
