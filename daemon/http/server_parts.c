/* What the server consists of beside the library: its limits, its sweeper, and how it comes to rest. */
#include "daemon/http/server_parts.h"
#include "daemon/monotonic.h"

#include <errno.h>
#include <unistd.h>

enum { SWEEP_MOST_MS = 500 };

/* ---- limits */

static void set_default(uint64_t *value, uint64_t otherwise)
{
	if (*value == 0)
		*value = otherwise;
}

struct http_limits server_limits(const struct http_limits *given)
{
	struct http_limits limits = *given;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	set_default(&limits.header_ms, 10000);
	set_default(&limits.idle_ms, 60000);
	set_default(&limits.body_ms, 30000);
	set_default(&limits.step_ms, 1000);
	set_default(&limits.sleep_ms, 60000);
	set_default(&limits.auth_window_ms, 60000);
	limits.auth_failures = limits.auth_failures ? limits.auth_failures : 20;
	limits.token_minute = limits.token_minute ? limits.token_minute : 600 * 1000;
	limits.connections = limits.connections ? limits.connections : 4096;
	limits.bodies_bytes = limits.bodies_bytes ? limits.bodies_bytes : (size_t)64 * 1024 * 1024;
	limits.arena_bytes = limits.arena_bytes ? limits.arena_bytes : (size_t)32 * 1024 * 1024;
	if (limits.threads < 2)
		limits.threads = cores > 2 ? (unsigned)cores : 2;
	return limits;
}

/* ---- the sweeper */

static uint64_t sweep_period_ms(const struct http_limits *limits)
{
	const uint64_t times[] = {limits->header_ms, limits->idle_ms, limits->body_ms, limits->sleep_ms};
	uint64_t least = times[0];

	for (size_t i = 1; i < sizeof(times) / sizeof(times[0]); i++)
		least = times[i] < least ? times[i] : least;
	least /= 10;
	return least < SERVER_SWEEP_LEAST_MS ? SERVER_SWEEP_LEAST_MS : least > SWEEP_MOST_MS ? SWEEP_MOST_MS : least;
}

/* Under the lock; true if the time was over. */
bool server_wait_until(struct http_server *server, uint64_t until_ms)
{
	struct timespec until = {.tv_sec = (time_t)(until_ms / 1000), .tv_nsec = (long)(until_ms % 1000) * 1000000};

	return pthread_cond_timedwait(&server->changed, &server->lock, &until) == ETIMEDOUT;
}

static void *sweep(void *cls)
{
	struct http_server *server = cls;
	uint64_t period_ms = sweep_period_ms(&server->limits);
	bool ends = false;

	while (!ends) {
		uint64_t next_ms = conn_now_ms() + period_ms;

		(void)pthread_mutex_lock(&server->lock);
		while (!server->sweeper_ends && !server_wait_until(server, next_ms)) {
		}
		ends = server->sweeper_ends;
		(void)pthread_mutex_unlock(&server->lock);
		conn_sweep(&server->conns, conn_now_ms());
		exchange_abandon(server, conn_now_ms());
	}
	return NULL;
}

int server_start_sweeper(struct http_server *server)
{
	monotonic_cond_init(&server->changed);
	(void)pthread_mutex_init(&server->lock, NULL);
	return -pthread_create(&server->sweeper, NULL, sweep, server);
}

void server_end_sweeper(struct http_server *server)
{
	(void)pthread_mutex_lock(&server->lock);
	server->sweeper_ends = true;
	(void)pthread_cond_broadcast(&server->changed);
	(void)pthread_mutex_unlock(&server->lock);
	(void)pthread_join(server->sweeper, NULL);
	(void)pthread_cond_destroy(&server->changed);
	(void)pthread_mutex_destroy(&server->lock);
}

/* ---- ending */

bool server_wait_for_none(struct http_server *server, const unsigned *count, uint64_t until_ms)
{
	bool none;

	(void)pthread_mutex_lock(&server->lock);
	while (*count > 0 && !server_wait_until(server, until_ms)) {
	}
	none = *count == 0;
	(void)pthread_mutex_unlock(&server->lock);
	return none;
}

/* The library aborts the process when it is stopped with a suspended connection, so this waits without an end: each
 * sleeper is resumed here or by its holder, and the threads that then call us are our own.
 */
static bool is_anybody_asleep(struct http_server *server, uint64_t until_ms)
{
	bool is_asleep;

	(void)pthread_mutex_lock(&server->lock);
	if (server->asleep > 0 || atomic_load(&server->streams_asleep) > 0)
		(void)server_wait_until(server, until_ms);
	is_asleep = server->asleep > 0 || atomic_load(&server->streams_asleep) > 0;
	(void)pthread_mutex_unlock(&server->lock);
	return is_asleep;
}

void server_wake_all(struct http_server *server)
{
	(void)pthread_mutex_lock(&server->lock);
	server->is_stopping = true;
	(void)pthread_mutex_unlock(&server->lock);
	do {
		exchange_abandon(server, CONN_NEVER);
	} while (is_anybody_asleep(server, conn_now_ms() + SERVER_SWEEP_LEAST_MS));
}
