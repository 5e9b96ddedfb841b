/* exchange.h - one request on its way through the server, from its head to its answer.
 *
 * Everything between the HTTP library (server.c) and the handlers: what is refused and when, the body while it
 * comes, sleeping and being woken. It does not see the library; server.c lends it two functions.
 *
 * An exchange has one or two owners: the connection, and whoever holds a request that was handed over. Each drops
 * it once; the last one frees it. `sleep` decides who answers a handed-over request: the first to move it away from
 * EXCHANGE_SLEEPING.
 */
#ifndef ADMITD_DAEMON_HTTP_EXCHANGE_H
#define ADMITD_DAEMON_HTTP_EXCHANGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/http/conn.h"
#include "daemon/http/gate.h"
#include "daemon/http/listener.h"
#include "daemon/http/request.h"
#include "daemon/http/server.h"
#include "daemon/http/stream.h"
#include "policy/buf.h"

struct exchange;

/* The server's own state. server.c makes it; the counters are of all threads. */
struct http_server {
	struct http_config config;
	struct http_limits limits; /* without zeros */
	struct gate_hosts *hosts;
	struct auth_budget *budget;
	struct rate *rate;
	struct conn_list conns;
	void *library;
	void *plain_library; /* for the socket of this machine; the same one without TLS */
	struct listener listener;
	struct listener local; /* of the socket of this machine */
	bool head_is_known;    /* the library is the version whose buffer gate_is_plain() knows */
	void (*suspend)(void *wire);
	void (*resume)(void *wire);

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct exchange *sleepers;
	unsigned asleep; /* connections that are suspended or about to be; 0 is what stopping waits for */
	unsigned answering;
	bool is_quiet;    /* no new work */
	bool is_stopping; /* nobody falls asleep any more */
	bool sweeper_ends;
	pthread_t sweeper;

	_Atomic uint64_t requests;
	_Atomic size_t bodies_bytes;

	pthread_mutex_t streams_lock; /* of what follows; see stream.c for its order */
	struct http_stream *streams;
	unsigned streams_count;
	bool streams_closed;
	_Atomic unsigned streams_asleep; /* suspended, or resumed and not yet back; 0 is what stopping waits for */
};

enum exchange_sleep {
	EXCHANGE_AWAKE = 0,
	EXCHANGE_SLEEPING,
	EXCHANGE_FINISHED,  /* its holder answered */
	EXCHANGE_ABANDONED, /* the server answered instead */
};

/* What the library has to do next. */
enum exchange_step {
	EXCHANGE_CLOSE = 0, /* end the connection without a word */
	EXCHANGE_READ,      /* go on reading the body */
	EXCHANGE_ANSWER,    /* send `reply` */
	EXCHANGE_CUT_OFF,   /* send `reply` past the library, which takes no answer in the middle of a body */
	EXCHANGE_WAIT,      /* it sleeps */
};

struct exchange {
	struct http_request request;
	struct http_server *server;
	struct conn *conn;
	void *wire; /* the library's connection */
	struct str target;
	const char *target_at; /* where it lies in the library's buffer */
	struct gate_framing framing;
	size_t body_max;
	size_t received;
	struct buf body;
	size_t reserved; /* of the sum of bodies */
	struct http_reply reply;
	uint64_t begun_ms;
	bool has_head;
	bool is_refused; /* `reply` is the answer; what still comes is dropped */
	bool is_cut;
	bool is_asleep;    /* counted in server->asleep; under its lock */
	bool is_answering; /* counted in server->answering */
	atomic_int owners;
	_Atomic(enum exchange_sleep) sleep;
	uint64_t wake_ms;
	struct exchange *next, *prev; /* in server->sleepers */
	bool is_listed;
};

/* At the request line. `target` is copied, `target_at` remembered. NULL when memory is out. */
struct exchange *exchange_new(struct http_server *server, struct conn *conn, void *wire, const char *target) MUST_USE;
void exchange_drop(struct exchange *exchange);
/* The connection's own drop: leaves the server's counts first. */
void exchange_leave(struct exchange *exchange);

/* Refuses: fills `reply` and drops the body. The connection stays usable: EXCHANGE_READ. */
enum exchange_step exchange_refuse(struct exchange *exchange, enum http_problem problem, const char *detail);

/* The body is larger than it may be: answers (413, unless something else was refused before) without reading the rest. A
 * client that waits for `100 Continue` has sent nothing yet, so the library can end the connection without losing
 * the answer to a reset; any other is in the middle of sending: EXCHANGE_CUT_OFF.
 */
enum exchange_step exchange_cut(struct exchange *exchange) MUST_USE;

/* Sets the deadline of the body by what came of it. */
void exchange_allow(struct exchange *exchange);

/* The head is complete. EXCHANGE_READ also if there is no body. */
enum exchange_step exchange_head(struct exchange *exchange, const struct gate_head *head) MUST_USE;

/* A piece of the body. */
enum exchange_step exchange_body(struct exchange *exchange, const char *bytes, size_t len) MUST_USE;

/* The request is complete: runs the handler. */
enum exchange_step exchange_end(struct exchange *exchange) MUST_USE;

/* The library calls again for a connection that slept. */
enum exchange_step exchange_wake(struct exchange *exchange) MUST_USE;

/* Makes sure that `reply` can be sent, whatever the handler left in it. False when not even that can be done. */
bool exchange_settle(struct exchange *exchange) MUST_USE;

/* Answers for the holders of requests that sleep longer than they may, or, with CONN_NEVER, of all. */
void exchange_abandon(struct http_server *server, uint64_t now_ms);

#endif
