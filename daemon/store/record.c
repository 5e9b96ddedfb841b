#include "daemon/store/record.h"

#include <sodium.h>
#include <string.h>

#include "daemon/store/sql.h"

static const char domain[] = "admitd/record/1";

enum key { KEY_NONE, KEY_SUBJECT, KEY_DECISION, KEY_PACKAGE, KEY_AT };

static const struct piece {
	const char *type; /* of the events that name it; NULL: of any that have the first key */
	enum key keys[2];
	const char *text;
} pieces[] = {
	{NULL, {KEY_DECISION},
		"SELECT id, result_digest, catalog_digest, package_digest, engine_revision, created_at FROM decisions "
		"WHERE id = ?"},
	{NULL, {KEY_PACKAGE},
		"SELECT id, task_id, project_id, label, document_digest, created_at FROM packages WHERE id = ?"},
	{"grant.recorded", {KEY_SUBJECT},
		"SELECT id, project_id, package_id, decision, mode, capabilities_json, dropped_json, revision, "
		"root_revision, expires_at, reason, actor_token, actor_principal, at, replaces FROM grants WHERE id = "
		"?"},
	{"token.issued", {KEY_SUBJECT},
		"SELECT id, principal, made_by_token, made_by_principal, roles, projects_json, hash, created_at, "
		"expires_at FROM tokens WHERE id = ?"},
	{"run.claimed", {KEY_SUBJECT},
		"SELECT id, package_id, task_id, project_id, attempt, claimed_token, claimed_principal, worker, "
		"decision_id, root_revision, claimed_at FROM runs WHERE id = ?"},
	{"run.claimed", {KEY_SUBJECT},
		"SELECT requirement_key, grant_id, mode, once_grant_id FROM run_grants WHERE run_id = ? ORDER BY "
		"requirement_key"},
	{"run.claimed", {KEY_SUBJECT}, "SELECT grant_id FROM grant_uses WHERE run_id = ? ORDER BY grant_id"},
	{"run.ended", {KEY_SUBJECT},
		"SELECT id, outcome, summary, ended_token, ended_principal, ended_at FROM runs WHERE id = ?"},
	{"due.recorded", {KEY_SUBJECT},
		"SELECT project_id, subject, kind, due_at, at FROM due_records WHERE sequence = CAST(? AS INTEGER)"},
	{"catalog.replaced", {KEY_SUBJECT, KEY_AT},
		"SELECT epoch, digest, actor_token, actor_principal, at FROM catalog_epochs WHERE digest = ? AND at = "
		"? "
		"ORDER BY epoch"},
	{"store.restored", {KEY_SUBJECT},
		"SELECT epoch, from_sequence, from_hash, replaced_sequence, replaced_hash, at FROM epochs "
		"WHERE epoch = CAST(? AS INTEGER)"},
	{"audit.trimmed", {KEY_SUBJECT},
		"SELECT through, after, digest, at FROM audit_trims WHERE through = CAST(? AS INTEGER)"},
};

static bool is_named(const struct piece *piece, const struct store_event *row)
{
	if (piece->type)
		return str_is(row->type, piece->type);
	return piece->keys[0] == KEY_DECISION ? row->decision.bytes != NULL : row->package.bytes != NULL;
}

static void bind_key(struct sql *query, enum key key, const struct store_event *row)
{
	switch (key) {
	case KEY_NONE:
		return;
	case KEY_SUBJECT:
		sql_bind_str(query, row->subject_id);
		return;
	case KEY_DECISION:
		sql_bind_str(query, row->decision);
		return;
	case KEY_PACKAGE:
		sql_bind_str(query, row->package);
		return;
	case KEY_AT:
		sql_bind_int(query, row->at);
		return;
	}
}

/* Read where it lies: a text pointer of SQLite is good until the next step. */
static void add_column(crypto_hash_sha256_state *state, const struct sql *query, int column)
{
	int type = sqlite3_column_type(query->stmt, column);
	const void *bytes = type == SQLITE_BLOB ? sqlite3_column_blob(query->stmt, column)
						: (const void *)sqlite3_column_text(query->stmt, column);
	size_t len = type == SQLITE_NULL || !bytes ? 0 : (size_t)sqlite3_column_bytes(query->stmt, column);
	unsigned char head[5] = {(unsigned char)type, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
		(unsigned char)(len >> 8), (unsigned char)len};

	(void)crypto_hash_sha256_update(state, head, sizeof(head));
	if (len)
		(void)crypto_hash_sha256_update(state, bytes, len);
}

static int add_rows(struct sql *query, crypto_hash_sha256_state *state)
{
	int r;

	while ((r = sql_next(query)) == SQL_ROW) {
		(void)crypto_hash_sha256_update(state, (const unsigned char *)"r", 1);
		for (int i = 0; i < sqlite3_column_count(query->stmt); i++)
			add_column(state, query, i);
	}
	return r;
}

static int add_piece(
	struct store_tx *tx, const struct piece *piece, const struct store_event *row, crypto_hash_sha256_state *state)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, piece->text);

	for (size_t i = 0; i < sizeof(piece->keys) / sizeof(piece->keys[0]); i++)
		bind_key(&query, piece->keys[i], row);
	return add_rows(&query, state);
}

int record_digest(
	struct store_tx *tx, const struct store_event *row, unsigned char ret_digest[STORE_HASH_BYTES], bool *ret_has)
{
	crypto_hash_sha256_state state;
	bool has = false;
	int r = 0;

	(void)crypto_hash_sha256_init(&state);
	(void)crypto_hash_sha256_update(&state, (const unsigned char *)domain, sizeof(domain));
	for (size_t i = 0; r == 0 && i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		unsigned char place = (unsigned char)i;

		if (!is_named(&pieces[i], row))
			continue;
		has = true;
		(void)crypto_hash_sha256_update(&state, &place, 1);
		r = add_piece(tx, &pieces[i], row, &state);
	}
	if (r)
		return r;
	*ret_has = has;
	if (has)
		(void)crypto_hash_sha256_final(&state, ret_digest);
	return 0;
}

int record_digest_rows(struct sql *query, unsigned char ret_digest[STORE_HASH_BYTES])
{
	crypto_hash_sha256_state state;
	int r;

	(void)crypto_hash_sha256_init(&state);
	(void)crypto_hash_sha256_update(&state, (const unsigned char *)domain, sizeof(domain));
	r = add_rows(query, &state);
	if (r == 0)
		(void)crypto_hash_sha256_final(&state, ret_digest);
	return r;
}
