/* health.h - what is known of a project's tool servers: one row per project and MCP (chapters 1.6, 2.1).
 *
 * See store.h for results, values and ownership. The history of a row is in the events.
 */
#ifndef ADMITD_DAEMON_STORE_HEALTH_H
#define ADMITD_DAEMON_STORE_HEALTH_H

#include "daemon/store/store.h"

enum store_health_source { STORE_HEALTH_REPORTED, STORE_HEALTH_PROBED, STORE_HEALTH_BUILTIN };

struct store_health {
	struct str project;
	struct str mcp_id;
	struct str install_state; /* 1.6's words: installed, missing */
	struct str status;        /* 1.6's words */
	bool enabled;
	struct str error; /* redacted by its maker; absent = null */
	int64_t checked_at;
	enum store_health_source source;
	int64_t valid_seconds;   /* reported rows: how long the word holds; 0 = the source sets no end */
	int64_t server_revision; /* what it was taken for: the tool server's and the root's revision, 0 = none */
	int64_t root_revision;
	bool expired; /* read only: its due record exists */
};

struct store_health_list {
	struct store_health *items;
	size_t count;
};

int store_health_find(struct store_tx *tx, struct str project, struct str mcp_id, struct store_health *ret) MUST_USE;
/* All of a project, by MCP id. */
int store_health_list(struct store_tx *tx, struct str project, struct store_health_list *ret) MUST_USE;
/* Inserts or replaces. A reported row with valid_seconds becomes due at checked_at + valid_seconds. STORE_STALE: a reported row
 * that is older (checked_at) than a stored reported one. STORE_ABSENT: no such project.
 */
int store_health_put(struct store_tx *tx, const struct store_health *row) MUST_USE;
/* STORE_ABSENT. */
int store_health_delete(struct store_tx *tx, struct str project, struct str mcp_id) MUST_USE;

#endif
