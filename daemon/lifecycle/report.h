/* report.h - health of a tool server, as an outside checker saw it (chapters 1.6, 4.2 `PUT …/health/{mcpId}`).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_REPORT_H
#define ADMITD_DAEMON_LIFECYCLE_REPORT_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/store/health.h"
#include "policy/health_row.h"

struct lifecycle_report {
	struct lifecycle_call call;
	struct str project;
	struct str mcp_id;
	struct health_row row; /* read by health_row_read(), observed */
	int64_t valid_seconds; /* 0: the checker sets no end */

	struct store_health health; /* out: as stored */
};

enum { REPORT_VALID_SECONDS_LIMIT = 7 * 24 * 3600 };

/* NOT_FOUND (the project, or a server the catalog doesn't know), INVALID_DOCUMENT (a built-in server, a time to come, validSeconds),
 * PROJECT_ARCHIVED, STALE_OBSERVATION.
 */
int lifecycle_report_health(struct lifecycle *lifecycle, struct lifecycle_report *call) MUST_USE;

#endif
