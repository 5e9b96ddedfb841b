/* grant.h - the ledger of grants and the due records (chapters 2.1, 2.4). Append-only: nothing is updated or deleted.
 *
 * See store.h for results, values and ownership. Precedence (P1-P13) is lifecycle's; it needs the latest record of the package and
 * the latest of the project, and both say here whether they are expired or used up: by records, never by a clock.
 */
#ifndef ADMITD_DAEMON_STORE_GRANT_H
#define ADMITD_DAEMON_STORE_GRANT_H

#include "daemon/store/store.h"

enum store_grant_decision { STORE_GRANT_DENIED, STORE_GRANT_REVOKED, STORE_GRANT_APPROVED, STORE_GRANT_DECISION_COUNT };
enum store_grant_mode { STORE_GRANT_ALLOW_ONCE, STORE_GRANT_ALWAYS_ALLOW };

struct store_grant {
	int64_t sequence;
	struct str id; /* grt_…, the caller's from store_id_new */
	struct str project;
	struct str package; /* absent: a project record */
	enum store_grant_decision decision;
	enum store_grant_mode mode;   /* follows: package → allow_once, project → always_allow */
	struct str capabilities_json; /* array of canonical capabilities */
	struct str dropped_json;      /* array: 2.4 `dropped` */
	int64_t revision;             /* one counter per project, for its packages' records too: it orders them all */
	int64_t root_revision;
	int64_t expires_at; /* 0: no end */
	struct str reason;
	struct store_actor actor;
	int64_t at;
	struct str replaces; /* the latest record of the same package or project before; absent: none */

	/* facts from other rows, read only */
	bool expired;       /* its due record exists */
	struct str used_by; /* the run that used an allow_once up; absent: unused */
	struct str label;   /* the package's; only of store_grant_find() and store_grant_list() */
};

struct store_grant_list {
	struct store_grant *items;
	size_t count;
};

/* Appends, if `expected_revision` is current (2.4): for a package record, the package's latest record's (0 = none); for a project
 * approval, the project's decision revision; for another project record, the latest project record's. Raises the
 * decision revision and leaves revision, replaces, mode and sequence in row. With expires_at it becomes due then.
 * STORE_STALE: another revision is current; STORE_ABSENT: no such project or package; STORE_CONFLICT: the id is taken.
 */
int store_grant_append(struct store_tx *tx, struct store_grant *row, int64_t expected_revision) MUST_USE;

/* STORE_ABSENT. */
int store_grant_find(struct store_tx *tx, struct str id, struct store_grant *ret) MUST_USE;
/* The latest record; STORE_ABSENT: none. */
int store_grant_latest_of_package(struct store_tx *tx, struct str package, struct store_grant *ret) MUST_USE;
int store_grant_latest_of_project(struct store_tx *tx, struct str project, struct store_grant *ret) MUST_USE;
/* The latest record of each unfinished package of the project that has one, by package id (byte-wise), in one query. */
int store_grant_latest_of_packages(struct store_tx *tx, struct str project, struct store_grant_list *ret) MUST_USE;

struct store_grant_filter {
	struct str projects_json; /* absent = all */
	struct str project;       /* absent = any */
	struct str package;       /* absent = any */
	bool latest_only;         /* only the latest record of each package and project */
	bool live_only; /* and of those only approvals that can still open something: not expired, unused, of the
	                             current root, of a package that isn't at its end */
};

/* Newest first, below sequence `before` (0: from the newest). */
int store_grant_list(struct store_tx *tx, const struct store_grant_filter *filter, int64_t before, size_t limit,
	struct store_grant_list *ret) MUST_USE;

enum store_due_kind { STORE_DUE_GRANT, STORE_DUE_LEASE, STORE_DUE_HEALTH, STORE_DUE_KIND_COUNT };

/* What time did, or will do: the end of a grant (subject: grant id), of a lease (run id), of a reported health row (MCP id). */
struct store_due {
	enum store_due_kind kind;
	struct str project;
	struct str subject;
	int64_t due_at;
	int64_t at; /* when it was written down; 0 while pending */
};

struct store_due_list {
	struct store_due *items;
	size_t count;
};

/* The earliest pending end after `after`, of all projects: what the timer is set to. STORE_ABSENT: none. */
int store_due_next(struct store_tx *tx, int64_t after, struct store_due *ret) MUST_USE;
/* The projects with a pending end that has due_at <= until, by id, each once with its earliest; those after project `after` (absent: from the first). */
int store_due_list_projects(
	struct store_tx *tx, struct str after, int64_t until, size_t limit, struct store_due_list *ret) MUST_USE;
/* Pending ends with due_at <= until, of one project (absent: of all), earliest first. Leases aren't among them: they run on the
 * monotonic clock.
 */
int store_due_list(
	struct store_tx *tx, struct str project, int64_t until, size_t limit, struct store_due_list *ret) MUST_USE;
/* Writes the record (with row->at) and ends the waiting. STORE_CONFLICT: it is written already; the waiting ends all the same. */
int store_due_append(struct store_tx *tx, const struct store_due *row) MUST_USE;

#endif
