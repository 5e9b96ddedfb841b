#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/claim.h"
#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/met.h"
#include "daemon/lifecycle/reconcile.h"
#include "daemon/lifecycle/refusal.h"
#include "daemon/lifecycle/scope_json.h"
#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/view_make.h"
#include "policy/cleanup.h"

enum { CLAIM_PAGE = 20 };

/* What one try works on: the worlds of the projects that were met, and one package at a time. */
struct handing {
	struct lifecycle_handoff *handoff;
	struct store_tx *tx;
	struct world *worlds;
	struct store_task task;
	struct store_package_list packages; /* of that task */
	struct store_dependency_list dependencies;
	struct judged_context context;
};

static void handing_drop(struct handing *handing)
{
	for (struct world *world = handing->worlds; world != NULL; world = world->next)
		world_close(world);
}

static int find_world(struct handing *handing, struct str project, struct world **ret)
{
	struct world *world = handing->worlds;
	int r = 0;

	while (world != NULL && !str_equal(world->project.id, project))
		world = world->next;
	*ret = world;
	if (world != NULL)
		return 0;
	world = ARENA_NEW(handing->handoff->call.arena, struct world);
	if (world == NULL)
		return -ENOMEM;
	r = world_open(handing->tx, &handing->handoff->call, project, world);
	world->asks = true;
	world->next = handing->worlds;
	handing->worlds = world;
	*ret = world;
	return r != 0 ? r : reconcile_asked(world);
}

static int open_context(struct handing *handing, struct str task)
{
	int r = 0;

	if (handing->task.id.bytes != NULL && str_equal(handing->task.id, task))
		return 0;
	r = call_store_result(store_task_find(handing->tx, task, &handing->task));
	if (r == 0)
		r = call_store_result(store_package_list_of_task(handing->tx, task, false, &handing->packages));
	if (r == 0)
		r = call_store_result(store_dependency_list(handing->tx, task, &handing->dependencies));
	return r;
}

/* Decision, event, hold and the mark on the package. A package that is passed over tells nothing twice: polling for the next one
 * must not fill the log.
 */
static int record(struct handing *handing, struct world *world, struct store_package *row,
	const struct verdict *verdict, bool is_asked_for)
{
	enum reconcile_change change = RECONCILE_SAME;
	bool is_known = row->handoff_decision.bytes != NULL && str_equal(row->handoff_decision, verdict->decision_id);
	int r = reconcile_apply(world, row, verdict, &change);

	if (r != 0 || (is_known && !is_asked_for))
		return r;
	r = verdict_store(world, verdict);
	if (r == 0)
		r = judged_record(world, verdict, &handing->context, &handing->handoff->judged);
	row->handoff_decision = verdict->decision_id;
	return r != 0 ? r : call_store_result(store_package_update(handing->tx, row));
}

static int give_config(struct handing *handing)
{
	struct lifecycle_handoff *handoff = handing->handoff;
	int r = 0;

	handoff->config = (struct lifecycle_run_config){0};
	if (!handoff->wants_config)
		return 0;
	r = call_store_result(store_run_find(handing->tx, handoff->run.row.id, &handoff->config.run));
	return r != 0 ? r : run_config_make(handing->tx, handoff->call.arena, &handoff->config);
}

/* LIFECYCLE_DONE: claimed; LIFECYCLE_ADMISSION_BLOCKED: it has its hold. */
static int try_package(struct handing *handing, struct store_package *row, bool is_asked_for)
{
	struct lifecycle_handoff *handoff = handing->handoff;
	struct world *world = NULL;
	struct subject subject = {0};
	struct verdict verdict = {0};
	int r = find_world(handing, row->project, &world);

	if (r == 0)
		r = open_context(handing, row->task);
	if (r == 0)
		r = subject_of_row(world, row, &subject);
	if (r == 0)
		r = world_judge(world, &subject, &verdict);
	if (r == 0)
		r = judged_make(world, &verdict, &handing->context, &handoff->judged);
	if (r == 0)
		r = judged_health(world, &verdict, 1, &handoff->health);
	if (r == 0)
		r = record(handing, world, row, &verdict, is_asked_for || !verdict.is_held);
	if (r != 0)
		return r;
	if (verdict.is_held)
		return LIFECYCLE_ADMISSION_BLOCKED;
	r = claim_package(world, row, &verdict, handoff);
	if (r == 0)
		r = give_config(handing);
	return r != 0 ? r : view_make_package(handing->tx, world->catalog, row->id, &handoff->view);
}

/* ---- one package */

/* What waits for others is pending, held or not. */
static int refuse_package(struct handing *handing, const struct store_package *row)
{
	const char *pending = package_status_name(PACKAGE_PENDING);
	struct lifecycle_call *call = &handing->handoff->call;
	int r = refusal_of_package(handing->tx, call, row, LIFECYCLE_PACKAGE_STATUS);

	if (package_status_of(row) == PACKAGE_BLOCKED)
		call->refusal.status = (struct str){pending, strlen(pending)};
	return r;
}

static int refuse_task(struct handing *handing)
{
	struct lifecycle_refusal *refusal = &handing->handoff->call.refusal;
	const char *word = store_task_status_text(handing->task.status);

	refusal->status = (struct str){word, strlen(word)};
	refusal->actor = handing->task.status_by;
	refusal->at = handing->task.status_at;
	refusal->reason = handing->task.status_reason;
	return LIFECYCLE_TASK_STATUS;
}

static int find_package(struct handing *handing, struct store_package *ret)
{
	struct lifecycle_handoff *handoff = handing->handoff;
	struct world *world = NULL;
	int r = store_package_find(handing->tx, handoff->package, ret);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&handoff->call.scope, ret->project)))
		return LIFECYCLE_NOT_FOUND;
	/* What was asked may change its hold: before it is read. */
	if (r == 0 && handoff->call.asked != NULL) {
		r = find_world(handing, ret->project, &world);
		return r != 0 ? r : call_store_result(store_package_find(handing->tx, handoff->package, ret));
	}
	return call_store_result(r);
}

static int hand_package(struct handing *handing)
{
	struct store_package row = {0};
	int r = find_package(handing, &row);

	if (r == 0)
		r = open_context(handing, row.task);
	if (r != 0)
		return r;
	if (row.end != STORE_PACKAGE_UNFINISHED)
		return refuse_package(handing, &row);
	if (row.task_status != STORE_TASK_APPROVED)
		return refuse_task(handing);
	if (package_status_of(&row) == PACKAGE_RUNNING || row.open_dependencies > 0)
		return refuse_package(handing, &row);
	r = try_package(handing, &row, true);
	if (r == LIFECYCLE_ADMISSION_BLOCKED)
		call_keep(&handing->handoff->call);
	return r;
}

/* ---- the next one */

/* Of all tasks: a project that can't be judged is passed over. */
static bool passes_over(const struct handing *handing)
{
	return handing->handoff->project.bytes == NULL && handing->handoff->task.bytes == NULL;
}

static int give_up(struct handing *handing, struct str project, int result)
{
	return result == -EUCLEAN && passes_over(handing) ? met_give_up(&handing->handoff->call, project, result)
							  : result;
}

static bool is_passed_over(const struct handing *handing, struct str project)
{
	return passes_over(handing) && met_is_given_up(&handing->handoff->call, project);
}

static int try_page(struct handing *handing, const struct store_package_list *page)
{
	int r = LIFECYCLE_ADMISSION_BLOCKED;

	for (size_t i = 0; r == LIFECYCLE_ADMISSION_BLOCKED && i < page->count; i++) {
		struct store_package *row = &page->items[i];

		if (!is_passed_over(handing, row->project))
			r = try_package(handing, row, false);
		if (r < 0)
			return give_up(handing, row->project, r);
	}
	return r;
}

/* Holds of those that are passed over are kept. */
static int none_left(struct handing *handing)
{
	call_keep(&handing->handoff->call);
	return LIFECYCLE_NOTHING_READY;
}

/* Every asked project's holds are settled before packages are listed. */
static int settle_asked(struct handing *handing)
{
	const struct asked_root *root = asked_first(&handing->handoff->call);
	int r = 0;

	for (; r == 0 && root != NULL; root = root->next) {
		struct str project = {root->project, strlen(root->project)};
		struct world *world = NULL;

		if (!is_passed_over(handing, project))
			r = find_world(handing, project, &world);
		if (r < 0)
			return give_up(handing, project, r);
	}
	return r;
}

static int hand_next(struct handing *handing)
{
	struct lifecycle_handoff *handoff = handing->handoff;
	struct store_claim_filter filter = {
		.project = handoff->project, .task = handoff->task, .agent = handoff->agent};
	struct store_claim_cursor cursor = {0};
	struct store_package_list page = {0};
	int r = scope_json(handoff->call.arena, &handoff->call.scope, &filter.projects_json);

	if (r == 0)
		r = settle_asked(handing);
	while (r == 0) {
		r = call_store_result(store_package_list_claimable(handing->tx, &filter, &cursor, CLAIM_PAGE, &page));
		if (r != 0)
			return r;
		if (page.count == 0)
			return none_left(handing);
		cursor = store_claim_cursor_after(&page.items[page.count - 1]);
		r = try_page(handing, &page);
		if (r != LIFECYCLE_ADMISSION_BLOCKED)
			return r;
		r = 0;
	}
	return r;
}

/* The next one of a task needs the task: an unknown or unapproved one isn't empty. */
static int hand_next_of_task(struct handing *handing)
{
	struct lifecycle_handoff *handoff = handing->handoff;
	int r = store_task_find(handing->tx, handoff->task, &handing->task);

	if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&handoff->call.scope, handing->task.project)))
		return LIFECYCLE_NOT_FOUND;
	if (r != 0)
		return call_store_result(r);
	if (handing->task.status != STORE_TASK_APPROVED)
		return refuse_task(handing);
	handing->task = (struct store_task){0};
	return hand_next(handing);
}

static int run_handoff(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_handoff *handoff = (struct lifecycle_handoff *)call;
	CLEANUP(handing_drop)
	struct handing handing = {.handoff = handoff, .tx = tx, .context = {.surface = STORE_SURFACE_HANDOFF}};

	handing.context.task = &handing.task;
	handing.context.packages = &handing.packages;
	handing.context.dependencies = &handing.dependencies;
	if (handoff->package.bytes != NULL)
		return hand_package(&handing);
	return handoff->task.bytes != NULL ? hand_next_of_task(&handing) : hand_next(&handing);
}

int lifecycle_handoff(struct lifecycle *lifecycle, struct lifecycle_handoff *call)
{
	return call_write(lifecycle, &call->call, run_handoff);
}
