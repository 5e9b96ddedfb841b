/* The only file that sees the HTTP library. What it knows about 0.9.75 is said where it matters. */
#include "daemon/http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/http/exchange.h"
#include "daemon/http/rate.h"
#include "daemon/http/server_parts.h"
#include "daemon/http/tls.h"
#include "daemon/log.h"

enum {
	CONNECTION_MEMORY = 10 * 1024,
	CUT_MS = 2000,      /* how long a refused client may go on sending before the answer is lost to a reset */
	FAREWELL_MS = 2000, /* how long stopping waits for answers that are on their way */
	ANSWER_STEP = 64 * 1024,
	STREAM_BLOCK = 4 * 1024,
	IN_FLIGHT = 512, /* accepted and not yet counted: the library must not close what our own limit let in */
};

/* ---- answers */

/* What every answer has unless its reply says otherwise. */
static const struct {
	const char *name;
	const char *value;
} common_headers[] = {
	{"Cache-Control", "no-store"},
	{"X-Content-Type-Options", "nosniff"},
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

static bool has_own(const struct http_reply *reply, const char *name)
{
	for (unsigned i = 0; i < reply->headers_count; i++) {
		if (strcmp(reply->headers[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
	return MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_headers(struct MHD_Response *response, const struct exchange *exchange)
{
	const struct http_reply *reply = &exchange->reply;
	bool done = add_header(response, "X-Request-Id", exchange->request.id.bytes);

	for (size_t i = 0; i < sizeof(common_headers) / sizeof(common_headers[0]); i++) {
		if (!has_own(reply, common_headers[i].name))
			done &= add_header(response, common_headers[i].name, common_headers[i].value);
	}
	for (unsigned i = 0; i < reply->headers_count; i++)
		done &= add_header(response, reply->headers[i].name, reply->headers[i].value);
	if (exchange->request.traceparent.bytes)
		done &= add_header(response, "traceparent", exchange->request.traceparent.bytes);
	if (reply->content_type)
		done &= add_header(response, "Content-Type", reply->content_type);
	if (reply->close)
		done &= add_header(response, "Connection", "close");
	return done;
}

static void note_answer(const struct exchange *exchange)
{
	const struct http_request *request = &exchange->request;
	const struct http_config *config = &exchange->server->config;

	if (config->on_answer)
		config->on_answer(config->ctx, request, exchange->reply.status, conn_now_ms() - exchange->begun_ms);
	if (!config->log_requests)
		return;
	log_line(LOG_LINE_INFO, "request", "id=%.*s method=%s path=%.*s status=%u ms=%llu in=%zu out=%zu from=%.*s",
		(int)request->id.len, request->id.bytes, http_method_name(request->method), (int)request->path.len,
		request->path.bytes, exchange->reply.status, (unsigned long long)(conn_now_ms() - exchange->begun_ms),
		exchange->received, exchange->reply.body.len, (int)request->remote.len, request->remote.bytes);
}

/* On the connection's thread, when the block before has left. Returning 0 without suspending would make the library call
 * again at once, for ever.
 */
static ssize_t read_stream(void *cls, uint64_t position, char *bytes, size_t max)
{
	struct exchange *exchange = cls;
	size_t len;

	(void)position;
	switch (http_stream_take(exchange->reply.stream, bytes, max, &len)) {
	case HTTP_STREAM_BYTES:
		conn_mark(exchange->conn, CONN_ANSWERING, conn_now_ms() + exchange->server->limits.idle_ms);
		return (ssize_t)len;
	case HTTP_STREAM_SUSPENDED:
		conn_mark(exchange->conn, CONN_SLEEPING, CONN_NEVER);
		return 0;
	case HTTP_STREAM_OVER:
	default:
		conn_mark(exchange->conn, CONN_ANSWERING, conn_now_ms() + exchange->server->limits.idle_ms);
		return MHD_CONTENT_READER_END_OF_STREAM;
	}
}

/* To a HEAD request the library would send the end of a chunked body, which the client takes for its next answer; so that
 * answer has no framing, and the connection ends with it.
 */
static struct MHD_Response *make_streamed(struct exchange *exchange, struct MHD_Connection *wire)
{
	struct MHD_Response *response;

	http_stream_attach(exchange->reply.stream, exchange->server, wire);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, exchange, NULL);
	if (response && exchange->request.method == HTTP_HEAD)
		(void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
	return response;
}

static struct MHD_Response *make_response(struct exchange *exchange, struct MHD_Connection *wire)
{
	struct MHD_Response *response;
	size_t len = 0;
	char *bytes;

	if (exchange->reply.stream)
		return make_streamed(exchange, wire);
	bytes = buf_take(&exchange->reply.body, &len);
	response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(bytes);
	return response;
}

/* On the thread of the connection, in the handler's first or last call. */
static enum MHD_Result answer(struct exchange *exchange, struct MHD_Connection *wire)
{
	struct http_server *server = exchange->server;
	struct MHD_Response *response;
	enum MHD_Result queued = MHD_NO;
	uint64_t allowed_ms;

	if (!exchange_settle(exchange))
		return MHD_NO;
	note_answer(exchange);
	allowed_ms = server->limits.idle_ms + exchange->reply.body.len / ANSWER_STEP * server->limits.step_ms;
	conn_mark_answering(exchange->conn, conn_now_ms() + allowed_ms);
	(void)pthread_mutex_lock(&server->lock);
	server->answering += !exchange->is_answering;
	exchange->is_answering = true;
	(void)pthread_mutex_unlock(&server->lock);
	response = make_response(exchange, wire);
	if (response && add_headers(response, exchange))
		queued = MHD_queue_response(wire, exchange->reply.status, response);
	if (response)
		MHD_destroy_response(response);
	return queued;
}

static void format_cut(const struct exchange *exchange, struct buf *text)
{
	const struct http_reply *reply = &exchange->reply;

	buf_printf(text, "HTTP/1.1 %u Refused\r\nX-Request-Id: %s\r\nConnection: close\r\n", reply->status,
		exchange->request.id.bytes);
	for (size_t i = 0; i < sizeof(common_headers) / sizeof(common_headers[0]); i++)
		buf_printf(text, "%s: %s\r\n", common_headers[i].name, common_headers[i].value);
	for (unsigned i = 0; i < reply->headers_count; i++)
		buf_printf(text, "%s: %s\r\n", reply->headers[i].name, reply->headers[i].value);
	buf_printf(text, "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", reply->content_type, reply->body.len);
	buf_add_str(text, buf_str(&reply->body));
}

static int send_past_library(struct conn *conn, const struct buf *text)
{
	if (conn->tls)
		return tls_peer_send_last(conn->tls, text->bytes, text->len);
	return send(conn->fd, text->bytes, text->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The library takes no answer in the middle of a body, and closing at once would reset the connection before
 * the client has read why. So the answer goes to the socket itself, or into a record of its own, behind the last byte that the library wrote
 * before it began to read this request; then our side is closed, and what the client still sends is dropped for
 * a moment.
 */
static enum MHD_Result cut_off(struct exchange *exchange)
{
	struct buf text;
	int r;

	if (!exchange_settle(exchange))
		return MHD_NO;
	note_answer(exchange);
	buf_init(&text, HTTP_REPLY_CEILING);
	format_cut(exchange, &text);
	r = buf_error(&text);
	if (r == 0)
		r = send_past_library(exchange->conn, &text);
	buf_release(&text);
	if (r != 0)
		return MHD_NO;
	(void)shutdown(exchange->conn->fd, SHUT_WR);
	conn_mark(exchange->conn, CONN_CUT, conn_now_ms() + CUT_MS);
	return MHD_YES;
}

static enum MHD_Result do_step(struct exchange *exchange, struct MHD_Connection *wire, enum exchange_step step)
{
	switch (step) {
	case EXCHANGE_READ:
	case EXCHANGE_WAIT:
		return MHD_YES;
	case EXCHANGE_ANSWER:
		return answer(exchange, wire);
	case EXCHANGE_CUT_OFF:
		return cut_off(exchange);
	case EXCHANGE_CLOSE:
	default:
		return MHD_NO;
	}
}

/* ---- the library's calls */

static void suspend(void *wire)
{
	MHD_suspend_connection(wire);
}

static void resume(void *wire)
{
	MHD_resume_connection(wire);
}

/* One more than we take is enough to see that there are too many. */
struct fields {
	struct http_pair items[GATE_FIELDS_MAX + 1];
	unsigned count;
};

static enum MHD_Result collect_field(
	void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value, size_t value_len)
{
	struct fields *fields = cls;
	struct http_pair *field = &fields->items[fields->count];

	(void)kind;
	if (fields->count > GATE_FIELDS_MAX)
		return MHD_NO;
	*field = (struct http_pair){{name, name_len}, {value, value_len}};
	fields->count++;
	return MHD_YES;
}

static enum exchange_step read_head(
	struct exchange *exchange, struct MHD_Connection *wire, const char *method, const char *version)
{
	struct fields fields = {.count = 0};
	struct gate_head head = {
		.method = method,
		.target = exchange->target_at,
		.target_len = exchange->target.len,
		.version = version,
		.fields = fields.items,
	};
	const union MHD_ConnectionInfo *size = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	(void)MHD_get_connection_values_n(wire, MHD_HEADER_KIND, collect_field, &fields);
	head.fields_count = fields.count;
	head.size = size ? size->header_size : 0;
	return exchange_head(exchange, &head);
}

static enum MHD_Result on_call(void *cls, struct MHD_Connection *wire, const char *url, const char *method,
	const char *version, const char *bytes, size_t *len, void **context)
{
	struct exchange *exchange = *context;
	enum exchange_step step;

	(void)cls;
	(void)url; /* the library's decoding cuts it at %00 */
	if (!exchange)
		return MHD_NO;
	if (!exchange->has_head) {
		step = read_head(exchange, wire, method, version);
	} else if (*len > 0) {
		step = exchange_body(exchange, bytes, *len);
		*len = 0;
	} else if (atomic_load(&exchange->sleep) != EXCHANGE_AWAKE) {
		step = exchange_wake(exchange);
	} else {
		step = exchange_end(exchange);
	}
	return do_step(exchange, wire, step);
}

static struct conn *conn_of(struct MHD_Connection *wire)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* At the request line, before the library takes the target apart. What it returns becomes the context. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *wire)
{
	struct http_server *server = cls;
	struct conn *conn = conn_of(wire);

	if (!conn)
		return NULL;
	conn_mark_headers(&server->conns, conn);
	return exchange_new(server, conn, wire, target ? target : "");
}

static void on_completed(void *cls, struct MHD_Connection *wire, void **context, enum MHD_RequestTerminationCode how)
{
	struct http_server *server = cls;
	struct exchange *exchange = *context;

	(void)wire;
	(void)how;
	if (!exchange)
		return;
	*context = NULL;
	conn_mark_idle(&server->conns, exchange->conn);
	exchange_leave(exchange);
}

static void on_ready(void *cls)
{
	conn_mark_ready(cls);
}

/* On an encrypted connection, before its handshake. */
static void begin_tls(struct http_server *server, struct conn *conn, struct MHD_Connection *wire)
{
	const union MHD_ConnectionInfo *session = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	if (session && conn)
		conn->tls = tls_peer_new(server->config.tls, session->tls_session, on_ready, conn);
	else if (session)
		tls_show_nothing(session->tls_session);
}

static void remove_conn(struct http_server *server, struct conn *conn)
{
	struct tls_peer *tls = conn->tls;

	conn_remove(&server->conns, conn);
	tls_peer_free(tls);
}

static void on_connection(
	void *cls, struct MHD_Connection *wire, void **context, enum MHD_ConnectionNotificationCode what)
{
	struct http_server *server = cls;
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(wire, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = fd ? conn_add(&server->conns, fd->connect_fd, peer ? peer->client_addr : NULL) : NULL;
		begin_tls(server, *context, wire);
	} else if (*context) {
		remove_conn(server, *context);
		*context = NULL;
		listener_tell_room(&server->listener);
		listener_tell_room(&server->local);
	}
}

/* ---- what the listener asks */

static void give_connection(void *cls, int fd, const struct sockaddr *peer, socklen_t peer_len)
{
	struct http_server *server = cls;

	(void)MHD_add_connection(server->library, fd, peer, peer_len); /* closes it where it can't */
}

static void give_local(void *cls, int fd, const struct sockaddr *peer, socklen_t peer_len)
{
	struct http_server *server = cls;

	(void)MHD_add_connection(server->plain_library, fd, peer, peer_len);
}

static bool has_room(void *cls)
{
	struct http_server *server = cls;

	return conn_count(&server->conns) < server->limits.connections;
}

/* Leaves escapes as they are: targets are decoded by the router, one segment at a time. */
static size_t keep_escapes(void *cls, struct MHD_Connection *wire, char *text)
{
	(void)cls;
	(void)wire;
	return strlen(text);
}

/* ---- starting */

/* The options of TLS come last: without it the list ends before them. */
static struct MHD_Daemon *start_one(struct http_server *server, bool is_tls, unsigned threads)
{
	unsigned flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET;

	return MHD_start_daemon(is_tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, on_call, server,
		MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_LIMIT,
		server->limits.connections + IN_FLIGHT, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_UNESCAPE_CALLBACK,
		keep_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_target, server, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		is_tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, tls_show, MHD_OPTION_HTTPS_PRIORITIES,
		tls_priorities, MHD_OPTION_END);
}

static void stop_library(struct http_server *server)
{
	if (server->plain_library != server->library && server->plain_library)
		MHD_stop_daemon(server->plain_library);
	if (server->library)
		MHD_stop_daemon(server->library);
}

/* A library speaks TLS on all of its connections or on none. */
static int start_library(struct http_server *server)
{
	bool is_tls = server->config.tls != NULL;
	int result = 0;

	errno = 0;
	server->library = start_one(server, is_tls, server->limits.threads);
	server->plain_library = is_tls && server->local.listen_fd >= 0 ? start_one(server, false, 1) : server->library;
	if (!server->library || !server->plain_library)
		result = errno ? -errno : -ENOMEM;
	if (result)
		stop_library(server);
	return result;
}

static void free_server(struct http_server *server)
{
	conn_list_release(&server->conns);
	listener_release(&server->listener);
	listener_release(&server->local);
	gate_hosts_free(server->hosts);
	auth_budget_free(server->budget);
	rate_free(server->rate);
	(void)pthread_mutex_destroy(&server->streams_lock);
	free(server);
}

static struct http_server *new_server(const struct http_config *config)
{
	struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->config = *config;
	server->limits = server_limits(&config->limits);
	listener_init(&server->listener, give_connection, has_room, server);
	listener_init(&server->local, give_local, has_room, server);
	listener_take(&server->local, config->local_fd > 0 ? config->local_fd : -1);
	(void)pthread_mutex_init(&server->streams_lock, NULL);
	server->suspend = suspend;
	server->resume = resume;
	server->head_is_known = strcmp(MHD_get_version(), "0.9.75") == 0;
	conn_list_init(&server->conns, server->limits.connections, server->limits.header_ms, server->limits.idle_ms);
	server->budget = auth_budget_new(server->limits.auth_failures, server->limits.auth_window_ms);
	server->rate = rate_new(server->limits.token_minute);
	if (server->budget && server->rate)
		return server;
	free_server(server);
	return NULL;
}

static int start_parts(struct http_server *server, const char *address)
{
	int result = listener_open(&server->listener, address, server->config.port);

	if (result)
		return result;
	server->hosts = gate_hosts_new(server->config.hosts, server->config.hosts_count, address, server->listener.port,
		server->config.scheme);
	if (!server->hosts)
		return -ENOMEM;
	result = server_start_sweeper(server);
	if (result)
		return result;
	result = start_library(server);
	if (!result) {
		result = listener_start(&server->listener);
		if (!result && server->local.listen_fd >= 0)
			result = listener_start(&server->local);
		if (result) {
			listener_close(&server->listener);
			stop_library(server);
		}
	}
	if (result)
		server_end_sweeper(server);
	return result;
}

int http_server_start(const struct http_config *config, struct http_server **ret)
{
	const char *address = config->address ? config->address : "127.0.0.1";
	struct http_server *server;
	int result;

	if (sodium_init() < 0)
		return -EIO;
	server = new_server(config);
	if (!server)
		return -ENOMEM;
	result = start_parts(server, address);
	if (result) {
		free_server(server);
		return result;
	}
	if (!server->head_is_known)
		log_line(LOG_LINE_WARNING, "http", "libmicrohttpd %s is not the version whose folded headers are known",
			MHD_get_version());
	*ret = server;
	return 0;
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->listener.port;
}

/* ---- ending */

void http_server_quiesce(struct http_server *server)
{
	bool was_quiet;

	(void)pthread_mutex_lock(&server->lock);
	was_quiet = server->is_quiet;
	server->is_quiet = true;
	(void)pthread_mutex_unlock(&server->lock);
	if (was_quiet)
		return;
	listener_close(&server->listener);
	listener_close(&server->local);
	http_stream_close_all(server);
}

bool http_server_drain(struct http_server *server, uint64_t timeout_ms)
{
	return server_wait_for_none(server, &server->asleep, conn_now_ms() + timeout_ms);
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	http_server_quiesce(server);
	server_wake_all(server);
	(void)server_wait_for_none(server, &server->answering, conn_now_ms() + FAREWELL_MS);
	stop_library(server);
	server_end_sweeper(server);
	free_server(server);
}

void http_server_figures(struct http_server *server, struct http_figures *ret)
{
	ret->connections = conn_count(&server->conns);
	ret->requests = atomic_load(&server->requests);
	ret->bodies_bytes = atomic_load(&server->bodies_bytes);
	(void)pthread_mutex_lock(&server->lock);
	ret->sleepers = server->asleep;
	(void)pthread_mutex_unlock(&server->lock);
	(void)pthread_mutex_lock(&server->streams_lock);
	ret->streams = server->streams_count;
	(void)pthread_mutex_unlock(&server->streams_lock);
}
