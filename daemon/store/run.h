/* run.h - runs and the grants that admitted them (chapters 2.1, 2.5).
 *
 * See store.h for results, values and ownership. The store keeps: at most one live run per package; an allow_once
 * grant for one run only.
 */
#ifndef ADMITD_DAEMON_STORE_RUN_H
#define ADMITD_DAEMON_STORE_RUN_H

#include "daemon/store/grant.h"
#include "daemon/store/store.h"

enum store_run_outcome {
	STORE_RUN_LIVE,
	STORE_RUN_SUCCEEDED,
	STORE_RUN_FAILED,
	STORE_RUN_RELEASED,
	STORE_RUN_EXPIRED,
	STORE_RUN_CANCELLED,
	STORE_RUN_OUTCOME_COUNT
};

struct store_run {
	int64_t sequence;
	struct str id; /* run_… */
	struct str package;
	struct str task;    /* read only: the package's */
	struct str project; /* read only: the package's */
	int64_t attempt;
	struct store_actor claimed_by;
	struct str worker;        /* absent: none named */
	struct str token_hash;    /* of the run token; the secret is nowhere */
	int64_t lease_expires_at; /* as shown to people; the lease itself runs on the monotonic clock */
	int64_t renewals;         /* of the lease so far: tells one term from the next */
	struct str decision;
	int64_t root_revision; /* of the project at the claim */
	int64_t claimed_at;
	enum store_run_outcome outcome;
	struct str summary;
	struct store_actor ended_by;
	int64_t ended_at;
	struct str packet_json; /* packet facts; absent: no packet was read */
	bool has_grants;        /* read only: it was given context through a grant */
};

struct store_run_list {
	struct store_run *items;
	size_t count;
};

/* Inserts a live run and leaves its sequence in row. STORE_CONFLICT: the package has a live one, or the id or token hash is taken;
 * STORE_ABSENT: no such package or decision.
 */
int store_run_insert(struct store_tx *tx, struct store_run *row) MUST_USE;
/* STORE_ABSENT. */
int store_run_find(struct store_tx *tx, struct str id, struct store_run *ret) MUST_USE;
int store_run_find_by_token_hash(struct store_tx *tx, struct str token_hash, struct store_run *ret) MUST_USE;
int store_run_find_live(struct store_tx *tx, struct str package, struct store_run *ret) MUST_USE;
/* Sets lease_expires_at of a live run and counts the renewal. STORE_ABSENT: no such run; STORE_CONFLICT: it has ended. */
int store_run_renew(struct store_tx *tx, struct str id, int64_t lease_expires_at) MUST_USE;
/* STORE_ABSENT, STORE_CONFLICT as above. */
int store_run_set_packet(struct store_tx *tx, struct str id, struct str packet_json) MUST_USE;
/* Writes outcome, summary, ended_by and ended_at of a live run. STORE_ABSENT, STORE_CONFLICT as above. */
int store_run_end(struct store_tx *tx, const struct store_run *row) MUST_USE;
/* Live runs of a project (absent: of all, for a start of the daemon), by sequence. */
int store_run_list_live(struct store_tx *tx, struct str project, struct store_run_list *ret) MUST_USE;

struct store_run_filter {
	struct str projects_json; /* absent = all; each of the others: absent = any */
	struct str project;
	struct str task;
	struct str package;
	struct str claimed_by_token;
	struct str claimed_by_principal;
	bool live_only;
};

/* Newest first, below sequence `before` (0: from the newest). */
int store_run_list(struct store_tx *tx, const struct store_run_filter *filter, int64_t before, size_t limit,
	struct store_run_list *ret) MUST_USE;

struct store_run_grant {
	struct str run;
	struct str requirement_key;
	struct str grant;
	enum store_grant_mode mode; /* the grant's */
};

struct store_run_grant_list {
	struct store_run_grant *items;
	size_t count;
};

/* STORE_CONFLICT: the allow_once grant was used by another run, or the run has this key already; STORE_ABSENT: no such run or grant (of
 * this mode). One allow_once grant may admit several requirements of one run.
 */
int store_run_grant_append(struct store_tx *tx, const struct store_run_grant *row) MUST_USE;
/* Those of one run, by requirement key. */
int store_run_grant_list(struct store_tx *tx, struct str run, struct store_run_grant_list *ret) MUST_USE;

#endif
