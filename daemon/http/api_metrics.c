/* Figures: for Prometheus, and counts for plots. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/api_call.h"
#include "daemon/http/server.h"
#include "daemon/http/tls.h"
#include "daemon/lifecycle/census.h"
#include "daemon/lifecycle/recovery.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/admission.h"

enum {
	PAGE_BYTES = 4096,
	WAL_ALARM_FRAMES = 8000, /* twice of what a checkpoint between batches keeps it under (3.2) */
};

static void write_build(const struct api *api, struct str digest, struct buf *out)
{
	metrics_write_head(out, "admitd_build_info", "gauge", "What is running; the value is 1.");
	buf_printf(out, "admitd_build_info{version=\"%s\",contract=\"%d\",engine=\"%d\",catalog=\"%.*s\"} 1\n",
		api->version, ADMISSION_SCHEMA_VERSION, ADMISSION_ENGINE_REVISION, (int)digest.len, digest.bytes);
	metrics_write_head(out, "admitd_start_time_seconds", "gauge", "When it started, in seconds since 1970.");
	buf_printf(out, "admitd_start_time_seconds %lld.%03lld\n", (long long)api->metrics.started_at / 1000,
		(long long)api->metrics.started_at % 1000);
}

static void write_server(struct api *api, const struct http_request *request, struct buf *out)
{
	struct http_figures figures;

	http_server_figures(request->server, &figures);
	metrics_write_one(out, "admitd_http_connections", "gauge", "Connections that are open.", figures.connections);
	metrics_write_one(out, "admitd_http_begun_total", "counter", "Requests that began.", figures.requests);
	metrics_write_one(
		out, "admitd_http_waiting", "gauge", "Requests that wait for their answer.", figures.sleepers);
	metrics_write_one(out, "admitd_http_bodies_bytes", "gauge", "Bytes of bodies under way.", figures.bodies_bytes);
	metrics_write_one(
		out, "admitd_event_watchers", "gauge", "Clients that watch the log.", events_count(&api->events));
	if (api->tls != NULL)
		metrics_write_one(out, "admitd_certificate_end_time_seconds", "gauge",
			"Until when the certificate is valid, in seconds since 1970.",
			(uint64_t)tls_ends_at(api->tls) / 1000);
}

static void write_store(struct api *api, struct buf *out)
{
	struct store_stats stats;

	store_stats_read(lifecycle_store(api->lifecycle), &stats);
	metrics_write_head(out, "admitd_store_batch_size", "summary", "Operations in one commit.");
	buf_printf(out, "admitd_store_batch_size_sum %llu\nadmitd_store_batch_size_count %llu\n",
		(unsigned long long)stats.operations, (unsigned long long)stats.commits);
	metrics_write_one(out, "admitd_store_commits_total", "counter", "Batches that were committed.", stats.commits);
	metrics_write_one(
		out, "admitd_store_operations_total", "counter", "Operations that were answered.", stats.operations);
	metrics_write_one(out, "admitd_store_reruns_total", "counter", "Operations that ran again.", stats.reruns);
	metrics_write_one(out, "admitd_store_queue", "gauge", "Operations that wait for the writer.", stats.queued);
	metrics_write_one(out, "admitd_store_checkpoints_total", "counter", "Checkpoints of the write-ahead log.",
		stats.checkpoints);
	metrics_write_one(
		out, "admitd_store_wal_bytes", "gauge", "Size of the write-ahead log.", stats.wal_frames * PAGE_BYTES);
	metrics_write_one(out, "admitd_store_wal_alarm", "gauge", "1: the log grows because a reader holds it.",
		stats.wal_frames > WAL_ALARM_FRAMES);
	metrics_write_one(
		out, "admitd_store_broken", "gauge", "1: a sync failed, nothing is written any more.", stats.broken);
}

static void write_lifecycle(struct api *api, struct buf *out)
{
	struct lifecycle_stats stats;

	lifecycle_stats_read(api->lifecycle, &stats);
	metrics_write_one(out, "admitd_package_cache_hits_total", "counter", "Compiled packages that were there.",
		stats.cache_hits);
	metrics_write_one(out, "admitd_package_cache_misses_total", "counter", "Packages that were compiled.",
		stats.cache_misses);
	metrics_write_one(out, "admitd_package_cache_bytes", "gauge", "Bytes of compiled packages.", stats.cache_bytes);
	metrics_write_one(out, "admitd_package_cache_packages", "gauge", "Compiled packages that are kept.",
		stats.cache_packages);
	metrics_write_one(out, "admitd_inputs_changed_total", "counter", "Decisions that had to start again.",
		stats.inputs_changed);
	metrics_write_one(out, "admitd_health_asked_total", "counter", "Times a server was asked.", stats.health_asked);
	metrics_write_one(out, "admitd_previews_written_total", "counter", "Records of previews on disk.",
		stats.previews_written);
	metrics_write_one(out, "admitd_previews_folded_total", "counter", "Previews like one of the minute before.",
		stats.previews_folded);
	metrics_write_one(out, "admitd_previews_lost_total", "counter",
		"Records of previews that could not be written: an alarm.", stats.previews_lost);
}

static void write_upkeep(struct api *api, struct buf *out)
{
	static const char failing[] = "admitd_upkeep_failing";
	static const char projects[] = "admitd_upkeep_failing_projects";
	struct lifecycle_upkeep upkeep[LIFECYCLE_UPKEEPS];

	lifecycle_upkeep_read(api->lifecycle, upkeep);
	metrics_write_head(out, failing, "gauge", "1: what the daemon does unasked fails; an alarm.");
	for (size_t i = 0; i < LIFECYCLE_UPKEEPS; i++)
		buf_printf(out, "%s{what=\"%s\"} %d\n", failing, upkeep[i].name, upkeep[i].result != 0);
	metrics_write_head(out, projects, "gauge", "Projects in which it fails while others are kept up.");
	for (size_t i = 0; i < LIFECYCLE_UPKEEPS; i++)
		buf_printf(out, "%s{what=\"%s\"} %llu\n", projects, upkeep[i].name,
			(unsigned long long)upkeep[i].project_count);
}

static void write_webhooks(struct api *api, struct buf *out)
{
	struct webhooks_stats stats;

	webhooks_read(&api->webhooks, &stats);
	if (!stats.is_on)
		return;
	metrics_write_one(
		out, "admitd_webhooks_delivered_total", "counter", "Events that the receiver took.", stats.delivered);
	metrics_write_one(
		out, "admitd_webhooks_failed_total", "counter", "Attempts that are made again.", stats.failed);
	metrics_write_one(out, "admitd_webhooks_lag_events", "gauge", "Events behind the last one that was delivered.",
		stats.lag);
}

static void write_census(const struct lifecycle_census *census, struct buf *out)
{
	int64_t oldest = census->queue.ready_oldest_since;

	metrics_write_head(out, "admitd_holds", "gauge", "Packages that are held, by kind and arm.");
	for (size_t i = 0; i < census->holds.count; i++) {
		const struct store_census_hold *hold = &census->holds.items[i];

		buf_printf(out, "admitd_holds{kind=\"%.*s\",arm=\"%.*s\"} %lld\n", (int)hold->kind.len,
			hold->kind.bytes, (int)hold->arm.len, hold->arm.bytes != NULL ? hold->arm.bytes : "",
			(long long)hold->count);
	}
	metrics_write_head(out, "admitd_recovery_items", "gauge", "What waits for a person, by kind.");
	for (unsigned i = 0; i < STORE_QUEUE_KIND_COUNT; i++)
		buf_printf(out, "admitd_recovery_items{kind=\"%s\"} %lld\n",
			lifecycle_recovery_kind_name((enum store_queue_kind)i), (long long)census->queue.kinds[i]);
	metrics_write_one(out, "admitd_runs_live", "gauge", "Runs that hold a lease.", (uint64_t)census->runs_live);
	metrics_write_one(out, "admitd_packages_ready", "gauge", "Packages that no executor has taken.",
		(uint64_t)census->queue.ready);
	metrics_write_one(out, "admitd_packages_ready_oldest_seconds", "gauge", "How long the oldest of them waits.",
		oldest != 0 && oldest < census->now ? (uint64_t)(census->now - oldest) / 1000 : 0);
}

static int get_metrics(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	const struct catalog *catalog = lifecycle_catalog(api->lifecycle, &request->arena);
	struct lifecycle_census census;
	int r = 0;

	if (catalog == NULL)
		return -ENOMEM;
	r = lifecycle_census_read(&reader, (struct str){0}, &census);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	http_reply_raw(reply, 200, "text/plain; version=0.0.4; charset=utf-8", STR(""));
	write_build(api, catalog->digest, &reply->body);
	write_server(api, request, &reply->body);
	metrics_write(&api->metrics, &reply->body);
	/* Who may not see every project isn't told how much is done in the others. */
	if (request->token.all_projects)
		metrics_write_log(&api->metrics, &reply->body);
	write_store(api, &reply->body);
	write_lifecycle(api, &reply->body);
	write_upkeep(api, &reply->body);
	write_webhooks(api, &reply->body);
	write_census(&census, &reply->body);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/metrics", AUTH_AUDITOR, 0, 0, get_metrics},
};

const struct http_routes api_metrics_routes = API_ROUTES(rows);
