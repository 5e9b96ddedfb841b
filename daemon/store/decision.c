#include "daemon/store/decision.h"

#include "daemon/store/sql.h"

#define DECISION(inputs, result)                                                                                 \
	"SELECT d.sequence, d.id, " inputs ", " result ", d.result_digest, d.catalog_digest, d.package_digest, " \
	"d.engine_revision, d.created_at FROM decisions d"

static void read_decision(struct sql *query, void *row)
{
	struct store_decision *decision = row;

	*decision = (struct store_decision){0};
	decision->sequence = sql_int(query);
	decision->id = sql_str(query);
	decision->inputs_json = sql_str(query);
	decision->result_json = sql_str(query);
	decision->result_digest = sql_str(query);
	decision->catalog_digest = sql_str(query);
	decision->package_digest = sql_str(query);
	decision->engine_revision = sql_int(query);
	decision->created_at = sql_int(query);
}

static void read_text(struct sql *query, void *row)
{
	*(struct str *)row = sql_str(query);
}

static int compare(struct store_tx *tx, const struct store_decision *row)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT result_digest FROM decisions WHERE id = ?");
	struct str digest;
	int r;

	sql_bind_str(&query, row->id);
	r = sql_one(&query, read_text, &digest);
	if (r)
		return r;
	return str_equal(digest, row->result_digest) ? 0 : STORE_CONFLICT;
}

/* Looked for first: most decisions were made before, by the surface before. */
int store_decision_put(struct store_tx *tx, const struct store_decision *row)
{
	int r = compare(tx, row);

	if (r != STORE_ABSENT)
		return r;
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO decisions (id, inputs_json, result_json, result_digest, catalog_digest, package_digest, "
		"engine_revision, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");

	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->inputs_json);
	sql_bind_str(&query, row->result_json);
	sql_bind_str(&query, row->result_digest);
	sql_bind_str(&query, row->catalog_digest);
	sql_bind_str(&query, row->package_digest);
	sql_bind_int(&query, row->engine_revision);
	sql_bind_int(&query, row->created_at);
	return sql_run(&query);
}

int store_decision_find(struct store_tx *tx, struct str id, struct store_decision *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, DECISION("d.inputs_json", "d.result_json") " WHERE d.id = ?");

	sql_bind_str(&query, id);
	return sql_one(&query, read_decision, ret);
}

/* A decision is nobody's; the events that name it say whose it is. */
int store_decision_list(struct store_tx *tx, const struct store_decision_filter *filter, int64_t before, size_t limit,
	struct store_decision_list *ret)
{
	struct sql_select select;
	struct sql_rows rows;
	int r;

	sql_select_init(&select, DECISION("NULL", "NULL"));
	if (filter->projects_json.bytes)
		sql_select_where(&select,
			"EXISTS (SELECT 1 FROM events e WHERE e.decision_id = d.id AND e.project_id IN "
			"(SELECT value FROM json_each(?)))",
			filter->projects_json);
	sql_select_where(&select, "EXISTS (SELECT 1 FROM events e WHERE e.decision_id = d.id AND e.project_id = ?)",
		filter->project);
	sql_select_where(&select,
		"d.id IN (SELECT e.decision_id FROM events e WHERE e.package_id = ? AND e.surface IS NOT NULL)",
		filter->package);
	sql_select_where_always(&select, "d.sequence < ?");
	sql_select_finish(&select, " ORDER BY d.sequence DESC LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, sql_before(before));
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_decision, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_decision_list){rows.items, rows.count};
	return r;
}

int store_decision_is_seen(struct store_tx *tx, struct str id, struct str projects_json)
{
	struct sql_select select;
	struct str seen;

	sql_select_init(&select, "SELECT e.decision_id FROM events e");
	sql_select_where(&select, "e.decision_id = ?", id);
	sql_select_where_in(&select, "e.project_id", projects_json);
	sql_select_finish(&select, " LIMIT 1");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	return sql_one(&query, read_text, &seen);
}

static void read_subject(struct sql *query, void *row)
{
	struct store_decision_subject *subject = row;

	subject->project = sql_str(query);
	subject->task = sql_str(query);
	subject->package = sql_str(query);
	subject->label = sql_str(query);
}

int store_decision_find_subject(
	struct store_tx *tx, struct str id, struct str projects_json, struct store_decision_subject *ret)
{
	struct sql_select select;

	sql_select_init(&select,
		"SELECT e.project_id, e.task_id, e.package_id, json_extract(e.payload_json, '$.label') FROM events e");
	sql_select_where(&select, "e.decision_id = ?", id);
	sql_select_where_in(&select, "e.project_id", projects_json);
	sql_select_finish(&select, " ORDER BY e.sequence DESC LIMIT 1");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	return sql_one(&query, read_subject, ret);
}

static void read_sequence(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

int store_decision_last(struct store_tx *tx, int64_t *ret_sequence)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT max(sequence) FROM decisions");

	return sql_one(&query, read_sequence, ret_sequence);
}

/* Each bound is bound, so that the statement is prepared once: an absent one is NULL and lets everything through. */
int store_decision_walk(struct store_tx *tx, const struct store_decision_period *period, int64_t after, int64_t through,
	struct store_decision_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		DECISION("d.inputs_json",
			"d.result_json") " WHERE d.sequence > ?1 AND d.sequence <= ?2 AND ((?3 IS NULL AND ?4 IS NULL "
					 "AND ?5 IS NULL AND "
					 "?6 IS NULL) OR EXISTS (SELECT 1 FROM events e WHERE e.decision_id = d.id AND "
					 "(?3 IS NULL OR e.project_id IN (SELECT value FROM json_each(?3))) AND "
					 "(?4 IS NULL OR e.project_id = ?4) AND (?5 IS NULL OR e.at >= ?5) AND (?6 IS "
					 "NULL OR e.at <= ?6))) "
					 "ORDER BY d.sequence");
	struct sql_rows rows;
	int r;

	sql_bind_int(&query, after);
	sql_bind_int(&query, through);
	sql_bind_str(&query, period->projects_json);
	sql_bind_str(&query, period->project);
	sql_bind_time(&query, period->from);
	sql_bind_time(&query, period->to);
	r = sql_all(&query, read_decision, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_decision_list){rows.items, rows.count};
	return r;
}
