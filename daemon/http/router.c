#include "daemon/http/router.h"

#include <errno.h>
#include <string.h>

#include "policy/buf.h"
#include "policy/text.h"

static const char *const method_names[] = {
	[HTTP_GET] = "GET",
	[HTTP_HEAD] = "HEAD",
	[HTTP_POST] = "POST",
	[HTTP_PUT] = "PUT",
	[HTTP_DELETE] = "DELETE",
	[HTTP_OPTIONS] = "OPTIONS",
	[HTTP_PATCH] = "PATCH",
	[HTTP_TRACE] = "TRACE",
	[HTTP_CONNECT] = "CONNECT",
};

enum { ALLOW_MAX = 96 };
#define METHODS (sizeof(method_names) / sizeof(method_names[0]))

enum http_method http_method_find(const char *name)
{
	for (unsigned i = HTTP_GET; i < METHODS; i++) {
		if (strcmp(name, method_names[i]) == 0)
			return (enum http_method)i;
	}
	return HTTP_METHOD_UNKNOWN;
}

const char *http_method_name(enum http_method method)
{
	return method == HTTP_METHOD_UNKNOWN || method >= METHODS ? "-" : method_names[method];
}

struct str http_router_allow(struct arena *arena, unsigned methods)
{
	struct buf text;
	struct str allow;

	buf_init(&text, ALLOW_MAX);
	for (unsigned i = HTTP_GET; i < METHODS; i++) {
		if (methods & (1u << i))
			buf_printf(&text, text.len ? ", %s" : "%s", method_names[i]);
	}
	allow = buf_error(&text) ? (struct str){0} : arena_str(arena, buf_str(&text));
	buf_release(&text);
	return allow;
}

/* ---- decoding */

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
		return (digit | 0x20) - 'a' + 10;
	return -1;
}

/* The byte that two hex digits say, or -1. */
static int hex_pair(const char *at)
{
	int high = hex_digit(at[0]);
	int low = hex_digit(at[1]);

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static bool is_utf8(struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		if (text_next(text, &at) == TEXT_INVALID)
			return false;
	}
	return true;
}

int http_router_decode(struct arena *arena, struct str raw, bool is_query, struct str *ret)
{
	char *text = arena_alloc(arena, raw.len + 1);
	size_t len = 0;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < raw.len; i++) {
		unsigned char byte = (unsigned char)raw.bytes[i];

		if (byte <= 0x20 || byte >= 0x7f || byte == '#')
			return HTTP_PATH_REFUSED;
		if (byte == '%') {
			int value = raw.len - i > 2 ? hex_pair(raw.bytes + i + 1) : -1;

			if (value < 0x20 || value == 0x7f || (value == '/' && !is_query))
				return HTTP_PATH_REFUSED;
			byte = (unsigned char)value;
			i += 2;
		} else if (byte == '+' && is_query) {
			byte = ' ';
		}
		text[len++] = (char)byte;
	}
	*ret = (struct str){text, len};
	if (!is_utf8(*ret))
		return HTTP_PATH_REFUSED;
	return 0;
}

/* ---- paths */

struct segments {
	struct str items[HTTP_SEGMENTS];
	unsigned count;
};

/* Splits and decodes. More segments than any pattern has are counted as one too many, which fits none. */
static int split_path(struct arena *arena, struct str path, struct segments *ret)
{
	size_t at = 1;

	ret->count = 0;
	if (path.len == 0 || path.bytes[0] != '/')
		return HTTP_PATH_REFUSED;
	if (path.len == 1)
		return 0;
	while (at <= path.len) {
		const char *slash = memchr(path.bytes + at, '/', path.len - at);
		size_t end = slash ? (size_t)(slash - path.bytes) : path.len;
		struct str segment;
		int result = http_router_decode(arena, (struct str){path.bytes + at, end - at}, false, &segment);

		if (result)
			return result;
		if (str_is(segment, ".") || str_is(segment, ".."))
			return HTTP_PATH_REFUSED;
		if (ret->count < HTTP_SEGMENTS)
			ret->items[ret->count] = segment;
		ret->count++;
		at = end + 1;
	}
	return 0;
}

/* How well a pattern fits: 0 not at all; else the number of its literal segments and 1. */
static unsigned match(const char *pattern, const struct segments *path, struct str params[HTTP_PARAMS])
{
	unsigned literals = 0;
	unsigned found = 0;
	unsigned segment = 0;

	for (const char *at = pattern + 1; *at || segment == 0; segment++) {
		size_t len = strcspn(at, "/");

		if (*at == '\0')
			return path->count == 0;
		if (segment >= path->count || segment >= HTTP_SEGMENTS || path->items[segment].len == 0)
			return 0;
		if (*at == '{') {
			CHECK(found < HTTP_PARAMS);
			params[found++] = path->items[segment];
		} else if (path->items[segment].len != len || memcmp(path->items[segment].bytes, at, len) != 0) {
			return 0;
		} else {
			literals++;
		}
		at += len + (at[len] == '/');
	}
	return segment == path->count ? literals + 1 : 0;
}

static bool serves(const struct http_route *route, enum http_method method)
{
	return route->method == method || (method == HTTP_HEAD && route->method == HTTP_GET);
}

static unsigned methods_of(const struct http_route *route)
{
	return 1u << route->method | 1u << HTTP_OPTIONS | (route->method == HTTP_GET ? 1u << HTTP_HEAD : 0);
}

int http_router_find(
	const struct http_routes *tables, size_t tables_count, struct http_request *request, unsigned *ret_methods)
{
	struct segments path;
	unsigned best = 0;
	unsigned best_any = 0;
	int result = split_path(&request->arena, request->path, &path);

	*ret_methods = 0;
	if (result)
		return result;
	for (size_t table = 0; table < tables_count; table++) {
		for (size_t i = 0; i < tables[table].count; i++) {
			const struct http_route *route = &tables[table].rows[i];
			struct str params[HTTP_PARAMS] = {0};
			unsigned fit = match(route->pattern, &path, params);

			/* A literal hides a {name} for every method: what Allow says must be true of one resource. */
			if (fit == 0 || fit < best_any)
				continue;
			if (fit > best_any)
				*ret_methods = 0;
			best_any = fit;
			*ret_methods |= methods_of(route);
			if (!serves(route, request->method))
				continue;
			best = fit;
			request->route = route;
			memcpy(request->params, params, sizeof(params));
		}
	}
	if (best && best == best_any)
		return 0;
	request->route = NULL;
	return best_any ? HTTP_ROUTE_METHOD : HTTP_ROUTE_ABSENT;
}

/* ---- queries */

static int add_pair(struct http_request *request, struct str raw)
{
	const char *equals = memchr(raw.bytes, '=', raw.len);
	struct str name = {raw.bytes, equals ? (size_t)(equals - raw.bytes) : raw.len};
	struct str value = {raw.bytes + raw.len, 0};
	struct http_pair *pair;
	int result;

	if (equals)
		value = (struct str){equals + 1, raw.len - name.len - 1};
	if (request->query_count == HTTP_QUERY_MAX)
		return HTTP_PATH_REFUSED;
	pair = &request->query[request->query_count];
	result = http_router_decode(&request->arena, name, true, &pair->name);
	if (result == 0)
		result = http_router_decode(&request->arena, value, true, &pair->value);
	if (result)
		return result;
	for (unsigned i = 0; i < request->query_count; i++) {
		if (str_equal(request->query[i].name, pair->name))
			return HTTP_PATH_REFUSED;
	}
	request->query_count++;
	return 0;
}

int http_router_query(struct http_request *request, struct str raw)
{
	size_t at = 0;

	if (raw.len == 0)
		return 0;
	request->query = ARENA_ARRAY(&request->arena, HTTP_QUERY_MAX, struct http_pair);
	if (!request->query)
		return -ENOMEM;
	while (at <= raw.len) {
		const char *mark = memchr(raw.bytes + at, '&', raw.len - at);
		size_t end = mark ? (size_t)(mark - raw.bytes) : raw.len;
		int result = end > at ? add_pair(request, (struct str){raw.bytes + at, end - at}) : 0;

		if (result)
			return result;
		at = end + 1;
	}
	return 0;
}
