#include "daemon/http/exchange.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"

enum { BODY_STEP = 64 * 1024 };

/* ---- beginning and end */

static struct str new_id(struct arena *arena)
{
	static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
	unsigned char random[16];
	char id[4 + sizeof(random) + 1] = "req_";

	randombytes_buf(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		id[4 + i] = letters[random[i] & 31];
	return arena_str(arena, (struct str){id, sizeof(id) - 1});
}

struct exchange *exchange_new(struct http_server *server, struct conn *conn, void *wire, const char *target)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	struct arena *arena;

	if (!exchange)
		return NULL;
	exchange->server = server;
	exchange->conn = conn;
	exchange->wire = wire;
	exchange->target_at = target;
	exchange->begun_ms = conn_now_ms();
	exchange->request.server = server;
	atomic_store(&exchange->owners, 1);
	http_reply_init(&exchange->reply);
	buf_init(&exchange->body, 0);
	arena = &exchange->request.arena;
	arena_init(arena, server->limits.arena_bytes);
	exchange->target = arena_str(arena, (struct str){target, strlen(target)});
	exchange->request.id = new_id(arena);
	exchange->request.remote = arena_str(arena, (struct str){conn->remote, strlen(conn->remote)});
	if (arena->failed) {
		exchange_drop(exchange);
		return NULL;
	}
	return exchange;
}

static void unreserve(struct exchange *exchange)
{
	if (exchange->reserved)
		atomic_fetch_sub(&exchange->server->bodies_bytes, exchange->reserved);
	exchange->reserved = 0;
}

static void drop_body(struct exchange *exchange)
{
	buf_release(&exchange->body);
	exchange->request.body = (struct str){0};
	unreserve(exchange);
}

void exchange_drop(struct exchange *exchange)
{
	if (atomic_fetch_sub(&exchange->owners, 1) > 1)
		return;
	/* The server may be gone: its last holder may come late. */
	buf_release(&exchange->body);
	json_decref(exchange->request.json);
	http_reply_release(&exchange->reply);
	arena_release(&exchange->request.arena);
	free(exchange);
}

/* Under the lock. */
static void count_awake(struct exchange *exchange)
{
	exchange->server->asleep -= exchange->is_asleep;
	exchange->is_asleep = false;
	(void)pthread_cond_broadcast(&exchange->server->changed);
}

void exchange_leave(struct exchange *exchange)
{
	struct http_server *server = exchange->server;

	if (exchange->reply.stream)
		http_stream_detach(exchange->reply.stream);
	(void)pthread_mutex_lock(&server->lock);
	/* A client that left while it slept is noticed before the library calls for the answer. */
	count_awake(exchange);
	server->answering -= exchange->is_answering;
	(void)pthread_mutex_unlock(&server->lock);
	unreserve(exchange);
	exchange_drop(exchange);
}

/* ---- refusing */

enum exchange_step exchange_refuse(struct exchange *exchange, enum http_problem problem, const char *detail)
{
	http_reply_problem(&exchange->reply, &exchange->request, problem, detail);
	exchange->is_refused = true;
	drop_body(exchange);
	return EXCHANGE_READ;
}

enum exchange_step exchange_cut(struct exchange *exchange)
{
	if (!exchange->is_refused)
		(void)exchange_refuse(exchange, HTTP_PROBLEM_TOO_LARGE, NULL);
	exchange->reply.close = true;
	exchange->is_cut = exchange->has_head || !exchange->framing.expects_continue;
	return exchange->is_cut ? EXCHANGE_CUT_OFF : EXCHANGE_ANSWER;
}

void exchange_allow(struct exchange *exchange)
{
	uint64_t allowed_ms =
		exchange->server->limits.body_ms + exchange->received / BODY_STEP * exchange->server->limits.step_ms;

	conn_mark(exchange->conn, CONN_BODY, exchange->begun_ms + allowed_ms);
}

/* ---- the body */

/* Keeps what the buffer holds within the sum of all bodies; the buffer grows by doubling. */
static bool reserve(struct exchange *exchange, size_t more)
{
	_Atomic size_t *sum = &exchange->server->bodies_bytes;
	size_t size = exchange->body.size ? exchange->body.size : 256;
	size_t grown;

	while (size <= exchange->body.len + more)
		size *= 2;
	grown = size - exchange->reserved;
	if (atomic_fetch_add(sum, grown) + grown > exchange->server->limits.bodies_bytes) {
		atomic_fetch_sub(sum, grown);
		return false;
	}
	exchange->reserved = size;
	return true;
}

enum exchange_step exchange_body(struct exchange *exchange, const char *bytes, size_t len)
{
	if (exchange->is_cut)
		return EXCHANGE_READ;
	exchange->received += len;
	if (exchange->received > exchange->body_max)
		return exchange_cut(exchange);
	exchange_allow(exchange);
	if (exchange->is_refused)
		return EXCHANGE_READ;
	if (!reserve(exchange, len))
		return exchange_refuse(exchange, HTTP_PROBLEM_QUEUE_FULL, "too many bodies are under way");
	buf_add(&exchange->body, bytes, len);
	if (buf_error(&exchange->body))
		return exchange_refuse(exchange, HTTP_PROBLEM_INTERNAL, NULL);
	exchange->request.body = buf_str(&exchange->body);
	return EXCHANGE_READ;
}

static void refuse_json(struct exchange *exchange, const struct json_in_error *error)
{
	struct str detail = {error->detail, strlen(error->detail)};
	struct json_out out =
		http_reply_problem_begin(&exchange->reply, &exchange->request, HTTP_PROBLEM_INVALID_JSON, detail);

	json_out_member_int(&out, "offset", (int64_t)error->offset);
	if (error->pointer.bytes)
		json_out_member_str(&out, "pointer", error->pointer);
	http_reply_problem_end(&out);
	exchange->is_refused = true;
}

static void read_json(struct exchange *exchange)
{
	struct http_request *request = &exchange->request;
	struct json_in_error error;
	int result;

	if (request->body.len == 0 && !(request->route->flags & HTTP_NEEDS_BODY))
		return;
	if (!(request->route->flags & (HTTP_NEEDS_BODY | HTTP_OPTIONAL_BODY))) {
		(void)exchange_refuse(exchange, HTTP_PROBLEM_BAD_REQUEST, "this address takes no body");
		return;
	}
	if (request->route->flags & HTTP_ANY_TYPE)
		return;
	result = json_in_parse(&request->arena, request->body.bytes ? request->body.bytes : "", request->body.len,
		&request->json, &error);
	if (result == JSON_IN_REFUSED)
		refuse_json(exchange, &error);
	else if (result)
		(void)exchange_refuse(exchange, HTTP_PROBLEM_INTERNAL, NULL);
}

/* ---- handlers, sleeping and waking */

static void log_failure(const struct http_request *request, int result)
{
	log_line(LOG_LINE_ERROR, "handler", "%s %s failed with error %d, %.*s", http_method_name(request->method),
		request->route->pattern, -result, (int)request->id.len, request->id.bytes);
}

static void run_handler(struct exchange *exchange)
{
	struct http_request *request = &exchange->request;
	int result = request->route->handler(exchange->server->config.ctx, request, &exchange->reply);

	CHECK(result <= 0);
	if (result == 0)
		return;
	log_failure(request, result);
	http_reply_problem(&exchange->reply, request, HTTP_PROBLEM_INTERNAL, NULL);
}

static void list_sleeper(struct exchange *exchange)
{
	struct http_server *server = exchange->server;

	(void)pthread_mutex_lock(&server->lock);
	exchange->next = server->sleepers;
	if (server->sleepers)
		server->sleepers->prev = exchange;
	server->sleepers = exchange;
	exchange->is_listed = true;
	(void)pthread_mutex_unlock(&server->lock);
}

/* Under the lock. */
static void unlist_sleeper(struct http_server *server, struct exchange *exchange)
{
	if (!exchange->is_listed)
		return;
	if (exchange->prev)
		exchange->prev->next = exchange->next;
	else
		server->sleepers = exchange->next;
	if (exchange->next)
		exchange->next->prev = exchange->prev;
	exchange->is_listed = false;
}

/* Counts the connection as asleep unless the server is ending. */
static bool may_sleep(struct exchange *exchange)
{
	struct http_server *server = exchange->server;

	(void)pthread_mutex_lock(&server->lock);
	exchange->is_asleep = !server->is_quiet && !server->is_stopping;
	server->asleep += exchange->is_asleep;
	(void)pthread_mutex_unlock(&server->lock);
	return exchange->is_asleep;
}

/* The connection sleeps before anybody else can hear of the request: a holder that is quicker than this
 * thread wakes a connection that is asleep already. Whoever holds it drops it in http_request_finish(), so the
 * handler's own answers take the same way.
 */
static enum exchange_step hand_over(struct exchange *exchange)
{
	struct http_server *server = exchange->server;
	struct http_request *request = &exchange->request;
	const struct http_route *route = request->route;
	struct http_reply reply;
	int result;

	if (!may_sleep(exchange)) {
		(void)exchange_refuse(exchange, HTTP_PROBLEM_SHUTTING_DOWN, NULL);
		exchange->reply.close = true;
		return EXCHANGE_ANSWER;
	}
	conn_mark(exchange->conn, CONN_SLEEPING, CONN_NEVER);
	atomic_fetch_add(&exchange->owners, 1);
	atomic_store(&exchange->sleep, EXCHANGE_SLEEPING);
	exchange->wake_ms = conn_now_ms() + server->limits.sleep_ms;
	server->suspend(exchange->wire);
	list_sleeper(exchange);
	http_reply_init(&reply);
	result = route->handler(server->config.ctx, request, &reply);
	if (result == HTTP_LATER) {
		http_reply_release(&reply);
		return EXCHANGE_WAIT;
	}
	CHECK(result <= 0);
	if (result < 0) {
		log_failure(request, result);
		http_reply_problem(&reply, request, HTTP_PROBLEM_INTERNAL, NULL);
	}
	http_request_finish(request, &reply);
	return EXCHANGE_WAIT;
}

enum exchange_step exchange_end(struct exchange *exchange)
{
	if (exchange->is_cut)
		return EXCHANGE_CLOSE;
	if (!exchange->is_refused)
		read_json(exchange);
	if (exchange->is_refused)
		return EXCHANGE_ANSWER;
	if (exchange->request.route->flags & HTTP_WRITES)
		return hand_over(exchange);
	run_handler(exchange);
	return EXCHANGE_ANSWER;
}

/* The library is called under the lock: stopping must not get past its wait while somebody is in there. */
static void wake_up(struct exchange *exchange)
{
	struct http_server *server = exchange->server;

	(void)pthread_mutex_lock(&server->lock);
	unlist_sleeper(server, exchange);
	server->resume(exchange->wire);
	(void)pthread_mutex_unlock(&server->lock);
}

void exchange_abandon(struct http_server *server, uint64_t now_ms)
{
	struct exchange *next;

	(void)pthread_mutex_lock(&server->lock);
	for (struct exchange *at = server->sleepers; at; at = next) {
		enum exchange_sleep asleep = EXCHANGE_SLEEPING;

		next = at->next;
		if (at->wake_ms > now_ms || !atomic_compare_exchange_strong(&at->sleep, &asleep, EXCHANGE_ABANDONED))
			continue;
		unlist_sleeper(server, at);
		server->resume(at->wire);
	}
	(void)pthread_mutex_unlock(&server->lock);
}

void http_request_finish(struct http_request *request, struct http_reply *reply)
{
	struct exchange *exchange = (struct exchange *)request; /* its first member */
	enum exchange_sleep asleep = EXCHANGE_SLEEPING;

	if (atomic_compare_exchange_strong(&exchange->sleep, &asleep, EXCHANGE_FINISHED)) {
		http_reply_move(&exchange->reply, reply);
		wake_up(exchange);
	} else {
		CHECK(asleep == EXCHANGE_ABANDONED);
		http_reply_release(reply);
	}
	exchange_drop(exchange);
}

enum exchange_step exchange_wake(struct exchange *exchange)
{
	struct http_server *server = exchange->server;

	if (atomic_load(&exchange->sleep) == EXCHANGE_SLEEPING)
		return EXCHANGE_WAIT;
	(void)pthread_mutex_lock(&server->lock);
	count_awake(exchange);
	server->answering++; /* in one step, so that stopping waits for the answer */
	exchange->is_answering = true;
	(void)pthread_mutex_unlock(&server->lock);
	if (atomic_load(&exchange->sleep) == EXCHANGE_ABANDONED) {
		http_reply_problem(&exchange->reply, &exchange->request, HTTP_PROBLEM_OUTCOME_UNKNOWN,
			"the same request with the same key tells later");
		exchange->reply.close = true;
	}
	return EXCHANGE_ANSWER;
}

bool exchange_settle(struct exchange *exchange)
{
	struct http_reply *reply = &exchange->reply;

	if (reply->status != 0 && buf_error(&reply->body) == 0)
		return true;
	log_line(LOG_LINE_ERROR, "reply", "no answer was written, error %d, %.*s", -buf_error(&reply->body),
		(int)exchange->request.id.len, exchange->request.id.bytes);
	http_reply_problem(reply, &exchange->request, HTTP_PROBLEM_INTERNAL, NULL);
	return buf_error(&reply->body) == 0;
}
