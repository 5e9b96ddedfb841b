/* router.h - the table of routes (chapter 4.2), and how a path finds its row.
 *
 * A pattern is "/v1/tasks/{id}/preview": literal segments and {names}, each one whole segment. A path is split
 * at its raw slashes first and each segment decoded after, so %2F can never make a new segment (it is refused
 * anyway). Where a literal and a {name} both match, the literal wins. No trailing slash, no empty segment, no
 * dot segments: what differs by a byte is another path, and unknown.
 */
#ifndef ADMITD_DAEMON_HTTP_ROUTER_H
#define ADMITD_DAEMON_HTTP_ROUTER_H

#include <stddef.h>

#include "daemon/http/request.h"

enum http_route_flags {
	HTTP_NEEDS_BODY = 1 << 0,    /* without `application/json` and a body: 415, 400 */
	HTTP_OPTIONAL_BODY = 1 << 1, /* a body may come; without either flag one that is not empty is 400 */
	HTTP_WRITES = 1 << 2,        /* the connection sleeps before the handler runs: it may return HTTP_LATER */
	HTTP_NO_AUTH = 1 << 3,
	HTTP_RUN_TOKEN = 1 << 4, /* takes a run's token as well; the handler checks token.run */
	HTTP_ANY_TYPE = 1 << 5,  /* the body is not JSON, or not for us to parse: request->json stays NULL */
};

enum http_handler_result { HTTP_LATER = 1 };

/* Answers. 0: *reply is the answer. HTTP_LATER (only with HTTP_WRITES): the request was handed over and somebody
 * calls http_request_finish(); it may be gone already, so it was not touched after, and *reply is ignored.
 * -errno: 500 `internal`; the server logs it. `ctx` is the server's config.ctx. Runs on a thread of the
 * server's pool: nothing here may wait but for a read of the store.
 */
typedef int http_handler_fn(void *ctx, struct http_request *request, struct http_reply *reply);

struct http_route {
	enum http_method method; /* GET also serves HEAD */
	const char *pattern;
	unsigned roles;  /* one of these is needed; 0: any token */
	unsigned flags;  /* enum http_route_flags */
	size_t body_max; /* 0: 1 MiB */
	http_handler_fn *handler;
};

enum { HTTP_BODY_MAX = 1024 * 1024, HTTP_DOCUMENT_MAX = 4 * 1024 * 1024, HTTP_SEGMENTS = 12 };

/* Rows of several resources: each api_*.c has its own table. */
struct http_routes {
	const struct http_route *rows;
	size_t count;
};

enum http_router_result {
	HTTP_ROUTE_ABSENT = 1, /* no row has this path: 404 */
	HTTP_ROUTE_METHOD,     /* some have, but not with this method: 405, *ret_methods says which */
	HTTP_PATH_REFUSED,     /* NUL, control bytes, %2F, a bad escape, invalid UTF-8: 400 and close */
};

/* Splits request->path, finds the row and fills request->route, params and nothing else. `*ret_methods` is a set of
 * 1 << method of all rows with this path, HEAD and OPTIONS included (0 if there are none). -ENOMEM.
 */
int http_router_find(const struct http_routes *tables, size_t tables_count, struct http_request *request,
	unsigned *ret_methods) MUST_USE;

/* Decodes `raw`, what follows the `?`, into request->query. 0, HTTP_PATH_REFUSED (also for a name given twice and for
 * more than HTTP_QUERY_MAX of them), or -ENOMEM. A plus sign is a space here.
 */
int http_router_query(struct http_request *request, struct str raw) MUST_USE;

/* Decodes one piece of a target into the arena: 0, HTTP_PATH_REFUSED or -ENOMEM. */
int http_router_decode(struct arena *arena, struct str raw, bool is_query, struct str *ret) MUST_USE;

/* The method with this name, byte for byte; HTTP_METHOD_UNKNOWN otherwise. */
enum http_method http_method_find(const char *name);
const char *http_method_name(enum http_method method);

/* The value of an Allow header for a set of methods: "GET, HEAD, OPTIONS". Bytes NULL when memory ran out. */
struct str http_router_allow(struct arena *arena, unsigned methods);

#endif
