#include "daemon/lifecycle/grant_make.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "policy/cleanup.h"
#include "policy/redact.h"
#include "policy/text.h"

enum { SET_CEILING = 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- sets */

int grant_make_set(struct world *world, struct grant_set *ret)
{
	ret->count = 0;
	ret->items = arena_array(world->arena, world->catalog->capability_count, sizeof(struct catalog_capability *));
	return ret->items != NULL ? 0 : -ENOMEM;
}

struct precedence_set grant_make_view(const struct grant_set *set)
{
	return (struct precedence_set){set->items, set->count};
}

void grant_make_add(struct grant_set *set, const struct precedence_set *more)
{
	for (size_t i = 0; i < more->count; i++) {
		struct precedence_set now = grant_make_view(set);

		if (!precedence_set_has(&now, more->items[i]))
			set->items[set->count++] = more->items[i];
	}
}

void grant_make_remove(struct grant_set *set, const struct precedence_set *less)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (!precedence_set_has(less, set->items[i]))
			set->items[kept++] = set->items[i];
	set->count = kept;
}

static int compare_names(const void *a, const void *b)
{
	const struct catalog_capability *const *first = a;
	const struct catalog_capability *const *second = b;

	return str_compare((*first)->name, (*second)->name);
}

int grant_make_names(struct world *world, struct grant_set *set, struct str *ret_json, const struct str **ret_names,
	size_t *ret_count)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct str *names = ARENA_ARRAY(world->arena, set->count, struct str);
	struct json_out out;

	buf_init(&buf, SET_CEILING);
	if (names == NULL)
		return -ENOMEM;
	if (set->count > 1)
		qsort(set->items, set->count, sizeof(struct catalog_capability *), compare_names);
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < set->count; i++) {
		names[i] = set->items[i]->name;
		json_out_str(&out, names[i]);
	}
	json_out_end_array(&out);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	*ret_json = arena_str(world->arena, buf_str(&buf));
	*ret_names = names;
	*ret_count = set->count;
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

int grant_make_find(struct world *world, struct str text, const struct catalog_capability **ret_capability)
{
	const struct catalog_mcp *owner = NULL;
	struct capability capability = {0};
	struct str normalized = {0};
	int r = 0;

	*ret_capability = NULL;
	if (!text_is_safe(text))
		return 0;
	normalized = text_normalize(world->arena, text);
	if (normalized.bytes == NULL)
		return -ENOMEM;
	owner = capability_owner(world->catalog, normalized);
	if (owner == NULL || capability_delivery(owner) != DELIVERY_BOUNDED_CONTEXT_PACKET)
		return 0;
	r = capability_read(world->arena, world->catalog, owner, text, &capability);
	if (r == 0 && capability.class == CLASS_BOUNDED_READ_ONLY)
		*ret_capability = capability.known;
	return r;
}

/* ---- the request and the record */

void grant_make_check(const struct lifecycle_grant *grant, int64_t now, struct fault_list *faults)
{
	bool is_approval = grant->decision == STORE_GRANT_APPROVED;

	if (!is_approval && grant->expires_at != 0)
		fault_list_add(faults, "is for approvals only", "/expiresAt");
	else if (grant->expires_at != 0 && grant->expires_at <= now)
		fault_list_add(faults, "must be a time to come", "/expiresAt");
	if (!is_approval && grant->has_capabilities)
		fault_list_add(faults, "is for approvals only", "/capabilities");
	if (is_approval && grant->root_revision < 0)
		fault_list_add(faults, "must be given with an approval", "/rootRevision");
	if (grant->replace && (!is_approval || grant->package.bytes != NULL))
		fault_list_add(faults, "is for a project's approvals only", "/replace");
	if (grant->expected_revision < 0)
		fault_list_add(faults, "must be a revision", "/expectedRevision");
}

int grant_make_refusal(struct world *world, const struct store_grant *record, int64_t revision, int result)
{
	struct lifecycle_refusal *refusal = &world->call->refusal;

	refusal->revision = revision;
	if (record != NULL) {
		refusal->actor = record->actor;
		refusal->at = record->at;
		refusal->reason = record->reason;
	}
	return result;
}

bool grant_make_is_live(const struct world *world)
{
	return world->record.decision == PRECEDENCE_APPROVED && !world->record.is_expired &&
		world->record.root_revision == world->project.root_revision;
}

/* Used up, and by a run that is over: its live run may still read with it, until it is taken back (2.5). */
bool grant_make_is_spent(const struct subject *subject)
{
	struct str live = subject->row->live_run;

	return subject->is_consumed && (live.bytes == NULL || !str_equal(live, subject->grant.used_by));
}

bool grant_make_is_revocable(const struct world *world, const struct subject *subject)
{
	return subject->has_grant && subject->grant.decision == STORE_GRANT_APPROVED && !grant_make_is_spent(subject) &&
		!subject->grant.expired && subject->grant.root_revision == world->project.root_revision;
}

int grant_make_append(struct world *world, struct lifecycle_grant *grant, struct str task, struct str dropped_json,
	int64_t root_revision)
{
	struct store_grant row = {
		.id = store_id_new(world->arena, "grt_"),
		.project = world->project.id,
		.package = grant->package,
		.decision = grant->decision,
		.capabilities_json = grant->grant.capabilities_json,
		.dropped_json = dropped_json,
		.root_revision = root_revision,
		.expires_at = grant->expires_at,
		.actor = world->call->actor,
		.at = world->call->now,
	};
	int r = row.id.bytes != NULL ? redact_copy(world->arena, grant->reason, REDACT_REASON, &row.reason) : -ENOMEM;

	if (r != 0)
		return r;
	r = store_grant_append(world->tx, &row, grant->expected_revision);
	if (r == STORE_STALE)
		return LIFECYCLE_REVISION_CONFLICT;
	r = call_store_result(r);
	grant->grant = row;
	world->call->due_at = row.expires_at;
	if (r == 0)
		r = event_log_grant(world, &row, task);
	return r != 0 ? r : world_reread(world);
}

int lifecycle_grant(struct lifecycle *lifecycle, struct lifecycle_grant *call)
{
	call->call.is_dry = call->dry_run;
	return call_write(lifecycle, &call->call, call->package.bytes != NULL ? grant_package_run : grant_project_run);
}
