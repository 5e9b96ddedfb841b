#include "daemon/http/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/http/conn.h"
#include "daemon/http/render.h"
#include "daemon/http/stream.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/log.h"
#include "daemon/monotonic.h"
#include "daemon/store/token.h"
#include "policy/cleanup.h"

enum {
	PAGE = 64,
	ARENA_BYTES = 64 * 1024 * 1024,
	TEXT_CEILING = 64 * 1024 * 1024,
	RETRY_MS = 200, /* after the log could not be read */
};

struct events_watcher {
	struct events *events;
	struct http_stream *stream;
	struct arena arena; /* of what follows */
	struct str token;
	bool is_peer;
	struct str project;
	struct str projects_json; /* absent: all */
	const struct str *projects;
	size_t project_count;
	int64_t expires_ms;
	bool is_lines;
	bool is_fresh; /* has had nothing yet */
	bool is_full;
	int64_t sent; /* all up to here was sent, or isn't for it */
	uint64_t beat_at_ms;
	atomic_bool has_read; /* the pipe ran empty, or is closed */
	struct events_watcher *next;
};

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- watchers come and go */

static void free_watcher(struct events_watcher *watcher)
{
	http_stream_end(watcher->stream);
	arena_release(&watcher->arena);
	free(watcher);
}

static void note(void *ctx)
{
	struct events_watcher *watcher = ctx;

	atomic_store(&watcher->has_read, true);
	events_wake(watcher->events);
}

static int copy_projects(struct events_watcher *watcher, const struct auth_token *token)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	struct str *projects = ARENA_ARRAY(&watcher->arena, token->projects_count, struct str);

	buf_init(&buf, TEXT_CEILING);
	if (projects == NULL)
		return -ENOMEM;
	if (token->all_projects)
		return 0;
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < token->projects_count; i++) {
		projects[i] = arena_str(&watcher->arena, token->projects[i]);
		json_out_str(&out, token->projects[i]);
	}
	json_out_end_array(&out);
	watcher->projects = projects;
	watcher->project_count = token->projects_count;
	if (buf_error(&buf) == 0)
		watcher->projects_json = arena_str(&watcher->arena, buf_str(&buf));
	return watcher->projects_json.bytes != NULL ? 0 : -ENOMEM;
}

static int new_watcher(struct events *events, const struct events_wish *wish, struct events_watcher **ret)
{
	struct events_watcher *watcher = calloc(1, sizeof(*watcher));
	int r = watcher != NULL ? http_stream_new(EVENTS_PIPE_BYTES, &watcher->stream) : -ENOMEM;

	if (r != 0) {
		free(watcher);
		return r;
	}
	arena_init(&watcher->arena, TEXT_CEILING);
	watcher->events = events;
	watcher->token = arena_str(&watcher->arena, wish->token->id);
	watcher->project = arena_str(&watcher->arena, wish->project);
	watcher->expires_ms = wish->token->expires_ms;
	watcher->is_peer = wish->token->is_peer;
	watcher->is_lines = wish->is_lines;
	watcher->is_fresh = true;
	watcher->sent = wish->after;
	r = copy_projects(watcher, wish->token);
	if (r != 0 || watcher->arena.failed) {
		free_watcher(watcher);
		return -ENOMEM;
	}
	http_stream_watch(watcher->stream, note, watcher);
	*ret = watcher;
	return 0;
}

int events_watch(struct events *events, const struct events_wish *wish, struct http_reply *reply)
{
	struct events_watcher *watcher = NULL;
	struct http_stream *stream = NULL;
	int r = new_watcher(events, wish, &watcher);

	if (r != 0)
		return r;
	/* Before the thread can have it: what it ends is no longer ours. */
	stream = watcher->stream;
	http_reply_stream(
		reply, 200, wish->is_lines ? "application/x-ndjson" : "text/event-stream; charset=utf-8", stream);
	(void)pthread_mutex_lock(&events->lock);
	if (!events->is_running || events->is_ending)
		r = EVENTS_ENDING;
	else if (events->count == EVENTS_WATCHERS_MAX)
		r = EVENTS_FULL;
	if (r == 0) {
		watcher->next = events->arrived;
		events->arrived = watcher;
		events->count++;
		(void)pthread_cond_broadcast(&events->changed);
	}
	(void)pthread_mutex_unlock(&events->lock);
	if (r != 0)
		free_watcher(watcher);
	return r;
}

void events_wake(struct events *events)
{
	(void)pthread_mutex_lock(&events->lock);
	events->has_news = true;
	(void)pthread_cond_broadcast(&events->changed);
	(void)pthread_mutex_unlock(&events->lock);
}

unsigned events_count(struct events *events)
{
	unsigned count;

	(void)pthread_mutex_lock(&events->lock);
	count = events->count;
	(void)pthread_mutex_unlock(&events->lock);
	return count;
}

/* ---- rendering */

static void render_frame(const struct store_event *event, struct buf *text, size_t *ret_json)
{
	struct json_out out;

	buf_printf(text, "id: %lld\nevent: %.*s\ndata: ", (long long)event->sequence, (int)event->type.len,
		event->type.bytes);
	*ret_json = text->len;
	json_out_init(&out, text);
	render_event(event, &out);
	buf_puts(text, "\n\n");
}

/* One event with its frame. What is larger than a pipe comes without its payload: who needs it reads the timeline. */
static int make_item(const struct store_event *event, struct events_item *ret)
{
	CLEANUP(buf_drop) struct buf text = {0};
	struct store_event copy = *event;

	*ret = (struct events_item){.sequence = event->sequence};
	buf_init(&text, TEXT_CEILING);
	render_frame(event, &text, &ret->json);
	if (buf_error(&text) == 0 && text.len > EVENTS_PIPE_BYTES) {
		buf_reset(&text);
		copy.payload_json = (struct str){0};
		render_frame(&copy, &text, &ret->json);
	}
	if (buf_error(&text) != 0)
		return buf_error(&text);
	if (event->project.bytes != NULL)
		ret->project = strndup(event->project.bytes, event->project.len);
	if (event->project.bytes != NULL && ret->project == NULL)
		return -ENOMEM;
	ret->text = buf_take(&text, &ret->len);
	return 0;
}

static void free_item(struct events_item *item)
{
	free(item->text);
	free(item->project);
	*item = (struct events_item){0};
}

/* A watcher's form of a frame: the whole, or the JSON with one line feed. */
static struct str frame_of(const struct events_item *item, bool is_lines)
{
	if (!is_lines)
		return (struct str){item->text, item->len};
	return (struct str){item->text + item->json, item->len - item->json - 1};
}

/* ---- the log */

struct log_read {
	struct store_event_filter filter;
	int64_t from;
	int64_t head;
	int64_t oldest; /* that is still there */
	struct store_event_list list;
};

static int run_page(struct store_tx *tx, void *arg)
{
	struct log_read *read = arg;

	return store_event_list(tx, &read->filter, read->from, PAGE, &read->list);
}

static int run_ends(struct store_tx *tx, void *arg)
{
	struct log_read *read = arg;
	const struct store_event_filter all = {0};
	int r = store_event_head(tx, &read->head);

	if (r == 0)
		r = store_event_list(tx, &all, 0, 1, &read->list);
	read->oldest = read->list.count > 0 ? read->list.items[0].sequence : 1;
	return r;
}

static int read_log(struct events *events, int (*run)(struct store_tx *tx, void *arg), struct log_read *read)
{
	arena_reset(&events->arena);
	return store_read(lifecycle_store(events->lifecycle), &events->arena, run, read);
}

static struct events_item *kept_at(struct events *events, size_t index)
{
	return &events->kept[(events->first + index) % EVENTS_KEPT];
}

static void forget_first(struct events *events)
{
	struct events_item *item = kept_at(events, 0);

	events->kept_bytes -= item->len;
	free_item(item);
	events->first = (events->first + 1) % EVENTS_KEPT;
	events->kept_count--;
}

static int keep(struct events *events, const struct store_event *event)
{
	struct events_item item = {0};
	int r = make_item(event, &item);

	if (r != 0) {
		free_item(&item);
		return r;
	}
	while (events->kept_count > 0 &&
		(events->kept_count == EVENTS_KEPT || events->kept_bytes + item.len > EVENTS_KEPT_BYTES))
		forget_first(events);
	*kept_at(events, events->kept_count) = item;
	events->kept_count++;
	events->kept_bytes += item.len;
	events->seen = event->sequence;
	if (events->metrics != NULL)
		metrics_note_event(events->metrics, event);
	return 0;
}

/* Reads what came since. False: not all of it could be read now. */
static bool catch_up(struct events *events)
{
	struct log_read read = {0};
	int r = 0;

	do {
		read.from = events->seen;
		read.list.count = 0;
		r = read_log(events, run_page, &read);
		for (size_t i = 0; r == 0 && i < read.list.count; i++)
			r = keep(events, &read.list.items[i]);
	} while (r == 0 && read.list.count == PAGE);
	return r == 0;
}

/* ---- feeding one watcher */

static bool is_for(const struct events_watcher *watcher, const char *project)
{
	struct str name = {project, project != NULL ? strlen(project) : 0};

	if (watcher->project.bytes != NULL && (project == NULL || !str_equal(watcher->project, name)))
		return false;
	if (watcher->projects_json.bytes == NULL)
		return true;
	for (size_t i = 0; project != NULL && i < watcher->project_count; i++)
		if (str_equal(watcher->projects[i], name))
			return true;
	return false;
}

/* False: not now. */
static bool offer(struct events_watcher *watcher, struct str bytes)
{
	int r = http_stream_offer(watcher->stream, bytes);

	watcher->is_full = r == HTTP_STREAM_FULL;
	return r == 0;
}

/* A beat or a reset. */
static bool offer_sign(struct events_watcher *watcher, const char *type)
{
	CLEANUP(buf_drop) struct buf text = {0};
	struct events *events = watcher->events;
	struct json_out out;

	buf_init(&text, EVENTS_PIPE_BYTES);
	if (!watcher->is_lines)
		buf_printf(&text, "id: %lld\nevent: %s\ndata: ", (long long)watcher->sent, type);
	json_out_init(&out, &text);
	json_out_begin_object(&out);
	json_out_member_revision(&out, "id", watcher->sent);
	json_out_member_text(&out, "type", type);
	time_text_member(&out, "serverTime", lifecycle_now(events->lifecycle));
	json_out_member_revision(&out, "asOfEvent", events->seen);
	json_out_end_object(&out);
	buf_puts(&text, watcher->is_lines ? "\n" : "\n\n");
	return buf_error(&text) == 0 && offer(watcher, buf_str(&text));
}

/* From the kept ones. */
static void feed_kept(struct events *events, struct events_watcher *watcher)
{
	int64_t first = events->seen - (int64_t)events->kept_count + 1;

	for (int64_t at = watcher->sent + 1; at <= events->seen; at++) {
		const struct events_item *item = kept_at(events, (size_t)(at - first));

		if (is_for(watcher, item->project) && !offer(watcher, frame_of(item, watcher->is_lines)))
			return;
		watcher->sent = at;
	}
}

/* One page from the store; what is kept comes from there. False: the log can't be read now. */
static bool feed_stored(struct events *events, struct events_watcher *watcher, int64_t until)
{
	struct log_read read = {.from = watcher->sent,
		.filter = {.projects_json = watcher->projects_json, .project = watcher->project}};

	if (read_log(events, run_page, &read) != 0)
		return false;
	for (size_t i = 0; i < read.list.count && read.list.items[i].sequence <= until; i++) {
		struct events_item item = {0};
		bool is_sent = make_item(&read.list.items[i], &item) == 0 &&
			offer(watcher, frame_of(&item, watcher->is_lines));

		free_item(&item);
		if (!is_sent)
			return watcher->is_full || http_stream_is_closed(watcher->stream);
		watcher->sent = read.list.items[i].sequence;
	}
	if (read.list.count < PAGE || read.list.items[read.list.count - 1].sequence > until)
		watcher->sent = until;
	return true;
}

/* What it asked for first: from now on, from an event that is there, or from one that isn't (any more). */
static bool begin(struct events *events, struct events_watcher *watcher)
{
	struct log_read read = {0};

	if (watcher->sent < 0)
		watcher->sent = events->seen;
	if (read_log(events, run_ends, &read) != 0)
		return false;
	if (watcher->sent + 1 < read.oldest || watcher->sent > read.head) {
		watcher->sent = events->seen;
		watcher->is_fresh = !offer_sign(watcher, "reset");
		return true;
	}
	watcher->is_fresh = !offer_sign(watcher, "beat");
	return true;
}

static int run_token(struct store_tx *tx, void *arg)
{
	struct store_token *token = arg;

	return store_token_find(tx, token->id, token);
}

/* Whether its token still is one. When the store can't say, the next beat asks again. */
static bool is_allowed(struct events *events, const struct events_watcher *watcher)
{
	struct store_token token = {.id = watcher->token};
	int r = 0;

	if (watcher->is_peer)
		return true;
	if (watcher->expires_ms != 0 && watcher->expires_ms <= lifecycle_now(events->lifecycle))
		return false;
	arena_reset(&events->arena);
	r = store_read(lifecycle_store(events->lifecycle), &events->arena, run_token, &token);
	return r < 0 || (r == 0 && token.revoked_at == 0);
}

/* What feeding one came to. */
enum fed { FED_ALL = 0, FED_SOME, FED_LATER, FED_GONE };

static enum fed feed(struct events *events, struct events_watcher *watcher, uint64_t now_ms)
{
	int64_t stored_until = events->seen - (int64_t)events->kept_count;
	bool is_read = true;

	if (atomic_exchange(&watcher->has_read, false))
		watcher->is_full = false;
	if (http_stream_is_closed(watcher->stream))
		return FED_GONE;
	if (watcher->beat_at_ms <= now_ms && !is_allowed(events, watcher))
		return FED_GONE;
	if (!watcher->is_full && watcher->is_fresh)
		is_read = begin(events, watcher);
	if (!watcher->is_full && is_read && watcher->sent < stored_until)
		is_read = feed_stored(events, watcher, stored_until);
	else if (!watcher->is_full && is_read)
		feed_kept(events, watcher);
	if (watcher->beat_at_ms <= now_ms) {
		if (!watcher->is_full && watcher->beat_at_ms != 0)
			(void)offer_sign(watcher, "beat");
		watcher->beat_at_ms = now_ms + (uint64_t)events->beat_ms;
	}
	if (!is_read)
		return FED_LATER;
	return watcher->is_full || watcher->sent == events->seen ? FED_ALL : FED_SOME;
}

/* ---- the thread */

static void drop(struct events *events, struct events_watcher *watcher)
{
	free_watcher(watcher);
	(void)pthread_mutex_lock(&events->lock);
	events->count--;
	(void)pthread_mutex_unlock(&events->lock);
}

/* Feeds all; the moment by which it must be done again. */
static uint64_t feed_all(struct events *events, bool is_behind)
{
	uint64_t now_ms = conn_now_ms();
	uint64_t next_ms = is_behind ? now_ms + RETRY_MS : CONN_NEVER;

	for (struct events_watcher **at = &events->watchers; *at != NULL;) {
		struct events_watcher *watcher = *at;
		enum fed fed = feed(events, watcher, now_ms);
		uint64_t again_ms = fed == FED_SOME ? now_ms
			: fed == FED_LATER          ? now_ms + RETRY_MS
						    : watcher->beat_at_ms;

		if (fed == FED_GONE) {
			*at = watcher->next;
			drop(events, watcher);
			continue;
		}
		if (again_ms < next_ms)
			next_ms = again_ms;
		at = &watcher->next;
	}
	return next_ms;
}

static void wait_for_news(struct events *events, uint64_t until_ms)
{
	struct timespec until = {.tv_sec = (time_t)(until_ms / 1000), .tv_nsec = (long)(until_ms % 1000) * 1000 * 1000};
	int r = 0;

	while (!events->is_ending && !events->has_news && events->arrived == NULL && r != ETIMEDOUT) {
		if (until_ms == CONN_NEVER)
			(void)pthread_cond_wait(&events->changed, &events->lock);
		else
			r = pthread_cond_timedwait(&events->changed, &events->lock, &until);
	}
	events->has_news = false;
	while (events->arrived != NULL) {
		struct events_watcher *watcher = events->arrived;

		events->arrived = watcher->next;
		watcher->next = events->watchers;
		events->watchers = watcher;
	}
}

static void *events_main(void *arg)
{
	struct events *events = arg;
	uint64_t next_ms = CONN_NEVER;

	(void)pthread_mutex_lock(&events->lock);
	while (!events->is_ending) {
		bool is_behind = false;

		wait_for_news(events, next_ms);
		(void)pthread_mutex_unlock(&events->lock);
		is_behind = !catch_up(events);
		next_ms = feed_all(events, is_behind);
		(void)pthread_mutex_lock(&events->lock);
	}
	(void)pthread_mutex_unlock(&events->lock);
	return NULL;
}

int events_start(struct events *events, struct lifecycle *lifecycle, struct metrics *metrics, int64_t beat_ms)
{
	struct log_read read = {0};
	int r = 0;

	events->lifecycle = lifecycle;
	events->metrics = metrics;
	events->beat_ms = beat_ms > 0 ? beat_ms : EVENTS_BEAT_MS;
	arena_init(&events->arena, ARENA_BYTES);
	r = read_log(events, run_ends, &read);
	if (r != 0)
		return r < 0 ? r : -EBUSY;
	events->seen = read.head;
	monotonic_cond_init(&events->changed);
	r = pthread_create(&events->thread, NULL, events_main, events);
	(void)pthread_mutex_lock(&events->lock);
	events->is_running = r == 0;
	(void)pthread_mutex_unlock(&events->lock);
	return -r;
}

void events_stop(struct events *events)
{
	bool was_running = false;

	(void)pthread_mutex_lock(&events->lock);
	was_running = events->is_running && !events->is_ending;
	events->is_ending = true;
	(void)pthread_cond_broadcast(&events->changed);
	(void)pthread_mutex_unlock(&events->lock);
	if (!was_running)
		return;
	(void)pthread_join(events->thread, NULL);
	wait_for_news(events, 0);
	while (events->watchers != NULL) {
		struct events_watcher *watcher = events->watchers;

		events->watchers = watcher->next;
		drop(events, watcher);
	}
	while (events->kept_count > 0)
		forget_first(events);
	arena_release(&events->arena);
}
