/* census.h - counts and finds over what the reader may see (chapter 4.2, `/v1/stats`, `/v1/search`, `/metrics`). Reads only.
 *
 * 0, LIFECYCLE_NOT_STORED (the store is busy), or -errno; what is given lives in the reader's arena.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CENSUS_H
#define ADMITD_DAEMON_LIFECYCLE_CENSUS_H

#include "daemon/lifecycle/view.h"
#include "daemon/store/census.h"
#include "daemon/store/queue.h"

/* How things stand now. */
struct lifecycle_census {
	int64_t now;
	struct store_census_holds holds;
	int64_t ages[STORE_CENSUS_AGES];
	int64_t runs_live;
	struct store_queue_counts queue; /* silent runs as the recovery queue sees them */
};

int lifecycle_census_read(
	const struct lifecycle_reader *reader, struct str project, struct lifecycle_census *ret) MUST_USE;

/* Decisions over time; `ret` as store_census_decisions gives them. */
int lifecycle_census_decisions(const struct lifecycle_reader *reader, struct str project, int64_t from, int64_t to,
	int64_t bucket_ms, struct store_census_decisions *ret) MUST_USE;

int lifecycle_find(const struct lifecycle_reader *reader, struct str project, struct str text, size_t limit,
	struct store_found_list *ret) MUST_USE;

#endif
