#include "daemon/store/token.h"

#include "daemon/store/sql.h"

#define TOKEN                                                                                                        \
	"SELECT sequence, id, principal, made_by_token, made_by_principal, roles, projects_json, hash, created_at, " \
	"expires_at, revoked_at, last_used_at FROM tokens"

static void read_token(struct sql *query, void *row)
{
	struct store_token *token = row;

	*token = (struct store_token){0};
	token->sequence = sql_int(query);
	token->id = sql_str(query);
	token->principal = sql_str(query);
	sql_actor(query, &token->made_by);
	token->roles = (uint32_t)sql_int(query);
	token->projects_json = sql_str(query);
	token->hash = sql_str(query);
	token->created_at = sql_int(query);
	token->expires_at = sql_int(query);
	token->revoked_at = sql_int(query);
	token->last_used_at = sql_int(query);
}

int store_token_insert(struct store_tx *tx, struct store_token *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO tokens (id, principal, made_by_token, made_by_principal, roles, projects_json, hash, "
		"created_at, "
		"expires_at, revoked_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	int r;

	sql_bind_str(&query, row->id);
	sql_bind_str(&query, row->principal);
	sql_bind_actor(&query, &row->made_by);
	sql_bind_int(&query, row->roles);
	sql_bind_str(&query, row->projects_json);
	sql_bind_str(&query, row->hash);
	sql_bind_int(&query, row->created_at);
	sql_bind_time(&query, row->expires_at);
	sql_bind_time(&query, row->revoked_at);
	sql_bind_time(&query, row->last_used_at);
	r = sql_run(&query);
	if (r == 0)
		row->sequence = sql_last_sequence(tx);
	return r;
}

static int one(struct store_tx *tx, const char *text, struct str key, struct store_token *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, text);

	sql_bind_str(&query, key);
	return sql_one(&query, read_token, ret);
}

int store_token_find(struct store_tx *tx, struct str id, struct store_token *ret)
{
	return one(tx, TOKEN " WHERE id = ?", id, ret);
}

int store_token_find_by_hash(struct store_tx *tx, struct str hash, struct store_token *ret)
{
	return one(tx, TOKEN " WHERE hash = ?", hash, ret);
}

static int set_time(struct store_tx *tx, const char *text, struct str id, int64_t at)
{
	CLEANUP(sql_end) struct sql query = sql_begin_write(tx, text);

	sql_bind_int(&query, at);
	sql_bind_str(&query, id);
	return sql_run_on_row(&query);
}

int store_token_revoke(struct store_tx *tx, struct str id, int64_t at)
{
	return set_time(tx, "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", id, at);
}

int store_token_touch(struct store_tx *tx, struct str id, int64_t at)
{
	return set_time(tx, "UPDATE tokens SET last_used_at = ? WHERE id = ?", id, at);
}

int store_token_list(struct store_tx *tx, int64_t before, size_t limit, struct store_token_list *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, TOKEN " WHERE sequence < ? ORDER BY sequence DESC LIMIT ?");
	struct sql_rows rows;
	int r;

	sql_bind_int(&query, sql_before(before));
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_token, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_token_list){rows.items, rows.count};
	return r;
}

static void read_answer(struct sql *query, void *row)
{
	struct store_answer *answer = row;

	answer->token = sql_str(query);
	answer->route = sql_str(query);
	answer->key = sql_str(query);
	answer->body_digest = sql_str(query);
	answer->status = sql_int(query);
	answer->answer_json = sql_str(query);
	answer->at = sql_int(query);
}

int store_answer_find(struct store_tx *tx, struct str token, struct str route, struct str key, struct store_answer *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT token_id, route, \"key\", body_digest, status, answer_json, at FROM answers "
		"WHERE token_id = ? AND route = ? AND \"key\" = ?");

	sql_bind_str(&query, token);
	sql_bind_str(&query, route);
	sql_bind_str(&query, key);
	return sql_one(&query, read_answer, ret);
}

int store_answer_insert(struct store_tx *tx, const struct store_answer *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO answers (token_id, route, \"key\", body_digest, status, answer_json, at) VALUES (?, ?, ?, "
		"?, ?, ?, ?)");

	sql_bind_str(&query, row->token);
	sql_bind_str(&query, row->route);
	sql_bind_str(&query, row->key);
	sql_bind_str(&query, row->body_digest);
	sql_bind_int(&query, row->status);
	sql_bind_str(&query, row->answer_json);
	sql_bind_int(&query, row->at);
	return sql_run(&query);
}

int store_answer_prune(struct store_tx *tx, int64_t before, size_t limit)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(
		tx, "DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE at < ? ORDER BY at LIMIT ?)");

	sql_bind_int(&query, before);
	sql_bind_int(&query, sql_limit(limit));
	return sql_run(&query);
}
