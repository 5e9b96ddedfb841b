/* package.h - packages, their documents, dependencies and prompt overlays (chapters 2.1, 2.2).
 *
 * See store.h for results, values and ownership. A package's status isn't stored: lifecycle derives it from the facts
 * of the row: task_status, end, live_run, hold_json, open_dependencies (2.2).
 */
#ifndef ADMITD_DAEMON_STORE_PACKAGE_H
#define ADMITD_DAEMON_STORE_PACKAGE_H

#include "daemon/store/store.h"
#include "daemon/store/task.h"

enum store_package_end {
	STORE_PACKAGE_UNFINISHED,
	STORE_PACKAGE_COMPLETED,
	STORE_PACKAGE_FAILED,
	STORE_PACKAGE_CANCELLED,
	STORE_PACKAGE_SUPERSEDED,
	STORE_PACKAGE_END_COUNT
};

struct store_package {
	int64_t sequence;
	struct str id; /* pkg_… */
	struct str task;
	struct str project;    /* the task's */
	int64_t plan_revision; /* the latest plan it belongs to */
	int64_t position;      /* in that plan, from 0 */
	struct str label;
	struct str agent;
	struct str document_digest;
	struct store_actor submitted_by;
	int64_t created_at;
	int64_t attempts; /* used */
	int64_t attempt_limit;
	enum store_package_end end;
	int64_t ended_at;
	struct str hold_json; /* absent: not held */
	struct str hold_fingerprint;
	int64_t hold_since;
	struct str judged_catalog;   /* digest of the catalog of the last reconciliation */
	struct str preview_decision; /* the last decision of each surface */
	struct str approval_decision;
	struct str handoff_decision;

	/* facts from other rows, read only */
	enum store_task_status task_status;
	int64_t task_approved_at;
	int64_t task_sequence;
	struct str live_run;       /* absent: none */
	int64_t open_dependencies; /* packages it depends on that aren't completed */
};

struct store_package_list {
	struct store_package *items;
	size_t count;
};

/* STORE_ABSENT. */
int store_package_find(struct store_tx *tx, struct str id, struct store_package *ret) MUST_USE;
/* Gives the sequence and leaves it in row. `document` is its canonical JSON, kept once per digest. STORE_CONFLICT: the id is
 * taken, or the task has an unsuperseded package of this label in this plan revision; STORE_ABSENT: no such task.
 */
int store_package_insert(struct store_tx *tx, struct store_package *row, struct str document) MUST_USE;
/* Writes plan_revision, position, attempts, attempt_limit, end and ended_at, the hold, judged_catalog and the decisions.
 * STORE_ABSENT.
 */
int store_package_update(struct store_tx *tx, const struct store_package *row) MUST_USE;

/* All of a task, by position; `with_superseded` adds those that left the plan (at the end, in order of arrival). */
int store_package_list_of_task(
	struct store_tx *tx, struct str task, bool with_superseded, struct store_package_list *ret) MUST_USE;
/* What a reconciliation looks at (2.4): unfinished packages of the project's proposed and approved tasks (and of failed ones, which
 * a retry makes approved again), without the running ones, after package sequence `after`, by sequence.
 */
int store_package_list_to_reconcile(
	struct store_tx *tx, struct str project, int64_t after, size_t limit, struct store_package_list *ret) MUST_USE;
/* Whether one of those was judged by another catalog than this one, or never. */
int store_package_has_older(struct store_tx *tx, struct str project, struct str catalog, bool *ret) MUST_USE;
/* Every unfinished package of a project, running ones too, by sequence. */
int store_package_list_unfinished(struct store_tx *tx, struct str project, struct store_package_list *ret) MUST_USE;

/* Where a search for claimable packages goes on; all zero = from the start. */
struct store_claim_cursor {
	int64_t approved_at;
	int64_t task_sequence;
	int64_t position;
	bool is_set;
};

struct store_claim_filter {
	struct str projects_json; /* absent = all */
	struct str project;       /* each of these: absent = any */
	struct str task;
	struct str agent;
};

/* Unfinished packages of open tasks (neither completed, cancelled nor rejected) to which the principal contributed, by arrival. */
int store_package_list_of_contributor(
	struct store_tx *tx, struct str project, struct str principal, struct store_package_list *ret) MUST_USE;

/* Packages of approved tasks that are unfinished, not running, and whose dependencies are completed, held or not (handoff judges
 * afresh), oldest approval first, then by arrival of the task and position.
 */
int store_package_list_claimable(struct store_tx *tx, const struct store_claim_filter *filter,
	const struct store_claim_cursor *after, size_t limit, struct store_package_list *ret) MUST_USE;
/* The cursor behind this row. */
struct store_claim_cursor store_claim_cursor_after(const struct store_package *row);

/* Held, unfinished packages, longest held first, after (hold_since, sequence); both 0 = from the start. */
int store_package_list_held(struct store_tx *tx, struct str projects_json, int64_t after_since, int64_t after_sequence,
	size_t limit, struct store_package_list *ret) MUST_USE;

/* One edge: `package` depends on `depends_on`; both are package ids. */
struct store_dependency {
	struct str package;
	struct str depends_on;
};

struct store_dependency_list {
	struct store_dependency *items;
	size_t count;
};

/* STORE_ABSENT: one of the two isn't there. An edge that is there already is fine. */
int store_dependency_insert(struct store_tx *tx, const struct store_dependency *row) MUST_USE;
/* Takes away what the package depends on: a new plan says it anew. */
int store_dependency_clear(struct store_tx *tx, struct str package) MUST_USE;
/* Every edge between packages of a task, by package sequence, then the other's. */
int store_dependency_list(struct store_tx *tx, struct str task, struct store_dependency_list *ret) MUST_USE;
/* Those of one package, by the other's sequence. */
int store_dependency_list_of_package(
	struct store_tx *tx, struct str package, struct store_dependency_list *ret) MUST_USE;

/* Canonical documents by digest. Putting one that is there is fine. STORE_ABSENT when there is none. */
int store_document_put(struct store_tx *tx, struct str digest, struct str bytes) MUST_USE;
int store_document_find(struct store_tx *tx, struct str digest, struct str *ret_bytes) MUST_USE;

struct store_overlay {
	struct str package;
	struct str requirement_key;
	struct str text;
	struct str digest;
};

struct store_overlay_list {
	struct store_overlay *items;
	size_t count;
};

/* STORE_CONFLICT: this key has one; STORE_ABSENT: no such package. */
int store_overlay_insert(struct store_tx *tx, const struct store_overlay *row) MUST_USE;
/* Those of one package, by key; without the texts unless asked for. */
int store_overlay_list(
	struct store_tx *tx, struct str package, bool with_text, struct store_overlay_list *ret) MUST_USE;

#endif
