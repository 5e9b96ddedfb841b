/* The context packet of a run (chapters 2.5, 5.2): what its grants cover is asked of the lifecycle, read on the job pool, and given out when the
 * lifecycle has written the facts. The packet lives in memory between the disk and the client, and nowhere else: no key remembers the
 * answer, and nothing of it is logged. */
#include <errno.h>
#include <stddef.h>

#include "daemon/http/api_call.h"
#include "daemon/http/api_runs.h"
#include "daemon/lifecycle/context.h"
#include "policy/cleanup.h"

enum { SCOPE_BYTES = 64 * 1024 * 1024 };

/* Lives in the request's arena; what it owns beside is given back by whoever ends it. */
struct reading {
	struct api_call call;
	struct lifecycle_context_record record;
	struct lifecycle_context context;
	struct arena scope_arena; /* of context.scope */
	struct job job;
	struct buf packet;
	struct packet_facts facts;
};

static void write_packet(struct api_call *call, struct http_reply *reply)
{
	const struct reading *reading = (const struct reading *)call; /* its first member */
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_key(&out, "run");
	json_out_begin_object(&out);
	json_out_member_str(&out, "id", reading->record.run);
	json_out_end_object(&out);
	json_out_member_raw(&out, "facts", reading->record.facts_json);
	json_out_member_bool(&out, "isRequestCut", reading->context.scope.is_request_cut);
	json_out_member_raw(&out, "packet", buf_str(&reading->packet));
	json_out_end_object(&out);
}

/* Answers, by a result of the lifecycle; behind it the request and all in it are gone. */
static void end(struct reading *reading, int result)
{
	struct arena scope_arena = reading->scope_arena;
	struct buf packet = reading->packet;

	api_call_end(&reading->call, result);
	buf_release(&packet);
	arena_release(&scope_arena);
}

static void recorded(struct lifecycle_call *call, int result)
{
	end(call->arg, result);
}

/* The directory that was set, or none: what lies at its path by now isn't what was granted. */
static int open_root(const struct lifecycle_context_scope *scope, struct contained_root *ret)
{
	int r = contained_root_open(ret, scope->root_path.bytes);

	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
		return r;
	return r == 0 && ret->device == scope->root_device && ret->inode == scope->root_inode
		? 0
		: LIFECYCLE_GRANT_WITHDRAWN;
}

static int make(struct reading *reading)
{
	struct contained_root root CLEANUP(contained_root_close) = {0};
	struct packet_request *request = &reading->context.scope.request;
	int r = open_root(&reading->context.scope, &root);

	request->limits = reading->call.api->packet_limits;
	if (r == 0)
		r = packet_make(&root, request, &reading->packet, &reading->facts);
	return r;
}

static void run(struct job *job)
{
	struct reading *reading = (struct reading *)((char *)job - offsetof(struct reading, job));
	int r = make(reading);

	if (r == 0)
		r = lifecycle_record_context(reading->call.api->lifecycle, &reading->record);
	if (r != 0)
		end(reading, r);
}

static void drop(struct job *job)
{
	end((struct reading *)((char *)job - offsetof(struct reading, job)), LIFECYCLE_SHUTTING_DOWN);
}

/* On the lifecycle's thread, which doesn't wait for a disk. */
static void opened(struct lifecycle_call *call, int result)
{
	struct reading *reading = call->arg;

	if (result == 0)
		result = jobs_submit(reading->call.api->jobs, &reading->job) == 0 ? 0 : LIFECYCLE_JOBS_FULL;
	else
		reading->record.call.refusal = call->refusal;
	if (result != 0)
		end(reading, result);
}

static int begin(struct reading *reading, struct api *api, struct http_request *request, struct http_reply *reply)
{
	int r;

	reading->call.is_dry = true; /* a remembered answer would be stored */
	r = api_call_begin(&reading->call, api, request, &reading->record.call, write_packet, reply);
	if (r != 0)
		return r;
	reading->record.run = reading->context.run = http_request_param(request, "id");
	reading->record.has_run_token = reading->context.has_run_token = request->token.run.bytes != NULL;
	reading->record.scope = &reading->context.scope;
	reading->record.facts = &reading->facts;
	arena_init(&reading->scope_arena, SCOPE_BYTES);
	buf_init(&reading->packet, PACKET_ANSWER_BYTES);
	reading->context.call = reading->record.call;
	reading->context.call.arena = &reading->scope_arena;
	reading->context.call.done = opened;
	reading->record.call.done = recorded;
	reading->context.call.arg = reading->record.call.arg = reading;
	reading->job = (struct job){.run = run, .drop = drop};
	return 0;
}

int api_context_post(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct reading *reading = ARENA_NEW(&request->arena, struct reading);
	struct json_place body;
	struct json_in in;
	int r = reading != NULL ? begin(reading, api, request, reply) : -ENOMEM;

	if (r != 0)
		return API_CALL_ENDED(r);
	if (!api_runs_names(request, reading->context.run, reply))
		return api_call_drop(&reading->call, 0);
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	json_in_end(&body);
	if (!json_in_ok(&in)) {
		http_reply_faults(reply, request, &in);
		return api_call_drop(&reading->call, 0);
	}
	return api_call_start(&reading->call, lifecycle_open_context(api->lifecycle, &reading->context), reply);
}
