/* What is decided about a request when its head is complete. */
#include <errno.h>
#include <string.h>

#include "daemon/http/exchange.h"
#include "daemon/http/rate.h"
#include "daemon/log.h"

/* Nothing behind it is read as a request. */
static enum exchange_step refuse_and_close(struct exchange *exchange, enum http_problem problem, const char *detail)
{
	(void)exchange_refuse(exchange, problem, detail);
	exchange->reply.close = true;
	return EXCHANGE_ANSWER;
}

/* ---- malformed heads */

static bool copy_fields(struct exchange *exchange, const struct gate_head *head)
{
	struct http_request *request = &exchange->request;

	request->headers = ARENA_ARRAY(&request->arena, head->fields_count + 1, struct http_pair);
	if (!request->headers)
		return false;
	for (unsigned i = 0; i < head->fields_count; i++) {
		request->headers[i].name = arena_str(&request->arena, head->fields[i].name);
		request->headers[i].value = arena_str(&request->arena, head->fields[i].value);
	}
	request->headers_count = head->fields_count;
	return !request->arena.failed;
}

static void take_ids(struct http_request *request)
{
	struct str id = http_request_header(request, "X-Request-Id");
	struct str trace = http_request_header(request, "traceparent");

	if (gate_is_request_id(id))
		request->id = id;
	if (gate_is_traceparent(trace))
		request->traceparent = trace;
}

static bool is_known_version(const char *version)
{
	return strcmp(version, "HTTP/1.1") == 0 || strcmp(version, "HTTP/1.0") == 0;
}

/* What a second reader might see differently: NULL, or our words for it. */
static const char *find_malformed(struct exchange *exchange, const struct gate_head *head)
{
	const char *fault = gate_fields(head->fields, head->fields_count, &exchange->framing);

	if (fault)
		return fault;
	if (!is_known_version(head->version))
		return "the HTTP version is neither 1.1 nor 1.0";
	if (exchange->target.len > GATE_TARGET_MAX)
		return "the target is too long";
	if (exchange->target.len == 0 || (exchange->target.bytes[0] != '/' && !str_is(exchange->target, "*")))
		return "the target must be a path";
	if (exchange->server->head_is_known && !gate_is_plain(head))
		return "the head has folded lines, NUL bytes, bare line feeds or too many spaces";
	return NULL;
}

static bool is_too_large(const struct gate_head *head)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < head->fields_count; i++)
		bytes += head->fields[i].name.len + head->fields[i].value.len + 4;
	return head->fields_count > GATE_FIELDS_MAX || bytes > GATE_FIELDS_BYTES;
}

static void split_target(struct exchange *exchange, struct str *ret_query)
{
	struct str target = exchange->target;
	const char *mark = memchr(target.bytes, '?', target.len);

	exchange->request.path = target;
	*ret_query = (struct str){0};
	if (!mark)
		return;
	exchange->request.path.len = (size_t)(mark - target.bytes);
	*ret_query = (struct str){mark + 1, target.len - exchange->request.path.len - 1};
}

static void answer_methods(struct exchange *exchange, unsigned methods)
{
	struct http_request *request = &exchange->request;
	struct str allow = http_router_allow(&request->arena, methods);

	if (request->method == HTTP_OPTIONS)
		http_reply_empty(&exchange->reply, 204);
	else
		http_reply_problem(&exchange->reply, request, HTTP_PROBLEM_METHOD_NOT_ALLOWED, NULL);
	if (allow.bytes)
		http_reply_header(&exchange->reply, "Allow", "%s", allow.bytes);
	exchange->is_refused = true;
}

static enum exchange_step find_route(struct exchange *exchange)
{
	static const unsigned all_methods = 1u << HTTP_GET | 1u << HTTP_HEAD | 1u << HTTP_POST | 1u << HTTP_PUT |
		1u << HTTP_DELETE | 1u << HTTP_OPTIONS;
	struct http_request *request = &exchange->request;
	struct str query;
	unsigned methods;
	int result;

	split_target(exchange, &query);
	if (str_is(exchange->target, "*")) {
		if (request->method != HTTP_OPTIONS)
			return refuse_and_close(exchange, HTTP_PROBLEM_BAD_REQUEST, "the target must be a path");
		answer_methods(exchange, all_methods);
		return EXCHANGE_READ;
	}
	result = http_router_find(
		exchange->server->config.routes, exchange->server->config.routes_count, request, &methods);
	if (result == HTTP_PATH_REFUSED)
		return refuse_and_close(exchange, HTTP_PROBLEM_BAD_REQUEST, "the path holds what no path may");
	if (result >= 0 && http_router_query(request, query) == HTTP_PATH_REFUSED)
		return refuse_and_close(exchange, HTTP_PROBLEM_BAD_REQUEST, "the query holds what no query may");
	if (request->arena.failed || result < 0)
		return refuse_and_close(exchange, HTTP_PROBLEM_INTERNAL, NULL);
	if (result == HTTP_ROUTE_ABSENT)
		return exchange_refuse(exchange, HTTP_PROBLEM_NOT_FOUND, NULL);
	if (result == HTTP_ROUTE_METHOD)
		answer_methods(exchange, methods);
	return EXCHANGE_READ;
}

/* ---- who asks */

/* Who came by the socket without a token is told that his uid won't do. */
static const char *why_unknown(struct exchange *exchange, bool was_given)
{
	if (was_given || !exchange->conn->is_local)
		return NULL;
	return arena_printf(&exchange->request.arena, "[peers] doesn't name uid %u", exchange->conn->uid).bytes;
}

static void refuse_token(struct exchange *exchange, bool was_given)
{
	struct http_server *server = exchange->server;
	uint64_t wait_ms;

	if (was_given && !auth_budget_spend(server->budget, exchange->request.remote, conn_now_ms(), &wait_ms)) {
		struct json_out out = http_reply_problem_begin(&exchange->reply, &exchange->request,
			HTTP_PROBLEM_RATE_LIMITED, STR("too many wrong tokens came from this address"));

		http_reply_problem_end(&out);
		http_reply_retry_after(&exchange->reply, (unsigned)(wait_ms / 1000 + 1));
	} else {
		http_reply_problem(&exchange->reply, &exchange->request, HTTP_PROBLEM_UNAUTHENTICATED,
			why_unknown(exchange, was_given));
		http_reply_header(&exchange->reply, "WWW-Authenticate", "Bearer realm=\"admitd\"");
	}
	exchange->is_refused = true;
}

static void refuse_rate(struct exchange *exchange, uint64_t wait_ms)
{
	(void)exchange_refuse(exchange, HTTP_PROBLEM_RATE_LIMITED, "this token has made too many requests");
	http_reply_retry_after(&exchange->reply, (unsigned)(wait_ms / 1000 + 1));
}

static void check_role(struct exchange *exchange)
{
	struct http_request *request = &exchange->request;
	const struct http_route *route = request->route;
	uint64_t wait_ms = 0;

	if (!rate_take(exchange->server->rate, request->token.id, conn_now_ms(), &wait_ms)) {
		refuse_rate(exchange, wait_ms);
		return;
	}
	if ((request->token.run.bytes && (route->flags & HTTP_RUN_TOKEN)) ||
		auth_has_role(&request->token, route->roles))
		return;
	http_reply_forbidden(&exchange->reply, request, route->roles ? route->roles : (1u << AUTH_ROLES) - 1);
	exchange->is_refused = true;
}

/* 0, AUTH_ABSENT, or -ENOMEM. */
static int find_peer(struct exchange *exchange)
{
	const struct http_config *config = &exchange->server->config;
	struct arena *arena = &exchange->request.arena;
	unsigned uid = exchange->conn->uid;

	for (size_t i = 0; i < config->peers_count; i++) {
		if (config->peers[i].uid != uid)
			continue;
		exchange->request.token = (struct auth_token){
			.id = arena_printf(arena, "peer:%u", uid),
			.principal = arena_printf(arena, "uid:%u", uid),
			.roles = config->peers[i].roles,
			.all_projects = true,
			.is_peer = true,
		};
		return arena->failed ? -ENOMEM : 0;
	}
	return AUTH_ABSENT;
}

static void check_token(struct exchange *exchange)
{
	struct http_request *request = &exchange->request;
	struct str header = http_request_header(request, "Authorization");
	unsigned char hash[AUTH_HASH_SIZE];
	struct str secret;
	int result = AUTH_ABSENT;

	if (!header.bytes && exchange->conn->is_local) {
		result = find_peer(exchange);
	} else if (auth_bearer(header, &secret)) {
		auth_hash(secret, hash);
		result = exchange->server->config.find_token(
			exchange->server->config.find_ctx, &request->arena, hash, &request->token);
	}
	if (result < 0) {
		log_line(LOG_LINE_ERROR, "token", "looking a token up failed with error %d", -result);
		(void)exchange_refuse(exchange, HTTP_PROBLEM_INTERNAL, NULL);
	} else if (result > 0) {
		request->token = (struct auth_token){0};
		refuse_token(exchange, header.bytes != NULL);
	} else {
		check_role(exchange);
	}
}

/* ---- is it for us, and may it be done */

static bool is_unsafe(enum http_method method)
{
	return method == HTTP_POST || method == HTTP_PUT || method == HTTP_DELETE || method == HTTP_PATCH;
}

static bool has_body(const struct exchange *exchange)
{
	return exchange->framing.is_chunked || exchange->framing.length > 0;
}

/* A type that a foreign page can send without asking first is refused even where no body is needed. */
static bool is_type_refused(const struct exchange *exchange)
{
	const struct http_request *request = &exchange->request;
	bool must_be_json = has_body(exchange) || (request->route->flags & HTTP_NEEDS_BODY) ||
		gate_has_header(request, "Content-Type");

	if (!is_unsafe(request->method) || (request->route->flags & HTTP_ANY_TYPE))
		return false;
	return must_be_json && !gate_is_json(request);
}

static bool is_quiet(struct http_server *server)
{
	bool quiet;

	(void)pthread_mutex_lock(&server->lock);
	quiet = server->is_quiet;
	(void)pthread_mutex_unlock(&server->lock);
	return quiet;
}

/* All refusals that leave the connection usable, in an order that tells a foreign page nothing. */
static enum exchange_step judge(struct exchange *exchange)
{
	struct http_request *request = &exchange->request;
	struct http_server *server = exchange->server;
	enum exchange_step step;

	if (is_quiet(server)) {
		(void)exchange_refuse(exchange, HTTP_PROBLEM_SHUTTING_DOWN, NULL);
		exchange->reply.close = true;
		return EXCHANGE_READ;
	}
	step = find_route(exchange);
	if (step != EXCHANGE_READ)
		return step;
	/* No page can make a browser come by the socket of this machine, so any name will do there. */
	if (!exchange->conn->is_local && !gate_host_is_ours(server->hosts, http_request_header(request, "Host")))
		return exchange_refuse(exchange, HTTP_PROBLEM_ORIGIN, NULL);
	if (exchange->is_refused)
		return EXCHANGE_READ;
	exchange->body_max = request->route->body_max ? request->route->body_max : HTTP_BODY_MAX;
	if (is_type_refused(exchange))
		return exchange_refuse(exchange, HTTP_PROBLEM_UNSUPPORTED_MEDIA_TYPE, NULL);
	if (!gate_origin_is_ours(server->hosts, request))
		return exchange_refuse(exchange, HTTP_PROBLEM_ORIGIN, NULL);
	if (!(request->route->flags & HTTP_NO_AUTH))
		check_token(exchange);
	return EXCHANGE_READ;
}

/* ---- the whole of it */

enum exchange_step exchange_head(struct exchange *exchange, const struct gate_head *head)
{
	const char *fault = find_malformed(exchange, head);
	enum exchange_step step;

	atomic_fetch_add(&exchange->server->requests, 1);
	exchange->begun_ms = conn_now_ms();
	exchange->request.path = STR("-");
	exchange->body_max = HTTP_BODY_MAX;
	if (is_too_large(head))
		return refuse_and_close(exchange, HTTP_PROBLEM_HEADERS_TOO_LARGE, NULL);
	if (fault)
		return refuse_and_close(exchange, HTTP_PROBLEM_BAD_REQUEST, fault);
	exchange->request.method = http_method_find(head->method);
	if (exchange->request.method == HTTP_METHOD_UNKNOWN)
		return refuse_and_close(exchange, HTTP_PROBLEM_NOT_IMPLEMENTED, NULL);
	if (!copy_fields(exchange, head))
		return EXCHANGE_CLOSE;
	take_ids(&exchange->request);
	step = judge(exchange);
	if (step == EXCHANGE_READ && exchange->framing.length > exchange->body_max)
		step = exchange_cut(exchange);
	exchange->has_head = true;
	buf_init(&exchange->body, exchange->body_max);
	exchange_allow(exchange);
	return step;
}
