/* What the server consists of beside the library: its limits, its socket and its sweeper. */
#include "daemon/http/server_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 512, SWEEP_MOST_MS = 500 };

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
	limits.connections = limits.connections ? limits.connections : 4096;
	limits.bodies_bytes = limits.bodies_bytes ? limits.bodies_bytes : (size_t)64 * 1024 * 1024;
	limits.arena_bytes = limits.arena_bytes ? limits.arena_bytes : (size_t)32 * 1024 * 1024;
	if (limits.threads < 2)
		limits.threads = cores > 2 ? (unsigned)cores : 2;
	return limits;
}

/* ---- the socket */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_address(const char *text, uint16_t port, union address *ret, socklen_t *ret_len)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		*ret_len = sizeof(ret->v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		*ret_len = sizeof(ret->v6);
		return 0;
	}
	return -EINVAL;
}

int server_listen(struct http_server *server, const char *address_text)
{
	union address address;
	socklen_t len;
	int one = 1;
	int result = parse_address(address_text, server->config.port, &address, &len);

	if (result)
		return result;
	server->listen_fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (server->listen_fd < 0)
		return -errno;
	(void)setsockopt(server->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(server->listen_fd, &address.any, len) || listen(server->listen_fd, BACKLOG) ||
		getsockname(server->listen_fd, &address.any, &len))
		return -errno;
	server->port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
	return 0;
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
	pthread_condattr_t monotonic;

	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&server->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
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
