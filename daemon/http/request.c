#include "daemon/http/request.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "daemon/http/router.h"

struct str http_request_param(const struct http_request *request, const char *name)
{
	size_t len = strlen(name);
	unsigned index = 0;

	for (const char *at = strchr(request->route->pattern, '{'); at; at = strchr(at + 1, '{'), index++) {
		if (strncmp(at + 1, name, len) == 0 && at[1 + len] == '}')
			return request->params[index];
	}
	check_failed("a parameter of the route's pattern", __FILE__, __LINE__);
}

struct str http_request_query(const struct http_request *request, const char *name)
{
	for (unsigned i = 0; i < request->query_count; i++) {
		if (str_is(request->query[i].name, name))
			return request->query[i].value;
	}
	return (struct str){0};
}

int http_request_query_int(
	const struct http_request *request, const char *name, int64_t min, int64_t max, int64_t absent, int64_t *ret)
{
	struct str text = http_request_query(request, name);
	bool is_negative = text.len > 0 && text.bytes[0] == '-';
	int64_t number = 0;

	if (!text.bytes) {
		*ret = absent;
		return 0;
	}
	if (text.len == is_negative || text.len > 18)
		return HTTP_BAD_VALUE;
	for (size_t i = is_negative; i < text.len; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return HTTP_BAD_VALUE;
		number = number * 10 + (text.bytes[i] - '0');
	}
	number = is_negative ? -number : number;
	if (number < min || number > max)
		return HTTP_BAD_VALUE;
	*ret = number;
	return 0;
}

int http_request_query_bool(const struct http_request *request, const char *name, bool *ret)
{
	struct str text = http_request_query(request, name);

	if (text.bytes && !str_is(text, "true") && !str_is(text, "false"))
		return HTTP_BAD_VALUE;
	*ret = str_is(text, "true");
	return 0;
}

struct str http_request_header(const struct http_request *request, const char *name)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < request->headers_count; i++) {
		struct str field = request->headers[i].name;

		if (field.len == len && strncasecmp(field.bytes, name, len) == 0)
			return request->headers[i].value;
	}
	return (struct str){0};
}
