#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agents/url_rule.h"
#include "policy/cleanup.h"
#include "prober/check.h"
#include "prober/client_rule.h"
#include "prober/deadline.h"
#include "prober/exchange.h"

enum { SESSION_LIMIT = 1024 };

/* One server while it is asked. */
struct asking {
	struct check *check;
	CURL *curl;
	struct curl_slist *headers; /* of this request */
	struct client_rule rule;
	enum exchange_step step;
	struct buf body;
	size_t scanned; /* of a stream of events: what was looked at */
	int result;     /* of the step: EXCHANGE_GOES_ON until it is known */
	struct str version;
	char session[SESSION_LIMIT];
};

static void asking_drop(struct asking *asking)
{
	curl_slist_free_all(asking->headers);
	curl_easy_cleanup(asking->curl);
	buf_release(&asking->body);
}

/* ---- what it answers */

static bool is_event_stream(struct asking *asking)
{
	const char *type = NULL;

	return curl_easy_getinfo(asking->curl, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK && type != NULL &&
		strncasecmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
}

static bool is_success(struct asking *asking)
{
	long status = 0;

	return curl_easy_getinfo(asking->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status >= 200 &&
		status < 300;
}

/* The data of one event, whose lines are put together. Absent: it has none. */
static struct str event_data(struct arena *arena, struct str event)
{
	char *data = arena_alloc(arena, event.len + 1);
	size_t len = 0;
	size_t at = 0;

	while (data != NULL && at < event.len) {
		const char *line = event.bytes + at;
		const char *end = memchr(line, '\n', event.len - at);
		size_t line_len = end != NULL ? (size_t)(end - line) : event.len - at;

		at += line_len + 1;
		if (line_len > 0 && line[line_len - 1] == '\r')
			line_len--;
		if (line_len < 5 || memcmp(line, "data:", 5) != 0)
			continue;
		if (len > 0)
			data[len++] = '\n';
		line += 5;
		line_len -= 5;
		if (line_len > 0 && line[0] == ' ') {
			line++;
			line_len--;
		}
		memcpy(data + len, line, line_len);
		len += line_len;
	}
	return (struct str){len > 0 ? data : NULL, len};
}

/* The length of the event at `at` with the empty line behind it; 0: it isn't whole yet. */
static size_t event_length(const struct buf *body, size_t at)
{
	for (size_t i = at; i + 1 < body->len; i++) {
		if (body->bytes[i] != '\n')
			continue;
		if (body->bytes[i + 1] == '\n')
			return i + 2 - at;
		if (i + 2 < body->len && body->bytes[i + 1] == '\r' && body->bytes[i + 2] == '\n')
			return i + 3 - at;
	}
	return 0;
}

/* Looks for the answer among the whole events that have come. */
static void scan_events(struct asking *asking)
{
	size_t len = 0;

	while (asking->result == EXCHANGE_GOES_ON && (len = event_length(&asking->body, asking->scanned)) > 0) {
		struct str event = {asking->body.bytes + asking->scanned, len};
		struct str data = event_data(asking->check->finding->arena, event);

		asking->scanned += len;
		if (data.bytes != NULL)
			asking->result = exchange_read(asking->check->finding, asking->step, data, &asking->version);
	}
}

/* What is wanted of a stream may come long before its end: then the rest is left. */
static size_t take_body(char *bytes, size_t size, size_t count, void *user)
{
	struct asking *asking = user;

	if (!is_success(asking))
		return size * count;
	buf_add(&asking->body, bytes, size * count);
	if (buf_error(&asking->body) != 0) {
		finding_set(asking->check->finding, HEALTH_UNHEALTHY, "it sends more than 1 MiB");
		asking->result = EXCHANGE_FAILED;
	} else if (asking->step != EXCHANGE_INITIALIZED && is_event_stream(asking)) {
		scan_events(asking);
	}
	return asking->result == EXCHANGE_GOES_ON ? size * count : 0;
}

/* ---- one request */

static int add_header(struct asking *asking, const char *name, struct str value)
{
	/* "Name;" is how a header without a value is sent. */
	struct str line = value.len > 0
		? arena_printf(asking->check->finding->arena, "%s: %.*s", name, (int)value.len, value.bytes)
		: arena_printf(asking->check->finding->arena, "%s;", name);
	struct curl_slist *list = line.bytes != NULL ? curl_slist_append(asking->headers, line.bytes) : NULL;

	if (list == NULL)
		return -ENOMEM;
	asking->headers = list;
	return 0;
}

static int add_headers(struct asking *asking)
{
	const struct spec *spec = asking->check->spec;
	int r = 0;

	curl_slist_free_all(asking->headers);
	asking->headers = NULL;
	r = add_header(asking, "Content-Type", STR("application/json"));
	if (r == 0)
		r = add_header(asking, "Accept", STR("application/json, text/event-stream"));
	for (size_t i = 0; r == 0 && i < spec->value_count; i++) {
		const char *name =
			arena_copy(asking->check->finding->arena, spec->values[i].name.bytes, spec->values[i].name.len);

		r = name != NULL ? add_header(asking, name, spec->values[i].value) : -ENOMEM;
	}
	if (r == 0 && asking->session[0] != '\0')
		r = add_header(asking, "Mcp-Session-Id", (struct str){asking->session, strlen(asking->session)});
	if (r == 0 && asking->version.len > 0)
		r = add_header(asking, "MCP-Protocol-Version", asking->version);
	return r;
}

static bool set_all(struct asking *asking)
{
	CURL *curl = asking->curl;
	struct str url = arena_str(asking->check->finding->arena, asking->check->spec->url);

	return url.bytes != NULL && client_rule_set(curl, url.bytes, &asking->rule) &&
		curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_WRITEDATA, asking) == CURLE_OK;
}

static void tell_transport(struct asking *asking, CURLcode code)
{
	struct finding *finding = asking->check->finding;

	if (asking->rule.is_refused_address)
		finding_set(finding, HEALTH_CONFIGURATION_REQUIRED,
			"its address may not be asked (link-local, private or this machine's; see [servers] "
			"allow_private)");
	else if (code == CURLE_OPERATION_TIMEDOUT)
		finding_set(finding, HEALTH_UNHEALTHY, "it doesn't answer in time");
	else if (code == CURLE_COULDNT_RESOLVE_HOST)
		finding_set(finding, HEALTH_UNHEALTHY, "its name can't be resolved");
	else if (code == CURLE_COULDNT_CONNECT)
		finding_set(finding, HEALTH_UNHEALTHY, "it refuses the connection");
	else if (code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION)
		finding_set(finding, HEALTH_UNHEALTHY, "its certificate or TLS can't be trusted");
	else if (code == CURLE_URL_MALFORMAT)
		finding_set(finding, HEALTH_CONFIGURATION_REQUIRED, "its URL can't be used");
	else
		finding_set(finding, HEALTH_UNHEALTHY, "it doesn't answer in HTTP");
}

static void tell_status(struct finding *finding, long status)
{
	if (status == 401 || status == 403)
		finding_set(finding, HEALTH_AUTH_REQUIRED, "it wants other credentials (%ld)", status);
	else if (status >= 300 && status < 400)
		finding_set(
			finding, HEALTH_UNHEALTHY, "it answers with a redirect, which isn't followed (%ld)", status);
	else
		finding_set(finding, HEALTH_UNHEALTHY, "it answers with status %ld", status);
}

static void keep_session(struct asking *asking)
{
	struct curl_header *header = NULL;

	if (asking->step != EXCHANGE_INITIALIZE ||
		curl_easy_header(asking->curl, "Mcp-Session-Id", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return;
	if (strlen(header->value) < sizeof(asking->session))
		memcpy(asking->session, header->value, strlen(header->value) + 1);
}

/* What a whole answer says. */
static int read_answer(struct asking *asking)
{
	struct finding *finding = asking->check->finding;

	if (asking->step == EXCHANGE_INITIALIZED || asking->result == 0)
		return 0;
	if (asking->result == EXCHANGE_GOES_ON && !is_event_stream(asking))
		asking->result = exchange_read(finding, asking->step, buf_str(&asking->body), &asking->version);
	if (asking->result == EXCHANGE_GOES_ON)
		finding_set(finding, HEALTH_UNHEALTHY, "it doesn't answer %s", exchange_name(asking->step));
	return asking->result == 0 ? 0 : EXCHANGE_FAILED;
}

static int post(struct asking *asking, enum exchange_step step)
{
	struct finding *finding = asking->check->finding;
	struct str message = exchange_message(step);
	int left_ms = deadline_left_ms(asking->check->end_ms);
	CURLcode code = CURLE_OPERATION_TIMEDOUT;
	long status = 0;

	asking->step = step;
	asking->result = EXCHANGE_GOES_ON;
	asking->scanned = 0;
	buf_reset(&asking->body);
	if (add_headers(asking) != 0 ||
		curl_easy_setopt(asking->curl, CURLOPT_HTTPHEADER, asking->headers) != CURLE_OK ||
		curl_easy_setopt(asking->curl, CURLOPT_POSTFIELDS, message.bytes) != CURLE_OK ||
		curl_easy_setopt(asking->curl, CURLOPT_TIMEOUT_MS, (long)left_ms) != CURLE_OK)
		return EXCHANGE_FAILED;
	if (left_ms > 0)
		code = curl_easy_perform(asking->curl);
	if (code != CURLE_OK && asking->result == EXCHANGE_GOES_ON) {
		tell_transport(asking, code);
		return EXCHANGE_FAILED;
	}
	(void)curl_easy_getinfo(asking->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status >= 300) {
		tell_status(finding, status);
		return EXCHANGE_FAILED;
	}
	keep_session(asking);
	return read_answer(asking);
}

/* A session that the server opened is closed again, if there is time; what it says to that doesn't matter. */
static void end_session(struct asking *asking)
{
	int left_ms = deadline_left_ms(asking->check->end_ms);

	if (asking->session[0] == '\0' || left_ms == 0)
		return;
	asking->step = EXCHANGE_INITIALIZED;
	asking->result = EXCHANGE_GOES_ON;
	buf_reset(&asking->body);
	if (add_headers(asking) == 0 &&
		curl_easy_setopt(asking->curl, CURLOPT_HTTPHEADER, asking->headers) == CURLE_OK &&
		curl_easy_setopt(asking->curl, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
		curl_easy_setopt(asking->curl, CURLOPT_CUSTOMREQUEST, "DELETE") == CURLE_OK &&
		curl_easy_setopt(asking->curl, CURLOPT_TIMEOUT_MS, (long)left_ms) == CURLE_OK)
		(void)curl_easy_perform(asking->curl);
}

void check_http(struct check *check)
{
	CLEANUP(asking_drop) struct asking asking = {.check = check, .curl = curl_easy_init()};
	enum url_rule_verdict verdict = url_rule_judge(check->spec->url);
	int r = 0;

	buf_init(&asking.body, EXCHANGE_ANSWER_LIMIT);
	asking.rule = (struct client_rule){
		.loopback_only = verdict == URL_RULE_LOOPBACK, .allow_private = check->allowed->allow_private};
	if (verdict == URL_RULE_REFUSED) {
		finding_set(check->finding, HEALTH_CONFIGURATION_REQUIRED, "its URL isn't allowed");
		return;
	}
	if (asking.curl == NULL || !set_all(&asking))
		return;
	r = post(&asking, EXCHANGE_INITIALIZE);
	if (r == 0)
		r = post(&asking, EXCHANGE_INITIALIZED);
	if (r == 0)
		r = post(&asking, EXCHANGE_LIST);
	if (r == 0)
		finding_healthy(check->finding);
	end_session(&asking);
}
