/* A server with routes of every kind, for tests/http/test_wire.py.
 *
 * It prints `port N`, then obeys lines on standard input: `release` finishes all requests it holds, `held` prints how many
 * those are, `figures` prints the server's, `feed TEXT` offers a line to all open streams of /v1/feed and prints how many took it,
 * `end` ends those, `streams` prints how many are open, how many bytes the feeders of /v1/stream have written, how many of those began, are done, were cut
 * off, and how often watchers were called, `quiesce` and `stop` end it as the daemon does; so does the end of the input. Limits
 * are given as NAME=NUMBER arguments.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/server.h"
#include "daemon/http/stream.h"
#include "policy/json_out.h"

enum { HELD_MAX = 1024 };

static struct {
	pthread_mutex_t lock;
	struct http_request *requests[HELD_MAX];
	unsigned count;
	unsigned wanted; /* finish them all when there are so many; 0: when told */
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_request(struct http_reply *reply, const struct http_request *request)
{
	struct json_out out = http_reply_json(reply, 200);

	json_out_begin_object(&out);
	json_out_member_text(&out, "route", request->route->pattern);
	json_out_member_str(&out, "p0", request->params[0]);
	json_out_member_str(&out, "p1", request->params[1]);
	json_out_member_str(&out, "q", http_request_query(request, "q"));
	json_out_member_str(&out, "token", request->token.id);
	json_out_member_str(&out, "run", request->token.run);
	json_out_member_int(&out, "bytes", (int64_t)request->body.len);
	json_out_key(&out, "json");
	if (request->json)
		json_out_canonical(&out, request->json);
	else
		json_out_null(&out);
	json_out_end_object(&out);
}

static int echo(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	write_request(reply, request);
	http_reply_etag(reply, 7);
	return 0;
}

static int fails(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	(void)request;
	http_reply_empty(reply, 200);
	return -EIO;
}

static int odd_header(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	(void)request;
	http_reply_empty(reply, 204);
	http_reply_header(reply, "Location", "/v1/\r\nX-Evil: 1");
	return 0;
}

static int large(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct json_out out;
	int64_t bytes;

	(void)ctx;
	if (http_request_query_int(request, "bytes", 0, 30 * 1024 * 1024, 1000, &bytes)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "bytes is a number");
		return 0;
	}
	out = http_reply_json(reply, 200);
	json_out_begin_array(&out);
	for (int64_t i = 0; i < bytes / 100; i++)
		json_out_text(&out,
			"ninety-seven bytes of text that mean nothing, so that the answer is as large as the test "
			"wants");
	json_out_end_array(&out);
	return 0;
}

static int shape(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const char *const words[] = {"approved", "denied", NULL};
	struct json_in in;
	struct json_place body, inner;

	(void)ctx;
	json_in_init(&in, &request->arena);
	json_in_root(&in, request->json, &body);
	(void)json_in_str(&body, "name", JSON_REQUIRED, 10);
	(void)json_in_enum(&body, "decision", JSON_REQUIRED, words);
	if (json_in_object(&body, "inner", JSON_OPTIONAL, &inner)) {
		(void)json_in_int(&inner, "count", JSON_REQUIRED, 1, 10, 0);
		json_in_end(&inner);
	}
	json_in_end(&body);
	if (!json_in_ok(&in))
		http_reply_faults(reply, request, &in);
	else
		http_reply_empty(reply, 204);
	return 0;
}

static void finish_one(struct http_request *request)
{
	struct http_reply reply;

	http_reply_init(&reply);
	write_request(&reply, request);
	http_request_finish(request, &reply);
	http_reply_release(&reply);
}

static void *finish_all(void *cls)
{
	(void)cls;
	for (;;) {
		struct http_request *request;

		(void)pthread_mutex_lock(&held.lock);
		request = held.count ? held.requests[--held.count] : NULL;
		(void)pthread_mutex_unlock(&held.lock);
		if (!request)
			return NULL;
		finish_one(request);
	}
}

static void finish_elsewhere(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, finish_all, NULL) == 0)
		(void)pthread_detach(thread);
}

static int hold(void *ctx, struct http_request *request, struct http_reply *reply)
{
	bool is_enough;
	int64_t wanted;

	(void)ctx;
	if (http_request_query_int(request, "until", 1, HELD_MAX, 0, &wanted)) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "until is a number");
		return 0;
	}
	(void)pthread_mutex_lock(&held.lock);
	held.requests[held.count++] = request;
	is_enough = wanted && held.count == (unsigned)wanted;
	(void)pthread_mutex_unlock(&held.lock);
	if (is_enough)
		finish_elsewhere();
	return HTTP_LATER;
}

/* ---- streams */

static struct {
	pthread_mutex_t lock;
	struct http_stream *streams[HELD_MAX];
	unsigned count;
	unsigned begun;
	unsigned done;
	unsigned cut;
	unsigned notified;
	uint64_t written;
} feeds = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { FEED_BOUND = 64 };

static void count_notice(void *ctx)
{
	(void)ctx;
	(void)pthread_mutex_lock(&feeds.lock);
	feeds.notified++;
	(void)pthread_mutex_unlock(&feeds.lock);
}

static int feed(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct http_stream *stream;

	(void)ctx;
	(void)request;
	if (http_stream_new(FEED_BOUND, &stream))
		return -ENOMEM;
	http_stream_watch(stream, count_notice, NULL);
	http_reply_stream(reply, 200, "application/x-ndjson", stream);
	(void)pthread_mutex_lock(&feeds.lock);
	feeds.streams[feeds.count++] = stream;
	(void)pthread_mutex_unlock(&feeds.lock);
	return 0;
}

/* The streams that are there now. */
static unsigned copy_feeds(struct http_stream *streams[HELD_MAX])
{
	unsigned count;

	(void)pthread_mutex_lock(&feeds.lock);
	count = feeds.count;
	memcpy(streams, feeds.streams, count * sizeof(streams[0]));
	(void)pthread_mutex_unlock(&feeds.lock);
	return count;
}

static unsigned feed_all(const char *line)
{
	struct http_stream *streams[HELD_MAX];
	unsigned count = copy_feeds(streams); /* the watcher takes the lock */
	unsigned taken = 0;

	for (unsigned i = 0; i < count; i++)
		taken += http_stream_offer(streams[i], (struct str){line, strlen(line)}) == 0;
	return taken;
}

static void end_all(void)
{
	struct http_stream *streams[HELD_MAX];
	unsigned count = copy_feeds(streams);

	(void)pthread_mutex_lock(&feeds.lock);
	feeds.count = 0;
	(void)pthread_mutex_unlock(&feeds.lock);
	for (unsigned i = 0; i < count; i++)
		http_stream_end(streams[i]);
}

struct pump {
	struct http_stream *stream;
	int64_t bytes;
};

static void *pump(void *cls)
{
	static const char line[] = "{\"line\":\"nothing but what a test counts, a hundred bytes of it with its end, "
				   "each as the others are\"}\n";
	struct pump *pump = cls;
	int result = 0;

	for (int64_t sent = 0; sent < pump->bytes && result == 0; sent += (int64_t)sizeof(line) - 1) {
		result = http_stream_write(pump->stream, STR(line));
		(void)pthread_mutex_lock(&feeds.lock);
		feeds.written += sizeof(line) - 1;
		(void)pthread_mutex_unlock(&feeds.lock);
	}
	(void)pthread_mutex_lock(&feeds.lock);
	feeds.done++;
	feeds.cut += result != 0;
	(void)pthread_mutex_unlock(&feeds.lock);
	http_stream_end(pump->stream);
	free(pump);
	return NULL;
}

static int stream(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct pump *pumped = calloc(1, sizeof(*pumped));
	pthread_t thread;

	(void)ctx;
	if (!pumped || http_request_query_int(request, "bytes", 0, INT64_C(1) << 40, 0, &pumped->bytes) ||
		http_stream_new(4096, &pumped->stream))
		abort();
	http_reply_stream(reply, 200, "application/x-ndjson", pumped->stream);
	(void)pthread_mutex_lock(&feeds.lock);
	feeds.begun++;
	(void)pthread_mutex_unlock(&feeds.lock);
	if (pthread_create(&thread, NULL, pump, pumped))
		abort();
	(void)pthread_detach(thread);
	return 0;
}

/* A stream, and then another answer after all. */
static int changes_its_mind(void *ctx, struct http_request *request, struct http_reply *reply)
{
	int result = stream(ctx, request, reply);

	http_reply_problem(reply, request, HTTP_PROBLEM_JOBS_FULL, NULL);
	return result;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/", 0, HTTP_NO_AUTH, 0, echo},
	{HTTP_GET, "/v1/open", 0, HTTP_NO_AUTH, 0, echo},
	{HTTP_GET, "/v1/things/{id}", 0, 0, 0, echo},
	{HTTP_PUT, "/v1/things/{id}", AUTH_PLANNER, HTTP_NEEDS_BODY, 0, echo},
	{HTTP_GET, "/v1/things/latest", 0, 0, 0, echo},
	{HTTP_GET, "/v1/things/{id}/parts/{part}", 0, 0, 0, echo},
	{HTTP_GET, "/v1/fails", 0, 0, 0, fails},
	{HTTP_GET, "/v1/odd-header", 0, 0, 0, odd_header},
	{HTTP_GET, "/v1/large", 0, 0, 0, large},
	{HTTP_GET, "/v1/feed", 0, 0, 0, feed},
	{HTTP_GET, "/v1/stream", 0, 0, 0, stream},
	{HTTP_POST, "/v1/stream-later", AUTH_PLANNER, HTTP_WRITES, 0, stream},
	{HTTP_GET, "/v1/no-stream", 0, 0, 0, changes_its_mind},
	{HTTP_GET, "/v1/run", AUTH_EXECUTOR, HTTP_RUN_TOKEN, 0, echo},
	{HTTP_POST, "/v1/echo", AUTH_PLANNER, HTTP_NEEDS_BODY, 0, echo},
	{HTTP_POST, "/v1/document", AUTH_PLANNER, HTTP_NEEDS_BODY, HTTP_DOCUMENT_MAX, echo},
	{HTTP_POST, "/v1/optional", AUTH_PLANNER, HTTP_OPTIONAL_BODY, 0, echo},
	{HTTP_POST, "/v1/nothing", AUTH_PLANNER, 0, 0, echo},
	{HTTP_POST, "/v1/approve", AUTH_APPROVER | AUTH_OPERATOR, HTTP_OPTIONAL_BODY, 0, echo},
	{HTTP_POST, "/v1/shape", AUTH_PLANNER, HTTP_OPTIONAL_BODY, 0, shape},
	{HTTP_POST, "/v1/write", AUTH_PLANNER, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0, echo},
	{HTTP_POST, "/v1/hold", AUTH_PLANNER, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0, hold},
	{HTTP_POST, "/v1/hold-fails", AUTH_PLANNER, HTTP_OPTIONAL_BODY | HTTP_WRITES, 0, fails},
};

static const struct http_routes tables[] = {{rows, sizeof(rows) / sizeof(rows[0])}};

static int find_token(void *ctx, struct arena *arena, const unsigned char hash[AUTH_HASH_SIZE], struct auth_token *ret)
{
	static const struct {
		const char *secret;
		struct auth_token token;
	} tokens[] = {
		{"planner", {.id = {"tok_planner", 11}, .roles = AUTH_PLANNER}},
		{"approver", {.id = {"tok_approver", 12}, .roles = AUTH_APPROVER}},
		{"admin", {.id = {"tok_admin", 9}, .roles = AUTH_ADMIN}},
		{"art_run", {.id = {"run_1", 5}, .run = {"run_1", 5}}},
	};
	unsigned char own[AUTH_HASH_SIZE];

	(void)ctx;
	(void)arena;
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		auth_hash((struct str){tokens[i].secret, strlen(tokens[i].secret)}, own);
		if (memcmp(own, hash, sizeof(own)) == 0) {
			*ret = tokens[i].token;
			return 0;
		}
	}
	return AUTH_ABSENT;
}

static void take_limit(struct http_limits *limits, const char *argument)
{
	const char *equals = strchr(argument, '=');
	unsigned long number = equals ? strtoul(equals + 1, NULL, 10) : 0;
	size_t len = equals ? (size_t)(equals - argument) : 0;
	struct {
		const char *name;
		uint64_t *value;
	} times[] = {
		{"header_ms", &limits->header_ms},
		{"idle_ms", &limits->idle_ms},
		{"body_ms", &limits->body_ms},
		{"step_ms", &limits->step_ms},
		{"sleep_ms", &limits->sleep_ms},
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (len == strlen(times[i].name) && memcmp(argument, times[i].name, len) == 0)
			*times[i].value = number;
	}
	if (strncmp(argument, "connections=", 12) == 0)
		limits->connections = (unsigned)number;
	if (strncmp(argument, "bodies_bytes=", 13) == 0)
		limits->bodies_bytes = number;
	if (strncmp(argument, "auth_failures=", 14) == 0)
		limits->auth_failures = (unsigned)number;
}

static void print_figures(struct http_server *server)
{
	struct http_figures figures;

	http_server_figures(server, &figures);
	(void)printf("figures %llu %llu %llu\n", (unsigned long long)figures.connections,
		(unsigned long long)figures.sleepers, (unsigned long long)figures.bodies_bytes);
}

static void print_streams(struct http_server *server)
{
	struct http_figures figures;

	http_server_figures(server, &figures);
	(void)pthread_mutex_lock(&feeds.lock);
	(void)printf("streams %llu %llu %u %u %u %u\n", (unsigned long long)figures.streams,
		(unsigned long long)feeds.written, feeds.begun, feeds.done, feeds.cut, feeds.notified);
	(void)pthread_mutex_unlock(&feeds.lock);
}

/* False at `stop`. */
static bool obey(struct http_server *server, const char *line)
{
	if (strcmp(line, "release\n") == 0) {
		finish_elsewhere();
	} else if (strcmp(line, "held\n") == 0) {
		(void)pthread_mutex_lock(&held.lock);
		(void)printf("held %u\n", held.count);
		(void)pthread_mutex_unlock(&held.lock);
	} else if (strcmp(line, "figures\n") == 0) {
		print_figures(server);
	} else if (strcmp(line, "streams\n") == 0) {
		print_streams(server);
	} else if (strncmp(line, "feed ", 5) == 0) {
		(void)printf("fed %u\n", feed_all(line + 5));
	} else if (strcmp(line, "end\n") == 0) {
		end_all();
	} else if (strcmp(line, "quiesce\n") == 0) {
		http_server_quiesce(server);
		(void)printf("quiet\n");
	} else {
		return false;
	}
	(void)fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	static const char *const hosts[] = {"admit.example", "proxy.example:443"};
	struct http_config config = {
		.hosts = hosts,
		.hosts_count = 2,
		.routes = tables,
		.routes_count = 1,
		.find_token = find_token,
		.log_requests = true,
	};
	struct http_server *server;
	char line[256];

	for (int i = 1; i < argc; i++)
		take_limit(&config.limits, argv[i]);
	if (http_server_start(&config, &server))
		return 1;
	(void)printf("port %u\n", (unsigned)http_server_port(server));
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && obey(server, line)) {
	}
	http_server_stop(server);
	end_all();
	(void)finish_all(NULL); /* what was never answered by us is dropped late */
	(void)printf("stopped\n");
	return 0;
}
