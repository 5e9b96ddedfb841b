#include "daemon/store/catalog.h"

#include "daemon/store/sql.h"

static void read_catalog(struct sql *query, void *row)
{
	struct store_catalog *catalog = row;

	*catalog = (struct store_catalog){0};
	catalog->digest = sql_str(query);
	catalog->bytes = sql_str(query);
	catalog->epoch = sql_int(query);
	sql_actor(query, &catalog->actor);
	catalog->at = sql_int(query);
}

int store_catalog_put(struct store_tx *tx, struct str digest, struct str bytes)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "INSERT INTO catalogs (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING");

	sql_bind_str(&query, digest);
	sql_bind_str(&query, bytes);
	return sql_run(&query);
}

int store_catalog_find(struct store_tx *tx, struct str digest, struct store_catalog *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT c.digest, c.bytes, e.epoch, e.actor_token, e.actor_principal, e.at FROM catalogs c "
		"LEFT JOIN catalog_epochs e ON e.digest = c.digest WHERE c.digest = ? ORDER BY e.epoch DESC LIMIT 1");

	sql_bind_str(&query, digest);
	return sql_one(&query, read_catalog, ret);
}

int store_catalog_current(struct store_tx *tx, struct store_catalog *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT c.digest, c.bytes, e.epoch, e.actor_token, e.actor_principal, e.at FROM catalog_epochs e "
		"CROSS JOIN catalogs c ON c.digest = e.digest ORDER BY e.epoch DESC LIMIT 1");

	return sql_one(&query, read_catalog, ret);
}

int store_catalog_set_current(struct store_tx *tx, struct store_catalog *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "INSERT INTO catalog_epochs (digest, actor_token, actor_principal, at) VALUES (?, ?, ?, ?)");
	int r;

	sql_bind_str(&query, row->digest);
	sql_bind_actor(&query, &row->actor);
	sql_bind_int(&query, row->at);
	r = sql_run(&query);
	if (r == 0)
		row->epoch = sql_last_sequence(tx);
	return r;
}
