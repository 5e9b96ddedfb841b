/* The log for those who check it: as pages, as lines, and whether it is sound (chapters 2.8, 4.2). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/audit/audit_line.h"
#include "daemon/http/accept.h"
#include "daemon/http/api_call.h"
#include "daemon/http/api_job.h"
#include "daemon/http/api_list.h"
#include "daemon/http/auth.h"
#include "daemon/lifecycle/time_text.h"

enum { PAGE_ROWS = 200, PAGE_CEILING = 64 * 1024 * 1024 };

static const char *const filters[] = {"project", "task", "package", "type", "actor", "from", "to", "order", NULL};

struct reading {
	struct store_event_filter filter;
	int64_t from;
	size_t limit;
	struct lifecycle_told told;
	struct str *labels; /* one each; absent: it is about nothing that has a name */
};

static int run_list(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;
	struct store_event_list list = {0};
	int r = store_event_list(tx, &reading->filter, reading->from, reading->limit, &list);

	if (r == 0)
		r = lifecycle_name_events(tx, &list, &reading->labels);
	return r != 0 ? r : lifecycle_tell(tx, &list, (struct str){0}, &reading->told);
}

static bool read_time(const struct http_request *request, const char *name, int64_t *ret_at)
{
	struct str text = http_request_query(request, name);

	*ret_at = 0;
	return text.bytes == NULL || time_text_read(text, ret_at);
}

/* Newest first is for who reads pages; lines are in the order of the chain. */
static bool read_order(const struct http_request *request, bool is_page, bool *ret_newest_first)
{
	struct str order = http_request_query(request, "order");

	*ret_newest_first = is_page && str_is(order, "newest");
	return order.bytes == NULL || str_is(order, "oldest") || *ret_newest_first;
}

/* 0, HTTP_BAD_VALUE after a 400, or -errno. */
static int read_filter(
	struct http_request *request, bool is_page, struct store_event_filter *ret, struct http_reply *reply)
{
	*ret = (struct store_event_filter){
		.project = http_request_query(request, "project"),
		.task = http_request_query(request, "task"),
		.package = http_request_query(request, "package"),
		.type = http_request_query(request, "type"),
		.principal = http_request_query(request, "actor"),
	};
	if (!read_time(request, "from", &ret->since) || !read_time(request, "to", &ret->until)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
			"from and to are times of RFC 3339, such as 2026-11-30T09:00:00Z");
		return HTTP_BAD_VALUE;
	}
	if (!read_order(request, is_page, &ret->newest_first)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
			"order is oldest or, of pages, newest: which comes first");
		return HTTP_BAD_VALUE;
	}
	return api_scope_json(request, &ret->projects_json);
}

static int refuse_store(struct http_reply *reply, const struct http_request *request, int result)
{
	return result < 0 ? result : api_call_refuse_view(reply, request, LIFECYCLE_NOT_STORED);
}

/* ---- pages */

static int list_audit(struct api *api, struct http_request *request, struct http_reply *reply)
{
	const struct store_event_list *events = NULL;
	struct reading reading = {0};
	struct api_list list;
	size_t shown = 0;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	r = read_filter(request, true, &reading.filter, reply);
	if (r != 0)
		return r == HTTP_BAD_VALUE ? 0 : r;
	reading.from = list.from;
	reading.limit = api_list_wanted(&list);
	r = store_read(lifecycle_store(api->lifecycle), &request->arena, run_list, &reading);
	if (r != 0)
		return refuse_store(reply, request, r);
	events = &reading.told.events;
	shown = api_list_open(&list, events->count);
	for (size_t i = 0; i < shown; i++) {
		json_out_begin_object(&list.out);
		audit_line_event(&list.out, &events->items[i]);
		json_out_key(&list.out, "words");
		event_words_write(&reading.told.words[i], &list.out);
		json_out_member_str(&list.out, "label", reading.labels[i]);
		json_out_end_object(&list.out);
	}
	api_list_close_sequence(&list, events->count > shown, shown > 0 ? events->items[shown - 1].sequence : 0);
	return 0;
}

/* ---- lines: all of them, made while they are sent */

struct sending {
	struct api_job job;
	struct store_event_filter filter;
	struct arena page;
	struct buf buf;
	int64_t from;
	bool is_whole;  /* no filter: with its beginning and its checkpoints, so that it can be checked alone */
	size_t count;   /* of the last page */
	int64_t number; /* of the last checkpoint that was passed */
	struct store_chain anchor;
};

static void end_line(struct buf *buf)
{
	buf_putc(buf, '\n');
}

static void write_row(struct sending *sending, const struct store_event *event)
{
	struct json_out out;

	json_out_init(&out, &sending->buf);
	json_out_begin_object(&out);
	audit_line_event(&out, event);
	json_out_end_object(&out);
	end_line(&sending->buf);
}

static void write_mark(struct sending *sending, const struct store_checkpoint *row)
{
	struct json_out out;

	json_out_init(&out, &sending->buf);
	audit_line_checkpoint(&out, store_identity(lifecycle_store(sending->job.api->lifecycle)), row);
	end_line(&sending->buf);
	sending->number = row->number;
}

/* Checkpoints of rows up to `sequence` that weren't sent yet. The ones that came before the first row are passed over, but for the last. */
static int write_marks(struct store_tx *tx, struct sending *sending, int64_t sequence, bool is_start)
{
	struct store_checkpoint_list list = {0};
	int r = 0;

	do {
		r = store_checkpoint_list(tx, sending->number, PAGE_ROWS, &list);
		for (size_t i = 0; r == 0 && i < list.count && list.items[i].sequence <= sequence; i++) {
			sending->number = list.items[i].number;
			if (!is_start || list.items[i].sequence == sequence)
				write_mark(sending, &list.items[i]);
		}
	} while (r == 0 && list.count == PAGE_ROWS && list.items[PAGE_ROWS - 1].sequence <= sequence);
	return r;
}

static int run_start(struct store_tx *tx, void *arg)
{
	struct sending *sending = arg;
	struct json_out out;
	int r = store_audit_anchor(tx, &sending->anchor);

	if (r != 0)
		return r == STORE_CHAIN_BROKEN ? -EUCLEAN : r;
	json_out_init(&out, &sending->buf);
	audit_line_start(&out, store_identity(lifecycle_store(sending->job.api->lifecycle)), &sending->anchor);
	end_line(&sending->buf);
	sending->from = sending->anchor.sequence;
	return sending->from != 0 ? write_marks(tx, sending, sending->from, true) : 0;
}

static int run_page(struct store_tx *tx, void *arg)
{
	struct sending *sending = arg;
	struct store_event_list list = {0};
	int r = store_event_list(tx, &sending->filter, sending->from, PAGE_ROWS, &list);

	sending->count = r == 0 ? list.count : 0;
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		write_row(sending, &list.items[i]);
		sending->from = list.items[i].sequence;
		if (sending->is_whole)
			r = write_marks(tx, sending, sending->from, false);
	}
	return r;
}

static int send_page(struct sending *sending, int (*run)(struct store_tx *tx, void *arg))
{
	int r = 0;

	arena_reset(&sending->page);
	buf_reset(&sending->buf);
	r = store_read(lifecycle_store(sending->job.api->lifecycle), &sending->page, run, sending);
	if (r == 0)
		r = buf_error(&sending->buf);
	if (r != 0)
		return r < 0 ? r : -EIO;
	return sending->buf.len != 0 && http_stream_write(sending->job.stream, buf_str(&sending->buf)) != 0
		? API_JOB_STOPPED
		: 0;
}

/* The last line says how far it goes: a body without it is not whole. */
static int send_lines(struct api_job *job, struct json_out *out)
{
	struct sending *sending = (struct sending *)job; /* its first member */
	int r = sending->is_whole ? send_page(sending, run_start) : 0;

	sending->count = PAGE_ROWS;
	while (r == 0 && sending->count == PAGE_ROWS)
		r = jobs_is_stopping(job->api->jobs) ? API_JOB_STOPPED : send_page(sending, run_page);
	if (r != 0)
		return r;
	json_out_begin_object(out);
	json_out_member_int(out, "lastSequence", sending->from);
	json_out_end_object(out);
	return 0;
}

static void release_sending(struct api_job *job)
{
	struct sending *sending = (struct sending *)job; /* its first member */

	arena_release(&sending->page);
	buf_release(&sending->buf);
}

static int copy_filter(struct sending *sending, const struct store_event_filter *filter)
{
	struct arena *arena = &sending->job.arena;

	sending->filter = *filter;
	sending->filter.projects_json = arena_str(arena, filter->projects_json);
	sending->filter.project = arena_str(arena, filter->project);
	sending->filter.task = arena_str(arena, filter->task);
	sending->filter.package = arena_str(arena, filter->package);
	sending->filter.type = arena_str(arena, filter->type);
	sending->filter.principal = arena_str(arena, filter->principal);
	return arena->failed ? -ENOMEM : 0;
}

static bool is_whole(const struct store_event_filter *filter)
{
	return filter->projects_json.bytes == NULL && filter->project.bytes == NULL && filter->task.bytes == NULL &&
		filter->package.bytes == NULL && filter->type.bytes == NULL && filter->principal.bytes == NULL &&
		filter->since == 0 && filter->until == 0;
}

static int stream_audit(struct api *api, struct http_request *request, struct http_reply *reply)
{
	struct store_event_filter filter = {0};
	struct sending *sending = NULL;
	struct api_list list;
	int r = api_list_begin(&list, request, reply, filters, true);

	if (r != 0)
		return 0;
	r = read_filter(request, false, &filter, reply);
	if (r != 0)
		return r == HTTP_BAD_VALUE ? 0 : r;
	sending = api_job_new(sizeof(*sending), api, request, send_lines);
	if (sending == NULL)
		return -ENOMEM;
	arena_init(&sending->page, PAGE_CEILING);
	buf_init(&sending->buf, PAGE_CEILING);
	sending->job.release = release_sending;
	sending->from = list.from;
	sending->is_whole = is_whole(&filter) && list.from == 0;
	r = copy_filter(sending, &filter);
	if (r != 0) {
		api_job_drop(&sending->job);
		return r;
	}
	return api_job_start(&sending->job, request, reply);
}

static int get_audit(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const offers[] = {"application/json", "application/x-ndjson"};
	int chosen = accept_choose(http_request_header(request, "Accept"), offers, 2);

	if (chosen == 0)
		return list_audit(ctx, request, reply);
	if (chosen == 1)
		return stream_audit(ctx, request, reply);
	http_reply_problem(
		reply, request, HTTP_PROBLEM_NOT_ACCEPTABLE, "there are application/json and application/x-ndjson");
	return 0;
}

/* ---- the check */

struct verifying {
	struct api_job job;
	struct audit_verdict verdict;
	uint64_t total;
};

static bool tell_progress(void *arg, const struct audit_verdict *so_far)
{
	struct verifying *verifying = arg;
	uint64_t done = so_far->rows + so_far->records;

	return !jobs_is_stopping(verifying->job.api->jobs) &&
		api_job_progress(&verifying->job, done, done > verifying->total ? done : verifying->total) == 0;
}

static int verify(struct api_job *job, struct json_out *out)
{
	struct verifying *verifying = (struct verifying *)job; /* its first member */
	struct audit_keeper *keeper = atomic_load(&job->api->audit);
	struct audit_keeper_facts facts;
	int r = 0;

	if (keeper == NULL)
		return API_JOB_STOPPED;
	audit_keeper_read(keeper, &facts);
	verifying->total = (uint64_t)facts.last_sequence;
	r = audit_keeper_verify(keeper, tell_progress, verifying, &verifying->verdict);
	if (r != 0)
		return r;
	if (verifying->verdict.is_cancelled)
		return API_JOB_STOPPED;
	json_out_begin_object(out);
	audit_verdict_write(&verifying->verdict, out);
	json_out_end_object(out);
	return 0;
}

static void refuse_scope(struct http_reply *reply, const struct http_request *request)
{
	struct json_out out = http_reply_problem_begin(reply, request, HTTP_PROBLEM_FORBIDDEN,
		STR("the log of all projects is one chain; a token of some projects may not check it"));

	json_out_key(&out, "roleNeeded");
	json_out_begin_array(&out);
	json_out_text(&out, "auditor");
	json_out_end_array(&out);
	http_reply_problem_end(&out);
}

static int get_verify(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct verifying *verifying = NULL;

	if (!request->token.all_projects) {
		refuse_scope(reply, request);
		return 0;
	}
	verifying = api_job_new(sizeof(*verifying), ctx, request, verify);
	return verifying == NULL ? -ENOMEM : api_job_start(&verifying->job, request, reply);
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/audit", AUTH_AUDITOR, 0, 0, get_audit},
	{HTTP_GET, "/v1/audit/verify", AUTH_AUDITOR, 0, 0, get_verify},
};

const struct http_routes api_audit_routes = API_ROUTES(rows);
