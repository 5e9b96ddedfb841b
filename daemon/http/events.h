/* events.h - the log as it grows, sent to those who watch (chapter 4.2, `GET /v1/events`).
 *
 * One thread feeds all watchers and waits for none of them: a watcher whose pipe is full goes on where it was once it has
 * read. So an event is delivered at least once and in order, by its id; how far each has come is its own business. The newest events
 * are kept rendered, so that a commit costs one read however many watch; who is further behind reads the store.
 *
 * What a watcher gets, as server-sent events or as JSON lines:
 *	an event    id and type as in the log, its JSON as in timelines; of the token's projects only
 *	beat        at the beginning and each `beat_ms`: server time, and the last event. Its id says how far everything was sent
 *	reset       what the watcher asked for is no longer (or not yet) in the log: read the lists again, then go on from its id
 * A stream ends when its token does.
 */
#ifndef ADMITD_DAEMON_HTTP_EVENTS_H
#define ADMITD_DAEMON_HTTP_EVENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/http/metrics.h"
#include "daemon/http/request.h"
#include "daemon/lifecycle/lifecycle.h"

enum {
	EVENTS_WATCHERS_MAX = 256,
	EVENTS_PIPE_BYTES = 256 * 1024, /* of one watcher; an event that is larger comes without its payload */
	EVENTS_KEPT = 512,              /* rendered, of at most EVENTS_KEPT_BYTES */
	EVENTS_KEPT_BYTES = 4 * 1024 * 1024,
	EVENTS_BEAT_MS = 15 * 1000,
};

struct events_watcher;

/* A rendered event: "id: 7\nevent: task.status\ndata: {…}\n\n"; from `json` on it is a JSON line. */
struct events_item {
	int64_t sequence;
	char *text; /* owned */
	size_t len;
	size_t json;
	char *project; /* owned; NULL: of none */
};

struct events {
	struct lifecycle *lifecycle;
	struct metrics *metrics; /* told of each event; may be NULL */
	int64_t beat_ms;

	pthread_mutex_t lock; /* of the next six */
	pthread_cond_t changed;
	pthread_t thread;
	struct events_watcher *arrived;
	unsigned count; /* watchers, arrived ones too */
	bool is_running;
	bool is_ending;
	bool has_news; /* events, or a watcher that has read or gone */

	/* the thread's alone */
	struct events_watcher *watchers;
	struct events_item kept[EVENTS_KEPT]; /* a ring */
	size_t first, kept_count, kept_bytes;
	int64_t seen; /* the last event that was read from the log */
	struct arena arena;
};

/* Begins as EVENTS_INIT: waking is safe, and useless, before the start and after the stop. */
#define EVENTS_INIT                                                                    \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

/* Starts the thread, at the end of the log. `metrics` may be NULL; `beat_ms` 0 is the usual one. 0 or -errno. */
int events_start(struct events *events, struct lifecycle *lifecycle, struct metrics *metrics, int64_t beat_ms) MUST_USE;
/* Ends every stream and the thread. Fine when it was never started. */
void events_stop(struct events *events);

/* Events were committed. Any thread, never waits long: the store's writer calls it. */
void events_wake(struct events *events);

/* How many watch now. */
unsigned events_count(struct events *events);

struct events_wish {
	const struct auth_token *token; /* copied */
	struct str project;             /* absent: all that the token may see */
	int64_t after;                  /* -1: from now on */
	bool is_lines;                  /* JSON lines */
};

enum events_result { EVENTS_FULL = 1, EVENTS_ENDING };

/* Makes a watcher's stream the answer. 0, EVENTS_FULL, EVENTS_ENDING, or -ENOMEM. */
int events_watch(struct events *events, const struct events_wish *wish, struct http_reply *reply) MUST_USE;

#endif
