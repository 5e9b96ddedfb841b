/* conn.h - every open connection and its deadlines (chapter 4.1, "Limits").
 *
 * The HTTP library's own time-out starts anew with each byte a client sends, so deadlines are kept here, on the
 * socket: a sweeper calls conn_sweep(), which shuts down what is over its time; the library then sees the end of
 * the stream and cleans up. It knows neither the library nor requests.
 *
 * A connection is removed before its descriptor is closed, under the list's lock, so a sweep never touches a
 * descriptor that belongs to somebody else. Marks may be set from the connection's own thread only.
 */
#ifndef ADMITD_DAEMON_HTTP_CONN_H
#define ADMITD_DAEMON_HTTP_CONN_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/check.h"

enum conn_state {
	CONN_IDLE = 0,  /* new, or between two requests */
	CONN_HEADERS,   /* the first byte of a request came */
	CONN_BODY,      /* its headers are complete */
	CONN_SLEEPING,  /* nothing is expected from the client: no deadline here */
	CONN_ANSWERING, /* the client has to take the answer */
	CONN_CUT,       /* refused in the middle of its body: only here to let the answer arrive */
};

struct tls_peer;

struct conn {
	struct conn *next, *prev;
	struct conn_list *list;
	int fd;
	struct tls_peer *tls; /* owned by who made it; NULL: plain */
	bool is_local;        /* by the socket of this machine, from a process of this uid */
	unsigned uid;
	char remote[INET6_ADDRSTRLEN]; /* the numeric address, or the uid */
	_Atomic(enum conn_state) state;
	_Atomic uint64_t deadline_ms;
	uint64_t idle_since_ms;
	_Atomic uint64_t bytes_mark; /* received when the handshake, or the last request, was complete */
};

#define CONN_NEVER UINT64_MAX

struct conn_list {
	pthread_mutex_t lock;
	struct conn *head;
	unsigned count;
	unsigned max; /* above 90 % of it the oldest idle one goes for each that comes */
	uint64_t header_ms;
	uint64_t idle_ms;
};

/* Milliseconds of the monotonic clock. */
uint64_t conn_now_ms(void);

void conn_list_init(struct conn_list *list, unsigned max, uint64_t header_ms, uint64_t idle_ms);
void conn_list_release(struct conn_list *list);

/* A new connection, owned by the list until conn_remove(). `peer` is who made it; NULL where nobody knows. NULL: no memory. */
struct conn *conn_add(struct conn_list *list, int fd, const struct sockaddr *peer) MUST_USE;
void conn_remove(struct conn_list *list, struct conn *conn);

/* What came until now was a TLS handshake, and no request; it is idle again. From the connection's thread. */
void conn_mark_ready(struct conn *conn);
/* The request line is complete: the header deadline runs since the first byte, if a sweep saw that before. */
void conn_mark_headers(struct conn_list *list, struct conn *conn);
/* Between requests. */
void conn_mark_idle(struct conn_list *list, struct conn *conn);
/* The request is complete and its answer begins: what comes from now on is the next request. */
void conn_mark_answering(struct conn *conn, uint64_t deadline_ms);
/* Any other state, with the time by which it must be over. */
void conn_mark(struct conn *conn, enum conn_state state, uint64_t deadline_ms);

/* Shuts down what is over its time. */
void conn_sweep(struct conn_list *list, uint64_t now_ms);

unsigned conn_count(struct conn_list *list);

#endif
