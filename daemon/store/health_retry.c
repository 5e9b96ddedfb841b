#include "daemon/store/health_retry.h"

#include "daemon/store/sql.h"

#define RETRY "SELECT project_id, mcp_id, attempt, next_at FROM health_retries"

static void read_retry(struct sql *query, void *row)
{
	struct store_health_retry *retry = row;

	*retry = (struct store_health_retry){0};
	retry->project = sql_str(query);
	retry->mcp_id = sql_str(query);
	retry->attempt = sql_int(query);
	retry->next_at = sql_int(query);
}

int store_health_retry_find(struct store_tx *tx, struct str project, struct str mcp_id, struct store_health_retry *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, RETRY " WHERE project_id = ? AND mcp_id = ?");

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	return sql_one(&query, read_retry, ret);
}

int store_health_retry_list(
	struct store_tx *tx, int64_t until, int64_t beyond, size_t limit, struct store_health_retry_list *ret)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin(tx, RETRY " WHERE next_at <= ? OR next_at > ? ORDER BY next_at, project_id, mcp_id LIMIT ?");
	struct sql_rows rows;
	int r;

	sql_bind_int(&query, until);
	sql_bind_int(&query, beyond);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_retry, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_health_retry_list){rows.items, rows.count};
	return r;
}

int store_health_retry_next(struct store_tx *tx, struct store_health_retry *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, RETRY " ORDER BY next_at LIMIT 1");

	return sql_one(&query, read_retry, ret);
}

int store_health_retry_put(struct store_tx *tx, const struct store_health_retry *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO health_retries (project_id, mcp_id, attempt, next_at) VALUES (?, ?, ?, ?) "
		"ON CONFLICT (project_id, mcp_id) DO UPDATE SET attempt = excluded.attempt, next_at = "
		"excluded.next_at");

	sql_bind_str(&query, row->project);
	sql_bind_str(&query, row->mcp_id);
	sql_bind_int(&query, row->attempt);
	sql_bind_int(&query, row->next_at);
	return sql_run(&query);
}

int store_health_retry_delete(struct store_tx *tx, struct str project, struct str mcp_id)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "DELETE FROM health_retries WHERE project_id = ? AND mcp_id = ?");

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	return sql_run_on_row(&query);
}
