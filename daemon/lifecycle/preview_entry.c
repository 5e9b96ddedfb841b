#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/preview_entry.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/store/decision.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"

enum { ENTRY_CEILING = 64 * 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

struct preview_entry *preview_entry_new(void)
{
	struct preview_entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	arena_init(&entry->arena, ENTRY_CEILING);
	entry->last = &entry->first;
	return entry;
}

void preview_entry_free(struct preview_entry *entry)
{
	if (entry == NULL)
		return;
	asked_free(entry->asked);
	arena_release(&entry->arena);
	free(entry);
}

static int copy_decision(struct arena *arena, const struct store_decision *from, struct store_decision *to)
{
	*to = *from;
	to->id = arena_str(arena, from->id);
	to->inputs_json = arena_str(arena, from->inputs_json);
	to->result_json = arena_str(arena, from->result_json);
	to->result_digest = arena_str(arena, from->result_digest);
	to->catalog_digest = arena_str(arena, from->catalog_digest);
	to->package_digest = arena_str(arena, from->package_digest);
	return arena->failed ? -ENOMEM : 0;
}

static int copy_event(struct arena *arena, const struct store_event *from, struct store_event *to)
{
	*to = *from;
	to->subject_id = arena_str(arena, from->subject_id);
	to->project = arena_str(arena, from->project);
	to->task = arena_str(arena, from->task);
	to->package = arena_str(arena, from->package);
	to->payload_json = arena_str(arena, from->payload_json);
	to->decision = arena_str(arena, from->decision);
	return arena->failed ? -ENOMEM : 0;
}

static int add_copy(struct preview_entry *entry, const struct store_decision *decision, const struct store_event *event,
	struct str document)
{
	struct preview_record *record = ARENA_NEW(&entry->arena, struct preview_record);
	int r = record != NULL ? copy_decision(&entry->arena, decision, &record->decision) : -ENOMEM;

	if (r == 0)
		r = copy_event(&entry->arena, event, &record->event);
	if (r != 0)
		return r;
	record->document = arena_str(&entry->arena, document);
	if (document.bytes != NULL && record->document.bytes == NULL)
		return -ENOMEM;
	*entry->last = record;
	entry->last = &record->next;
	return 0;
}

int preview_entry_add(struct preview_entry *entry, struct world *world, const struct verdict *verdict,
	const struct judged_context *context, const struct lifecycle_judged *judged)
{
	CLEANUP(buf_drop) struct buf result = {0};
	CLEANUP(buf_drop) struct buf payload = {0};
	const struct store_package *row = verdict->subject.row;
	char digest[DIGEST_TEXT_SIZE];
	struct store_decision decision;
	struct store_event event;
	int r = 0;

	buf_init(&result, ENTRY_CEILING);
	buf_init(&payload, ENTRY_CEILING);
	r = verdict_result(verdict, &result);
	if (r == 0)
		r = judged_payload(world, verdict, context, judged, &payload);
	if (r != 0)
		return r;
	digest_text(buf_str(&result), digest);
	decision = (struct store_decision){
		.id = verdict->decision_id,
		.inputs_json = verdict->inputs_json,
		.result_json = buf_str(&result),
		.result_digest = {digest, strlen(digest)},
		.catalog_digest = world->catalog->digest,
		.package_digest = verdict->subject.package->digest,
		.engine_revision = ADMISSION_ENGINE_REVISION,
	};
	event = (struct store_event){
		.type = judged_event_type(STORE_SURFACE_PREVIEW),
		.subject_kind = row != NULL ? STR("package") : STR("document"),
		.subject_id = row != NULL ? row->id : verdict->subject.package->digest,
		.project = world->project.id,
		.task = row != NULL ? row->task : (struct str){0},
		.package = row != NULL ? row->id : (struct str){0},
		.payload_json = buf_str(&payload),
		.surface = STORE_SURFACE_PREVIEW,
		.decision = verdict->decision_id,
	};
	return add_copy(
		entry, &decision, &event, row == NULL ? verdict->subject.plan->document_bytes : (struct str){0});
}

int preview_entry_close(struct preview_entry *entry, struct lifecycle_call *call)
{
	entry->actor.token = arena_str(&entry->arena, call->actor.token);
	entry->actor.principal = arena_str(&entry->arena, call->actor.principal);
	entry->now = call->now;
	entry->asked = call->asked;
	call->asked = NULL;
	return entry->arena.failed ? -ENOMEM : 0;
}

/* ---- writing */

static int write_health(struct store_tx *tx, struct lifecycle_call *call)
{
	const struct asked_root *root = call->asked != NULL ? call->asked->first : NULL;
	int r = 0;

	for (; r == 0 && root != NULL; root = root->next) {
		CLEANUP(world_close) struct world world = {0};

		r = world_open(tx, call, (struct str){root->project, strlen(root->project)}, &world);
		if (r == 0)
			r = reconcile_asked(&world);
		if (r == LIFECYCLE_NOT_FOUND)
			r = 0;
	}
	return r;
}

static int mark_package(struct store_tx *tx, const struct preview_record *record)
{
	struct store_package row = {0};
	int r = 0;

	if (record->event.package.bytes == NULL)
		return 0;
	r = store_package_find(tx, record->event.package, &row);
	if (r == 0) {
		row.preview_decision = record->decision.id;
		r = store_package_update(tx, &row);
	}
	return call_store_result(r);
}

static int write_record(struct store_tx *tx, const struct preview_entry *entry, const struct preview_record *record)
{
	struct store_decision decision = record->decision;
	struct store_event event = record->event;
	int r = 0;

	decision.created_at = entry->now;
	event.at = entry->now;
	event.actor = entry->actor;
	r = call_store_result(store_decision_put(tx, &decision));
	if (r == 0 && record->document.bytes != NULL)
		r = call_store_result(store_document_put(tx, decision.package_digest, record->document));
	if (r == 0)
		r = call_store_result(store_event_append(tx, &event));
	return r != 0 ? r : mark_package(tx, record);
}

int preview_entry_write(struct store_tx *tx, struct lifecycle *lifecycle, const struct preview_entry *entry)
{
	struct lifecycle_call call = {
		.lifecycle = lifecycle, .actor = entry->actor, .now = entry->now, .asked = entry->asked};
	int r = write_health(tx, &call);

	for (const struct preview_record *record = entry->first; r == 0 && record != NULL; record = record->next)
		r = write_record(tx, entry, record);
	return r;
}
