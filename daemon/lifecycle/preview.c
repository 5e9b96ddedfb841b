#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/preview_entry.h"
#include "daemon/lifecycle/preview_log.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/surface.h"
#include "policy/cleanup.h"

/* What one try works on. */
struct previewing {
	struct lifecycle_preview *preview;
	struct world world;
	struct store_task task;
	struct store_package_list packages;
	struct store_dependency_list dependencies;
	struct judged_context context;
	struct verdict *verdicts;
};

static void previewing_drop(struct previewing *previewing)
{
	world_close(&previewing->world);
}

/* Only unfinished packages are asked for anything again: superseded, cancelled and completed ones take no part. */
static size_t count_unfinished(const struct store_package_list *packages)
{
	size_t count = 0;

	for (size_t i = 0; i < packages->count; i++)
		count += packages->items[i].end == STORE_PACKAGE_UNFINISHED;
	return count;
}

static int open_task(struct store_tx *tx, struct previewing *previewing)
{
	struct lifecycle_preview *preview = previewing->preview;
	int r = store_task_find(tx, preview->task, &previewing->task);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	preview->plan_revision = previewing->task.plan_revision;
	preview->project = previewing->task.project;
	previewing->context.task = &previewing->task;
	previewing->context.packages = &previewing->packages;
	previewing->context.dependencies = &previewing->dependencies;
	r = call_store_result(store_package_list_of_task(tx, preview->task, false, &previewing->packages));
	return r != 0 ? r : call_store_result(store_dependency_list(tx, preview->task, &previewing->dependencies));
}

static int open_preview(struct store_tx *tx, struct previewing *previewing)
{
	struct lifecycle_preview *preview = previewing->preview;
	int r = 0;

	preview->plan_revision = 0;
	if (preview->plan != NULL)
		preview->project = arena_str(preview->call.arena, preview->plan->project);
	else
		r = open_task(tx, previewing);
	if (r == 0 && preview->project.bytes == NULL)
		r = -ENOMEM;
	if (r == 0 && !lifecycle_scope_has(&preview->call.scope, preview->project))
		r = LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = world_open(tx, &preview->call, preview->project, &previewing->world);
	previewing->world.asks = true;
	return r;
}

/* Adds a record unless the same one was written just now. */
static int note(struct previewing *previewing, const struct verdict *verdict, const struct lifecycle_judged *judged)
{
	struct lifecycle_preview *preview = previewing->preview;
	struct lifecycle *lifecycle = preview->call.lifecycle;
	struct str subject = verdict->subject.row != NULL ? verdict->subject.row->id : verdict->subject.package->digest;

	if (preview_log_folds(lifecycle->previews, subject, verdict->decision_id, preview->call.now))
		return 0;
	if (preview->entry == NULL)
		preview->entry = preview_entry_new();
	if (preview->entry == NULL)
		return -ENOMEM;
	return preview_entry_add(preview->entry, &previewing->world, verdict, &previewing->context, judged);
}

static int judge(struct previewing *previewing, struct subject *subject)
{
	struct lifecycle_judgement *judgement = &previewing->preview->judgement;
	struct verdict *verdict = &previewing->verdicts[judgement->package_count];
	struct lifecycle_judged *judged = &judgement->packages[judgement->package_count];
	int r = world_judge(&previewing->world, subject, verdict);

	if (r == 0)
		r = judged_make(&previewing->world, verdict, &previewing->context, judged);
	if (r != 0)
		return r;
	judgement->package_count++;
	return note(previewing, verdict, judged);
}

static int judge_stored(struct previewing *previewing)
{
	int r = previewing->packages.count > 1 ? world_read_grants(&previewing->world) : 0;

	for (size_t i = 0; r == 0 && i < previewing->packages.count; i++) {
		struct subject subject = {0};

		if (previewing->packages.items[i].end != STORE_PACKAGE_UNFINISHED)
			continue;
		r = subject_of_row(&previewing->world, &previewing->packages.items[i], &subject);
		if (r == 0)
			r = judge(previewing, &subject);
	}
	return r;
}

static int judge_plan(struct previewing *previewing)
{
	const struct plan *plan = previewing->preview->plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->package_count; i++) {
		struct subject subject = {0};

		r = subject_of_plan(&previewing->world, &plan->packages[i], &subject);
		if (r == 0)
			r = judge(previewing, &subject);
	}
	return r;
}

static int judge_all(struct previewing *previewing)
{
	struct lifecycle_preview *preview = previewing->preview;
	struct arena *arena = previewing->world.arena;
	size_t count = preview->plan != NULL ? preview->plan->package_count : count_unfinished(&previewing->packages);
	int r = 0;

	preview->judgement =
		(struct lifecycle_judgement){.packages = ARENA_ARRAY(arena, count, struct lifecycle_judged)};
	previewing->verdicts = ARENA_ARRAY(arena, count, struct verdict);
	if (preview->judgement.packages == NULL || previewing->verdicts == NULL)
		return -ENOMEM;
	r = preview->plan != NULL ? judge_plan(previewing) : judge_stored(previewing);
	return r != 0 ? r : judged_fold(&previewing->world, previewing->verdicts, &preview->judgement);
}

static void drop_entry(struct lifecycle_preview *preview)
{
	preview_entry_free(preview->entry);
	preview->entry = NULL;
}

static int run_preview(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_preview *preview = (struct lifecycle_preview *)call;
	CLEANUP(previewing_drop)
	struct previewing previewing = {
		.preview = preview, .context = {.surface = STORE_SURFACE_PREVIEW, .has_result = true}};
	int r = 0;

	drop_entry(preview);
	r = open_preview(tx, &previewing);
	return r != 0 ? r : judge_all(&previewing);
}

/* What was asked is written with the records; without any it is written all the same, so that it needn't be asked again. */
static int finish_preview(struct lifecycle_call *call, int result)
{
	struct lifecycle_preview *preview = (struct lifecycle_preview *)call;
	int r = result;

	if (r == 0 && preview->entry == NULL && call->asked != NULL) {
		preview->entry = preview_entry_new();
		r = preview->entry != NULL ? 0 : -ENOMEM;
	}
	if (r == 0 && preview->entry != NULL) {
		r = preview_log_add(call->lifecycle->previews, call, preview->entry);
		if (r == 0)
			preview->entry = NULL;
	}
	drop_entry(preview);
	return r;
}

/* [preview] durable: the records are in the transaction that judges. */
static int run_durable(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_preview *preview = (struct lifecycle_preview *)call;
	int r = run_preview(tx, call);

	if (r == 0 && preview->entry != NULL) {
		struct lifecycle_asked *asked = call->asked;

		r = preview_entry_close(preview->entry, call);
		if (r == 0)
			r = preview_entry_write(tx, call->lifecycle, preview->entry);
		preview->entry->asked = NULL;
		call->asked = asked;
	}
	drop_entry(preview);
	return r;
}

int lifecycle_preview(struct lifecycle *lifecycle, struct lifecycle_preview *call)
{
	call->entry = NULL;
	if (lifecycle->durable_previews)
		return call_write(lifecycle, &call->call, run_durable);
	return call_read(lifecycle, &call->call, run_preview, finish_preview);
}
