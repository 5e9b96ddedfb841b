#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_make.h"
#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/recovery_make.h"
#include "daemon/lifecycle/self_approval.h"

/* ---- who waits in a project */

/* Whether the project's own record decided this hold. */
static bool is_of_project(const struct world *world, const struct lifecycle_hold *hold)
{
	return world->has_grant && hold->facts.at == world->grant.at &&
		str_equal(hold->facts.actor.token, world->grant.actor.token);
}

/* What one deed frees together: a server that works again, a root, the project's approval. Absent: each stands alone. */
static int name_cause(const struct world *world, const struct lifecycle_hold *hold, struct str *ret)
{
	const struct str project = world->project.id;
	const char *arm = hold_arm_name(hold->arm);
	bool is_one = hold->arm == ARM_REMOVED || hold->arm == ARM_NARROWED ||
		(hold->arm == ARM_EXPIRED && is_of_project(world, hold));

	*ret = (struct str){0};
	if (hold->kind == HOLD_NEEDS_SETUP)
		*ret = arena_printf(world->arena, "server:%.*s:%.*s", (int)project.len, project.bytes,
			(int)hold->mcp_id.len, hold->mcp_id.bytes);
	else if (hold->kind == HOLD_NEEDS_GRANT && (hold->arm == ARM_NO_ROOT || hold->arm == ARM_ROOT_CHANGED))
		*ret = arena_printf(world->arena, "%s:%.*s:%lld", arm, (int)project.len, project.bytes,
			(long long)world->project.root_revision);
	else if (hold->kind == HOLD_NEEDS_GRANT && is_one)
		*ret = arena_printf(world->arena, "%s:%.*s:%lld", arm, (int)project.len, project.bytes,
			(long long)world->grant.revision);
	return world->arena->failed ? -ENOMEM : 0;
}

static int read_member(
	struct recovering *work, struct recovery_world *place, struct str id, struct recovery_member *ret)
{
	struct world *world = &place->world;
	int r = call_store_result(store_package_find(work->tx, id, &ret->row));

	if (r == 0)
		r = hold_read_json(world->arena, ret->row.hold_json, &ret->hold);
	if (r == 0)
		r = subject_of_row(world, &ret->row, &ret->subject);
	return r == 0 ? name_cause(world, &ret->hold, &ret->cause) : r;
}

static int read_members(struct recovering *work, struct recovery_world *place)
{
	const struct store_queue_filter filter = {.project = place->world.project.id};
	struct store_queue_list rows = {0};
	int r = 0;

	if (place->has_members)
		return 0;
	r = world_read_grants(&place->world);
	if (r == 0)
		r = call_store_result(store_queue_list(
			work->tx, &filter, STORE_QUEUE_BIT(STORE_QUEUE_PACKAGE_HELD), NULL, RECOVERY_LOOK, &rows));
	place->members = ARENA_ARRAY(place->world.arena, rows.count, struct recovery_member);
	if (r == 0 && place->members == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < rows.count; i++) {
		r = read_member(work, place, rows.items[i].package, &place->members[place->member_count]);
		place->member_count += r == 0;
		if (r == -EUCLEAN)
			r = 0; /* damaged: its own item says so, and it shares nothing with others */
	}
	place->has_members = r == 0;
	return r;
}

/* ---- what an approval would open */

static struct precedence_record approval_of(const struct world *world, const struct subject *subject)
{
	return (struct precedence_record){
		.decision = PRECEDENCE_APPROVED,
		.revision = world->project.decision_revision + 1,
		.root_revision = world->project.root_revision,
		.capabilities = {subject->asked, subject->asked_count},
	};
}

static int find_once(struct recovering *work, struct recovery_world *place, const struct subject *subject,
	struct lifecycle_opens *ret)
{
	struct subject approved = *subject;
	struct str *opens = ARENA_NEW(place->world.arena, struct str);
	bool is_held = true;
	int r = opens != NULL ? 0 : -ENOMEM;

	approved.record = approval_of(&place->world, subject);
	approved.is_consumed = false;
	if (r == 0)
		r = recovery_is_held(work, &place->world, &approved, &is_held);
	if (r != 0)
		return r;
	*opens = subject->row->id;
	ret->once = opens;
	ret->once_count = is_held ? 0 : 1;
	return 0;
}

/* An approval adds to one that still counts (2.4). */
static int add_allowed(const struct world *world, struct precedence_record *record)
{
	const struct precedence_set *have = &world->record.capabilities;
	const struct catalog_capability **all = NULL;
	size_t count = 0;

	if (!grant_make_is_live(world))
		return 0;
	all = arena_array(world->arena, have->count + record->capabilities.count, sizeof(struct catalog_capability *));
	if (all == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < record->capabilities.count; i++)
		all[count++] = record->capabilities.items[i];
	for (size_t i = 0; i < have->count; i++)
		if (!precedence_set_has(&record->capabilities, have->items[i]))
			all[count++] = have->items[i];
	record->capabilities = (struct precedence_set){all, count};
	return 0;
}

static int judge_always(struct recovering *work, struct recovery_world *place, const struct subject *subject,
	struct recovery_always *ret)
{
	struct world approved = place->world;
	struct precedence_record record = approval_of(&place->world, subject);
	int r = add_allowed(&place->world, &record);

	approved.has_grant = true;
	approved.record = record;
	ret->asked = subject->asked;
	ret->asked_count = subject->asked_count;
	ret->opens = ARENA_ARRAY(place->world.arena, place->member_count, struct str);
	if (r == 0 && ret->opens == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < place->member_count; i++) {
		const struct recovery_member *member = &place->members[i];
		bool is_held = true;

		if (member->hold.kind == HOLD_NEEDS_GRANT)
			r = recovery_is_held(work, &approved, &member->subject, &is_held);
		if (r == 0 && !is_held)
			ret->opens[ret->opens_count++] = member->row.id;
	}
	return r;
}

static bool is_same_set(const struct recovery_always *known, const struct subject *subject)
{
	bool is_same = known->asked_count == subject->asked_count;

	for (size_t i = 0; is_same && i < known->asked_count; i++)
		is_same = known->asked[i] == subject->asked[i];
	return is_same;
}

int recovery_find_opens(struct recovering *work, struct recovery_world *place, const struct subject *subject,
	struct lifecycle_opens *ret)
{
	struct recovery_always *always = NULL;
	int r = read_members(work, place);

	if (r == 0)
		r = find_once(work, place, subject, ret);
	always = place->always;
	while (always != NULL && !is_same_set(always, subject))
		always = always->next;
	if (r == 0 && always == NULL) {
		always = ARENA_NEW(place->world.arena, struct recovery_always);
		r = always != NULL ? judge_always(work, place, subject, always) : -ENOMEM;
		if (r == 0) {
			always->next = place->always;
			place->always = always;
		}
	}
	if (r != 0)
		return r;
	ret->always = always->opens;
	ret->always_count = always->opens_count;
	return recovery_say_opens(&place->world, subject->row, ret);
}

/* ---- causes */

static const struct lifecycle_action *find_action(const struct lifecycle_action_list *actions, enum action_id id)
{
	for (size_t i = 0; i < actions->count; i++)
		if (actions->items[i].id == id)
			return &actions->items[i];
	return NULL;
}

static bool is_in(const struct catalog_capability *const *items, size_t count, const struct catalog_capability *item)
{
	const struct precedence_set set = {items, count};

	return precedence_set_has(&set, item);
}

/* What all of the cause ask for, in the order in which they wait. */
static int merge_asked(struct recovery_world *place, struct str key, struct lifecycle_action *action)
{
	struct world *world = &place->world;
	size_t limit = world->catalog->capability_count;
	const struct catalog_capability **all = arena_array(world->arena, limit, sizeof(struct catalog_capability *));
	struct str *names = ARENA_ARRAY(world->arena, limit, struct str);
	struct precedence_set own = {0};
	size_t count = 0;
	int r = all != NULL && names != NULL ? self_approval_reads(world, &own) : -ENOMEM;

	if (r != 0)
		return r;
	for (size_t i = 0; i < place->member_count; i++) {
		const struct recovery_member *member = &place->members[i];

		for (size_t k = 0; str_equal(member->cause, key) && k < member->subject.asked_count; k++)
			if (!is_in(all, count, member->subject.asked[k])) {
				action->is_self_approval =
					action->is_self_approval || precedence_set_has(&own, member->subject.asked[k]);
				names[count] = member->subject.asked[k]->name;
				all[count++] = member->subject.asked[k];
			}
	}
	action->body.capabilities = names;
	action->body.capability_count = count;
	return 0;
}

static int make_cause(struct recovery_world *place, struct str key, size_t count,
	const struct lifecycle_recovery_item *item, struct lifecycle_cause *ret)
{
	const struct world *world = &place->world;
	enum action_id id = item->hold.kind == HOLD_NEEDS_SETUP ? ACTION_CHECK_SERVER
		: item->arm == ARM_NO_ROOT                      ? ACTION_SET_ROOT
								: ACTION_APPROVE_ALWAYS;
	const struct lifecycle_action *action = find_action(&item->actions, id);
	const struct str headline = item->state.words.headline;

	*ret = (struct lifecycle_cause){.key = key, .count = count};
	ret->headline = arena_printf(world->arena, "%.*s in %.*s", (int)headline.len, headline.bytes,
		(int)world->project.id.len, world->project.id.bytes);
	ret->actions.items = ARENA_NEW(world->arena, struct lifecycle_action);
	if (ret->headline.bytes == NULL || ret->actions.items == NULL)
		return -ENOMEM;
	if (action == NULL)
		return 0;
	ret->actions.items[0] = *action;
	ret->actions.count = 1;
	if (recovery_say_cause(&place->world, id, ret) != 0)
		return -ENOMEM;
	return id == ACTION_APPROVE_ALWAYS ? merge_asked(place, key, &ret->actions.items[0]) : 0;
}

int recovery_find_cause(struct recovering *work, struct recovery_world *place, struct lifecycle_recovery_item *item)
{
	struct recovery_cause *cause = place->causes;
	struct str key = {0};
	size_t count = 0;
	int r = name_cause(&place->world, &item->hold, &key);

	if (r == 0 && key.bytes != NULL)
		r = read_members(work, place);
	for (size_t i = 0; r == 0 && key.bytes != NULL && i < place->member_count; i++)
		count += str_equal(place->members[i].cause, key);
	if (r != 0 || count < 2)
		return r;
	while (cause != NULL && !str_equal(cause->cause.key, key))
		cause = cause->next;
	if (cause == NULL) {
		cause = ARENA_NEW(place->world.arena, struct recovery_cause);
		r = cause != NULL ? make_cause(place, key, count, item, &cause->cause) : -ENOMEM;
		if (r != 0)
			return r;
		cause->next = place->causes;
		place->causes = cause;
	}
	item->cause = &cause->cause;
	return 0;
}
