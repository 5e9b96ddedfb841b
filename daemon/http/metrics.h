/* metrics.h - what `GET /metrics` counts by itself (chapter 4.2); the other figures are asked where they are kept.
 *
 * Counters since the start, in fixed tables: a client can't make a label. Requests are counted by the pattern of their route, not by
 * their path; decisions by surface and status, as the log tells of them. Any thread.
 */
#ifndef ADMITD_DAEMON_HTTP_METRICS_H
#define ADMITD_DAEMON_HTTP_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "daemon/http/router.h"
#include "daemon/store/event.h"
#include "policy/buf.h"

enum { METRICS_STATUSES = 24, METRICS_BUCKETS = 12, METRICS_OUTCOMES = 3 };

/* One route, or the last of all: requests that found none. */
struct metrics_route {
	const struct http_route *route;
	atomic_uint_fast64_t statuses[METRICS_STATUSES + 1]; /* the last: any other */
	atomic_uint_fast64_t buckets[METRICS_BUCKETS + 1];   /* by duration; the last: longer */
	atomic_uint_fast64_t sum_ms;
};

struct metrics {
	struct metrics_route *routes;
	size_t route_count;
	int64_t started_at;
	atomic_uint_fast64_t decisions[STORE_SURFACE_COUNT][METRICS_OUTCOMES];
	atomic_uint_fast64_t events;
};

/* For the routes of these tables, which stay where they are. 0 or -ENOMEM. */
int metrics_init(struct metrics *metrics, const struct http_routes *tables, size_t count, int64_t now) MUST_USE;
void metrics_release(struct metrics *metrics);

/* An answer begins: of this route (NULL: none was found), after so long. */
void metrics_note_answer(
	struct metrics *metrics, const struct http_route *route, unsigned status, uint64_t duration_ms);
/* An event was read from the log, each once. */
void metrics_note_event(struct metrics *metrics, const struct store_event *event);

/* Requests and durations, in Prometheus' text format. */
void metrics_write(struct metrics *metrics, struct buf *out);
/* Decisions and events, of all projects together. */
void metrics_write_log(struct metrics *metrics, struct buf *out);

/* A family's two lines of comment; `type` is counter, gauge, histogram. */
void metrics_write_head(struct buf *out, const char *name, const char *type, const char *help);
/* Head and value of a family with one sample. */
void metrics_write_one(struct buf *out, const char *name, const char *type, const char *help, uint64_t value);

#endif
