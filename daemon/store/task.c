#include "daemon/store/task.h"

#include "daemon/store/sql.h"
#include "daemon/store/words.h"

const char *store_task_status_text(enum store_task_status status)
{
	CHECK(status < STORE_TASK_STATUS_COUNT);
	return words_task_status[status];
}

int store_task_status_parse(struct str text, enum store_task_status *ret)
{
	for (unsigned i = 0; i < STORE_TASK_STATUS_COUNT; i++) {
		if (str_is(text, words_task_status[i])) {
			*ret = (enum store_task_status)i;
			return 0;
		}
	}
	return STORE_ABSENT;
}

#define TASK_COLUMNS                                                                                         \
	"SELECT sequence, id, project_id, title, plan_revision, plan_digest, status, submitted_token, "      \
	"submitted_principal, submitted_at, contributors_json, created_at, status_token, status_principal, " \
	"status_at, "                                                                                        \
	"status_reason, approved_revision, approved_token, approved_principal, approved_at, approval_reason, "

static void read_task(struct sql *query, void *row)
{
	struct store_task *task = row;

	*task = (struct store_task){0};
	task->sequence = sql_int(query);
	task->id = sql_str(query);
	task->project = sql_str(query);
	task->title = sql_str(query);
	task->plan_revision = sql_int(query);
	task->plan_digest = sql_str(query);
	task->status = (enum store_task_status)sql_word(query, words_task_status, STORE_TASK_STATUS_COUNT);
	sql_actor(query, &task->submitted_by);
	task->submitted_at = sql_int(query);
	task->contributors_json = sql_str(query);
	task->created_at = sql_int(query);
	sql_actor(query, &task->status_by);
	task->status_at = sql_int(query);
	task->status_reason = sql_str(query);
	task->approved_revision = sql_int(query);
	sql_actor(query, &task->approved_by);
	task->approved_at = sql_int(query);
	task->approval_reason = sql_str(query);
	task->approval_json = sql_str(query);
}

int store_task_find(struct store_tx *tx, struct str id, struct store_task *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, TASK_COLUMNS "approval_json FROM tasks WHERE id = ?");

	sql_bind_str(&query, id);
	return sql_one(&query, read_task, ret);
}

/* What insert and update have in common, in the order of both statements. */
static void bind_changing(struct sql *query, const struct store_task *row)
{
	sql_bind_str(query, row->title);
	sql_bind_int(query, row->plan_revision);
	sql_bind_str(query, row->plan_digest);
	sql_bind_word(query, words_task_status, STORE_TASK_STATUS_COUNT, row->status);
	sql_bind_actor(query, &row->submitted_by);
	sql_bind_int(query, row->submitted_at);
	sql_bind_str(query, row->contributors_json);
	sql_bind_actor(query, &row->status_by);
	sql_bind_int(query, row->status_at);
	sql_bind_str(query, row->status_reason);
	sql_bind_int(query, row->approved_revision);
	sql_bind_actor(query, &row->approved_by);
	sql_bind_time(query, row->approved_at);
	sql_bind_str(query, row->approval_reason);
	sql_bind_str(query, row->approval_json);
}

int store_task_insert(struct store_tx *tx, struct store_task *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO tasks (title, plan_revision, plan_digest, status, submitted_token, submitted_principal, "
		"submitted_at, "
		"contributors_json, status_token, status_principal, status_at, status_reason, approved_revision, "
		"approved_token, "
		"approved_principal, approved_at, approval_reason, approval_json, id, project_id, created_at) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	int r;

	bind_changing(&query, row);
	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->project);
	sql_bind_int(&query, row->created_at);
	r = sql_run(&query);
	if (r == 0)
		row->sequence = sql_last_sequence(tx);
	return r;
}

int store_task_update(struct store_tx *tx, const struct store_task *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"UPDATE tasks SET title = ?, plan_revision = ?, plan_digest = ?, status = ?, submitted_token = ?, "
		"submitted_principal = ?, submitted_at = ?, contributors_json = ?, status_token = ?, status_principal "
		"= ?, "
		"status_at = ?, status_reason = ?, approved_revision = ?, approved_token = ?, approved_principal = ?, "
		"approved_at = ?, approval_reason = ?, approval_json = ? WHERE id = ?");

	bind_changing(&query, row);
	sql_bind_str(&query, row->id);
	return sql_run_on_row(&query);
}

int store_task_list(struct store_tx *tx, const struct store_task_filter *filter, int64_t before, size_t limit,
	struct store_task_list *ret)
{
	const char *status = filter->has_status ? store_task_status_text(filter->status) : NULL;
	struct sql_select select;
	struct sql_rows rows;
	int r;

	sql_select_init(&select, TASK_COLUMNS "NULL FROM tasks");
	sql_select_where_in(&select, "+project_id", filter->projects_json);
	sql_select_where(&select, "project_id = ?", filter->project);
	sql_select_where(&select, "submitted_principal = ?", filter->submitted_by);
	sql_select_where(&select, "status = ?", words_str(status));
	sql_select_where_always(&select, "sequence < ?");
	sql_select_finish(&select, " ORDER BY sequence DESC LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, sql_before(before));
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_task, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_task_list){rows.items, rows.count};
	return r;
}
