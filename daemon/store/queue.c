#include "daemon/store/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/store/sql.h"

enum { TEXT_MAX = 1024, COLUMN_MAX = 64 };

/* One list: its rows, and where the members of a row are in them. The planner has no statistics; the indexes that keep the order are
 * named. */
struct list {
	const char *from;
	const char *always; /* conditions */
	const char *sequence;
	const char *since; /* of runs: the end of the lease */
	const char *project;
	const char *task; /* "NULL": of none */
	const char *package;
	const char *run;
};

#define LIVE_RUN "EXISTS (SELECT 1 FROM runs r WHERE r.package_id = p.id AND r.outcome IS NULL)"
#define HELD "p.\"end\" IS NULL AND p.hold_json IS NOT NULL"
#define ROOT_WAITED_FOR                                                                                              \
	"(SELECT min(p.hold_since) FROM packages p JOIN tasks t ON t.id = p.task_id WHERE p.project_id = o.id"       \
	" AND " HELD " AND json_extract(p.hold_json, '$.arm') = 'no_root' AND t.status IN ('proposed', 'approved') " \
	"AND NOT " LIVE_RUN ")"

static const struct list lists[STORE_QUEUE_KIND_COUNT] = {
	[STORE_QUEUE_PACKAGE_HELD] = {"packages p INDEXED BY packages_held CROSS JOIN tasks t ON t.id = p.task_id",
		HELD " AND t.status IN ('proposed', 'approved') AND NOT " LIVE_RUN, "p.sequence", "p.hold_since",
		"p.project_id", "p.task_id", "p.id", "NULL"},
	[STORE_QUEUE_PLAN_WAITS] = {"tasks t INDEXED BY tasks_submitted", "t.status = 'proposed'", "t.sequence",
		"t.submitted_at", "t.project_id", "t.id", "NULL", "NULL"},
	[STORE_QUEUE_PLAN_SENT_BACK] = {"tasks t INDEXED BY tasks_sent_back", "t.status = 'changes_requested'",
		"t.sequence", "t.status_at", "t.project_id", "t.id", "NULL", "NULL"},
	[STORE_QUEUE_PACKAGE_FAILED] = {"packages p INDEXED BY packages_failed CROSS JOIN tasks t ON t.id = p.task_id",
		"p.\"end\" = 'failed' AND t.status IN ('approved', 'failed')", "p.sequence", "p.ended_at",
		"p.project_id", "p.task_id", "p.id", "NULL"},
	[STORE_QUEUE_RUN_SILENT] = {"runs r INDEXED BY runs_by_lease", "r.outcome IS NULL", "r.sequence",
		"r.lease_expires_at", "r.project_id", "r.task_id", "r.package_id", "r.id"},
	[STORE_QUEUE_PROJECT_WITHOUT_ROOT] = {"projects o",
		"o.root_revision = 0 AND o.archived_at IS NULL AND " ROOT_WAITED_FOR " IS NOT NULL", "o.rowid",
		ROOT_WAITED_FOR, "o.id", "NULL", "NULL", "NULL"},
};

/* One project's held packages have an index of their own. */
static const char *from_of(enum store_queue_kind kind, const struct store_queue_filter *filter)
{
	if (kind == STORE_QUEUE_PACKAGE_HELD && filter->project.bytes != NULL)
		return "packages p INDEXED BY packages_held_of_project CROSS JOIN tasks t ON t.id = p.task_id";
	return lists[kind].from;
}

static void add_filter(struct sql_select *select, enum store_queue_kind kind, const struct store_queue_filter *filter)
{
	const struct list *list = &lists[kind];
	char text[COLUMN_MAX];

	(void)snprintf(text, sizeof(text), "+%s", list->project);
	sql_select_where_in(select, text, filter->projects_json);
	(void)snprintf(text, sizeof(text), "%s%s = ?", kind == STORE_QUEUE_PACKAGE_HELD ? "" : "+", list->project);
	sql_select_where(select, text, filter->project);
	(void)snprintf(text, sizeof(text), "%s = ?", list->task);
	sql_select_where(select, text, filter->task);
	sql_select_where_always(select, list->always);
	if (kind == STORE_QUEUE_RUN_SILENT)
		sql_select_where_always(select, "r.lease_expires_at <= ?");
}

static void read_row(struct sql *query, void *row)
{
	struct store_queue_row *item = row;

	*item = (struct store_queue_row){0};
	item->sequence = sql_int(query);
	item->since = sql_int(query);
	item->project = sql_str(query);
	item->task = sql_str(query);
	item->package = sql_str(query);
	item->run = sql_str(query);
}

/* The kind is the second key of the order: of a kind before the cursor's, all of its moment lie before the page. */
static int64_t sequence_after(const struct store_queue_cursor *after, enum store_queue_kind kind)
{
	if (!after->is_set)
		return INT64_MIN;
	if (kind == after->kind)
		return after->sequence;
	return kind < after->kind ? INT64_MAX : INT64_MIN;
}

/* What lies between a lease's end and the moment it was renewed. */
static int64_t offset_of(enum store_queue_kind kind, const struct store_queue_filter *filter)
{
	return kind == STORE_QUEUE_RUN_SILENT ? filter->lease_ms : 0;
}

static int read_kind(struct store_tx *tx, const struct store_queue_filter *filter, enum store_queue_kind kind,
	const struct store_queue_cursor *after, size_t limit, struct store_queue_list *ret)
{
	const struct list *list = &lists[kind];
	int64_t offset = offset_of(kind, filter);
	struct sql_select select;
	struct sql_rows rows = {0};
	char text[TEXT_MAX];
	int r = 0;

	(void)snprintf(text, sizeof(text), "SELECT %s, %s, %s, %s, %s, %s FROM %s", list->sequence, list->since,
		list->project, list->task, list->package, list->run, from_of(kind, filter));
	sql_select_init(&select, text);
	add_filter(&select, kind, filter);
	(void)snprintf(text, sizeof(text), "(%s, %s) > (?, ?)", list->since, list->sequence);
	sql_select_where_always(&select, text);
	(void)snprintf(text, sizeof(text), " ORDER BY %s, %s LIMIT ?", list->since, list->sequence);
	sql_select_finish(&select, text);
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	if (kind == STORE_QUEUE_RUN_SILENT)
		sql_bind_int(&query, filter->silent_until);
	sql_bind_int(&query, after->is_set ? after->since + offset : INT64_MIN);
	sql_bind_int(&query, sequence_after(after, kind));
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_row, sizeof(struct store_queue_row), &rows);
	*ret = (struct store_queue_list){rows.items, rows.count};
	for (size_t i = 0; r == 0 && i < ret->count; i++) {
		ret->items[i].kind = kind;
		ret->items[i].since -= offset;
	}
	return r;
}

static int compare_rows(const void *a, const void *b)
{
	const struct store_queue_row *first = a;
	const struct store_queue_row *second = b;

	if (first->since != second->since)
		return first->since < second->since ? -1 : 1;
	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	return (first->sequence > second->sequence) - (first->sequence < second->sequence);
}

int store_queue_list(struct store_tx *tx, const struct store_queue_filter *filter, unsigned kinds,
	const struct store_queue_cursor *after, size_t limit, struct store_queue_list *ret)
{
	struct store_queue_cursor start = {0};
	struct store_queue_list parts[STORE_QUEUE_KIND_COUNT] = {0};
	size_t count = 0;
	int r = 0;

	for (unsigned kind = 0; r == 0 && kind < STORE_QUEUE_KIND_COUNT; kind++) {
		if (kinds & STORE_QUEUE_BIT(kind))
			r = read_kind(tx, filter, (enum store_queue_kind)kind, after != NULL ? after : &start, limit,
				&parts[kind]);
		count += parts[kind].count;
	}
	if (r != 0)
		return r;
	*ret = (struct store_queue_list){.items = ARENA_ARRAY(tx->arena, count, struct store_queue_row)};
	if (ret->items == NULL)
		return -ENOMEM;
	for (unsigned kind = 0; kind < STORE_QUEUE_KIND_COUNT; kind++)
		for (size_t i = 0; i < parts[kind].count; i++)
			ret->items[ret->count++] = parts[kind].items[i];
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_rows);
	if (ret->count > limit)
		ret->count = limit;
	return 0;
}

/* ---- counts */

static void read_int(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

static int count_kind(
	struct store_tx *tx, const struct store_queue_filter *filter, enum store_queue_kind kind, int64_t *ret)
{
	struct sql_select select;
	char text[TEXT_MAX];

	(void)snprintf(text, sizeof(text), "SELECT count(*) FROM %s", from_of(kind, filter));
	sql_select_init(&select, text);
	add_filter(&select, kind, filter);
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	if (kind == STORE_QUEUE_RUN_SILENT)
		sql_bind_int(&query, filter->silent_until);
	return sql_one(&query, read_int, ret);
}

static void read_ready(struct sql *query, void *row)
{
	struct store_queue_counts *counts = row;

	counts->ready = sql_int(query);
	counts->ready_oldest_since = sql_int(query);
}

/* A package is ready since the last event that moved it, or since its task was approved. */
static int count_ready(struct store_tx *tx, const struct store_queue_filter *filter, struct store_queue_counts *ret)
{
	struct sql_select select;

	sql_select_init(&select,
		"SELECT count(*), min(max(coalesce(t.approved_at, 0), coalesce((SELECT max(e.at) FROM events e WHERE "
		"e.package_id = p.id AND e.type IN ('package.status', 'hold.cleared')), 0))) FROM tasks t INDEXED BY "
		"tasks_to_claim CROSS JOIN packages p INDEXED BY packages_to_claim ON p.task_id = t.id");
	sql_select_where_in(&select, "+p.project_id", filter->projects_json);
	sql_select_where(&select, "+p.project_id = ?", filter->project);
	sql_select_where(&select, "t.id = ?", filter->task);
	sql_select_where_always(&select,
		"t.status = 'approved' AND p.\"end\" IS NULL AND p.hold_json IS NULL AND NOT " LIVE_RUN
		" AND NOT EXISTS (SELECT 1 FROM dependencies d JOIN packages o ON o.id = d.depends_on WHERE "
		"d.package_id = p.id AND o.\"end\" IS NOT 'completed')");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	return sql_one(&query, read_ready, ret);
}

int store_queue_count(struct store_tx *tx, const struct store_queue_filter *filter, struct store_queue_counts *ret)
{
	int r = 0;

	*ret = (struct store_queue_counts){0};
	for (unsigned kind = 0; r == 0 && kind < STORE_QUEUE_KIND_COUNT; kind++)
		r = count_kind(tx, filter, (enum store_queue_kind)kind, &ret->kinds[kind]);
	return r == 0 ? count_ready(tx, filter, ret) : r;
}
