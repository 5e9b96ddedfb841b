/* stream.h - an answer whose body is made while it is being sent (chapters 3.2, "Long work", and 4.2, events).
 *
 * A stream is a bounded pipe between a feeder, any thread of ours, and the connection. The feeder writes; when the
 * pipe is full it waits (http_stream_write) or is told (http_stream_offer): no client makes the daemon hold more than
 * the stream's bound. While the pipe is empty the connection is suspended, and no thread of the server waits.
 *
 * A stream ends in one of three ways. The feeder ends it: what is in the pipe is sent, then the body is complete. The
 * client goes, or doesn't take anything for its time: the stream is closed, what was in the pipe is lost. The server
 * quiesces: the stream is closed for the feeder, what is in the pipe is sent, and the body ends well-formed. So a body
 * whose reader must know that it is whole says so in its last line: a job's last line is its result.
 *
 * Two owners: the feeder, and the reply that carries it. Each lets go once; the order doesn't matter. The feeder's functions
 * may be called from any thread, one at a time. It knows no store, no job and not the HTTP library.
 */
#ifndef ADMITD_DAEMON_HTTP_STREAM_H
#define ADMITD_DAEMON_HTTP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/check.h"

struct http_reply;
struct http_server;
struct http_stream;

enum http_stream_result {
	HTTP_STREAM_CLOSED = 1, /* nobody reads any more: the feeder stops and ends it */
	HTTP_STREAM_FULL,       /* only from an offer: not now */
};

/* A stream that holds at most `bound` bytes (at least 1). The caller is its feeder. -ENOMEM. */
int http_stream_new(size_t bound, struct http_stream **ret) MUST_USE;

/* Makes `stream` the body of `reply`, in place of whatever was its answer: the reply becomes its other owner. `content_type`
 * is a literal. A reply that is dropped or answers something else after all closes the stream.
 */
void http_reply_stream(struct http_reply *reply, unsigned status, const char *content_type, struct http_stream *stream);

/* Writes all of `bytes`, waiting for room as long as the client takes some of it now and then. 0 or
 * HTTP_STREAM_CLOSED. Never from a thread of the server. What is written before the answer begins is kept for it, up to
 * the bound.
 */
int http_stream_write(struct http_stream *stream, struct str bytes) MUST_USE;

/* Writes all of `bytes` or nothing, at once: 0, HTTP_STREAM_FULL (also for more than the bound) or HTTP_STREAM_CLOSED. */
int http_stream_offer(struct http_stream *stream, struct str bytes) MUST_USE;

/* Has `notify` called, with no lock held, whenever the pipe ran empty and once when the stream is closed: for a feeder of
 * many streams that waits for none of them. It runs on any thread, does little and calls nothing of this stream but
 * http_stream_is_closed(). To be set before the reply carries the stream; `ctx` outlives http_stream_end().
 */
void http_stream_watch(struct http_stream *stream, void (*notify)(void *ctx), void *ctx);

bool http_stream_is_closed(struct http_stream *stream);

/* The feeder lets go: the body is complete. After it `notify` isn't called any more. NULL is fine. */
void http_stream_end(struct http_stream *stream);

/* ---- for the server */

/* A second owner; and letting go without having sent it, or after. NULL is fine. */
struct http_stream *http_stream_hold(struct http_stream *stream);
void http_stream_drop(struct http_stream *stream);

/* The answer begins: the stream is on the server's list from now on. `wire` is what its suspend and resume take. */
void http_stream_attach(struct http_stream *stream, struct http_server *server, void *wire);

/* On the connection's thread: takes up to `max` bytes (`*ret` of them), or suspends the connection. */
enum http_stream_step {
	HTTP_STREAM_OVER = 0, /* the body is complete */
	HTTP_STREAM_BYTES,
	HTTP_STREAM_SUSPENDED, /* the connection sleeps until there are bytes or the end */
};
enum http_stream_step http_stream_take(struct http_stream *stream, char *bytes, size_t max, size_t *ret) MUST_USE;

/* The connection is done with it, for whatever reason: closes it. */
void http_stream_detach(struct http_stream *stream);

/* No stream goes on: closes all that are attached and makes every later one closed. */
void http_stream_close_all(struct http_server *server);

#endif
