/* server_parts.h - what the server consists of beside the library: its limits, its sweeper, and how it comes to rest.
 *
 * Used by server.c only.
 */
#ifndef ADMITD_DAEMON_HTTP_SERVER_PARTS_H
#define ADMITD_DAEMON_HTTP_SERVER_PARTS_H

#include "daemon/http/exchange.h"

enum { SERVER_SWEEP_LEAST_MS = 5 };

/* The limits as given, with the values of chapter 4.1 where a 0 stands. */
struct http_limits server_limits(const struct http_limits *given);

/* Waits for `changed` under the lock; true if the time was over. */
bool server_wait_until(struct http_server *server, uint64_t until_ms);

/* Makes the lock and the condition, then the thread that sweeps connections and sleepers. -errno. */
int server_start_sweeper(struct http_server *server) MUST_USE;
void server_end_sweeper(struct http_server *server);

/* Until `*count`, one of the server's under its lock, is 0, or the time is over; true if it is 0. */
bool server_wait_for_none(struct http_server *server, const unsigned *count, uint64_t until_ms);
/* From here on nobody falls asleep; back when nobody sleeps any more. */
void server_wake_all(struct http_server *server);

#endif
