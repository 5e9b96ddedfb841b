#include "daemon/store/run.h"

#include "daemon/store/sql.h"
#include "daemon/store/words.h"

static const char *const outcomes[STORE_RUN_OUTCOME_COUNT] = {
	NULL, "succeeded", "failed", "released", "expired", "cancelled"};

#define RUN                                                                                            \
	"SELECT r.sequence, r.id, r.package_id, r.task_id, r.project_id, r.attempt, r.claimed_token, " \
	"r.claimed_principal, r.worker, r.token_hash, r.lease_expires_at, r.renewals, r.decision_id, " \
	"r.root_revision, "                                                                            \
	"r.claimed_at, "                                                                               \
	"r.outcome, r.summary, r.ended_token, r.ended_principal, r.ended_at, r.packet_json, "          \
	"EXISTS (SELECT 1 FROM run_grants g WHERE g.run_id = r.id) FROM runs r"

static void read_run(struct sql *query, void *row)
{
	struct store_run *run = row;

	*run = (struct store_run){0};
	run->sequence = sql_int(query);
	run->id = sql_str(query);
	run->package = sql_str(query);
	run->task = sql_str(query);
	run->project = sql_str(query);
	run->attempt = sql_int(query);
	sql_actor(query, &run->claimed_by);
	run->worker = sql_str(query);
	run->token_hash = sql_str(query);
	run->lease_expires_at = sql_int(query);
	run->renewals = sql_int(query);
	run->decision = sql_str(query);
	run->root_revision = sql_int(query);
	run->claimed_at = sql_int(query);
	run->outcome = (enum store_run_outcome)sql_word(query, outcomes, STORE_RUN_OUTCOME_COUNT);
	run->summary = sql_str(query);
	sql_actor(query, &run->ended_by);
	run->ended_at = sql_int(query);
	run->packet_json = sql_str(query);
	run->has_grants = sql_int(query) != 0;
}

int store_run_insert(struct store_tx *tx, struct store_run *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO runs (id, attempt, claimed_token, claimed_principal, worker, token_hash, "
		"lease_expires_at, "
		"decision_id, root_revision, claimed_at, package_id, task_id, project_id) "
		"SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, id, task_id, project_id FROM packages WHERE id = ?");
	int r;

	sql_bind_str(&query, row->id);
	sql_bind_int(&query, row->attempt);
	sql_bind_actor(&query, &row->claimed_by);
	sql_bind_str(&query, row->worker);
	sql_bind_str(&query, row->token_hash);
	sql_bind_int(&query, row->lease_expires_at);
	sql_bind_str(&query, row->decision);
	sql_bind_int(&query, row->root_revision);
	sql_bind_int(&query, row->claimed_at);
	sql_bind_str(&query, row->package);
	r = sql_run_on_row(&query);
	if (r == 0)
		row->sequence = sql_last_sequence(tx);
	return r;
}

static int one(struct store_tx *tx, const char *text, struct str key, struct store_run *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, text);

	sql_bind_str(&query, key);
	return sql_one(&query, read_run, ret);
}

int store_run_find(struct store_tx *tx, struct str id, struct store_run *ret)
{
	return one(tx, RUN " WHERE r.id = ?", id, ret);
}

int store_run_find_by_token_hash(struct store_tx *tx, struct str token_hash, struct store_run *ret)
{
	return one(tx, RUN " WHERE r.token_hash = ?", token_hash, ret);
}

int store_run_find_live(struct store_tx *tx, struct str package, struct store_run *ret)
{
	return one(tx, RUN " WHERE r.package_id = ? AND r.outcome IS NULL", package, ret);
}

/* Why a live run with this id wasn't found: it has ended, or there is none. */
static int why_not(struct store_tx *tx, struct str id)
{
	struct store_run run;
	int r = store_run_find(tx, id, &run);

	return r ? r : STORE_CONFLICT;
}

static int run_on_live(struct sql *query, struct str id)
{
	int r = sql_run_on_row(query);

	return r == STORE_ABSENT ? why_not(query->tx, id) : r;
}

int store_run_renew(struct store_tx *tx, struct str id, int64_t lease_expires_at)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "UPDATE runs SET lease_expires_at = ?, renewals = renewals + 1 WHERE id = ? AND outcome IS NULL");

	sql_bind_int(&query, lease_expires_at);
	sql_bind_str(&query, id);
	return run_on_live(&query, id);
}

int store_run_set_packet(struct store_tx *tx, struct str id, struct str packet_json)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "UPDATE runs SET packet_json = ? WHERE id = ? AND outcome IS NULL");

	sql_bind_str(&query, packet_json);
	sql_bind_str(&query, id);
	return run_on_live(&query, id);
}

int store_run_end(struct store_tx *tx, const struct store_run *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"UPDATE runs SET outcome = ?, summary = ?, ended_token = ?, ended_principal = ?, ended_at = ? "
		"WHERE id = ? AND outcome IS NULL");

	CHECK(row->outcome != STORE_RUN_LIVE);
	sql_bind_word(&query, outcomes, STORE_RUN_OUTCOME_COUNT, row->outcome);
	sql_bind_str(&query, row->summary);
	sql_bind_actor(&query, &row->ended_by);
	sql_bind_int(&query, row->ended_at);
	sql_bind_str(&query, row->id);
	return run_on_live(&query, row->id);
}

static int all(struct sql *query, struct store_run_list *ret)
{
	struct sql_rows rows;
	int r = sql_all(query, read_run, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_run_list){rows.items, rows.count};
	return r;
}

int store_run_list_live(struct store_tx *tx, struct str project, struct store_run_list *ret)
{
	struct sql_select select;

	sql_select_init(&select, RUN);
	sql_select_where_always(&select, "r.outcome IS NULL");
	sql_select_where(&select, "r.project_id = ?", project);
	sql_select_finish(&select, " ORDER BY r.sequence");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	return all(&query, ret);
}

int store_run_list(struct store_tx *tx, const struct store_run_filter *filter, int64_t before, size_t limit,
	struct store_run_list *ret)
{
	struct sql_select select;

	sql_select_init(&select, RUN);
	sql_select_where_in(&select, "+r.project_id", filter->projects_json);
	sql_select_where(&select, "r.project_id = ?", filter->project);
	sql_select_where(&select, "r.task_id = ?", filter->task);
	sql_select_where(&select, "r.package_id = ?", filter->package);
	sql_select_where(&select, "r.claimed_token = ?", filter->claimed_by_token);
	sql_select_where(&select, "r.claimed_principal = ?", filter->claimed_by_principal);
	if (filter->live_only)
		sql_select_where_always(&select, "r.outcome IS NULL");
	sql_select_where_always(&select, "r.sequence < ?");
	sql_select_finish(&select, " ORDER BY r.sequence DESC LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, sql_before(before));
	sql_bind_int(&query, sql_limit(limit));
	return all(&query, ret);
}

static void read_text(struct sql *query, void *row)
{
	*(struct str *)row = sql_str(query);
}

/* Uses a one-time grant up for this run; the same run may use it for several requirements. */
static int use_once(struct store_tx *tx, const struct store_run_grant *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO grant_uses (grant_id, run_id) SELECT id, ? FROM grants WHERE id = ? AND mode = "
		"'allow_once' "
		"ON CONFLICT (grant_id) DO NOTHING");
	CLEANUP(sql_end) struct sql user = sql_begin(tx, "SELECT run_id FROM grant_uses WHERE grant_id = ?");
	struct str run;
	int r;

	sql_bind_str(&query, row->run);
	sql_bind_str(&query, row->grant);
	r = sql_run(&query);
	if (r)
		return r;
	sql_bind_str(&user, row->grant);
	r = sql_one(&user, read_text, &run);
	if (r)
		return r;
	return str_equal(run, row->run) ? 0 : STORE_CONFLICT;
}

int store_run_grant_append(struct store_tx *tx, const struct store_run_grant *row)
{
	bool is_once = row->mode == STORE_GRANT_ALLOW_ONCE;
	int r = is_once ? use_once(tx, row) : 0;

	if (r)
		return r;
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO run_grants (run_id, requirement_key, grant_id, mode, once_grant_id) "
		"SELECT ?, ?, id, mode, CASE mode WHEN 'allow_once' THEN id END FROM grants WHERE id = ? AND mode = ?");

	sql_bind_str(&query, row->run);
	sql_bind_str(&query, row->requirement_key);
	sql_bind_str(&query, row->grant);
	sql_bind_word(&query, words_grant_mode, WORDS_MODE_COUNT, row->mode);
	return sql_run_on_row(&query);
}

static void read_run_grant(struct sql *query, void *row)
{
	struct store_run_grant *grant = row;

	grant->run = sql_str(query);
	grant->requirement_key = sql_str(query);
	grant->grant = sql_str(query);
	grant->mode = (enum store_grant_mode)sql_word(query, words_grant_mode, WORDS_MODE_COUNT);
}

int store_run_grant_list(struct store_tx *tx, struct str run, struct store_run_grant_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT run_id, requirement_key, grant_id, mode FROM run_grants WHERE run_id = ? ORDER BY "
		"requirement_key");
	struct sql_rows rows;
	int r;

	sql_bind_str(&query, run);
	r = sql_all(&query, read_run_grant, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_run_grant_list){rows.items, rows.count};
	return r;
}
