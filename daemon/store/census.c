/* Parameters of every query here: ?1 the projects that may be seen, ?2 the one that is meant, then its own. */
#include "daemon/store/census.h"

#include <errno.h>
#include <string.h>

#include "daemon/store/sql.h"
#include "daemon/store/words.h"

#define SEEN(column) \
	"(?1 IS NULL OR " column " IN (SELECT value FROM json_each(?1))) AND (?2 IS NULL OR " column " = ?2)"
#define HELD                                                                                                           \
	" FROM packages p INDEXED BY packages_held CROSS JOIN tasks t ON t.id = p.task_id WHERE p.\"end\" IS NULL "    \
	"AND "                                                                                                         \
	"p.hold_json IS NOT NULL AND t.status IN ('proposed', 'approved') AND NOT EXISTS (SELECT 1 FROM runs r WHERE " \
	"r.package_id = p.id AND r.outcome IS NULL) AND " SEEN("p.project_id")

static void bind_filter(struct sql *query, const struct store_census_filter *filter)
{
	sql_bind_str(query, filter->projects_json);
	sql_bind_str(query, filter->project);
}

static void read_hold(struct sql *query, void *row)
{
	struct store_census_hold *hold = row;

	hold->kind = sql_str(query);
	hold->arm = sql_str(query);
	hold->count = sql_int(query);
}

int store_census_holds(struct store_tx *tx, const struct store_census_filter *filter, struct store_census_holds *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT json_extract(p.hold_json, '$.kind'), json_extract(p.hold_json, '$.arm'), count(*)" HELD
		" GROUP BY 1, 2 ORDER BY 1, 2");
	struct sql_rows rows = {0};
	int r = 0;

	bind_filter(&query, filter);
	r = sql_all(&query, read_hold, sizeof(struct store_census_hold), &rows);
	*ret = (struct store_census_holds){rows.items, rows.count};
	return r;
}

static void read_ages(struct sql *query, void *row)
{
	int64_t *counts = row;

	for (size_t i = 0; i < STORE_CENSUS_AGES; i++)
		counts[i] = sql_int(query);
}

int store_census_ages(struct store_tx *tx, const struct store_census_filter *filter, int64_t now,
	int64_t ret_counts[static STORE_CENSUS_AGES])
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT count(*) FILTER (WHERE age < 900000), count(*) FILTER (WHERE age >= 900000 AND age < 3600000), "
		"count(*) FILTER (WHERE age >= 3600000 AND age < 14400000), count(*) FILTER (WHERE age >= 14400000 AND "
		"age < 86400000), count(*) FILTER (WHERE age >= 86400000) FROM (SELECT ?3 - p.hold_since AS age" HELD
		")");

	bind_filter(&query, filter);
	sql_bind_int(&query, now);
	return sql_one(&query, read_ages, ret_counts);
}

static void read_int(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

int store_census_runs(struct store_tx *tx, const struct store_census_filter *filter, int64_t *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT count(*) FROM runs r INDEXED BY runs_live_of_project WHERE r.outcome IS NULL AND " SEEN(
			"r.project_id"));

	bind_filter(&query, filter);
	return sql_one(&query, read_int, ret);
}

static void read_decision(struct sql *query, void *row)
{
	struct store_census_decision *decision = row;

	decision->at = sql_int(query);
	decision->surface = (enum store_surface)sql_word(query, words_surface, STORE_SURFACE_COUNT);
	decision->status = sql_str(query);
	decision->count = sql_int(query);
}

int store_census_decisions(struct store_tx *tx, const struct store_census_filter *filter, int64_t from, int64_t to,
	int64_t bucket_ms, struct store_census_decisions *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT ?3 + (e.at - ?3) / ?5 * ?5, e.surface, json_extract(e.payload_json, '$.status'), count(*) FROM "
		"events e INDEXED BY events_of_surface_by_time WHERE e.surface IS NOT NULL AND e.at >= ?3 AND e.at < "
		"?4 "
		"AND " SEEN("e.project_id") " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3");
	struct sql_rows rows = {0};
	int r = 0;

	CHECK(bucket_ms > 0);
	bind_filter(&query, filter);
	sql_bind_int(&query, from);
	sql_bind_int(&query, to);
	sql_bind_int(&query, bucket_ms);
	r = sql_all(&query, read_decision, sizeof(struct store_census_decision), &rows);
	*ret = (struct store_census_decisions){rows.items, rows.count};
	return r;
}

/* ---- finding */

/* ?3 the text, ?4 what is behind everything that begins with it, ?5 the limit. */
#define NAMED(id, name) "((" id " >= ?3 AND " id " < ?4) OR instr(lower(" name "), lower(?3)) > 0)"
#define PREFIXED(id) id " >= ?3 AND " id " < ?4"

static const char *const finds[STORE_FIND_KIND_COUNT] = {
	[STORE_FIND_PROJECT] = "SELECT o.id, o.name, o.id, NULL, NULL FROM projects o WHERE " NAMED(
		"o.id", "o.name") " AND " SEEN("o.id") " ORDER BY o.rowid DESC LIMIT ?5",
	[STORE_FIND_TASK] = "SELECT t.id, t.title, t.project_id, t.id, NULL FROM tasks t WHERE " NAMED(
		"t.id", "t.title") " AND " SEEN("t.project_id") " ORDER BY t.sequence DESC LIMIT ?5",
	[STORE_FIND_PACKAGE] = "SELECT p.id, p.label, p.project_id, p.task_id, p.id FROM packages p WHERE " NAMED(
		"p.id", "p.label") " AND " SEEN("p.project_id") " ORDER BY p.sequence DESC LIMIT ?5",
	[STORE_FIND_RUN] = "SELECT r.id, r.worker, r.project_id, r.task_id, r.package_id FROM runs r WHERE " PREFIXED(
		"r.id") " AND " SEEN("r.project_id") " ORDER BY r.id LIMIT ?5",
	[STORE_FIND_GRANT] = "SELECT g.id, NULL, g.project_id, NULL, g.package_id FROM grants g WHERE " PREFIXED(
		"g.id") " AND " SEEN("g.project_id") " ORDER BY g.id LIMIT ?5",
	[STORE_FIND_DECISION] = "SELECT d.id, NULL, (SELECT min(e.project_id) FROM events e WHERE e.decision_id = d.id "
				"AND " SEEN("e.project_id") ") AS project, NULL, NULL FROM decisions d WHERE " PREFIXED(
					"d.id") " AND project IS NOT NULL ORDER BY d.id LIMIT ?5",
};

static void read_found(struct sql *query, void *row)
{
	struct store_found *found = row;

	found->id = sql_str(query);
	found->label = sql_str(query);
	found->project = sql_str(query);
	found->task = sql_str(query);
	found->package = sql_str(query);
}

static int find_kind(struct store_tx *tx, const struct store_census_filter *filter, enum store_find_kind kind,
	struct str text, struct str end, size_t limit, struct sql_rows *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, finds[kind]);
	int r = 0;

	bind_filter(&query, filter);
	sql_bind_str(&query, text);
	sql_bind_str(&query, end);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_found, sizeof(struct store_found), ret);
	for (size_t i = 0; r == 0 && i < ret->count; i++)
		((struct store_found *)ret->items)[i].kind = kind;
	return r;
}

int store_find(struct store_tx *tx, const struct store_census_filter *filter, struct str text, size_t limit,
	struct store_found_list *ret)
{
	/* U+10FFFF is no character of an id and stands behind all that are. */
	struct str end = arena_printf(tx->arena, "%.*s\xf4\x8f\xbf\xbf", (int)text.len, text.bytes);
	int r = end.bytes != NULL ? 0 : -ENOMEM;

	*ret = (struct store_found_list){
		.items = ARENA_ARRAY(tx->arena, limit * STORE_FIND_KIND_COUNT, struct store_found)};
	if (r == 0 && ret->items == NULL)
		r = -ENOMEM;
	for (unsigned kind = 0; r == 0 && kind < STORE_FIND_KIND_COUNT; kind++) {
		struct sql_rows rows = {0};

		r = find_kind(tx, filter, (enum store_find_kind)kind, text, end, limit, &rows);
		if (r == 0 && rows.count > 0)
			memcpy(ret->items + ret->count, rows.items, rows.count * sizeof(struct store_found));
		ret->count += r == 0 ? rows.count : 0;
	}
	return r;
}
