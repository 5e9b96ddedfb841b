/* What was decided, judged by another catalog (chapter 2.7): a job with progress. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_job.h"
#include "daemon/lifecycle/recall.h"
#include "policy/json_out.h"

enum { ID_CHARACTERS = 80, CATALOG_BYTES = 4 * 1024 * 1024 };

struct rejudging {
	struct api_job job;
	struct lifecycle_retrial retrial;
	struct catalog *catalog; /* the one that came with the request; NULL: none did */
};

static void release(struct api_job *job)
{
	catalog_free(((struct rejudging *)job)->catalog);
}

static int tell(void *arg, uint64_t done, uint64_t total)
{
	return api_job_progress(arg, done, total);
}

static int work(struct api_job *job, struct json_out *out)
{
	struct rejudging *rejudging = (struct rejudging *)job; /* its first member */
	int r = 0;

	rejudging->retrial.progress = tell;
	rejudging->retrial.arg = job;
	json_out_begin_object(out);
	r = lifecycle_rejudge(&rejudging->retrial, out);
	json_out_end_object(out);
	if (r == LIFECYCLE_NOT_FOUND)
		return API_JOB_PROBLEM + HTTP_PROBLEM_NOT_FOUND;
	return r > 0 ? API_JOB_PROBLEM + HTTP_PROBLEM_NOT_STORED : r;
}

/* ---- the request */

static void add_catalog_fault(const struct json_place *body, const struct catalog_fault *fault, struct arena *arena)
{
	struct str detail =
		arena_printf(arena, "%s%s%s", fault->pointer, fault->pointer[0] != '\0' ? ": " : "", fault->text);

	json_in_fault(body, "catalog", detail.bytes != NULL ? detail.bytes : "is no catalog");
}

/* The catalog's own pointer is told in words behind that of the member. */
static int read_catalog(struct json_place *body, struct arena *arena, struct catalog **ret)
{
	const json_t *value = json_in_any(body, "catalog", JSON_OPTIONAL);
	struct catalog_fault fault = {0};
	struct json_out out;
	struct buf text;
	int r = 0;

	if (value == NULL)
		return 0;
	buf_init(&text, CATALOG_BYTES);
	json_out_init(&out, &text);
	json_out_canonical(&out, value);
	r = buf_error(&text);
	if (r == 0)
		r = catalog_new(buf_str(&text), ret, &fault);
	buf_release(&text);
	if (r == CATALOG_REFUSED)
		add_catalog_fault(body, &fault, arena);
	return r < 0 ? r : 0;
}

static int64_t time_of(struct json_place *body, const char *key)
{
	int64_t at = json_in_time_ms(body, key, JSON_OPTIONAL);

	return at == INT64_MIN ? 0 : at;
}

static int64_t cursor_of(struct json_place *body)
{
	int64_t cursor = json_in_revision(body, "cursor", JSON_OPTIONAL);

	return cursor < 0 ? 0 : cursor;
}

static void read_period(struct json_place *body, struct lifecycle_retrial *retrial, struct arena *arena)
{
	struct str decision = json_in_str(body, "decisionId", JSON_OPTIONAL, ID_CHARACTERS);
	struct str project = json_in_str(body, "project", JSON_OPTIONAL, ID_CHARACTERS);

	retrial->decision = arena_str(arena, decision);
	retrial->project = arena_str(arena, project);
	retrial->from = time_of(body, "from");
	retrial->to = time_of(body, "to");
	retrial->after = cursor_of(body);
	retrial->listed_limit =
		(size_t)json_in_int(body, "limit", JSON_OPTIONAL, 1, RECALL_LISTED_MAX, RECALL_LISTED_USUAL);
	retrial->tells_prohibitions = json_in_bool(body, "prohibitions", JSON_OPTIONAL, false);
	if (decision.bytes != NULL &&
		(project.bytes != NULL || retrial->from != 0 || retrial->to != 0 || retrial->after != 0))
		json_in_fault(body, "decisionId", "one decision has no period beside it");
}

/* What the token may see outlives the request. */
static int copy_scope(const struct http_request *request, struct lifecycle_retrial *retrial, struct arena *arena)
{
	struct lifecycle_scope scope = api_scope(request);
	struct str *projects = ARENA_ARRAY(arena, scope.project_count, struct str);

	if (projects == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < scope.project_count; i++)
		projects[i] = arena_str(arena, scope.projects[i]);
	retrial->scope = scope;
	retrial->scope.projects = projects;
	return arena->failed ? -ENOMEM : 0;
}

struct looking {
	struct str id;
	struct str projects_json;
};

static int run_look(struct store_tx *tx, void *arg)
{
	const struct looking *looking = arg;

	return store_decision_is_seen(tx, looking->id, looking->projects_json);
}

/* Told before the answer has begun, where its status still can say it. */
static int look(struct api *api, struct http_request *request, struct str decision)
{
	struct looking looking = {.id = decision};
	int r = 0;

	if (decision.bytes == NULL)
		return 0;
	r = api_scope_json(request, &looking.projects_json);
	if (r == 0)
		r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_look, &looking);
	return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : r > 0 ? LIFECYCLE_NOT_STORED : r;
}

static int read_request(struct api *api, struct http_request *request, struct rejudging *rejudging, struct json_in *in)
{
	struct arena *arena = &rejudging->job.arena;
	struct json_place body;
	int r = 0;

	json_in_init(in, &request->arena);
	json_in_root(in, request->json, &body);
	read_period(&body, &rejudging->retrial, arena);
	r = read_catalog(&body, &request->arena, &rejudging->catalog);
	json_in_end(&body);
	if (r == 0)
		r = copy_scope(request, &rejudging->retrial, arena);
	if (r == 0 && json_in_ok(in))
		r = look(api, request, rejudging->retrial.decision);
	rejudging->retrial.lifecycle = api->lifecycle;
	rejudging->retrial.catalog = rejudging->catalog;
	return r;
}

static int post_rejudge(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct rejudging *rejudging = api_job_new(sizeof(*rejudging), api, request, work);
	struct json_in in;
	int r = 0;

	if (rejudging == NULL)
		return -ENOMEM;
	rejudging->job.release = release;
	r = read_request(api, request, rejudging, &in);
	if (r == 0 && json_in_ok(&in))
		return api_job_start(&rejudging->job, request, reply);
	api_job_drop(&rejudging->job);
	if (r != 0)
		return r > 0 ? api_call_refuse_view(reply, request, r) : r;
	http_reply_faults(reply, request, &in);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_POST, "/v1/rejudge", AUTH_AUDITOR, HTTP_OPTIONAL_BODY, HTTP_DOCUMENT_MAX, post_rejudge},
};

const struct http_routes api_rejudge_routes = API_ROUTES(rows);
