/* request.h - one request, decoded, as handlers see it (chapters 3.2 and 4.1).
 *
 * When a handler gets it, everything about HTTP has been settled: host, origin, method, path, type, size,
 * strict JSON, token and role. All strings are UTF-8 without control bytes and live in the request's arena,
 * which goes with the request. The request is used by one thread at a time: a handler that hands it to the
 * store's writer must not touch it afterwards, and whoever holds it then ends it with http_request_finish().
 *
 * No other header of this room includes the HTTP library; only server.c does.
 */
#ifndef ADMITD_DAEMON_HTTP_REQUEST_H
#define ADMITD_DAEMON_HTTP_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/http/auth.h"
#include "daemon/http/reply.h"
#include "policy/arena.h"

struct http_route;

enum http_method {
	HTTP_METHOD_UNKNOWN = 0,
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_PATCH, /* known words that no route takes: 405 */
	HTTP_TRACE,
	HTTP_CONNECT,
};

enum { HTTP_PARAMS = 4, HTTP_QUERY_MAX = 32, HTTP_HEADERS_MAX = 64, HTTP_ID_MAX = 64 };

struct http_pair {
	struct str name;
	struct str value;
};

struct http_request {
	enum http_method method; /* as sent: HEAD runs the handler of GET */
	const struct http_route *route;
	struct str id;                  /* X-Request-Id, the client's or ours: `instance` of problems, and in events */
	struct str traceparent;         /* W3C trace context, if sent and well-formed */
	struct str path;                /* as sent, still encoded: for logs */
	struct str params[HTTP_PARAMS]; /* the {…} of the pattern, decoded, in its order; never empty */
	struct http_pair *query;
	unsigned query_count;
	struct http_pair *headers;
	unsigned headers_count;
	struct str remote;       /* the peer's address, without port */
	struct auth_token token; /* zero on routes with HTTP_NO_AUTH */
	struct str body;         /* raw bytes; empty if there were none */
	json_t *json;            /* the parsed body, owned by the request; NULL without a body */
	struct arena arena;      /* dropped with the request; ceiling: limits.arena_bytes */
	struct http_server *server;
};

/* The parameter called `name` (without braces) in the route's pattern. A wrong name is a bug of ours. */
struct str http_request_param(const struct http_request *request, const char *name);

/* A query parameter, decoded; absent if it was not given. One given twice was refused before (400). */
struct str http_request_query(const struct http_request *request, const char *name);

enum http_request_result { HTTP_BAD_VALUE = 1 };

/* A query parameter that is a decimal integer from `min` to `max`: 0 and *ret, which is `absent` if it was not
 * given, or HTTP_BAD_VALUE: answer 400 `bad_request`.
 */
int http_request_query_int(const struct http_request *request, const char *name, int64_t min, int64_t max,
	int64_t absent, int64_t *ret) MUST_USE;

/* A query parameter that is `true` or `false`; absent is false. HTTP_BAD_VALUE for anything else. */
int http_request_query_bool(const struct http_request *request, const char *name, bool *ret) MUST_USE;

/* A header by its name in any case; absent if not sent. Of several, the first. */
struct str http_request_header(const struct http_request *request, const char *name);

/* Ends a request that a handler handed over (HTTP_LATER), from any thread, exactly once. Takes everything out of
 * *reply, which the caller may release or use again. The request may be gone when this returns, and may have been
 * answered already (shutdown, deadline): then the reply is dropped.
 */
void http_request_finish(struct http_request *request, struct http_reply *reply);

#endif
