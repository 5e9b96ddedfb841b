#include "daemon/http/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_alnum(char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

static bool str_is_caseless(struct str text, const char *literal)
{
	return text.bytes && text.len == strlen(literal) && strncasecmp(text.bytes, literal, text.len) == 0;
}

/* ---- fields */

static bool is_token(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!is_alnum(name.bytes[i]) && (name.bytes[i] == '\0' || !strchr("!#$%&'*+-.^_`|~", name.bytes[i])))
			return false;
	}
	return name.len > 0;
}

static bool has_control(struct str value)
{
	for (size_t i = 0; i < value.len; i++) {
		unsigned char byte = (unsigned char)value.bytes[i];

		if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
			return true;
	}
	return false;
}

static bool parse_length(struct str value, uint64_t *ret)
{
	uint64_t number = 0;

	if (value.len == 0 || value.len > 18)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (value.bytes[i] < '0' || value.bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(value.bytes[i] - '0');
	}
	*ret = number;
	return true;
}

static const char *read_framing(const struct http_pair *field, struct gate_framing *framing, unsigned *hosts)
{
	if (str_is_caseless(field->name, "Host")) {
		if (++*hosts > 1)
			return "there is more than one Host";
	} else if (str_is_caseless(field->name, "Content-Length")) {
		if (framing->has_length)
			return "there is more than one Content-Length";
		if (!parse_length(field->value, &framing->length))
			return "the Content-Length is no number";
		framing->has_length = true;
	} else if (str_is_caseless(field->name, "Transfer-Encoding")) {
		if (framing->is_chunked || !str_is_caseless(field->value, "chunked"))
			return "the only Transfer-Encoding is chunked";
		framing->is_chunked = true;
	} else if (str_is_caseless(field->name, "Expect")) {
		framing->expects_continue = str_is_caseless(field->value, "100-continue");
	}
	return NULL;
}

const char *gate_fields(const struct http_pair *fields, unsigned count, struct gate_framing *ret_framing)
{
	struct gate_framing framing = {0};
	unsigned hosts = 0;

	for (unsigned i = 0; i < count; i++) {
		const char *fault;

		if (!is_token(fields[i].name))
			return "the name of a header field is no token";
		if (has_control(fields[i].value))
			return "a header field holds control bytes";
		fault = read_framing(&fields[i], &framing, &hosts);
		if (fault)
			return fault;
	}
	if (framing.has_length && framing.is_chunked)
		return "there are both a Content-Length and a Transfer-Encoding";
	if (hosts == 0)
		return "there is no Host";
	*ret_framing = framing;
	return NULL;
}

/* ---- geometry */

/* Pieces of one buffer, compared as numbers: a folded field lies elsewhere. */
static uintptr_t at(const char *pointer)
{
	return (uintptr_t)pointer;
}

/* A value begins behind the colon and what white space there is. */
static bool value_follows(struct str name, struct str value)
{
	const char *from = name.bytes + name.len + 1;

	if (at(value.bytes) < at(from) || at(value.bytes) - at(from) > GATE_FIELDS_BYTES)
		return false;
	while (from < value.bytes && (*from == ' ' || *from == '\t'))
		from++;
	return from == value.bytes;
}

/* The library ends a line by putting NUL over both CR and LF. */
static bool line_follows(const char *end, const char *next)
{
	return at(next) == at(end) + 2 && end[0] == '\0' && end[1] == '\0';
}

bool gate_is_plain(const struct gate_head *head)
{
	const char *end = head->version + strlen(head->version);

	if (at(head->target) != at(head->method) + strlen(head->method) + 1)
		return false;
	if (at(head->version) != at(head->target) + head->target_len + 1)
		return false;
	for (unsigned i = 0; i < head->fields_count; i++) {
		const struct http_pair *field = &head->fields[i];

		if (!line_follows(end, field->name.bytes) || !value_follows(field->name, field->value))
			return false;
		end = field->value.bytes + field->value.len;
	}
	/* Behind the last field stand its CR LF and the empty line's. */
	return line_follows(end, end + 2) && at(end) + 4 == at(head->method) + head->size;
}

/* ---- hosts */

struct gate_hosts {
	char **names;
	size_t count;
	char *scheme;
};

static bool has_port(const char *name)
{
	const char *behind = strchr(name, ']');

	return strchr(behind ? behind : name, ':') != NULL;
}

static bool add_name(struct gate_hosts *hosts, const char *name, uint16_t port)
{
	char **entry = &hosts->names[hosts->count];
	int len = has_port(name) ? asprintf(entry, "%s", name) : asprintf(entry, "%s:%u", name, (unsigned)port);

	if (len < 0) {
		*entry = NULL;
		return false;
	}
	hosts->count++;
	return true;
}

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

struct gate_hosts *gate_hosts_new(
	const char *const *names, size_t count, const char *address, uint16_t port, const char *scheme)
{
	static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]"};
	struct gate_hosts *hosts = calloc(1, sizeof(*hosts));
	bool is_done;

	if (!hosts)
		return NULL;
	hosts->names = calloc(count + 3, sizeof(*hosts->names));
	hosts->scheme = strdup(scheme ? scheme : "http");
	is_done = hosts->names && hosts->scheme;
	for (size_t i = 0; is_done && i < count; i++)
		is_done = add_name(hosts, names[i], port);
	for (size_t i = 0; is_done && is_loopback(address) && i < 3; i++)
		is_done = add_name(hosts, loopback[i], port);
	if (!is_done) {
		gate_hosts_free(hosts);
		return NULL;
	}
	return hosts;
}

void gate_hosts_free(struct gate_hosts *hosts)
{
	if (!hosts)
		return;
	for (size_t i = 0; i < hosts->count; i++)
		free(hosts->names[i]);
	free(hosts->names);
	free(hosts->scheme);
	free(hosts);
}

/* Clients leave out the port that their scheme implies. */
static bool is_without_default_port(const struct gate_hosts *hosts, const char *name, struct str host)
{
	const char *port = strcmp(hosts->scheme, "https") == 0 ? ":443" : ":80";
	size_t len = strlen(name);
	size_t port_len = strlen(port);

	return len == host.len + port_len && strcmp(name + host.len, port) == 0 &&
		strncasecmp(name, host.bytes, host.len) == 0;
}

bool gate_host_is_ours(const struct gate_hosts *hosts, struct str host)
{
	for (size_t i = 0; host.bytes && i < hosts->count; i++) {
		if (str_is_caseless(host, hosts->names[i]) || is_without_default_port(hosts, hosts->names[i], host))
			return true;
	}
	return false;
}

/* ---- origins */

static bool is_safe(enum http_method method)
{
	return method == HTTP_GET || method == HTTP_HEAD || method == HTTP_OPTIONS;
}

/* `scheme://host`, where host is what the request itself was sent to. */
static bool is_own_origin(const struct gate_hosts *hosts, struct str origin, struct str host)
{
	size_t scheme_len = strlen(hosts->scheme);
	struct str rest;

	if (origin.len < scheme_len + 3 || memcmp(origin.bytes, hosts->scheme, scheme_len) != 0 ||
		memcmp(origin.bytes + scheme_len, "://", 3) != 0)
		return false;
	rest = (struct str){origin.bytes + scheme_len + 3, origin.len - scheme_len - 3};
	return rest.len == host.len && strncasecmp(rest.bytes, host.bytes, host.len) == 0;
}

bool gate_origin_is_ours(const struct gate_hosts *hosts, const struct http_request *request)
{
	struct str host = http_request_header(request, "Host");
	struct str site = http_request_header(request, "Sec-Fetch-Site");
	bool has_origin = false;

	for (unsigned i = 0; i < request->headers_count; i++) {
		if (!str_is_caseless(request->headers[i].name, "Origin"))
			continue;
		if (!is_own_origin(hosts, request->headers[i].value, host))
			return false;
		has_origin = true;
	}
	if (!site.bytes || has_origin)
		return true;
	if (!is_safe(request->method))
		return false;
	/* A link from elsewhere may open our page; a foreign page may not load anything of ours. */
	return str_is(site, "same-origin") || str_is(site, "none") ||
		str_is(http_request_header(request, "Sec-Fetch-Mode"), "navigate");
}

/* ---- types and ids */

static struct str trim(struct str text)
{
	while (text.len > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t')) {
		text.bytes++;
		text.len--;
	}
	while (text.len > 0 && (text.bytes[text.len - 1] == ' ' || text.bytes[text.len - 1] == '\t'))
		text.len--;
	return text;
}

static bool is_json_type(struct str value)
{
	const char *mark = memchr(value.bytes, ';', value.len);
	struct str type = {value.bytes, mark ? (size_t)(mark - value.bytes) : value.len};
	struct str parameter;

	if (!str_is_caseless(trim(type), "application/json"))
		return false;
	if (!mark)
		return true;
	parameter = trim((struct str){mark + 1, value.len - type.len - 1});
	return parameter.len == 0 || str_is_caseless(parameter, "charset=utf-8") ||
		str_is_caseless(parameter, "charset=\"utf-8\"");
}

bool gate_is_json(const struct http_request *request)
{
	unsigned types = 0;
	bool is_json = false;

	for (unsigned i = 0; i < request->headers_count; i++) {
		if (!str_is_caseless(request->headers[i].name, "Content-Type"))
			continue;
		types++;
		is_json = is_json_type(request->headers[i].value);
	}
	return types == 1 && is_json;
}

bool gate_has_header(const struct http_request *request, const char *name)
{
	return http_request_header(request, name).bytes != NULL;
}

bool gate_is_request_id(struct str id)
{
	if (!id.bytes || id.len == 0 || id.len > HTTP_ID_MAX)
		return false;
	for (size_t i = 0; i < id.len; i++) {
		if (!is_alnum(id.bytes[i]) && (id.bytes[i] == '\0' || !strchr("._-", id.bytes[i])))
			return false;
	}
	return true;
}

bool gate_is_traceparent(struct str text)
{
	static const char shape[] = "00-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";

	if (!text.bytes || text.len != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char byte = text.bytes[i];
		bool is_hex = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');

		if (shape[i] == 'h' ? !is_hex : byte != shape[i])
			return false;
	}
	return true;
}
