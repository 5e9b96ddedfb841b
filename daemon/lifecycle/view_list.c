#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/scope_json.h"
#include "daemon/lifecycle/view.h"

/* One list: where it begins, how long it is, and the filter with the reader's projects. */
struct listing {
	const struct lifecycle_reader *reader;
	struct str after;
	int64_t from;
	size_t limit;
	void *filter;
	void *ret;
};

static int list(const struct listing *listing, int (*run)(struct store_tx *tx, void *arg))
{
	const struct lifecycle_reader *reader = listing->reader;
	struct listing copy = *listing;
	int r = store_read(reader->lifecycle->store, reader->arena, run, &copy);

	return r < 0 ? call_store_result(r) : r;
}

static int run_projects(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	struct str projects = {0};
	int r = scope_json(store_tx_arena(tx), &listing->reader->scope, &projects);

	return r != 0
		? r
		: call_store_result(store_project_list(tx, projects, listing->after, listing->limit, listing->ret));
}

int lifecycle_list_projects(
	const struct lifecycle_reader *reader, struct str after, size_t limit, struct store_project_list *ret)
{
	return list(&(struct listing){.reader = reader, .after = after, .limit = limit, .ret = ret}, run_projects);
}

static int run_tasks(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	struct store_task_filter *filter = listing->filter;
	int r = scope_json(store_tx_arena(tx), &listing->reader->scope, &filter->projects_json);

	return r != 0 ? r : call_store_result(store_task_list(tx, filter, listing->from, listing->limit, listing->ret));
}

int lifecycle_list_tasks(const struct lifecycle_reader *reader, struct store_task_filter filter, int64_t before,
	size_t limit, struct store_task_list *ret)
{
	return list(&(struct listing){.reader = reader, .from = before, .limit = limit, .filter = &filter, .ret = ret},
		run_tasks);
}

static int run_runs(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	struct store_run_filter *filter = listing->filter;
	int r = scope_json(store_tx_arena(tx), &listing->reader->scope, &filter->projects_json);

	return r != 0 ? r : call_store_result(store_run_list(tx, filter, listing->from, listing->limit, listing->ret));
}

int lifecycle_list_runs(const struct lifecycle_reader *reader, struct store_run_filter filter, int64_t before,
	size_t limit, struct store_run_list *ret)
{
	return list(&(struct listing){.reader = reader, .from = before, .limit = limit, .filter = &filter, .ret = ret},
		run_runs);
}

static int run_grants(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	struct store_grant_filter *filter = listing->filter;
	int r = scope_json(store_tx_arena(tx), &listing->reader->scope, &filter->projects_json);

	return r != 0 ? r
		      : call_store_result(store_grant_list(tx, filter, listing->from, listing->limit, listing->ret));
}

int lifecycle_list_grants(const struct lifecycle_reader *reader, struct store_grant_filter filter, int64_t before,
	size_t limit, struct store_grant_list *ret)
{
	return list(&(struct listing){.reader = reader, .from = before, .limit = limit, .filter = &filter, .ret = ret},
		run_grants);
}

/* Whether the task and the package of a timeline are there to be seen, and what the story of the latter is about. */
static int check_seen(struct store_tx *tx, const struct listing *listing, struct store_event_story *ret_story)
{
	const struct store_event_filter *filter = listing->filter;
	struct store_package package = {0};
	struct store_task task = {0};
	int r = 0;

	if (filter->package.bytes != NULL) {
		r = store_package_find(tx, filter->package, &package);
		if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&listing->reader->scope, package.project)))
			return LIFECYCLE_NOT_FOUND;
		*ret_story = (struct store_event_story){package.id, package.task, package.project, package.created_at};
	}
	if (r == 0 && filter->task.bytes != NULL) {
		r = store_task_find(tx, filter->task, &task);
		if (r == STORE_ABSENT || (r == 0 && !lifecycle_scope_has(&listing->reader->scope, task.project)))
			return LIFECYCLE_NOT_FOUND;
	}
	return call_store_result(r);
}

static int run_events(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	struct store_event_filter *filter = listing->filter;
	struct store_event_story story = {0};
	struct store_event_list events = {0};
	int r = check_seen(tx, listing, &story);

	if (r == 0)
		r = scope_json(store_tx_arena(tx), &listing->reader->scope, &filter->projects_json);
	if (r == 0)
		r = call_store_result(story.package.bytes != NULL
				? store_event_list_story(tx, &story, listing->from, listing->limit, &events)
				: store_event_list(tx, filter, listing->from, listing->limit, &events));
	return r != 0 ? r : lifecycle_tell(tx, &events, story.package, listing->ret);
}

int lifecycle_list_events(const struct lifecycle_reader *reader, struct store_event_filter filter, int64_t from,
	size_t limit, struct lifecycle_told *ret)
{
	return list(&(struct listing){.reader = reader, .from = from, .limit = limit, .filter = &filter, .ret = ret},
		run_events);
}

static int run_history(struct store_tx *tx, void *arg)
{
	struct listing *listing = arg;
	const struct store_health *row = listing->filter;

	if (!lifecycle_scope_has(&listing->reader->scope, row->project))
		return LIFECYCLE_NOT_FOUND;
	return call_store_result(
		store_event_list_of_server(tx, row->project, row->mcp_id, listing->limit, listing->ret));
}

int lifecycle_list_health_history(const struct lifecycle_reader *reader, struct str project, struct str mcp_id,
	size_t limit, struct store_event_list *ret)
{
	struct store_health row = {.project = project, .mcp_id = mcp_id};

	return list(&(struct listing){.reader = reader, .limit = limit, .filter = &row, .ret = ret}, run_history);
}
