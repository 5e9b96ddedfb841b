/* Decisions: what the engine was given, what it said, and why; and the same once more. */
#include <errno.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_list.h"
#include "daemon/http/condition.h"
#include "daemon/lifecycle/recall.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/log.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/trace.h"

struct reading {
	struct store_decision_filter filter;
	int64_t from;
	size_t limit;
	struct store_decision_list list;
};

static void write_members(const struct store_decision *decision, struct json_out *out)
{
	json_out_member_str(out, "id", decision->id);
	json_out_member_str(out, "catalogDigest", decision->catalog_digest);
	json_out_member_str(out, "packageDigest", decision->package_digest);
	json_out_member_int(out, "engineRevision", decision->engine_revision);
	json_out_member_str(out, "resultDigest", decision->result_digest);
	time_text_member(out, "createdAt", decision->created_at);
}

static int refuse(struct http_reply *reply, const struct http_request *request, int result)
{
	if (result < 0)
		return result;
	return api_call_refuse_view(
		reply, request, result == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : LIFECYCLE_NOT_STORED);
}

/* ---- one, and why */

/* Another one that is compared with (4.2 "changedInputs"): what of this one's inputs was different there. */
static int write_compared(const struct lifecycle_reader *reader, struct str with, const struct lifecycle_recall *recall,
	struct json_out *out)
{
	struct lifecycle_recall other = {0};
	CLEANUP(json_drop) json_t *now = NULL;
	CLEANUP(json_drop) json_t *before = NULL;
	int r = lifecycle_recall(reader, with, &other);

	if (r == 0)
		r = json_parse(other.decision.inputs_json, &before, NULL);
	if (r == 0)
		r = json_parse(recall->decision.inputs_json, &now, NULL);
	if (r == 0) {
		json_out_member_str(out, "comparedWith", other.decision.id);
		json_out_key(out, "changedInputs");
		decision_inputs_diff(before, now, out);
	}
	lifecycle_recall_release(&other);
	return r;
}

/* Where it was made: the last times that a preview, approval or handoff came to it, newest first. */

enum { PLACES_MAX = 20 };

struct places {
	struct store_event_filter filter;
	struct store_event_list events;
	struct str *labels;
};

static int run_places(struct store_tx *tx, void *arg)
{
	struct places *places = arg;
	int r = store_event_list(tx, &places->filter, 0, PLACES_MAX, &places->events);

	return r != 0 ? r : lifecycle_name_events(tx, &places->events, &places->labels);
}

static int read_places(struct api *api, struct http_request *request, struct str decision, struct places *ret)
{
	int r = 0;

	*ret = (struct places){.filter = {.decision = decision, .newest_first = true}};
	r = api_scope_json(request, &ret->filter.projects_json);
	return r != 0 ? r : store_read(lifecycle_store(api->lifecycle), &request->arena, run_places, ret);
}

static void write_places(const struct places *places, struct json_out *out)
{
	json_out_key(out, "places");
	json_out_begin_array(out);
	for (size_t i = 0; i < places->events.count; i++) {
		const struct store_event *event = &places->events.items[i];

		if (event->surface == STORE_SURFACE_NONE)
			continue;
		json_out_begin_object(out);
		json_out_member_str(out, "surface", store_surface_text(event->surface));
		time_text_member(out, "at", event->at);
		json_out_member_str(out, "project", event->project);
		json_out_member_str(out, "task", event->task);
		json_out_member_str(out, "packageId", event->package);
		json_out_member_str(out, "label", places->labels[i]);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static int write_decision(
	struct api *api, struct http_request *request, struct lifecycle_recall *recall, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(api, request);
	struct str with = http_request_query(request, "with");
	struct places places;
	struct json_out out;
	int r = read_places(api, request, recall->decision.id, &places);

	if (r != 0)
		return r;
	out = http_reply_json(reply, 200);
	json_out_begin_object(&out);
	write_members(&recall->decision, &out);
	write_places(&places, &out);
	json_out_member_raw(&out, "inputs", recall->decision.inputs_json);
	json_out_member_raw(&out, "result", recall->decision.result_json);
	json_out_member_bool(&out, "documentKept", recall->is_decided);
	if (recall->is_decided)
		r = trace_write(&request->arena, &recall->replay.admission, recall->document, &out);
	if (r == 0 && with.bytes != NULL)
		r = write_compared(&reader, with, recall, &out);
	json_out_end_object(&out);
	return r;
}

/* A trace of what was not decided would be a lie: it is made again first, and has to be the same. */
static void check_same(const struct lifecycle_recall *recall, const struct http_request *request)
{
	bool is_ours = recall->decision.engine_revision == ADMISSION_ENGINE_REVISION;

	if (recall->is_decided && is_ours && !lifecycle_recall_is_same(recall))
		log_line(LOG_LINE_ERROR, "decision", "%.*s gives other bytes than it gave, %.*s",
			(int)recall->decision.id.len, recall->decision.id.bytes, (int)request->id.len,
			request->id.bytes);
}

static int get_decision(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_recall recall;
	int r = lifecycle_recall(&reader, http_request_param(request, "id"), &recall);

	if (r == 0) {
		check_same(&recall, request);
		r = write_decision(api, request, &recall, reply);
	}
	if (r == 0)
		condition_tag_body(request, reply);
	lifecycle_recall_release(&recall);
	return r > 0 ? api_call_refuse_view(reply, request, r) : r;
}

/* ---- replay (2.7) */

static void write_pair(struct json_out *out, const char *key, struct str recorded, const char *replayed)
{
	json_out_key(out, key);
	json_out_begin_object(out);
	json_out_member_str(out, "recorded", recorded);
	json_out_member_str(out, "replayed", api_text(replayed));
	json_out_end_object(out);
}

static void write_replay(const struct lifecycle_recall *recall, struct json_out *out)
{
	const struct store_decision *decision = &recall->decision;

	json_out_begin_object(out);
	json_out_member_str(out, "decisionId", decision->id);
	json_out_member_bool(out, "documentKept", recall->is_decided);
	json_out_key(out, "same");
	if (recall->is_decided)
		json_out_bool(out, lifecycle_recall_is_same(recall));
	else
		json_out_null(out);
	json_out_key(out, "engineRevision");
	json_out_begin_object(out);
	json_out_member_int(out, "recorded", decision->engine_revision);
	json_out_member_int(out, "replayed", ADMISSION_ENGINE_REVISION);
	json_out_end_object(out);
	json_out_member_bool(out, "sameEngine", decision->engine_revision == ADMISSION_ENGINE_REVISION);
	json_out_member_str(out, "catalogDigest", decision->catalog_digest);
	write_pair(out, "inputsDigest", decision->id, recall->is_decided ? recall->id : NULL);
	write_pair(out, "resultDigest", decision->result_digest, recall->is_decided ? recall->result : NULL);
	json_out_end_object(out);
}

static int post_replay(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct lifecycle_reader reader = api_reader(api, request);
	struct lifecycle_recall recall;
	struct json_place body;
	struct json_out out;
	struct json_in in;
	int r = 0;

	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return 0;
	}
	r = lifecycle_recall(&reader, http_request_param(request, "id"), &recall);
	if (r == 0) {
		check_same(&recall, request);
		out = http_reply_json(reply, 200);
		write_replay(&recall, &out);
	}
	lifecycle_recall_release(&recall);
	return r > 0 ? api_call_refuse_view(reply, request, r) : r;
}

/* ---- all of them */

static int run_list(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;

	return store_decision_list(tx, &reading->filter, reading->from, reading->limit, &reading->list);
}

static int list_decisions(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const filters[] = {"project", "package", NULL};
	struct api *api = ctx;
	struct reading reading = {.filter.project = http_request_query(request, "project"),
		.filter.package = http_request_query(request, "package")};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	reading.from = list.from;
	reading.limit = api_list_wanted(&list);
	r = api_scope_json(request, &reading.filter.projects_json);
	if (r == 0)
		r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_list, &reading);
	if (r != 0)
		return refuse(reply, request, r);
	shown = api_list_open(&list, reading.list.count);
	for (size_t i = 0; i < shown; i++) {
		json_out_begin_object(&list.out);
		write_members(&reading.list.items[i], &list.out);
		json_out_end_object(&list.out);
	}
	api_list_close_sequence(
		&list, reading.list.count > shown, shown > 0 ? reading.list.items[shown - 1].sequence : 0);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/decisions", 0, 0, 0, list_decisions},
	{HTTP_GET, "/v1/decisions/{id}", 0, 0, 0, get_decision},
	{HTTP_POST, "/v1/decisions/{id}/replay", AUTH_AUDITOR, HTTP_OPTIONAL_BODY, 0, post_replay},
};

const struct http_routes api_decisions_routes = API_ROUTES(rows);
