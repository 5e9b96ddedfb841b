/* Counts for plots, and finding things by what people call them. */
#include "daemon/http/api_call.h"
#include "daemon/lifecycle/census.h"
#include "daemon/lifecycle/time_text.h"

enum {
	BUCKETS_MAX = 1000,
	BUCKET_LEAST_S = 60,
	BUCKET_MOST_S = 30 * 24 * 3600,
	HOUR_S = 3600,
	DAY_MS = 24 * HOUR_S * 1000
};
enum { FOUND_USUAL = 10, FOUND_MAX = 50, TEXT_MAX = 100 };

static int refuse(const struct http_request *request, struct http_reply *reply, const char *detail)
{
	http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, detail);
	return API_CALL_ANSWERED;
}

static bool has_only(const struct http_request *request, const char *const *names)
{
	for (unsigned i = 0; i < request->query_count; i++) {
		const char *const *name = names;

		while (*name != NULL && !str_is(request->query[i].name, *name))
			name++;
		if (*name == NULL)
			return false;
	}
	return true;
}

/* ---- counts */

struct period {
	int64_t from, to, bucket_s;
	struct str project;
};

static int read_period(struct http_request *request, struct http_reply *reply, int64_t now, struct period *ret)
{
	static const char *const names[] = {"from", "to", "bucket", "project", NULL};
	struct str from = http_request_query(request, "from");
	struct str to = http_request_query(request, "to");

	if (!has_only(request, names))
		return refuse(request, reply, "stats have no such query parameter");
	*ret = (struct period){.to = now, .project = http_request_query(request, "project")};
	if (to.bytes != NULL && !time_text_read(to, &ret->to))
		return refuse(request, reply, "to is a date-time, such as 2026-11-30T09:00:00Z");
	ret->from = ret->to - DAY_MS;
	if (from.bytes != NULL && !time_text_read(from, &ret->from))
		return refuse(request, reply, "from is a date-time, such as 2026-11-30T09:00:00Z");
	if (ret->from >= ret->to)
		return refuse(request, reply, "from lies before to");
	if (http_request_query_int(request, "bucket", BUCKET_LEAST_S, BUCKET_MOST_S, HOUR_S, &ret->bucket_s) != 0)
		return refuse(request, reply, "bucket is a number of seconds from 60 to 2592000");
	if ((ret->to - ret->from) / (ret->bucket_s * 1000) >= BUCKETS_MAX)
		return refuse(request, reply, "that are more than 1000 buckets; take longer ones");
	return 0;
}

/* Rows come by bucket, surface, status; a bucket is one object, a surface one in it. */
static void write_decisions(const struct store_census_decisions *decisions, struct json_out *out)
{
	json_out_key(out, "decisions");
	json_out_begin_array(out);
	for (size_t i = 0; i < decisions->count;) {
		int64_t at = decisions->items[i].at;

		json_out_begin_object(out);
		time_text_member(out, "at", at);
		while (i < decisions->count && decisions->items[i].at == at) {
			enum store_surface surface = decisions->items[i].surface;

			json_out_key_str(out, store_surface_text(surface));
			json_out_begin_object(out);
			for (; i < decisions->count && decisions->items[i].at == at &&
				decisions->items[i].surface == surface;
				i++) {
				json_out_key_str(out, decisions->items[i].status);
				json_out_int(out, decisions->items[i].count);
			}
			json_out_end_object(out);
		}
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_holds(const struct lifecycle_census *census, struct json_out *out)
{
	static const char *const ages[STORE_CENSUS_AGES] = {"under15m", "under1h", "under4h", "under1d", "over1d"};

	json_out_key(out, "holds");
	json_out_begin_array(out);
	for (size_t i = 0; i < census->holds.count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "kind", census->holds.items[i].kind);
		json_out_member_str(out, "arm", census->holds.items[i].arm);
		json_out_member_int(out, "count", census->holds.items[i].count);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "ages");
	json_out_begin_object(out);
	for (size_t i = 0; i < STORE_CENSUS_AGES; i++)
		json_out_member_int(out, ages[i], census->ages[i]);
	json_out_end_object(out);
}

static int get_stats(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct store_census_decisions decisions = {0};
	struct lifecycle_census census;
	struct period period;
	struct json_out out;
	int r = read_period(request, reply, lifecycle_now(api->lifecycle), &period);

	if (r != 0)
		return 0;
	r = lifecycle_census_read(&reader, period.project, &census);
	if (r == 0)
		r = lifecycle_census_decisions(
			&reader, period.project, period.from, period.to, period.bucket_s * 1000, &decisions);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	time_text_member(&out, "from", period.from);
	time_text_member(&out, "to", period.to);
	json_out_member_int(&out, "bucketSeconds", period.bucket_s);
	write_decisions(&decisions, &out);
	write_holds(&census, &out);
	json_out_end_object(&out);
	return 0;
}

/* ---- finding */

static int search(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const names[] = {"q", "project", "limit", NULL};
	static const char *const kinds[STORE_FIND_KIND_COUNT] = {
		"project", "task", "package", "run", "grant", "decision"};
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct str text = http_request_query(request, "q");
	struct store_found_list found = {0};
	struct json_out out;
	int64_t limit = 0;
	int r = 0;

	if (!has_only(request, names))
		return (void)refuse(request, reply, "a search has no such query parameter"), 0;
	if (text.len == 0 || text.len > TEXT_MAX)
		return (void)refuse(request, reply, "q is a text of 1 to 100 bytes"), 0;
	if (http_request_query_int(request, "limit", 1, FOUND_MAX, FOUND_USUAL, &limit) != 0)
		return (void)refuse(request, reply, "limit is a number from 1 to 50, of each kind"), 0;
	r = lifecycle_find(&reader, http_request_query(request, "project"), text, (size_t)limit, &found);
	if (r != 0)
		return api_call_refuse_view(reply, request, r);
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	json_out_key(&out, "items");
	json_out_begin_array(&out);
	for (size_t i = 0; i < found.count; i++) {
		const struct store_found *item = &found.items[i];

		json_out_begin_object(&out);
		json_out_member_text(&out, "kind", kinds[item->kind]);
		json_out_member_str(&out, "id", item->id);
		json_out_member_str(&out, "label", item->label);
		json_out_member_str(&out, "project", item->project);
		json_out_member_str(&out, "task", item->task);
		json_out_member_str(&out, "packageId", item->package);
		json_out_end_object(&out);
	}
	json_out_end_array(&out);
	json_out_end_object(&out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/stats", 0, 0, 0, get_stats},
	{HTTP_GET, "/v1/search", 0, 0, 0, search},
};

const struct http_routes api_stats_routes = API_ROUTES(rows);
