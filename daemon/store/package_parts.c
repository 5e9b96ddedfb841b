/* What belongs to a package: its document, what it depends on, its prompt overlays. */
#include "daemon/store/package.h"
#include "daemon/store/sql.h"

int store_document_put(struct store_tx *tx, struct str digest, struct str bytes)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "INSERT INTO documents (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING");

	sql_bind_str(&query, digest);
	sql_bind_str(&query, bytes);
	return sql_run(&query);
}

static void read_text(struct sql *query, void *row)
{
	*(struct str *)row = sql_str(query);
}

int store_document_find(struct store_tx *tx, struct str digest, struct str *ret_bytes)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT bytes FROM documents WHERE digest = ?");

	sql_bind_str(&query, digest);
	return sql_one(&query, read_text, ret_bytes);
}

int store_dependency_insert(struct store_tx *tx, const struct store_dependency *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO dependencies (package_id, depends_on) VALUES (?, ?) ON CONFLICT (package_id, depends_on) "
		"DO NOTHING");

	sql_bind_str(&query, row->package);
	sql_bind_str(&query, row->depends_on);
	return sql_run(&query);
}

int store_dependency_clear(struct store_tx *tx, struct str package)
{
	CLEANUP(sql_end) struct sql query = sql_begin_write(tx, "DELETE FROM dependencies WHERE package_id = ?");

	sql_bind_str(&query, package);
	return sql_run(&query);
}

#define DEPENDENCY                                                                                            \
	"SELECT d.package_id, d.depends_on FROM packages p CROSS JOIN dependencies d ON d.package_id = p.id " \
	"CROSS JOIN packages o ON o.id = d.depends_on"

static void read_dependency(struct sql *query, void *row)
{
	struct store_dependency *dependency = row;

	dependency->package = sql_str(query);
	dependency->depends_on = sql_str(query);
}

static int all_dependencies(struct sql *query, struct store_dependency_list *ret)
{
	struct sql_rows rows;
	int r = sql_all(query, read_dependency, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_dependency_list){rows.items, rows.count};
	return r;
}

int store_dependency_list(struct store_tx *tx, struct str task, struct store_dependency_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx, DEPENDENCY " WHERE p.task_id = ? ORDER BY p.sequence, o.sequence");

	sql_bind_str(&query, task);
	return all_dependencies(&query, ret);
}

int store_dependency_list_of_package(struct store_tx *tx, struct str package, struct store_dependency_list *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, DEPENDENCY " WHERE p.id = ? ORDER BY o.sequence");

	sql_bind_str(&query, package);
	return all_dependencies(&query, ret);
}

int store_overlay_insert(struct store_tx *tx, const struct store_overlay *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "INSERT INTO prompt_overlays (package_id, requirement_key, text, digest) VALUES (?, ?, ?, ?)");

	sql_bind_str(&query, row->package);
	sql_bind_str(&query, row->requirement_key);
	sql_bind_str(&query, row->text);
	sql_bind_str(&query, row->digest);
	return sql_run(&query);
}

static void read_overlay(struct sql *query, void *row)
{
	struct store_overlay *overlay = row;

	overlay->package = sql_str(query);
	overlay->requirement_key = sql_str(query);
	overlay->text = sql_str(query);
	overlay->digest = sql_str(query);
}

int store_overlay_list(struct store_tx *tx, struct str package, bool with_text, struct store_overlay_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		with_text
			? "SELECT package_id, requirement_key, text, digest FROM prompt_overlays WHERE package_id = ? "
			  "ORDER BY requirement_key"
			: "SELECT package_id, requirement_key, NULL, digest FROM prompt_overlays WHERE package_id = ? "
			  "ORDER BY requirement_key");
	struct sql_rows rows;
	int r;

	sql_bind_str(&query, package);
	r = sql_all(&query, read_overlay, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_overlay_list){rows.items, rows.count};
	return r;
}
