#include "cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/un.h>
#include <time.h>

#include "policy/buf.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum {
	REPLY_CEILING = 64 * 1024 * 1024,
	CONNECT_TIMEOUT_MS = 5000,
	ATTEMPTS = 4,
	LONGEST_WAIT_S = 10, /* a person waits no longer; a script sees the answer and may come again */
};

struct client {
	CURL *curl;
	char *url;
	char *socket;        /* of this machine; NULL: a network's */
	char *cacert;        /* NULL: the system's */
	char *authorization; /* "Authorization: Bearer …", or NULL */
	long timeout_ms;
	bool says_why;
	char error[CURL_ERROR_SIZE + 128];
	char curl_error[CURL_ERROR_SIZE];
};

/* What one attempt gathers. */
struct answer {
	struct buf body;
	const struct client_request *request;
	CURL *curl;
	bool has_pieces; /* on_bytes had some */
	size_t line_at;  /* where the line begins that isn't complete */
	char etag[128];
	long retry_after_s;
};

static void slist_drop(struct curl_slist **list)
{
	curl_slist_free_all(*list);
	*list = NULL;
}

static bool is_web_url(const char *url)
{
	return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

/* The parts of a URL that a path can be put behind: without user, query or fragment. */
static int url_copy(const char *url, char **ret_url)
{
	size_t length = strlen(url);

	if (!is_web_url(url) || strpbrk(url, "?#@ \r\n\t") != NULL)
		return CLIENT_BAD_URL;
	while (length > 0 && url[length - 1] == '/')
		length--;
	*ret_url = strndup(url, length);
	return *ret_url == NULL ? -ENOMEM : 0;
}

/* What stands behind unix: or, as others write it, unix://; NULL: it is no such URL. */
static const char *socket_path(const char *url)
{
	if (strncasecmp(url, "unix:", 5) != 0)
		return NULL;
	return strncmp(url + 5, "//", 2) == 0 ? url + 7 : url + 5;
}

/* At a socket the daemon takes any host. */
static int address_copy(struct client *client, const char *url)
{
	const char *path = socket_path(url);

	if (path == NULL)
		return url_copy(url, &client->url);
	if (*path != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return CLIENT_BAD_URL;
	client->socket = strdup(path);
	client->url = strdup("http://localhost");
	return client->socket == NULL || client->url == NULL ? -ENOMEM : 0;
}

static void client_drop(struct client **client)
{
	client_close(*client);
	*client = NULL;
}

static void set_options(struct client *client)
{
	CURL *curl = client->curl;

	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->curl_error);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (client->socket != NULL)
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
	if (client->cacert != NULL) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, client->cacert);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, client->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "admitctl");
}

int client_open(const struct client_options *options, struct client **ret_client)
{
	CLEANUP(client_drop) struct client *client = calloc(1, sizeof(*client));
	int error;

	if (client == NULL)
		return -ENOMEM;
	error = address_copy(client, options->url);
	if (error != 0)
		return error;
	if (options->token != NULL &&
		asprintf(&client->authorization, "Authorization: Bearer %s", options->token) < 0) {
		client->authorization = NULL;
		return -ENOMEM;
	}
	if (options->cacert != NULL && (client->cacert = strdup(options->cacert)) == NULL)
		return -ENOMEM;
	client->timeout_ms = options->timeout_ms;
	client->says_why = options->says_why;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	client->curl = curl_easy_init();
	if (client->curl == NULL)
		return -ENOMEM;
	set_options(client);
	*ret_client = TAKE(client);
	return 0;
}

void client_close(struct client *client)
{
	if (client == NULL)
		return;
	curl_easy_cleanup(client->curl);
	if (client->authorization != NULL)
		explicit_bzero(client->authorization, strlen(client->authorization));
	free(client->authorization);
	free(client->cacert);
	free(client->socket);
	free(client->url);
	free(client);
}

const char *client_error(const struct client *client)
{
	return client->error;
}

static void tell_lines(struct answer *answer)
{
	const struct client_request *request = answer->request;

	while (request->on_line != NULL && buf_error(&answer->body) == 0) {
		struct str rest = {answer->body.bytes + answer->line_at, answer->body.len - answer->line_at};
		const char *end = rest.len > 0 ? memchr(rest.bytes, '\n', rest.len) : NULL;

		if (end == NULL)
			return;
		rest.len = (size_t)(end - rest.bytes);
		answer->line_at += rest.len + 1;
		request->on_line(request->arg, rest);
	}
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct answer *answer = context;
	long status = 0;

	if (answer->request->on_bytes != NULL &&
		curl_easy_getinfo(answer->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status == 200) {
		answer->has_pieces = true;
		return answer->request->on_bytes(answer->request->arg, (struct str){bytes, size * count}) ? size * count
													  : 0;
	}
	buf_add(&answer->body, bytes, size * count);
	tell_lines(answer);
	return buf_error(&answer->body) < 0 ? 0 : size * count;
}

/* The value of a header line with that name, trimmed; absent when it is another one. */
static struct str header_value(const char *line, size_t length, const char *name)
{
	size_t begin = strlen(name) + 1;

	if (length < begin || strncasecmp(line, name, begin - 1) != 0 || line[begin - 1] != ':')
		return (struct str){0};
	while (begin < length && line[begin] == ' ')
		begin++;
	while (length > begin && (line[length - 1] == '\r' || line[length - 1] == '\n' || line[length - 1] == ' '))
		length--;
	return (struct str){line + begin, length - begin};
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
	struct answer *answer = context;
	struct str etag = header_value(line, size * count, "ETag");
	struct str wait = header_value(line, size * count, "Retry-After");
	char digits[16];

	if (etag.bytes != NULL && etag.len >= 2 && etag.bytes[0] == '"' && etag.len < sizeof(answer->etag))
		snprintf(answer->etag, sizeof(answer->etag), "%.*s", (int)etag.len - 2, etag.bytes + 1);
	if (wait.bytes != NULL && wait.len > 0 && wait.len < sizeof(digits) && wait.bytes[0] >= '0' &&
		wait.bytes[0] <= '9') {
		snprintf(digits, sizeof(digits), "%.*s", (int)wait.len, wait.bytes);
		answer->retry_after_s = strtol(digits, NULL, 10);
	}
	return size * count;
}

/* Adds one header line; the list stays owned by the caller. */
static int add_header(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (longer == NULL)
		return -ENOMEM;
	*list = longer;
	return 0;
}

static int add_header_of(struct curl_slist **list, const char *format, const char *value)
{
	CLEANUP(free_drop) char *line = NULL;
	int written;

	if (value == NULL)
		return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	written = asprintf(&line, format, value);
#pragma GCC diagnostic pop
	if (written < 0) {
		line = NULL;
		return -ENOMEM;
	}
	return add_header(list, line);
}

static int make_headers(const struct client *client, const struct client_request *request, struct curl_slist **ret_list)
{
	const char *accept = request->accept != NULL ? request->accept
		: request->on_line != NULL           ? "application/x-ndjson, application/json"
						     : "application/json";
	int error = add_header_of(ret_list, "Accept: %s", accept);

	if (error == 0)
		error = add_header(ret_list, "Expect:");
	if (error == 0 && client->authorization != NULL)
		error = add_header(ret_list, client->authorization);
	/* Without a body libcurl would name a form's type. */
	if (error == 0)
		error = add_header(
			ret_list, request->body.bytes == NULL ? "Content-Type:" : "Content-Type: application/json");
	if (error == 0)
		error = add_header_of(ret_list, "Idempotency-Key: %s", request->idempotency_key);
	if (error == 0)
		error = add_header_of(ret_list, "If-Match: \"%s\"", request->if_match);
	for (size_t i = 0; error == 0 && request->headers != NULL && request->headers[i] != NULL; i++)
		error = add_header(ret_list, request->headers[i]);
	return error;
}

/* Whether the connection stood, so that the request may have arrived. */
static bool was_sent(struct client *client)
{
	curl_off_t pretransfer_us = 0;

	return curl_easy_getinfo(client->curl, CURLINFO_PRETRANSFER_TIME_T, &pretransfer_us) == CURLE_OK &&
		pretransfer_us > 0;
}

/* curl's own words may hold a URL, which holds no secret: users are refused in it. Of a socket it says the wrong thing or nothing. */
static const char *why(struct client *client, CURLcode code)
{
	long error = 0;

	if (client->socket != NULL && code == CURLE_COULDNT_CONNECT &&
		curl_easy_getinfo(client->curl, CURLINFO_OS_ERRNO, &error) == CURLE_OK && error != 0)
		return strerror((int)error);
	return client->curl_error[0] != '\0' ? client->curl_error : curl_easy_strerror(code);
}

static int result_of(struct client *client, CURLcode code)
{
	snprintf(client->error, sizeof(client->error), "%s", why(client, code));
	switch ((int)code) {
	case CURLE_OK:
		return 0;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return CLIENT_UNREACHABLE;
	case CURLE_PEER_FAILED_VERIFICATION:
		return CLIENT_UNTRUSTED;
	case CURLE_SSL_CONNECT_ERROR:
		return CLIENT_NO_TLS;
	case CURLE_SSL_CACERT_BADFILE:
		return CLIENT_BAD_CACERT;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return CLIENT_BAD_URL;
	case CURLE_OPERATION_TIMEDOUT:
		return was_sent(client) ? CLIENT_TOO_SLOW : CLIENT_UNREACHABLE;
	default:
		return CLIENT_NO_ANSWER;
	}
}

static void set_request(struct client *client, const struct client_request *request, const char *url,
	struct curl_slist *headers, struct answer *answer)
{
	CURL *curl = client->curl;
	bool has_lines = request->on_line != NULL || request->on_bytes != NULL;

	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, has_lines ? 0L : client->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, has_lines ? 1L : 0L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, has_lines ? client->timeout_ms / 1000 : 0L);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
	if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "DELETE") == 0) {
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
		return;
	}
	/* A body of no bytes is sent as one, so that the length is always said. */
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.bytes == NULL ? "" : request->body.bytes);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static int attempt(struct client *client, const struct client_request *request, struct answer *answer, long *ret_status)
{
	CLEANUP(slist_drop) struct curl_slist *headers = NULL;
	CLEANUP(free_drop) char *url = NULL;
	int error = make_headers(client, request, &headers);

	if (error < 0)
		return error;
	if (asprintf(&url, "%s%s", client->url, request->path) < 0) {
		url = NULL;
		return -ENOMEM;
	}
	buf_reset(&answer->body);
	answer->line_at = 0;
	answer->etag[0] = '\0';
	answer->retry_after_s = -1;
	client->curl_error[0] = '\0';
	set_request(client, request, url, headers, answer);
	error = result_of(client, curl_easy_perform(client->curl));
	if (error != 0)
		return error;
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, ret_status);
	return 0;
}

static bool is_code(const struct buf *body, const char *code)
{
	CLEANUP(json_drop) json_t *json = NULL;
	const char *found;

	if (json_parse(buf_str(body), &json, NULL) != 0)
		return false;
	found = json_string_value(json_object_get(json, "code"));
	return found != NULL && strcmp(found, code) == 0;
}

/* Whether the daemon asks for the same request again, and soon enough for a person. */
static bool wants_repeat(const struct answer *answer, long status)
{
	if (answer->retry_after_s < 0 || answer->retry_after_s > LONGEST_WAIT_S)
		return false;
	if (status == 409)
		return is_code(&answer->body, "in_progress") || is_code(&answer->body, "inputs_changed");
	return status == 429 || status == 500 || status == 503;
}

static void wait_seconds(long seconds)
{
	struct timespec left = {.tv_sec = seconds};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

static int reply_fill(struct answer *answer, long status, struct client_reply *ret_reply)
{
	struct client_reply reply = {.status = status, .retry_after_s = answer->retry_after_s};

	snprintf(reply.etag, sizeof(reply.etag), "%s", answer->etag);
	if (buf_error(&answer->body) < 0)
		return buf_error(&answer->body);
	reply.bytes = buf_take(&answer->body, &reply.len);
	if (reply.bytes == NULL)
		reply.bytes = strdup("");
	if (reply.bytes == NULL)
		return -ENOMEM;
	if (json_parse((struct str){reply.bytes, reply.len}, &reply.json, NULL) != 0)
		reply.json = NULL;
	*ret_reply = reply;
	return 0;
}

static void answer_release(struct answer *answer)
{
	buf_release(&answer->body);
}

int client_call(struct client *client, const struct client_request *request, struct client_reply *ret_reply)
{
	CLEANUP(answer_release) struct answer answer = {.request = request, .curl = client->curl, .retry_after_s = -1};
	long status = 0;
	int result = 0;

	buf_init(&answer.body, REPLY_CEILING);
	client->error[0] = '\0';
	for (int count = 1; count <= ATTEMPTS; count++) {
		result = attempt(client, request, &answer, &status);
		if (result != CLIENT_NO_ANSWER && (result != 0 || !wants_repeat(&answer, status)))
			break;
		if (count == ATTEMPTS || answer.has_pieces || request->is_once)
			break;
		if (client->says_why)
			fprintf(stderr, "admitctl: %s, asking again (%d of %d)\n",
				result == CLIENT_NO_ANSWER ? "no answer" : "the daemon is busy", count + 1, ATTEMPTS);
		wait_seconds(result == CLIENT_NO_ANSWER ? count - 1 : answer.retry_after_s);
	}
	return result != 0 ? result : reply_fill(&answer, status, ret_reply);
}

/* ---- an answer that doesn't end */

struct following {
	struct client *client;
	const struct client_feed *feed;
	struct answer answer; /* what is no feed */
	struct buf line;
	bool is_enough;
};

static void following_release(struct following *following)
{
	buf_release(&following->answer.body);
	buf_release(&following->line);
}

static size_t on_feed(char *bytes, size_t size, size_t count, void *context)
{
	struct following *following = context;
	struct buf *line = &following->line;
	long status = 0;

	curl_easy_getinfo(following->client->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200)
		return on_body(bytes, size, count, &following->answer);
	for (size_t i = 0; i < size * count && !following->is_enough; i++) {
		if (bytes[i] != '\n') {
			buf_putc(line, bytes[i]);
			continue;
		}
		following->is_enough = !following->feed->on_line(following->feed->arg, buf_str(line));
		buf_reset(line);
	}
	return following->is_enough || buf_error(line) < 0 ? 0 : size * count;
}

static int on_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	struct following *following = context;

	(void)down_total, (void)down, (void)up_total, (void)up;
	if (following->feed->on_tick != NULL && !following->feed->on_tick(following->feed->arg))
		following->is_enough = true;
	return following->is_enough;
}

static void set_feed(struct client *client, struct following *following)
{
	enum { SILENT_S = 60 };

	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, on_feed);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, following);
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, 0L);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
	curl_easy_setopt(client->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(client->curl, CURLOPT_XFERINFODATA, following);
	curl_easy_setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
}

int client_follow(struct client *client, const struct client_request *request, const struct client_feed *feed,
	struct client_reply *ret_reply)
{
	CLEANUP(following_release)
	struct following following = {
		.client = client, .feed = feed, .answer = {.request = request, .retry_after_s = -1}};
	CLEANUP(slist_drop) struct curl_slist *headers = NULL;
	CLEANUP(free_drop) char *url = NULL;
	long status = 0;
	int error = make_headers(client, request, &headers);

	buf_init(&following.answer.body, REPLY_CEILING);
	buf_init(&following.line, REPLY_CEILING);
	client->error[0] = client->curl_error[0] = '\0';
	if (error < 0)
		return error;
	if (asprintf(&url, "%s%s", client->url, request->path) < 0) {
		url = NULL;
		return -ENOMEM;
	}
	set_request(client, request, url, headers, &following.answer);
	set_feed(client, &following);
	error = result_of(client, curl_easy_perform(client->curl));
	if (error != 0 && !following.is_enough)
		return error;
	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	return reply_fill(&following.answer, status, ret_reply);
}

void client_reply_release(struct client_reply *reply)
{
	free(reply->bytes);
	json_decref(reply->json);
	*reply = (struct client_reply){0};
}

int client_new_key(char ret_key[static CLIENT_KEY_SIZE])
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret_key + 2 * i, 3, "%02x", (unsigned)bytes[i]);
	return 0;
}
