/* token_issue.h - making and revoking tokens of persons and services (chapter 4.1, "Auth").
 *
 * A secret is 256 random bits and is nowhere but with who gets it: the store has its hash. Each change is an event in the
 * transaction that makes it. Uses the store; the writing functions need a writer's transaction.
 */
#ifndef ADMITD_DAEMON_HTTP_TOKEN_ISSUE_H
#define ADMITD_DAEMON_HTTP_TOKEN_ISSUE_H

#include "daemon/http/auth.h"
#include "daemon/store/token.h"

enum { TOKEN_SECRET_BYTES = 32, TOKEN_SECRET_SIZE = 4 + 2 * TOKEN_SECRET_BYTES + 1 }; /* "adt_", hex, NUL */

/* A new secret. The caller wipes it. */
void token_issue_secret(char ret_secret[static TOKEN_SECRET_SIZE]);

/* Stores a token: `row` has principal, made_by, roles, projects_json, created_at and expires_at, and gets id and hash, which live
 * in the transaction's arena. 0 or what the store answered.
 */
int token_issue(struct store_tx *tx, struct store_token *row, const char *secret) MUST_USE;

/* STORE_ABSENT; revoking a second time changes nothing and tells nothing. */
int token_issue_revoke(struct store_tx *tx, struct str id, const struct store_actor *actor, int64_t at) MUST_USE;

/* Whether any token was ever made: 0 and *ret, or what the store answered. */
int token_issue_is_first(struct store_tx *tx, bool *ret) MUST_USE;

/* Revokes what nobody made: the tokens of first starts and resets. */
int token_issue_revoke_own(struct store_tx *tx, int64_t at) MUST_USE;

#endif
