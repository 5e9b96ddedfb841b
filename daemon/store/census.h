/* census.h - counts over all entities, for plots and metrics (chapters 4.2, 7.3).
 *
 * See store.h for results, values and ownership. Of holds and of surface events the words that are counted are looked at.
 */
#ifndef ADMITD_DAEMON_STORE_CENSUS_H
#define ADMITD_DAEMON_STORE_CENSUS_H

#include "daemon/store/event.h"

struct store_census_filter {
	struct str projects_json; /* absent = all */
	struct str project;       /* absent = any */
};

struct store_census_hold {
	struct str kind;
	struct str arm; /* absent: none */
	int64_t count;
};

struct store_census_holds {
	struct store_census_hold *items;
	size_t count;
};

/* Packages that are held now, of open tasks, by kind and arm. */
int store_census_holds(
	struct store_tx *tx, const struct store_census_filter *filter, struct store_census_holds *ret) MUST_USE;

enum { STORE_CENSUS_AGES = 5 };

/* The same by age: under 15 minutes, 1 hour, 4 hours, 1 day, and older. */
int store_census_ages(struct store_tx *tx, const struct store_census_filter *filter, int64_t now,
	int64_t ret_counts[static STORE_CENSUS_AGES]) MUST_USE;

/* Live runs. */
int store_census_runs(struct store_tx *tx, const struct store_census_filter *filter, int64_t *ret) MUST_USE;

struct store_census_decision {
	int64_t at; /* where its bucket begins */
	enum store_surface surface;
	struct str status;
	int64_t count;
};

struct store_census_decisions {
	struct store_census_decision *items;
	size_t count;
};

/* Decisions that the surfaces recorded from `from` until before `to`, in buckets of `bucket_ms` that begin at `from`; by bucket, surface,
 * status; empty buckets are left out.
 */
int store_census_decisions(struct store_tx *tx, const struct store_census_filter *filter, int64_t from, int64_t to,
	int64_t bucket_ms, struct store_census_decisions *ret) MUST_USE;

enum store_find_kind {
	STORE_FIND_PROJECT,
	STORE_FIND_TASK,
	STORE_FIND_PACKAGE,
	STORE_FIND_RUN,
	STORE_FIND_GRANT,
	STORE_FIND_DECISION,
	STORE_FIND_KIND_COUNT
};

struct store_found {
	enum store_find_kind kind;
	struct str id;
	struct str label; /* a name, title or label; absent: it has none */
	struct str project;
	struct str task;
	struct str package;
};

struct store_found_list {
	struct store_found *items;
	size_t count;
};

/* What has an id that begins with `text`, or a name, title or label that holds it in any case; at most `limit` of each kind, the
 * newest of a kind first.
 */
int store_find(struct store_tx *tx, const struct store_census_filter *filter, struct str text, size_t limit,
	struct store_found_list *ret) MUST_USE;

#endif
