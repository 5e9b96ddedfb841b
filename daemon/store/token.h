/* token.h - tokens, and remembered answers of idempotent requests (chapters 2.1, 4.1).
 *
 * See store.h for results, values and ownership. Secrets are never here: only their hashes.
 */
#ifndef ADMITD_DAEMON_STORE_TOKEN_H
#define ADMITD_DAEMON_STORE_TOKEN_H

#include "daemon/store/store.h"

struct store_token {
	int64_t sequence;
	struct str id; /* tok_… */
	struct str principal;
	struct store_actor made_by;
	uint32_t roles;           /* mask; the bits are http's */
	struct str projects_json; /* JSON array of ids; absent = all */
	struct str hash;          /* of the secret, as its maker writes it; unique */
	int64_t created_at;
	int64_t expires_at; /* 0: no end */
	int64_t revoked_at;
	int64_t last_used_at;
};

struct store_token_list {
	struct store_token *items;
	size_t count;
};

/* Leaves the sequence in row. STORE_CONFLICT: the id or hash is taken. */
int store_token_insert(struct store_tx *tx, struct store_token *row) MUST_USE;
/* STORE_ABSENT. Revoked and expired ones are found too. */
int store_token_find(struct store_tx *tx, struct str id, struct store_token *ret) MUST_USE;
int store_token_find_by_hash(struct store_tx *tx, struct str hash, struct store_token *ret) MUST_USE;
/* STORE_ABSENT. Revoking again keeps the first time. */
int store_token_revoke(struct store_tx *tx, struct str id, int64_t at) MUST_USE;
int store_token_touch(struct store_tx *tx, struct str id, int64_t at) MUST_USE;
/* Newest first, below sequence `before` (0: from the newest). */
int store_token_list(struct store_tx *tx, int64_t before, size_t limit, struct store_token_list *ret) MUST_USE;

/* The answer to a request that took effect, written in the transaction it names. */
struct store_answer {
	struct str token;
	struct str route;
	struct str key;
	struct str body_digest; /* of the request's canonical JSON */
	int64_t status;
	struct str answer_json; /* without secrets: they are derived again */
	int64_t at;
};

/* STORE_ABSENT. */
int store_answer_find(
	struct store_tx *tx, struct str token, struct str route, struct str key, struct store_answer *ret) MUST_USE;
/* STORE_CONFLICT: this key has one. */
int store_answer_insert(struct store_tx *tx, const struct store_answer *row) MUST_USE;
/* Forgets those from before `before`, at most `limit`. */
int store_answer_prune(struct store_tx *tx, int64_t before, size_t limit) MUST_USE;

#endif
