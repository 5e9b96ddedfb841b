#include "daemon/store/package.h"

#include "daemon/store/sql.h"
#include "daemon/store/words.h"

static const char *const ends[STORE_PACKAGE_END_COUNT] = {NULL, "completed", "failed", "cancelled", "superseded"};

#define LIVE_RUN "(SELECT id FROM runs r WHERE r.package_id = p.id AND r.outcome IS NULL)"
#define OPEN_DEPENDENCIES                                                                                        \
	"(SELECT count(*) FROM dependencies d JOIN packages o ON o.id = d.depends_on WHERE d.package_id = p.id " \
	"AND o.\"end\" IS NOT 'completed')"

#define PACKAGE                                                                                                        \
	"SELECT p.sequence, p.id, p.task_id, p.project_id, p.plan_revision, p.position, p.label, p.agent, "            \
	"p.document_digest, p.submitted_token, p.submitted_principal, p.created_at, p.attempts, p.attempt_limit, "     \
	"p.\"end\", p.ended_at, p.hold_json, p.hold_fingerprint, p.hold_since, p.judged_catalog, p.preview_decision, " \
	"p.approval_decision, p.handoff_decision, t.status, t.approved_at, t.sequence, " LIVE_RUN                      \
	", " OPEN_DEPENDENCIES

/* CROSS JOIN keeps the order of the tables: each query names the one that its index leads to first. */
#define FROM_PACKAGES " FROM packages p CROSS JOIN tasks t ON t.id = p.task_id"
/* The planner has no statistics; the indexes that keep the order are named. */
#define FROM_CLAIMABLE                                                                                               \
	" FROM tasks t INDEXED BY tasks_to_claim CROSS JOIN packages p INDEXED BY packages_to_claim ON p.task_id = " \
	"t.id"
#define FROM_CLAIMABLE_OF_TASK " FROM tasks t CROSS JOIN packages p INDEXED BY packages_to_claim ON p.task_id = t.id"
#define FROM_HELD " FROM packages p INDEXED BY packages_held CROSS JOIN tasks t ON t.id = p.task_id"
#define FROM_TASKS " FROM tasks t CROSS JOIN packages p ON p.task_id = t.id"

static void read_state(struct sql *query, struct store_package *package)
{
	package->attempts = sql_int(query);
	package->attempt_limit = sql_int(query);
	package->end = (enum store_package_end)sql_word(query, ends, STORE_PACKAGE_END_COUNT);
	package->ended_at = sql_int(query);
	package->hold_json = sql_str(query);
	package->hold_fingerprint = sql_str(query);
	package->hold_since = sql_int(query);
	package->judged_catalog = sql_str(query);
	package->preview_decision = sql_str(query);
	package->approval_decision = sql_str(query);
	package->handoff_decision = sql_str(query);
}

static void read_package(struct sql *query, void *row)
{
	struct store_package *package = row;

	*package = (struct store_package){0};
	package->sequence = sql_int(query);
	package->id = sql_str(query);
	package->task = sql_str(query);
	package->project = sql_str(query);
	package->plan_revision = sql_int(query);
	package->position = sql_int(query);
	package->label = sql_str(query);
	package->agent = sql_str(query);
	package->document_digest = sql_str(query);
	sql_actor(query, &package->submitted_by);
	package->created_at = sql_int(query);
	read_state(query, package);
	package->task_status = (enum store_task_status)sql_word(query, words_task_status, STORE_TASK_STATUS_COUNT);
	package->task_approved_at = sql_int(query);
	package->task_sequence = sql_int(query);
	package->live_run = sql_str(query);
	package->open_dependencies = sql_int(query);
}

static int all(struct sql *query, struct store_package_list *ret)
{
	struct sql_rows rows;
	int r = sql_all(query, read_package, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_package_list){rows.items, rows.count};
	return r;
}

int store_package_find(struct store_tx *tx, struct str id, struct store_package *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, PACKAGE FROM_PACKAGES " WHERE p.id = ?");

	sql_bind_str(&query, id);
	return sql_one(&query, read_package, ret);
}

/* What insert and update have in common, in the order of both statements. */
static void bind_changing(struct sql *query, const struct store_package *row)
{
	sql_bind_int(query, row->plan_revision);
	sql_bind_int(query, row->position);
	sql_bind_int(query, row->attempts);
	sql_bind_int(query, row->attempt_limit);
	sql_bind_word(query, ends, STORE_PACKAGE_END_COUNT, row->end);
	sql_bind_time(query, row->ended_at);
	sql_bind_str(query, row->hold_json);
	sql_bind_str(query, row->hold_fingerprint);
	sql_bind_time(query, row->hold_since);
	sql_bind_str(query, row->judged_catalog);
	sql_bind_str(query, row->preview_decision);
	sql_bind_str(query, row->approval_decision);
	sql_bind_str(query, row->handoff_decision);
}

int store_package_insert(struct store_tx *tx, struct store_package *row, struct str document)
{
	int r = store_document_put(tx, row->document_digest, document);

	if (r)
		return r;
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO packages (plan_revision, position, attempts, attempt_limit, \"end\", ended_at, hold_json, "
		"hold_fingerprint, hold_since, judged_catalog, preview_decision, approval_decision, handoff_decision, "
		"id, label, "
		"agent, document_digest, submitted_token, submitted_principal, created_at, task_id, project_id) "
		"SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, id, project_id FROM tasks WHERE id "
		"= ?");

	bind_changing(&query, row);
	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->label);
	sql_bind_str(&query, row->agent);
	sql_bind_str(&query, row->document_digest);
	sql_bind_actor(&query, &row->submitted_by);
	sql_bind_int(&query, row->created_at);
	sql_bind_str(&query, row->task);
	r = sql_run_on_row(&query);
	if (r == 0)
		row->sequence = sql_last_sequence(tx);
	return r;
}

int store_package_update(struct store_tx *tx, const struct store_package *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"UPDATE packages SET plan_revision = ?, position = ?, attempts = ?, attempt_limit = ?, \"end\" = ?, "
		"ended_at = ?, "
		"hold_json = ?, hold_fingerprint = ?, hold_since = ?, judged_catalog = ?, preview_decision = ?, "
		"approval_decision = ?, handoff_decision = ? WHERE id = ?");

	bind_changing(&query, row);
	sql_bind_str(&query, row->id);
	return sql_run_on_row(&query);
}

int store_package_list_of_task(
	struct store_tx *tx, struct str task, bool with_superseded, struct store_package_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		with_superseded ? PACKAGE FROM_TASKS
			" WHERE t.id = ? ORDER BY p.\"end\" IS 'superseded', "
			"CASE WHEN p.\"end\" IS 'superseded' THEN p.sequence ELSE p.position END, p.sequence"
				: PACKAGE FROM_TASKS
			" WHERE t.id = ? AND p.\"end\" IS NOT 'superseded' ORDER BY p.position, p.sequence");

	sql_bind_str(&query, task);
	return all(&query, ret);
}

/* Of the project that is bound first. */
#define TO_RECONCILE                                                                                        \
	" WHERE p.project_id = ? AND p.\"end\" IS NULL AND t.status IN ('proposed', 'approved', 'failed') " \
	"AND " LIVE_RUN " IS NULL"

int store_package_list_to_reconcile(
	struct store_tx *tx, struct str project, int64_t after, size_t limit, struct store_package_list *ret)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin(tx, PACKAGE FROM_PACKAGES TO_RECONCILE " AND p.sequence > ? ORDER BY p.sequence LIMIT ?");

	sql_bind_str(&query, project);
	sql_bind_int(&query, after);
	sql_bind_int(&query, sql_limit(limit));
	return all(&query, ret);
}

static void read_has(struct sql *query, void *row)
{
	*(bool *)row = sql_int(query) != 0;
}

int store_package_has_older(struct store_tx *tx, struct str project, struct str catalog, bool *ret)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin(tx, "SELECT EXISTS (SELECT 1" FROM_PACKAGES TO_RECONCILE " AND p.judged_catalog IS NOT ?)");

	sql_bind_str(&query, project);
	sql_bind_str(&query, catalog);
	return sql_one(&query, read_has, ret);
}

int store_package_list_unfinished(struct store_tx *tx, struct str project, struct store_package_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(
		tx, PACKAGE FROM_PACKAGES " WHERE p.project_id = ? AND p.\"end\" IS NULL ORDER BY p.sequence");

	sql_bind_str(&query, project);
	return all(&query, ret);
}

int store_package_list_of_contributor(
	struct store_tx *tx, struct str project, struct str principal, struct store_package_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		PACKAGE FROM_PACKAGES " WHERE p.project_id = ? AND p.\"end\" IS NULL AND t.status IN ('proposed', "
				      "'approved', 'changes_requested', 'failed') AND EXISTS (SELECT 1 FROM "
				      "json_each(t.contributors_json) AS c WHERE c.value = ?) ORDER BY p.sequence");

	sql_bind_str(&query, project);
	sql_bind_str(&query, principal);
	return all(&query, ret);
}

int store_package_list_claimable(struct store_tx *tx, const struct store_claim_filter *filter,
	const struct store_claim_cursor *after, size_t limit, struct store_package_list *ret)
{
	struct store_claim_cursor from = {INT64_MIN, INT64_MIN, INT64_MIN, true};
	struct sql_select select;

	if (after && after->is_set)
		from = *after;
	sql_select_init(&select, filter->task.bytes ? PACKAGE FROM_CLAIMABLE_OF_TASK : PACKAGE FROM_CLAIMABLE);
	sql_select_where_always(&select, "t.status = 'approved'");
	sql_select_where_in(&select, "+t.project_id", filter->projects_json);
	sql_select_where(&select, "+t.project_id = ?", filter->project);
	sql_select_where(&select, "t.id = ?", filter->task);
	sql_select_where(&select, "p.agent = ?", filter->agent);
	sql_select_where_always(&select, "p.\"end\" IS NULL AND " LIVE_RUN " IS NULL AND " OPEN_DEPENDENCIES " = 0");
	/* The first term, which the second contains, lets the index begin at the cursor. */
	sql_select_where_always(&select, "t.approved_at >= ? AND (t.approved_at, t.sequence, p.position) > (?, ?, ?)");
	sql_select_finish(&select, " ORDER BY t.approved_at, t.sequence, p.position LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, from.approved_at);
	sql_bind_int(&query, from.approved_at);
	sql_bind_int(&query, from.task_sequence);
	sql_bind_int(&query, from.position);
	sql_bind_int(&query, sql_limit(limit));
	return all(&query, ret);
}

struct store_claim_cursor store_claim_cursor_after(const struct store_package *row)
{
	return (struct store_claim_cursor){row->task_approved_at, row->task_sequence, row->position, true};
}

int store_package_list_held(struct store_tx *tx, struct str projects_json, int64_t after_since, int64_t after_sequence,
	size_t limit, struct store_package_list *ret)
{
	struct sql_select select;

	sql_select_init(&select, PACKAGE FROM_HELD);
	sql_select_where_in(&select, "+p.project_id", projects_json);
	sql_select_where_always(
		&select, "p.\"end\" IS NULL AND p.hold_json IS NOT NULL AND (p.hold_since, p.sequence) > (?, ?)");
	sql_select_finish(&select, " ORDER BY p.hold_since, p.sequence LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, after_since);
	sql_bind_int(&query, after_sequence);
	sql_bind_int(&query, sql_limit(limit));
	return all(&query, ret);
}
