#include "daemon/http/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What our answers have, in order; anything else counts as other. */
static const unsigned short statuses[METRICS_STATUSES] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408,
	409, 410, 412, 413, 415, 422, 429, 431, 500, 501, 503, 504};
static const unsigned short bounds_ms[METRICS_BUCKETS] = {1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10000};
static const char *const outcomes[METRICS_OUTCOMES] = {"blocked", "warning", "allowed"};

int metrics_init(struct metrics *metrics, const struct http_routes *tables, size_t count, int64_t now)
{
	size_t total = 1;
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		total += tables[i].count;
	metrics->routes = calloc(total, sizeof(*metrics->routes));
	if (metrics->routes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < tables[i].count; k++)
			metrics->routes[at++].route = &tables[i].rows[k];
	metrics->route_count = total;
	metrics->started_at = now;
	return 0;
}

void metrics_release(struct metrics *metrics)
{
	free(metrics->routes);
	metrics->routes = NULL;
	metrics->route_count = 0;
}

static struct metrics_route *find(struct metrics *metrics, const struct http_route *route)
{
	for (size_t i = 0; i + 1 < metrics->route_count; i++)
		if (metrics->routes[i].route == route)
			return &metrics->routes[i];
	return &metrics->routes[metrics->route_count - 1];
}

void metrics_note_answer(struct metrics *metrics, const struct http_route *route, unsigned status, uint64_t duration_ms)
{
	struct metrics_route *entry = NULL;
	size_t slot = 0;
	size_t bucket = 0;

	if (metrics->route_count == 0)
		return;
	entry = find(metrics, route);
	while (slot < METRICS_STATUSES && statuses[slot] != status)
		slot++;
	while (bucket < METRICS_BUCKETS && duration_ms > bounds_ms[bucket])
		bucket++;
	atomic_fetch_add(&entry->statuses[slot], 1);
	atomic_fetch_add(&entry->buckets[bucket], 1);
	atomic_fetch_add(&entry->sum_ms, duration_ms);
}

/* A surface event's payload is ours and begins with its status. */
static bool has_outcome(struct str payload, const char *word)
{
	static const char head[] = "{\"status\":\"";
	size_t len = strlen(word);

	return payload.len > sizeof(head) + len && memcmp(payload.bytes, head, sizeof(head) - 1) == 0 &&
		memcmp(payload.bytes + sizeof(head) - 1, word, len) == 0 &&
		payload.bytes[sizeof(head) - 1 + len] == '"';
}

void metrics_note_event(struct metrics *metrics, const struct store_event *event)
{
	atomic_fetch_add(&metrics->events, 1);
	for (size_t i = 0; event->surface != STORE_SURFACE_NONE && i < METRICS_OUTCOMES; i++)
		if (has_outcome(event->payload_json, outcomes[i]))
			atomic_fetch_add(&metrics->decisions[event->surface][i], 1);
}

/* ---- writing */

void metrics_write_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_one(struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
	metrics_write_head(out, name, type, help);
	buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static uint64_t count_of(struct metrics_route *entry)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= METRICS_BUCKETS; i++)
		count += atomic_load(&entry->buckets[i]);
	return count;
}

/* Patterns are ours and need no escapes. */
static void write_labels(struct buf *out, const struct metrics_route *entry)
{
	if (entry->route != NULL)
		buf_printf(out, "method=\"%s\",route=\"%s\"", http_method_name(entry->route->method),
			entry->route->pattern);
	else
		buf_puts(out, "method=\"\",route=\"none\"");
}

static void write_requests(struct metrics *metrics, struct buf *out)
{
	static const char name[] = "admitd_http_requests_total";

	metrics_write_head(out, name, "counter", "Requests answered, by route and status.");
	for (size_t i = 0; i < metrics->route_count; i++) {
		struct metrics_route *entry = &metrics->routes[i];

		for (size_t k = 0; k <= METRICS_STATUSES; k++) {
			uint64_t count = atomic_load(&entry->statuses[k]);

			if (count == 0)
				continue;
			buf_printf(out, "%s{", name);
			write_labels(out, entry);
			if (k < METRICS_STATUSES)
				buf_printf(out, ",status=\"%u\"} %llu\n", statuses[k], (unsigned long long)count);
			else
				buf_printf(out, ",status=\"other\"} %llu\n", (unsigned long long)count);
		}
	}
}

static void write_duration(struct metrics_route *entry, const char *name, struct buf *out)
{
	uint64_t sum = 0;

	for (size_t k = 0; k <= METRICS_BUCKETS; k++) {
		sum += atomic_load(&entry->buckets[k]);
		buf_printf(out, "%s_bucket{", name);
		write_labels(out, entry);
		if (k < METRICS_BUCKETS)
			buf_printf(out, ",le=\"%u.%03u\"} %llu\n", bounds_ms[k] / 1000, bounds_ms[k] % 1000,
				(unsigned long long)sum);
		else
			buf_printf(out, ",le=\"+Inf\"} %llu\n", (unsigned long long)sum);
	}
	buf_printf(out, "%s_sum{", name);
	write_labels(out, entry);
	buf_printf(out, "} %llu.%03llu\n", (unsigned long long)atomic_load(&entry->sum_ms) / 1000,
		(unsigned long long)atomic_load(&entry->sum_ms) % 1000);
	buf_printf(out, "%s_count{", name);
	write_labels(out, entry);
	buf_printf(out, "} %llu\n", (unsigned long long)sum);
}

static void write_durations(struct metrics *metrics, struct buf *out)
{
	static const char name[] = "admitd_http_request_duration_seconds";

	metrics_write_head(out, name, "histogram", "From the first byte of a request to the beginning of its answer.");
	for (size_t i = 0; i < metrics->route_count; i++)
		if (count_of(&metrics->routes[i]) > 0)
			write_duration(&metrics->routes[i], name, out);
}

void metrics_write(struct metrics *metrics, struct buf *out)
{
	write_requests(metrics, out);
	write_durations(metrics, out);
}

void metrics_write_log(struct metrics *metrics, struct buf *out)
{
	static const char name[] = "admitd_decisions_total";

	metrics_write_head(out, name, "counter", "Decisions recorded, by surface and status.");
	for (unsigned surface = STORE_SURFACE_PREVIEW; surface < STORE_SURFACE_COUNT; surface++) {
		struct str word = store_surface_text((enum store_surface)surface);

		for (size_t i = 0; i < METRICS_OUTCOMES; i++)
			buf_printf(out, "%s{surface=\"%.*s\",status=\"%s\"} %llu\n", name, (int)word.len, word.bytes,
				outcomes[i], (unsigned long long)atomic_load(&metrics->decisions[surface][i]));
	}
	metrics_write_one(
		out, "admitd_events_total", "counter", "Events written to the log.", atomic_load(&metrics->events));
}
