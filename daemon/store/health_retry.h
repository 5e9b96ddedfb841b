/* health_retry.h - when the daemon looks again at a tool server that packages wait for (chapter 2.6). Work in hand, no record.
 *
 * See store.h for results, values and ownership. Writing functions need a writer's transaction.
 */
#ifndef ADMITD_DAEMON_STORE_HEALTH_RETRY_H
#define ADMITD_DAEMON_STORE_HEALTH_RETRY_H

#include "daemon/store/store.h"

struct store_health_retry {
	struct str project;
	struct str mcp_id;
	int64_t attempt; /* how often it was looked at in vain; 0 = not yet */
	int64_t next_at;
};

struct store_health_retry_list {
	struct store_health_retry *items;
	size_t count;
};

int store_health_retry_find(
	struct store_tx *tx, struct str project, struct str mcp_id, struct store_health_retry *ret) MUST_USE;
/* Those with next_at up to `until`, or after `beyond` (which only a clock that was set back leaves), the earliest first. */
int store_health_retry_list(
	struct store_tx *tx, int64_t until, int64_t beyond, size_t limit, struct store_health_retry_list *ret) MUST_USE;
/* The earliest. STORE_ABSENT. */
int store_health_retry_next(struct store_tx *tx, struct store_health_retry *ret) MUST_USE;
/* Inserts or replaces. STORE_ABSENT: no such project. */
int store_health_retry_put(struct store_tx *tx, const struct store_health_retry *row) MUST_USE;
/* STORE_ABSENT. */
int store_health_retry_delete(struct store_tx *tx, struct str project, struct str mcp_id) MUST_USE;

#endif
