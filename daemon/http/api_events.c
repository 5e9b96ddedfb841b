/* The log as it grows. */
#include "daemon/http/accept.h"
#include "daemon/http/api_list.h"

static int refuse(const struct http_request *request, struct http_reply *reply, const char *detail)
{
	http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, detail);
	return API_LIST_REFUSED;
}

/* A decimal number as we write ids; false: it isn't one. */
static bool read_id(struct str text, int64_t *ret)
{
	enum { DIGITS = 18 };
	int64_t id = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9' || text.len > DIGITS)
			return false;
		id = id * 10 + (text.bytes[i] - '0');
	}
	*ret = id;
	return text.len > 0;
}

/* Where a client goes on: what it had last, which its header knows better than the address it began with. */
static int read_wish(struct http_request *request, struct http_reply *reply, struct events_wish *ret)
{
	static const char *const offers[] = {"text/event-stream", "application/x-ndjson"};
	int chosen = accept_choose(http_request_header(request, "Accept"), offers, sizeof(offers) / sizeof(offers[0]));
	struct str last = http_request_header(request, "Last-Event-ID");
	struct str after = http_request_query(request, "after");

	*ret = (struct events_wish){.token = &request->token,
		.project = http_request_query(request, "project"),
		.after = -1,
		.is_lines = chosen == 1};
	for (unsigned i = 0; i < request->query_count; i++)
		if (!str_is(request->query[i].name, "after") && !str_is(request->query[i].name, "project"))
			return refuse(request, reply, "events have no such query parameter");
	if (after.bytes != NULL && !read_id(after, &ret->after))
		return refuse(request, reply, "after is an event's id");
	if (last.bytes != NULL && last.len > 0 && !read_id(last, &ret->after))
		return refuse(request, reply, "Last-Event-ID is an event's id");
	if (chosen >= 0)
		return 0;
	http_reply_problem(
		reply, request, HTTP_PROBLEM_NOT_ACCEPTABLE, "it is text/event-stream or application/x-ndjson");
	return API_LIST_REFUSED;
}

static int watch_events(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct api *api = ctx;
	struct events_wish wish;
	int r = read_wish(request, reply, &wish);

	if (r != 0)
		return 0;
	if (request->method == HTTP_HEAD) {
		http_reply_raw(reply, 200, wish.is_lines ? "application/x-ndjson" : "text/event-stream; charset=utf-8",
			STR(""));
		return 0;
	}
	r = events_watch(&api->events, &wish, reply);
	if (r == EVENTS_FULL)
		http_reply_problem(reply, request, HTTP_PROBLEM_QUEUE_FULL, "too many clients watch");
	else if (r == EVENTS_ENDING)
		http_reply_problem(reply, request, HTTP_PROBLEM_SHUTTING_DOWN, NULL);
	return r < 0 ? r : 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/events", 0, 0, 0, watch_events},
};

const struct http_routes api_events_routes = API_ROUTES(rows);
