/* health_row.h - what is known of a tool server, as the engine sees it (chapter 1.6).
 *
 * No row is not an error and never a made-up row: its snapshot says observed false. Pure, any thread.
 */
#ifndef ADMITD_POLICY_HEALTH_ROW_H
#define ADMITD_POLICY_HEALTH_ROW_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/arena.h"
#include "policy/json_out.h"

enum health_install_state { HEALTH_INSTALL_UNKNOWN = 0, HEALTH_MISSING, HEALTH_INSTALLED };

enum health_status {
	HEALTH_UNKNOWN = 0,
	HEALTH_UNHEALTHY,
	HEALTH_DISABLED,
	HEALTH_AUTH_REQUIRED,
	HEALTH_CONFIGURATION_REQUIRED,
	HEALTH_HEALTHY,
};

/* The zero value with an mcp_id is the snapshot of an MCP without a row. */
struct health_row {
	struct str mcp_id;
	bool observed;
	bool enabled;
	enum health_install_state install_state;
	enum health_status status;
	struct str error;      /* absent = null */
	struct str checked_at; /* RFC 3339; absent = null */
};

/* Reads the row asked for as `mcp_id`. True and *ret_row (error redacted) when it is a row by 1.6, else false and *ret_row is
 * the unobserved snapshot. Sets *ret_error to -ENOMEM when memory ran out.
 */
bool health_row_read(
	struct arena *arena, struct str mcp_id, const json_t *value, struct health_row *ret_row, int *ret_error);

/* Installed, enabled and healthy. */
bool health_row_is_healthy(const struct health_row *row);

/* The `health` object of 1.11; the stored form leaves out `checkedAt` and `error` (chapter 2.1). */
void health_row_write(const struct health_row *row, bool stored_form, struct json_out *out);

const char *health_install_state_name(enum health_install_state state);
const char *health_status_name(enum health_status status);
/* The reverse; false when there is no such word. */
bool health_install_state_find(struct str name, enum health_install_state *ret_state);
bool health_status_find(struct str name, enum health_status *ret_status);

/* A date-time of RFC 3339 with a zone. */
bool health_time_is_valid(struct str text);

#endif
