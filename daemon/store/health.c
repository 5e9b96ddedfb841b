#include "daemon/store/health.h"

#include <errno.h>

#include "daemon/store/due.h"
#include "daemon/store/sql.h"

static const char *const sources[] = {"reported", "probed", "builtin"};
enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

#define HEALTH                                                                                                       \
	"SELECT project_id, mcp_id, install_state, status, enabled, error, checked_at, source, valid_seconds, "      \
	"server_revision, root_revision, EXISTS (SELECT 1 FROM due_records d WHERE d.project_id = h.project_id AND " \
	"d.subject = h.mcp_id AND d.kind = 'health' AND d.due_at = h.checked_at + h.valid_seconds * 1000 "           \
	"AND h.valid_seconds > 0) FROM health_rows h WHERE project_id = ?"

static void read_health(struct sql *query, void *row)
{
	struct store_health *health = row;

	*health = (struct store_health){0};
	health->project = sql_str(query);
	health->mcp_id = sql_str(query);
	health->install_state = sql_str(query);
	health->status = sql_str(query);
	health->enabled = sql_int(query) != 0;
	health->error = sql_str(query);
	health->checked_at = sql_int(query);
	health->source = (enum store_health_source)sql_word(query, sources, SOURCE_COUNT);
	health->valid_seconds = sql_int(query);
	health->server_revision = sql_int(query);
	health->root_revision = sql_int(query);
	health->expired = sql_int(query) != 0;
}

int store_health_find(struct store_tx *tx, struct str project, struct str mcp_id, struct store_health *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, HEALTH " AND mcp_id = ?");

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	return sql_one(&query, read_health, ret);
}

int store_health_list(struct store_tx *tx, struct str project, struct store_health_list *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, HEALTH " ORDER BY mcp_id");
	struct sql_rows rows;
	int r;

	sql_bind_str(&query, project);
	r = sql_all(&query, read_health, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_health_list){rows.items, rows.count};
	return r;
}

/* Two reporters may race; the later look wins, whatever arrives last. */
static int check_order(struct store_tx *tx, const struct store_health *row)
{
	struct store_health before;
	int r = store_health_find(tx, row->project, row->mcp_id, &before);

	if (r == STORE_ABSENT)
		return 0;
	if (r)
		return r;
	if (row->source != STORE_HEALTH_REPORTED || before.source != STORE_HEALTH_REPORTED)
		return 0;
	return row->checked_at < before.checked_at ? STORE_STALE : 0;
}

/* When the word of this row ends; 0: it doesn't. */
static int end_of(const struct store_health *row, int64_t *ret_due_at)
{
	int64_t milliseconds;

	*ret_due_at = 0;
	if (row->source != STORE_HEALTH_REPORTED || row->valid_seconds <= 0)
		return row->valid_seconds < 0 ? -EINVAL : 0;
	if (__builtin_mul_overflow(row->valid_seconds, (int64_t)1000, &milliseconds) ||
		__builtin_add_overflow(row->checked_at, milliseconds, ret_due_at))
		return -EINVAL;
	return 0;
}

static int write_row(struct store_tx *tx, const struct store_health *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO health_rows (project_id, mcp_id, install_state, status, enabled, error, checked_at, "
		"source, "
		"valid_seconds, server_revision, root_revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
		"ON CONFLICT (project_id, mcp_id) DO UPDATE SET install_state = excluded.install_state, status = "
		"excluded.status, "
		"enabled = excluded.enabled, error = excluded.error, checked_at = excluded.checked_at, source = "
		"excluded.source, "
		"valid_seconds = excluded.valid_seconds, server_revision = excluded.server_revision, "
		"root_revision = excluded.root_revision");

	sql_bind_str(&query, row->project);
	sql_bind_str(&query, row->mcp_id);
	sql_bind_str(&query, row->install_state);
	sql_bind_str(&query, row->status);
	sql_bind_int(&query, row->enabled);
	sql_bind_str(&query, row->error);
	sql_bind_int(&query, row->checked_at);
	sql_bind_word(&query, sources, SOURCE_COUNT, row->source);
	sql_bind_int(&query, row->source == STORE_HEALTH_REPORTED ? row->valid_seconds : 0);
	sql_bind_int(&query, row->server_revision);
	sql_bind_int(&query, row->root_revision);
	return sql_run(&query);
}

int store_health_put(struct store_tx *tx, const struct store_health *row)
{
	struct store_due due = {.kind = STORE_DUE_HEALTH, .project = row->project, .subject = row->mcp_id};
	int r = end_of(row, &due.due_at);

	if (r == 0)
		r = check_order(tx, row);
	if (r == 0)
		r = write_row(tx, row);
	return r ? r : due_set_pending(tx, &due);
}

int store_health_delete(struct store_tx *tx, struct str project, struct str mcp_id)
{
	struct store_due none = {.kind = STORE_DUE_HEALTH, .project = project, .subject = mcp_id};
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "DELETE FROM health_rows WHERE project_id = ? AND mcp_id = ?");
	int r;

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	r = sql_run_on_row(&query);
	return r ? r : due_set_pending(tx, &none);
}
