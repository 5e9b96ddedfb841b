#include "daemon/store/webhook.h"

#include "daemon/store/sql.h"

static void read_sequence(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

int store_webhook_position_find(struct store_tx *tx, int64_t *ret_sequence)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT sequence FROM webhook_position");

	return sql_one(&query, read_sequence, ret_sequence);
}

int store_webhook_position_put(struct store_tx *tx, int64_t sequence)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO webhook_position (id, sequence) VALUES (1, ?) "
		"ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence");

	sql_bind_int(&query, sequence);
	return sql_run(&query);
}
