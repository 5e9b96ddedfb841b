/* PUT catalog: another one in force, or what it would change (chapters 1.3, 2.4, 4.2). */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_catalog.h"
#include "daemon/http/conn.h"
#include "daemon/jobs.h"
#include "daemon/lifecycle/catalog_put.h"
#include "daemon/lifecycle/recall.h"
#include "daemon/log.h"
#include "daemon/store/catalog.h"
#include "policy/catalog_diff.h"

enum {
	DAYS_USUAL = 7,
	DAYS_MAX = 3650,
	DAY_MS = 24 * 60 * 60 * 1000,
	DRY_MS = 15 * 1000, /* so long decisions are judged; whoever wants all of a long period asks for a rejudge */
	DRY_LISTED = 20,
};

/* ---- what both answer */

static void write_changes(const struct catalog *before, const struct catalog *after, struct json_out *out)
{
	json_out_key(out, "changes");
	catalog_diff_write(before, after, out);
}

static void write_tag(struct str digest, struct http_reply *reply)
{
	http_reply_header(reply, "ETag", "\"%.*s\"", (int)digest.len, digest.bytes);
}

/* `If-Match: "sha256:…"`, or a star. False: it is neither. */
static bool read_match(const struct http_request *request, struct str *ret_digest)
{
	struct str given = http_request_header(request, "If-Match");

	*ret_digest = (struct str){0};
	if (given.bytes == NULL || str_is(given, "*"))
		return true;
	if (given.len < 3 || given.bytes[0] != '"' || given.bytes[given.len - 1] != '"')
		return false;
	*ret_digest = (struct str){given.bytes + 1, given.len - 2};
	return true;
}

/* ---- replacing */

struct putting {
	struct api_call call;
	struct lifecycle_catalog_put put;
};

static void write_put(struct api_call *call, struct http_reply *reply)
{
	const struct lifecycle_catalog_put *put = &((const struct putting *)call)->put;
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_member_str(&out, "digest", put->digest);
	json_out_member_str(&out, "previous", put->previous);
	json_out_member_revision(&out, "epoch", put->epoch);
	json_out_member_bool(&out, "changed", put->is_changed);
	json_out_end_object(&out);
	write_tag(put->digest, reply);
}

static int replace(struct api *api, struct http_request *request, struct str digest, struct http_reply *reply)
{
	struct putting *putting = ARENA_NEW(&request->arena, struct putting);
	int r = putting != NULL ? 0 : -ENOMEM;

	if (r == 0)
		r = api_call_begin(&putting->call, api, request, &putting->put.call, write_put, reply);
	if (r != 0)
		return API_CALL_ENDED(r);
	putting->put.bytes = request->body;
	putting->put.if_digest = digest;
	return api_call_start(&putting->call, lifecycle_catalog_put(api->lifecycle, &putting->put), reply);
}

/* ---- a dry run: a job that answers all at once */

struct dry_run {
	struct job job;
	struct api *api;
	struct http_request *request;  /* it sleeps meanwhile */
	const struct catalog *current; /* the request's arena has it */
	struct catalog *catalog;
	int64_t from;
	uint64_t until_ms;
};

static int keep_time(void *arg, uint64_t done, uint64_t total)
{
	const struct dry_run *dry = arg;

	(void)done;
	(void)total;
	return conn_now_ms() >= dry->until_ms || jobs_is_stopping(dry->api->jobs);
}

static int write_dry(struct dry_run *dry, struct http_reply *reply)
{
	struct lifecycle_retrial retrial = {
		.lifecycle = dry->api->lifecycle,
		.scope = api_scope(dry->request),
		.catalog = dry->catalog,
		.from = dry->from,
		.listed_limit = DRY_LISTED,
		.progress = keep_time,
		.arg = dry,
	};
	struct json_out out = http_reply_json(reply, 200);
	int r = 0;

	json_out_begin_object(&out);
	json_out_member_str(&out, "digest", dry->catalog->digest);
	json_out_member_str(&out, "current", dry->current->digest);
	write_changes(dry->current, dry->catalog, &out);
	json_out_key(&out, "decisions");
	json_out_begin_object(&out);
	r = lifecycle_rejudge(&retrial, &out);
	json_out_end_object(&out);
	json_out_end_object(&out);
	write_tag(dry->current->digest, reply);
	return r;
}

static void finish(struct dry_run *dry, struct http_reply *reply)
{
	catalog_free(dry->catalog);
	dry->catalog = NULL;
	http_request_finish(dry->request, reply); /* the dry run lives in it */
	http_reply_release(reply);
}

static void run_dry(struct job *job)
{
	struct dry_run *dry = (struct dry_run *)job; /* its first member */
	struct http_reply reply;
	int r = 0;

	http_reply_init(&reply);
	dry->until_ms = conn_now_ms() + DRY_MS;
	r = write_dry(dry, &reply);
	if (r != 0)
		http_reply_problem(&reply, dry->request, r < 0 ? HTTP_PROBLEM_INTERNAL : HTTP_PROBLEM_NOT_STORED, NULL);
	if (r < 0)
		log_line(LOG_LINE_ERROR, "catalog", "a dry run failed with error %d", -r);
	finish(dry, &reply);
}

static void drop_dry(struct job *job)
{
	struct dry_run *dry = (struct dry_run *)job; /* its first member */
	struct http_reply reply;

	http_reply_init(&reply);
	http_reply_problem(&reply, dry->request, HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	finish(dry, &reply);
}

static void refuse_catalog(
	struct http_reply *reply, const struct http_request *request, const struct catalog_fault *fault)
{
	struct json_out out = http_reply_problem_begin(reply, request, HTTP_PROBLEM_INVALID_DOCUMENT, (struct str){0});

	json_out_key(&out, "faults");
	json_out_begin_array(&out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "pointer", fault->pointer);
	json_out_member_text(&out, "detail", fault->text);
	json_out_end_object(&out);
	json_out_end_array(&out);
	http_reply_problem_end(&out);
}

static int start_dry(struct dry_run *dry, struct http_reply *reply)
{
	int r = jobs_submit(dry->api->jobs, &dry->job);

	if (r == 0)
		return HTTP_LATER;
	catalog_free(dry->catalog);
	http_reply_problem(
		reply, dry->request, r == JOBS_FULL ? HTTP_PROBLEM_JOBS_FULL : HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	return 0;
}

static int run_current(struct store_tx *tx, void *arg)
{
	return store_catalog_current(tx, arg);
}

/* As replacing it would be refused: with the epoch that is in force. */
static int refuse_match(struct api *api, struct http_request *request, struct http_reply *reply)
{
	struct store_catalog current = {0};
	struct lifecycle_refusal refusal = {.revision = -1};
	int r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_current, &current);

	if (r != 0)
		return r < 0 ? r : api_call_refuse_view(reply, request, LIFECYCLE_NOT_STORED);
	refusal = (struct lifecycle_refusal){
		.revision = current.epoch, .status = current.digest, .actor = current.actor, .at = current.at};
	api_call_refuse(reply, request, LIFECYCLE_PRECONDITION_FAILED, &refusal);
	return 0;
}

static int dry_run(
	struct api *api, struct http_request *request, struct str digest, int64_t days, struct http_reply *reply)
{
	struct dry_run *dry = ARENA_NEW(&request->arena, struct dry_run);
	struct catalog_fault fault = {0};
	int r = -ENOMEM;

	if (dry != NULL)
		dry->current = lifecycle_catalog(api->lifecycle, &request->arena);
	if (dry != NULL && dry->current != NULL)
		r = catalog_new(request->body, &dry->catalog, &fault);
	if (r == CATALOG_REFUSED)
		refuse_catalog(reply, request, &fault);
	if (r != 0)
		return r < 0 ? r : 0;
	if (digest.bytes != NULL && !str_equal(digest, dry->current->digest)) {
		catalog_free(dry->catalog);
		return refuse_match(api, request, reply);
	}
	dry->job = (struct job){.run = run_dry, .drop = drop_dry};
	dry->api = api;
	dry->request = request;
	dry->from = lifecycle_now(api->lifecycle) - days * DAY_MS;
	return start_dry(dry, reply);
}

int api_catalog_put(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct str digest = {0};
	bool is_dry = false;
	int64_t days = 0;

	if (http_request_query_bool(request, "dryRun", &is_dry) != 0 ||
		http_request_query_int(request, "days", 0, DAYS_MAX, DAYS_USUAL, &days) != 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
			"dryRun is true or false, and days a number from 0 to 3650");
		return 0;
	}
	if (!read_match(request, &digest)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
			"a catalog takes If-Match with its digest in quotes, or a star");
		return 0;
	}
	return is_dry ? dry_run(api, request, digest, days, reply) : replace(api, request, digest, reply);
}
