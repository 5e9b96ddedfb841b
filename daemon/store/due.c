#include "daemon/store/due.h"

#include <errno.h>

#include "daemon/store/event.h"
#include "daemon/store/sql.h"
#include "policy/buf.h"
#include "policy/json_out.h"

static const char *const kinds[] = {"grant", "lease", "health"};

static void read_due(struct sql *query, void *row)
{
	struct store_due *due = row;

	*due = (struct store_due){0};
	due->kind = (enum store_due_kind)sql_word(query, kinds, STORE_DUE_KIND_COUNT);
	due->project = sql_str(query);
	due->subject = sql_str(query);
	due->due_at = sql_int(query);
}

static void bind_key(struct sql *query, const struct store_due *row)
{
	sql_bind_str(query, row->project);
	sql_bind_str(query, row->subject);
	sql_bind_word(query, kinds, STORE_DUE_KIND_COUNT, row->kind);
}

static int forget(struct store_tx *tx, const struct store_due *row)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin_write(tx, "DELETE FROM due_pending WHERE project_id = ? AND subject = ? AND kind = ?");

	bind_key(&query, row);
	return sql_run(&query);
}

int due_set_pending(struct store_tx *tx, const struct store_due *row)
{
	if (row->due_at == 0)
		return forget(tx, row);
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO due_pending (project_id, subject, kind, due_at) VALUES (?, ?, ?, ?) "
		"ON CONFLICT (project_id, subject, kind) DO UPDATE SET due_at = excluded.due_at");

	bind_key(&query, row);
	sql_bind_int(&query, row->due_at);
	return sql_run(&query);
}

#define PENDING "SELECT kind, project_id, subject, due_at FROM due_pending"

int store_due_next(struct store_tx *tx, int64_t after, struct store_due *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, PENDING " WHERE due_at > ? ORDER BY due_at LIMIT 1");

	sql_bind_int(&query, after);
	return sql_one(&query, read_due, ret);
}

static int read_all(struct sql *query, struct store_due_list *ret)
{
	struct sql_rows rows;
	int r = sql_all(query, read_due, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_due_list){rows.items, rows.count};
	return r;
}

int store_due_list_projects(
	struct store_tx *tx, struct str after, int64_t until, size_t limit, struct store_due_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT kind, project_id, subject, min(due_at) FROM due_pending WHERE due_at <= ? AND project_id > ? "
		"GROUP BY project_id ORDER BY project_id LIMIT ?");

	sql_bind_int(&query, until);
	sql_bind_str(&query, after.bytes != NULL ? after : STR(""));
	sql_bind_int(&query, sql_limit(limit));
	return read_all(&query, ret);
}

int store_due_list(struct store_tx *tx, struct str project, int64_t until, size_t limit, struct store_due_list *ret)
{
	struct sql_select select;

	sql_select_init(&select, PENDING);
	sql_select_where(&select, "project_id = ?", project);
	sql_select_where_always(&select, "due_at <= ?");
	sql_select_finish(&select, " ORDER BY due_at, project_id, subject LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, until);
	sql_bind_int(&query, sql_limit(limit));
	return read_all(&query, ret);
}

enum { PAYLOAD_CEILING = 4096 };

/* What time did is told like any other change, so that the log vouches for it: a due record that is gone would revive a grant. */
static int tell(struct store_tx *tx, const struct store_due *row, int64_t sequence)
{
	CLEANUP(buf_release) struct buf payload = {0};
	struct store_event event = {.type = STR("due.recorded"),
		.subject_kind = STR("due"),
		.subject_id = arena_printf(tx->arena, "%lld", (long long)sequence),
		.project = row->project,
		.at = row->at};
	struct json_out out;

	buf_init(&payload, PAYLOAD_CEILING);
	json_out_init(&out, &payload);
	json_out_begin_object(&out);
	json_out_member_text(&out, "kind", kinds[row->kind]);
	json_out_member_str(&out, "subject", row->subject);
	json_out_end_object(&out);
	event.payload_json = buf_str(&payload);
	if (buf_error(&payload) || !event.subject_id.bytes)
		return -ENOMEM;
	return store_event_append(tx, &event);
}

static int write_record(struct store_tx *tx, const struct store_due *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "INSERT INTO due_records (project_id, subject, kind, due_at, at) VALUES (?, ?, ?, ?, ?)");
	int r;

	bind_key(&query, row);
	sql_bind_int(&query, row->due_at);
	sql_bind_int(&query, row->at);
	r = sql_run(&query);
	return r ? r : tell(tx, row, sql_last_sequence(tx));
}

int store_due_append(struct store_tx *tx, const struct store_due *row)
{
	CLEANUP(sql_end)
	struct sql done = sql_begin_write(
		tx, "DELETE FROM due_pending WHERE project_id = ? AND subject = ? AND kind = ? AND due_at = ?");
	int written = write_record(tx, row);
	int r;

	if (written && written != STORE_CONFLICT)
		return written;
	bind_key(&done, row);
	sql_bind_int(&done, row->due_at);
	r = sql_run(&done);
	return r ? r : written;
}
