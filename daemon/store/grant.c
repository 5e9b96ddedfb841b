#include "daemon/store/grant.h"

#include "daemon/store/due.h"
#include "daemon/store/sql.h"
#include "daemon/store/words.h"

static const char *const decisions[STORE_GRANT_DECISION_COUNT] = {"denied", "revoked", "approved"};

#define COLUMNS                                                                                                     \
	"SELECT g.sequence, g.id, g.project_id, g.package_id, g.decision, g.mode, g.capabilities_json, "            \
	"g.dropped_json, "                                                                                          \
	"g.revision, g.root_revision, g.expires_at, g.reason, g.actor_token, g.actor_principal, g.at, g.replaces, " \
	"EXISTS (SELECT 1 FROM due_records d WHERE d.project_id = g.project_id AND d.subject = g.id AND "           \
	"d.kind = 'grant'), (SELECT run_id FROM grant_uses u WHERE u.grant_id = g.id)"
#define GRANT COLUMNS ", NULL"
/* With the label of its package. */
#define GRANT_NAMED COLUMNS ", (SELECT label FROM packages n WHERE n.id = g.package_id)"

static void read_grant(struct sql *query, void *row)
{
	struct store_grant *grant = row;

	*grant = (struct store_grant){0};
	grant->sequence = sql_int(query);
	grant->id = sql_str(query);
	grant->project = sql_str(query);
	grant->package = sql_str(query);
	grant->decision = (enum store_grant_decision)sql_word(query, decisions, STORE_GRANT_DECISION_COUNT);
	grant->mode = (enum store_grant_mode)sql_word(query, words_grant_mode, WORDS_MODE_COUNT);
	grant->capabilities_json = sql_str(query);
	grant->dropped_json = sql_str(query);
	grant->revision = sql_int(query);
	grant->root_revision = sql_int(query);
	grant->expires_at = sql_int(query);
	grant->reason = sql_str(query);
	sql_actor(query, &grant->actor);
	grant->at = sql_int(query);
	grant->replaces = sql_str(query);
	grant->expired = sql_int(query) != 0;
	grant->used_by = sql_str(query);
	grant->label = sql_str(query);
}

static int one(struct store_tx *tx, const char *text, struct str key, struct store_grant *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, text);

	sql_bind_str(&query, key);
	return sql_one(&query, read_grant, ret);
}

int store_grant_find(struct store_tx *tx, struct str id, struct store_grant *ret)
{
	return one(tx, GRANT_NAMED " FROM grants g WHERE g.id = ?", id, ret);
}

int store_grant_latest_of_package(struct store_tx *tx, struct str package, struct store_grant *ret)
{
	return one(tx, GRANT " FROM grants g WHERE g.package_id = ? ORDER BY g.revision DESC LIMIT 1", package, ret);
}

int store_grant_latest_of_project(struct store_tx *tx, struct str project, struct store_grant *ret)
{
	return one(tx,
		GRANT " FROM grants g WHERE g.project_id = ? AND g.package_id IS NULL ORDER BY g.revision DESC LIMIT 1",
		project, ret);
}

static int all(struct sql *query, struct store_grant_list *ret)
{
	struct sql_rows rows;
	int r = sql_all(query, read_grant, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_grant_list){rows.items, rows.count};
	return r;
}

int store_grant_latest_of_packages(struct store_tx *tx, struct str project, struct store_grant_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		GRANT " FROM packages p CROSS JOIN grants g ON g.sequence = (SELECT l.sequence FROM grants l "
		      "WHERE l.package_id = p.id ORDER BY l.revision DESC LIMIT 1) "
		      "WHERE p.project_id = ? AND p.\"end\" IS NULL ORDER BY p.id");

	sql_bind_str(&query, project);
	return all(&query, ret);
}

int store_grant_list(struct store_tx *tx, const struct store_grant_filter *filter, int64_t before, size_t limit,
	struct store_grant_list *ret)
{
	struct sql_select select;

	sql_select_init(&select, GRANT_NAMED " FROM grants g");
	sql_select_where_in(&select, "+g.project_id", filter->projects_json);
	sql_select_where(&select, "g.project_id = ?", filter->project);
	sql_select_where(&select, "g.package_id = ?", filter->package);
	if (filter->live_only)
		sql_select_where_always(&select,
			"g.decision = 'approved' AND g.root_revision = (SELECT j.root_revision FROM projects j WHERE "
			"j.id = g.project_id) AND g.root_revision > 0 AND (g.package_id IS NULL OR EXISTS (SELECT 1 "
			"FROM "
			"packages p WHERE p.id = g.package_id AND p.\"end\" IS NULL)) AND NOT EXISTS (SELECT 1 FROM "
			"grant_uses u WHERE u.grant_id = g.id) AND NOT EXISTS (SELECT 1 FROM due_records d WHERE "
			"d.project_id = g.project_id AND d.subject = g.id AND d.kind = 'grant')");
	if (filter->latest_only || filter->live_only)
		sql_select_where_always(&select,
			"g.sequence = CASE WHEN g.package_id IS NULL THEN (SELECT l.sequence FROM grants l WHERE "
			"l.project_id = g.project_id AND l.package_id IS NULL ORDER BY l.revision DESC LIMIT 1) ELSE "
			"(SELECT l.sequence FROM grants l WHERE l.package_id = g.package_id ORDER BY l.revision DESC "
			"LIMIT 1) END");
	sql_select_where_always(&select, "g.sequence < ?");
	sql_select_finish(&select, " ORDER BY g.sequence DESC LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, sql_before(before));
	sql_bind_int(&query, sql_limit(limit));
	return all(&query, ret);
}

struct standing {
	int64_t decision_revision;
	int64_t latest_revision; /* of the package, or of the project's own records */
	struct str latest;
};

static void read_standing(struct sql *query, void *row)
{
	struct standing *standing = row;

	standing->decision_revision = sql_int(query);
	standing->latest_revision = sql_int(query);
	standing->latest = sql_str(query);
}

/* STORE_ABSENT when the project isn't there, or the package isn't one of its. */
static int read_standing_of(struct store_tx *tx, const struct store_grant *row, struct standing *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		row->package.bytes ? "SELECT j.decision_revision, g.revision, g.id FROM projects j "
				     "JOIN packages p ON p.project_id = j.id AND p.id = ? LEFT JOIN grants g ON "
				     "g.package_id = p.id "
				     "WHERE j.id = ? ORDER BY g.revision DESC LIMIT 1"
				   : "SELECT j.decision_revision, g.revision, g.id FROM projects j "
				     "LEFT JOIN grants g ON g.project_id = j.id AND g.package_id IS NULL "
				     "WHERE j.id = ? ORDER BY g.revision DESC LIMIT 1");

	if (row->package.bytes)
		sql_bind_str(&query, row->package);
	sql_bind_str(&query, row->project);
	return sql_one(&query, read_standing, ret);
}

/* 2.4: a project's approval may override denials of its packages, so its caller must have seen all of them. */
static int64_t current_revision(const struct store_grant *row, const struct standing *standing)
{
	if (!row->package.bytes && row->decision == STORE_GRANT_APPROVED)
		return standing->decision_revision;
	return standing->latest_revision;
}

static int write_row(struct store_tx *tx, struct store_grant *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO grants (id, project_id, package_id, decision, mode, capabilities_json, dropped_json, "
		"revision, "
		"root_revision, expires_at, reason, actor_token, actor_principal, at, replaces) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	int r;

	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->project);
	sql_bind_str(&query, row->package);
	sql_bind_word(&query, decisions, STORE_GRANT_DECISION_COUNT, row->decision);
	sql_bind_word(&query, words_grant_mode, WORDS_MODE_COUNT, row->mode);
	sql_bind_str(&query, row->capabilities_json);
	sql_bind_str(&query, row->dropped_json);
	sql_bind_int(&query, row->revision);
	sql_bind_int(&query, row->root_revision);
	sql_bind_time(&query, row->expires_at);
	sql_bind_str(&query, row->reason);
	sql_bind_actor(&query, &row->actor);
	sql_bind_int(&query, row->at);
	sql_bind_str(&query, row->replaces);
	r = sql_run(&query);
	if (r == 0)
		row->sequence = sql_last_sequence(tx);
	return r;
}

static int raise_decision_revision(struct store_tx *tx, const struct store_grant *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "UPDATE projects SET decision_revision = ? WHERE id = ?");

	sql_bind_int(&query, row->revision);
	sql_bind_str(&query, row->project);
	return sql_run_on_row(&query);
}

int store_grant_append(struct store_tx *tx, struct store_grant *row, int64_t expected_revision)
{
	struct store_due due = {.kind = STORE_DUE_GRANT, .project = row->project, .subject = row->id};
	struct standing standing;
	int r = read_standing_of(tx, row, &standing);

	if (r)
		return r;
	if (current_revision(row, &standing) != expected_revision)
		return STORE_STALE;
	row->revision = standing.decision_revision + 1;
	row->replaces = standing.latest;
	row->mode = row->package.bytes ? STORE_GRANT_ALLOW_ONCE : STORE_GRANT_ALWAYS_ALLOW;
	r = write_row(tx, row);
	if (r == 0)
		r = raise_decision_revision(tx, row);
	if (r || row->expires_at == 0)
		return r;
	due.due_at = row->expires_at;
	return due_set_pending(tx, &due);
}
