/* server.h - the HTTP server: bytes in, requests to handlers, answers out (chapters 3.2 and 4.1).
 *
 * server.c is the only file that sees libmicrohttpd. It refuses what chapter 4.1 refuses, keeps all deadlines
 * itself on the sockets, bounds everything, and hands decoded requests to the routes. It knows no store: tokens are
 * looked up through config.find_token.
 *
 * Life: start → (serving) → quiesce → the caller drains the store's writer → stop. Quiescing ends the listening
 * socket, answers 503 `shutting_down` to new work on connections that live on, and closes all streams. Stopping wakes every sleeper
 * that nobody finished (503 `outcome_unknown`) before it stops the library, which aborts otherwise.
 */
#ifndef ADMITD_DAEMON_HTTP_SERVER_H
#define ADMITD_DAEMON_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/http/auth.h"
#include "daemon/http/router.h"
#include "policy/check.h"

struct http_server;
struct tls;

/* Bounds; a 0 takes the value of chapter 4.1 behind it. Times are milliseconds. */
struct http_limits {
	uint64_t header_ms;      /* 10 000: from a request's first byte to the end of its headers */
	uint64_t idle_ms;        /* 60 000: between requests, and for a client that does not read its answer */
	uint64_t body_ms;        /* 30 000 and `step_ms` for each 64 KiB that came */
	uint64_t step_ms;        /* 1000: what 64 KiB may take, on their way in or out */
	uint64_t sleep_ms;       /* 60 000: a handed-over request is answered by then: 503 `outcome_unknown` */
	uint64_t auth_window_ms; /* 60 000 */
	unsigned auth_failures;  /* 20 in that window from one address */
	unsigned token_minute;   /* 600 000: requests of one token a minute */
	unsigned connections;    /* 4096 */
	unsigned threads;        /* as many as cores, at least 2 */
	size_t bodies_bytes;     /* 64 MiB of bodies in flight */
	size_t arena_bytes;      /* 32 MiB for one request */
};

struct http_config {
	const char *address; /* "127.0.0.1", "::1", "0.0.0.0" …: numeric; NULL is 127.0.0.1 */
	uint16_t port;       /* 0: any free one, told by http_server_port() */
	/* Names by which clients may call us, as in a Host header: "admit.example", "[::1]", or with a port,
	 * "admit.example:443"; without one the bound port is meant. 127.0.0.1, localhost and [::1] are always
	 * among them when the address is a loopback one.
	 */
	const char *const *hosts;
	size_t hosts_count;
	/* A listening Unix socket, which the server takes with the call, also when it fails; 0: none. */
	int local_fd;
	const struct auth_peer *peers; /* at that socket; who isn't one needs a token */
	size_t peers_count;
	struct tls *tls; /* at the address; NULL: plain. The local socket is plain always */
	const char *
		scheme; /* of our own pages' Origin: "http" (NULL) or, with TLS here or in a proxy before us, "https" */
	struct http_limits limits;
	const struct http_routes *routes;
	size_t routes_count;
	auth_find_fn *find_token;
	void *find_ctx;
	void *ctx; /* for the handlers, and */
	/* called when an answer begins, on the thread of its connection; NULL: nobody counts */
	void (*on_answer)(void *ctx, const struct http_request *request, unsigned status, uint64_t duration_ms);
	bool log_requests; /* one line a request on stderr */
};

/* Starts serving: 0 and *ret; -EINVAL for an address or host that makes no sense, -EADDRINUSE and the like, -ENOMEM.
 * Everything `config` points to must outlive the server.
 */
int http_server_start(const struct http_config *config, struct http_server **ret) MUST_USE;

/* The port it listens on. */
uint16_t http_server_port(const struct http_server *server);

/* Ends listening and new work; requests already with a handler go on. Idempotent. */
void http_server_quiesce(struct http_server *server);

/* Waits up to `timeout_ms` until no handed-over request is left; true if so. For the shutdown, after the writer was
 * told to drain.
 */
bool http_server_drain(struct http_server *server, uint64_t timeout_ms);

/* Quiesces, wakes what still sleeps, gives answers a moment to leave, stops all threads and frees the server. NULL is
 * fine. A request whose holder calls http_request_finish() after this is freed by that call.
 */
void http_server_stop(struct http_server *server);

/* Figures for /metrics, each a snapshot. */
struct http_figures {
	uint64_t connections; /* open now */
	uint64_t requests;    /* begun since the start */
	uint64_t sleepers;    /* handed over now */
	uint64_t bodies_bytes;
	uint64_t streams; /* answers that are made while they are sent, now */
};

void http_server_figures(struct http_server *server, struct http_figures *ret);

#endif
