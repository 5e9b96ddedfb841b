#include "daemon/lifecycle/refusal.h"

#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/package_status.h"
#include "policy/cleanup.h"

int refusal_of_archived(const struct world *world)
{
	struct lifecycle_refusal *refusal = &world->call->refusal;

	if (world->project.archived_at == 0)
		return 0;
	refusal->actor = world->project.changed_by;
	refusal->at = world->project.archived_at;
	refusal->reason = world->project.change_reason;
	return LIFECYCLE_PROJECT_ARCHIVED;
}

int refusal_of_condition(
	struct lifecycle_call *call, int64_t revision, const struct store_actor *actor, int64_t at, struct str reason)
{
	call->refusal.revision = revision;
	call->refusal.actor = *actor;
	call->refusal.at = at;
	call->refusal.reason = reason;
	return LIFECYCLE_PRECONDITION_FAILED;
}

static struct str read_reason(struct arena *arena, struct str payload)
{
	CLEANUP(json_drop) json_t *object = json_loadb(payload.bytes, payload.len, JSON_ALLOW_NUL, NULL);
	const json_t *reason = json_object_get(object, "reason");

	if (!json_is_string(reason))
		return (struct str){0};
	return arena_str(arena, (struct str){json_string_value(reason), json_string_length(reason)});
}

/* One that nothing has happened to is as it was submitted. */
int refusal_of_package(struct store_tx *tx, struct lifecycle_call *call, const struct store_package *row, int result)
{
	const struct store_event_filter filter = {
		.package = row->id, .type = STR("package.status"), .newest_first = true};
	struct lifecycle_refusal *refusal = &call->refusal;
	const char *word = package_status_name(package_status_of(row));
	struct store_event_list found = {0};
	int r = call_store_result(store_event_list(tx, &filter, 0, 1, &found));

	if (r != 0)
		return r;
	refusal->status = (struct str){word, strlen(word)};
	refusal->actor = found.count > 0 ? found.items[0].actor : row->submitted_by;
	refusal->at = found.count > 0 ? found.items[0].at : row->created_at;
	if (found.count > 0)
		refusal->reason = read_reason(store_tx_arena(tx), found.items[0].payload_json);
	return result;
}
