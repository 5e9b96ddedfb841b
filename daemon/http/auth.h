/* auth.h - who asks, and whether he may (chapter 4.1, "Auth").
 *
 * A request carries `Authorization: Bearer SECRET`. The secret is hashed (BLAKE2b, 32 bytes: auth_hash) and
 * looked up through a callback given at start, so this room does not know the store. Secrets are never
 * compared by us, never logged, never part of an answer: only the hash is, whose timing tells nothing.
 *
 * Failures are budgeted per remote address: whoever has used up his budget gets 429 for a wrong token
 * instead of 401. A right token is always served: a stranger behind the same address (or another program
 * on loopback) must not be able to lock honest clients out, and a token of 256 random bits is not guessed.
 */
#ifndef ADMITD_DAEMON_HTTP_AUTH_H
#define ADMITD_DAEMON_HTTP_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/buf.h"
#include "policy/check.h"

/* A set of roles is the sum of these; 0 is no role at all. */
enum auth_role {
	AUTH_PLANNER = 1 << 0,
	AUTH_APPROVER = 1 << 1,
	AUTH_EXECUTOR = 1 << 2,
	AUTH_OPERATOR = 1 << 3,
	AUTH_AUDITOR = 1 << 4,
	AUTH_ADMIN = 1 << 5, /* has all the others */
	AUTH_ROLES = 6,      /* how many there are */
};

enum { AUTH_HASH_SIZE = 32 };

/* What the look-up found. Zeroed, it may do nothing. Strings live in the arena given to the look-up. */
struct auth_token {
	struct str id;        /* tok_…; of a run's token, the run's id */
	struct str principal; /* a person or a service; absent for a run's token */
	unsigned roles;       /* enum auth_role; 0 for a run's token */
	bool all_projects;
	const struct str *projects; /* the only ones it may see, unless all_projects */
	size_t projects_count;
	struct str run;     /* present: this is the token of that run and good for nothing else */
	bool is_peer;       /* a process of this machine without a token: nobody keeps a row of it */
	int64_t expires_ms; /* 0: no end. The look-up has already refused what is over */
};

/* What a process of this machine may without a token, by its uid; no roles: reading. */
struct auth_peer {
	unsigned uid;
	unsigned roles;
};

/* Finds the token with this hash: 0 and *ret, AUTH_ABSENT (also for a revoked or ended one), or -errno.
 * Called from any of the server's threads at once.
 */
typedef int auth_find_fn(
	void *ctx, struct arena *arena, const unsigned char hash[AUTH_HASH_SIZE], struct auth_token *ret_token);

enum auth_result {
	AUTH_ABSENT = 1, /* no header, another scheme, a malformed or unknown token: 401 */
	AUTH_SPENT,      /* the same, but the address has used up its failures: 429 */
};

/* The hash under which the store keeps a token. `secret` may be of any length. */
void auth_hash(struct str secret, unsigned char ret_hash[AUTH_HASH_SIZE]);

/* The secret inside an Authorization header: false if the scheme is not Bearer (in any case) or the rest is
 * not one token68 of at most 256 bytes. *ret_secret points into `header`.
 */
bool auth_bearer(struct str header, struct str *ret_secret);

/* True if `token` has one of the roles in `mask`, or is an admin's; a mask of 0 asks for any person's or
 * service's token. A run's token never has a role: routes that take it carry HTTP_RUN_TOKEN.
 */
bool auth_has_role(const struct auth_token *token, unsigned mask);

/* True if `token` may see the project; else the answer is the 404 of an unknown one. */
bool auth_has_project(const struct auth_token *token, struct str project);

/* The role's word, as in `roleNeeded`; `role` is one single role. */
const char *auth_role_name(unsigned role);

/* The role with this name, or 0. */
unsigned auth_role_find(struct str name);

/* Failures by remote address: a fixed table, so that no number of addresses makes it grow. Thread-safe. */
struct auth_budget;

/* `failures` attempts may fail within `window_ms`. NULL when memory is out. */
struct auth_budget *auth_budget_new(unsigned failures, uint64_t window_ms) MUST_USE;
void auth_budget_free(struct auth_budget *budget);

/* Counts one failure of `address` at `now_ms` (monotonic). True if it was still within the budget; else
 * *ret_wait_ms says when the window is over.
 */
bool auth_budget_spend(struct auth_budget *budget, struct str address, uint64_t now_ms, uint64_t *ret_wait_ms);

#endif
