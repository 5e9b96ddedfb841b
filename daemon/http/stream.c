/* Locks: the server's `streams_lock` (its list) may be taken before a stream's own, never after. The library's resume is
 * called under the stream's lock, so that the connection's thread, which takes it first of all, can't be ahead of
 * the call: when nobody is counted in `streams_asleep`, nobody is inside the library either.
 */
#include "daemon/http/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/exchange.h"

struct http_stream {
	atomic_int owners;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	char *ring;
	size_t bound;
	size_t at; /* where the oldest byte lies */
	size_t len;
	bool is_ended;  /* the feeder has let go */
	bool is_closed; /* nobody reads, or nobody should write */
	bool is_suspended;
	bool was_suspended; /* counted in streams_asleep until its thread calls again */
	void *wire;         /* while attached */
	struct http_server *server;
	void (*notify)(void *ctx);
	void *notify_ctx;
	unsigned notifying;              /* threads that are in `notify` */
	struct http_stream *next, *prev; /* in server->streams; under its lock */
};

int http_stream_new(size_t bound, struct http_stream **ret)
{
	struct http_stream *stream = calloc(1, sizeof(*stream));

	CHECK(bound > 0);
	if (!stream)
		return -ENOMEM;
	stream->ring = malloc(bound);
	if (!stream->ring) {
		free(stream);
		return -ENOMEM;
	}
	stream->bound = bound;
	atomic_store(&stream->owners, 1);
	(void)pthread_mutex_init(&stream->lock, NULL);
	(void)pthread_cond_init(&stream->changed, NULL);
	*ret = stream;
	return 0;
}

static void let_go(struct http_stream *stream)
{
	if (atomic_fetch_sub(&stream->owners, 1) > 1)
		return;
	(void)pthread_cond_destroy(&stream->changed);
	(void)pthread_mutex_destroy(&stream->lock);
	free(stream->ring);
	free(stream);
}

struct http_stream *http_stream_hold(struct http_stream *stream)
{
	atomic_fetch_add(&stream->owners, 1);
	return stream;
}

/* ---- telling the other end, under the lock */

static void wake_reader(struct http_stream *stream)
{
	if (!stream->is_suspended)
		return;
	stream->is_suspended = false;
	stream->server->resume(stream->wire);
}

/* Lets go of the lock for the call; the feeder's end waits until it is over. */
static void notify_feeder(struct http_stream *stream)
{
	(void)pthread_cond_broadcast(&stream->changed);
	if (!stream->notify || stream->is_ended)
		return;
	stream->notifying++;
	(void)pthread_mutex_unlock(&stream->lock);
	stream->notify(stream->notify_ctx);
	(void)pthread_mutex_lock(&stream->lock);
	stream->notifying--;
	(void)pthread_cond_broadcast(&stream->changed);
}

static void close_stream(struct http_stream *stream)
{
	if (stream->is_closed)
		return;
	stream->is_closed = true;
	wake_reader(stream);
	notify_feeder(stream);
}

void http_stream_drop(struct http_stream *stream)
{
	if (!stream)
		return;
	(void)pthread_mutex_lock(&stream->lock);
	close_stream(stream);
	(void)pthread_mutex_unlock(&stream->lock);
	let_go(stream);
}

/* ---- the feeder's side */

static size_t put(struct http_stream *stream, struct str bytes)
{
	size_t room = stream->bound - stream->len;
	size_t count = bytes.len < room ? bytes.len : room;
	size_t to = (stream->at + stream->len) % stream->bound;
	size_t first = count < stream->bound - to ? count : stream->bound - to;

	if (count == 0)
		return 0;
	memcpy(stream->ring + to, bytes.bytes, first);
	memcpy(stream->ring, bytes.bytes + first, count - first);
	stream->len += count;
	wake_reader(stream);
	return count;
}

int http_stream_write(struct http_stream *stream, struct str bytes)
{
	bool is_closed;

	(void)pthread_mutex_lock(&stream->lock);
	while (!stream->is_closed && bytes.len > 0) {
		size_t count = put(stream, bytes);

		bytes = (struct str){bytes.bytes + count, bytes.len - count};
		if (bytes.len > 0)
			(void)pthread_cond_wait(&stream->changed, &stream->lock);
	}
	is_closed = stream->is_closed;
	(void)pthread_mutex_unlock(&stream->lock);
	return is_closed ? HTTP_STREAM_CLOSED : 0;
}

int http_stream_offer(struct http_stream *stream, struct str bytes)
{
	int result = 0;

	(void)pthread_mutex_lock(&stream->lock);
	if (stream->is_closed)
		result = HTTP_STREAM_CLOSED;
	else if (bytes.len > stream->bound - stream->len)
		result = HTTP_STREAM_FULL;
	else
		(void)put(stream, bytes);
	(void)pthread_mutex_unlock(&stream->lock);
	return result;
}

void http_stream_watch(struct http_stream *stream, void (*notify)(void *ctx), void *ctx)
{
	(void)pthread_mutex_lock(&stream->lock);
	stream->notify = notify;
	stream->notify_ctx = ctx;
	(void)pthread_mutex_unlock(&stream->lock);
}

bool http_stream_is_closed(struct http_stream *stream)
{
	bool is_closed;

	(void)pthread_mutex_lock(&stream->lock);
	is_closed = stream->is_closed;
	(void)pthread_mutex_unlock(&stream->lock);
	return is_closed;
}

void http_stream_end(struct http_stream *stream)
{
	if (!stream)
		return;
	(void)pthread_mutex_lock(&stream->lock);
	stream->is_ended = true;
	wake_reader(stream);
	while (stream->notifying > 0)
		(void)pthread_cond_wait(&stream->changed, &stream->lock);
	(void)pthread_mutex_unlock(&stream->lock);
	let_go(stream);
}

/* ---- the connection's side */

void http_stream_attach(struct http_stream *stream, struct http_server *server, void *wire)
{
	bool is_late;

	(void)pthread_mutex_lock(&server->streams_lock);
	is_late = server->streams_closed;
	stream->next = server->streams;
	if (server->streams)
		server->streams->prev = stream;
	server->streams = stream;
	server->streams_count++;
	(void)pthread_mutex_lock(&stream->lock);
	stream->server = server;
	stream->wire = wire;
	if (is_late)
		close_stream(stream);
	(void)pthread_mutex_unlock(&stream->lock);
	(void)pthread_mutex_unlock(&server->streams_lock);
}

static size_t get(struct http_stream *stream, char *bytes, size_t max)
{
	size_t count = stream->len < max ? stream->len : max;
	size_t first = count < stream->bound - stream->at ? count : stream->bound - stream->at;

	memcpy(bytes, stream->ring + stream->at, first);
	memcpy(bytes + first, stream->ring, count - first);
	stream->at = (stream->at + count) % stream->bound;
	stream->len -= count;
	return count;
}

/* A connection that was resumed calls again: it is awake. */
static void count_awake(struct http_stream *stream)
{
	if (stream->was_suspended)
		atomic_fetch_sub(&stream->server->streams_asleep, 1);
	stream->was_suspended = false;
}

enum http_stream_step http_stream_take(struct http_stream *stream, char *bytes, size_t max, size_t *ret)
{
	enum http_stream_step step = HTTP_STREAM_OVER;

	*ret = 0;
	(void)pthread_mutex_lock(&stream->lock);
	count_awake(stream);
	if (stream->len > 0) {
		*ret = get(stream, bytes, max);
		step = HTTP_STREAM_BYTES;
		if (stream->len == 0)
			notify_feeder(stream);
		else
			(void)pthread_cond_broadcast(&stream->changed);
	} else if (!stream->is_ended && !stream->is_closed) {
		stream->is_suspended = true;
		stream->was_suspended = true;
		atomic_fetch_add(&stream->server->streams_asleep, 1);
		stream->server->suspend(stream->wire);
		step = HTTP_STREAM_SUSPENDED;
	}
	(void)pthread_mutex_unlock(&stream->lock);
	return step;
}

static void unlist(struct http_server *server, struct http_stream *stream)
{
	(void)pthread_mutex_lock(&server->streams_lock);
	if (stream->prev)
		stream->prev->next = stream->next;
	else
		server->streams = stream->next;
	if (stream->next)
		stream->next->prev = stream->prev;
	server->streams_count--;
	(void)pthread_mutex_unlock(&server->streams_lock);
}

void http_stream_detach(struct http_stream *stream)
{
	struct http_server *server = stream->server;

	if (!server)
		return;
	unlist(server, stream);
	(void)pthread_mutex_lock(&stream->lock);
	CHECK(!stream->is_suspended);
	count_awake(stream);
	stream->wire = NULL;
	stream->len = 0;
	close_stream(stream);
	(void)pthread_mutex_unlock(&stream->lock);
}

void http_stream_close_all(struct http_server *server)
{
	(void)pthread_mutex_lock(&server->streams_lock);
	server->streams_closed = true;
	for (struct http_stream *at = server->streams; at; at = at->next) {
		(void)pthread_mutex_lock(&at->lock);
		close_stream(at);
		(void)pthread_mutex_unlock(&at->lock);
	}
	(void)pthread_mutex_unlock(&server->streams_lock);
}
