#include "daemon/store/project.h"

#include "daemon/store/health.h"
#include "daemon/store/sql.h"

#define PROJECT                                                                                             \
	"SELECT id, name, root_path, root_device, root_inode, root_ref, root_revision, decision_revision, " \
	"created_at, "                                                                                      \
	"archived_at, revision, changed_token, changed_principal, changed_at, change_reason FROM projects"

static void read_project(struct sql *query, void *row)
{
	struct store_project *project = row;

	*project = (struct store_project){0};
	project->id = sql_str(query);
	project->name = sql_str(query);
	project->root_path = sql_str(query);
	project->root_device = (uint64_t)sql_int(query);
	project->root_inode = (uint64_t)sql_int(query);
	project->root_ref = sql_str(query);
	project->root_revision = sql_int(query);
	project->decision_revision = sql_int(query);
	project->created_at = sql_int(query);
	project->archived_at = sql_int(query);
	project->revision = sql_int(query);
	sql_actor(query, &project->changed_by);
	project->changed_at = sql_int(query);
	project->change_reason = sql_str(query);
}

int store_project_find(struct store_tx *tx, struct str id, struct store_project *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, PROJECT " WHERE id = ?");

	sql_bind_str(&query, id);
	return sql_one(&query, read_project, ret);
}

int store_project_insert(struct store_tx *tx, const struct store_project *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO projects (id, name, created_at, changed_token, changed_principal, changed_at) VALUES (?, "
		"?, ?, "
		"?, ?, ?)");

	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->name);
	sql_bind_int(&query, row->created_at);
	sql_bind_actor(&query, &row->changed_by);
	sql_bind_int(&query, row->created_at);
	return sql_run(&query);
}

#define CHANGED "revision = revision + 1, changed_token = ?, changed_principal = ?, changed_at = ?, change_reason = ?"

static void bind_change(struct sql *query, const struct store_project *row)
{
	sql_bind_actor(query, &row->changed_by);
	sql_bind_int(query, row->changed_at);
	sql_bind_str(query, row->change_reason);
}

int store_project_update(struct store_tx *tx, const struct store_project *row)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin_write(tx, "UPDATE projects SET name = ?, archived_at = ?, " CHANGED " WHERE id = ?");

	sql_bind_str(&query, row->name);
	sql_bind_time(&query, row->archived_at);
	bind_change(&query, row);
	sql_bind_str(&query, row->id);
	return sql_run_on_row(&query);
}

static void read_int(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

/* Taking a root away gives no number: 0 says that there is none, and the next root gets the next one. */
int store_project_set_root(struct store_tx *tx, struct store_project *row)
{
	bool has_root = row->root_path.bytes != NULL;
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		has_root ? "UPDATE projects SET root_path = ?, root_device = ?, root_inode = ?, root_ref = ?, "
			   "root_counter = root_counter + 1, root_revision = root_counter + 1, " CHANGED
			   " WHERE id = ? RETURNING "
			   "root_revision"
			 : "UPDATE projects SET root_path = NULL, root_device = 0, root_inode = 0, root_ref = NULL, "
			   "root_revision = 0, " CHANGED " WHERE id = ? RETURNING root_revision");

	if (has_root) {
		sql_bind_str(&query, row->root_path);
		sql_bind_int(&query, (int64_t)row->root_device);
		sql_bind_int(&query, (int64_t)row->root_inode);
		sql_bind_str(&query, row->root_ref);
	}
	bind_change(&query, row);
	sql_bind_str(&query, row->id);
	return sql_one(&query, read_int, &row->root_revision);
}

int store_project_list(
	struct store_tx *tx, struct str projects_json, struct str after, size_t limit, struct store_project_list *ret)
{
	struct sql_select select;
	struct sql_rows rows;
	int r;

	sql_select_init(&select, PROJECT);
	sql_select_where_in(&select, "id", projects_json);
	sql_select_where(&select, "id > ?", after);
	sql_select_finish(&select, " ORDER BY id LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_project, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_project_list){rows.items, rows.count};
	return r;
}

static const char *const kinds[] = {"reported", "builtin", "spec"};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

#define SERVER                                                                                                         \
	"SELECT project_id, mcp_id, enabled, kind, spec_json, revision, changed_token, changed_principal, changed_at " \
	"FROM tool_servers WHERE project_id = ?"

static void read_server(struct sql *query, void *row)
{
	struct store_server *server = row;

	*server = (struct store_server){0};
	server->project = sql_str(query);
	server->mcp_id = sql_str(query);
	server->enabled = sql_int(query) != 0;
	server->kind = (enum store_server_kind)sql_word(query, kinds, KIND_COUNT);
	server->spec_json = sql_str(query);
	server->revision = sql_int(query);
	sql_actor(query, &server->changed_by);
	server->changed_at = sql_int(query);
}

int store_server_find(struct store_tx *tx, struct str project, struct str mcp_id, struct store_server *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, SERVER " AND mcp_id = ?");

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	return sql_one(&query, read_server, ret);
}

int store_server_list(struct store_tx *tx, struct str project, struct store_server_list *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, SERVER " ORDER BY mcp_id");
	struct sql_rows rows;
	int r;

	sql_bind_str(&query, project);
	r = sql_all(&query, read_server, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_server_list){rows.items, rows.count};
	return r;
}

/* One counter a project: a server that is deleted and made again is another one. */
static int next_server_revision(struct store_tx *tx, struct str project, int64_t *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "UPDATE projects SET server_counter = server_counter + 1 WHERE id = ? RETURNING server_counter");

	sql_bind_str(&query, project);
	return sql_one(&query, read_int, ret);
}

int store_server_put(struct store_tx *tx, struct store_server *row)
{
	int r = next_server_revision(tx, row->project, &row->revision);

	if (r)
		return r;
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO tool_servers (project_id, mcp_id, enabled, kind, spec_json, revision, changed_token, "
		"changed_principal, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, mcp_id) DO "
		"UPDATE SET "
		"enabled = excluded.enabled, kind = excluded.kind, spec_json = excluded.spec_json, revision = "
		"excluded.revision, "
		"changed_token = excluded.changed_token, changed_principal = excluded.changed_principal, "
		"changed_at = excluded.changed_at");

	sql_bind_str(&query, row->project);
	sql_bind_str(&query, row->mcp_id);
	sql_bind_int(&query, row->enabled);
	sql_bind_word(&query, kinds, KIND_COUNT, row->kind);
	sql_bind_str(&query, row->spec_json);
	sql_bind_int(&query, row->revision);
	sql_bind_actor(&query, &row->changed_by);
	sql_bind_int(&query, row->changed_at);
	return sql_run(&query);
}

int store_server_delete(struct store_tx *tx, struct str project, struct str mcp_id)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "DELETE FROM tool_servers WHERE project_id = ? AND mcp_id = ?");
	int r;

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	r = sql_run_on_row(&query);
	if (r)
		return r;
	r = store_health_delete(tx, project, mcp_id);
	return r == STORE_ABSENT ? 0 : r;
}
