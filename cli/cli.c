#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/credential.h"
#include "cli/document.h"
#include "cli/problem.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

enum { MESSAGE_CEILING = 64 * 1024, SECONDS_DEFAULT = 30, SECONDS_LIMIT = 3600 };

static const char default_url[] = "http://127.0.0.1:7333";

void cli_reply_drop(struct client_reply *reply)
{
	client_reply_release(reply);
}

void cli_buf_drop(struct buf *buf)
{
	buf_release(buf);
}

void cli_say(const char *format, ...)
{
	CLEANUP(free_drop) char *message = NULL;
	CLEANUP(cli_buf_drop) struct buf shown = {0};
	va_list arguments;
	int length;

	buf_init(&shown, MESSAGE_CEILING);
	va_start(arguments, format);
	length = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (length < 0) {
		message = NULL;
		return;
	}
	table_text(&shown, (struct str){message, (size_t)length});
	fprintf(stderr, "admitctl: %s\n", buf_str(&shown).bytes);
}

int cli_say_error(const char *what, int error)
{
	if (error == -EMSGSIZE) {
		cli_say("%s: too large", what);
		return CLI_USAGE;
	}
	cli_say("%s: %s", what, strerror(-error));
	return error == -ENOMEM || error == -EIO ? CLI_REFUSED : CLI_USAGE;
}

const char *cli_printf(struct cli *cli, const char *format, ...)
{
	CLEANUP(free_drop) char *text = NULL;
	va_list arguments;
	char *copy;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		text = NULL;
	copy = text == NULL ? NULL : arena_copy(&cli->arena, text, (size_t)length);
	if (copy == NULL) {
		fputs("admitctl: out of memory\n", stderr);
		exit(CLI_REFUSED);
	}
	return copy;
}

const char *cli_segment(struct cli *cli, const char *text)
{
	char *out = arena_alloc(&cli->arena, 3 * strlen(text) + 1);
	char *at = out;

	if (out == NULL)
		return NULL;
	for (; *text != '\0'; text++) {
		unsigned byte = (unsigned char)*text;

		if (isalnum((int)byte) || strchr("-._~", (int)byte) != NULL)
			*at++ = (char)byte;
		else
			at += snprintf(at, 4, "%%%02X", byte);
	}
	return out;
}

int cli_flush(struct cli *cli)
{
	int error = buf_error(&cli->out);

	if (error < 0)
		return cli_say_error("the output", error);
	if (fwrite(buf_str(&cli->out).bytes, 1, cli->out.len, stdout) != cli->out.len || fflush(stdout) != 0) {
		cli_say("the output: %s", strerror(errno));
		return CLI_REFUSED;
	}
	buf_reset(&cli->out);
	return 0;
}

int cli_say_usage(const struct cli *cli, const char *what)
{
	cli_say("%s", what);
	cli_say("usage: admitctl %s %s", cli->command->name, cli->command->synopsis);
	return CLI_USAGE;
}

int cli_number(const struct cli *cli, const char *option, long least, long most, long *ret_number)
{
	const char *text = args_text(&cli->args, option);
	char *end = NULL;
	long number;

	if (text == NULL)
		return 0;
	number = strtol(text, &end, 10);
	if (end == text || *end != '\0' || number < least || number > most) {
		cli_say("--%s takes a number from %ld to %ld", option, least, most);
		return CLI_USAGE;
	}
	*ret_number = number;
	return 0;
}

static const char *url_of(const struct cli *cli)
{
	const char *url = args_text(&cli->args, "url");

	if (url == NULL)
		url = getenv("ADMITD_URL");
	return url == NULL || *url == '\0' ? default_url : url;
}

static const char *cacert_of(const struct cli *cli)
{
	const char *path = args_text(&cli->args, "cacert");

	if (path == NULL)
		path = getenv("ADMITD_CACERT");
	return path == NULL || *path == '\0' ? NULL : path;
}

int cli_open_client(struct cli *cli, struct client **ret_client)
{
	CLEANUP(credential_drop) char *token = NULL;
	struct client_options options = {.url = url_of(cli), .cacert = cacert_of(cli), .says_why = true};
	long timeout_s = SECONDS_DEFAULT;
	int result = cli_number(cli, "timeout", 1, SECONDS_LIMIT, &timeout_s);

	if (result == 0)
		result = credential_read(&cli->args, &token);
	if (result != 0)
		return result;
	options.token = token;
	options.timeout_ms = (timeout_s + cli->extra_timeout_s) * 1000;
	result = client_open(&options, ret_client);
	if (result == CLIENT_BAD_URL) {
		cli_say("%s: not a URL like %s or https://admit.example, without user, query or fragment, nor "
			"unix:/PATH of a socket",
			options.url, default_url);
		return CLI_USAGE;
	}
	return result == 0 ? 0 : cli_say_error("the HTTP client", result);
}

/* NULL: something may have been sent. */
static const char *unsent_advice(int result)
{
	switch (result) {
	case CLIENT_UNREACHABLE:
		return "is admitd running there? (--url, ADMITD_URL)";
	case CLIENT_UNTRUSTED:
		return "its certificate isn't trusted: the URL's host must stand in it, and --cacert FILE or "
		       "ADMITD_CACERT "
		       "names the certificate that issued it";
	case CLIENT_NO_TLS:
		return "if plain HTTP is spoken there, the URL begins with http://";
	case CLIENT_BAD_CACERT:
		return "--cacert and ADMITD_CACERT take a file of certificates in PEM";
	default:
		return NULL;
	}
}

/* What a person does about a call that brought no answer. */
static int say_no_answer(
	const struct cli *cli, const struct client *client, int result, const struct client_request *request)
{
	if (result < 0)
		return cli_say_error(request->path, result);
	cli_say("%s: %s", url_of(cli), client_error(client));
	if (result == CLIENT_NO_ANSWER && strncasecmp(url_of(cli), "http://", 7) == 0)
		cli_say("if TLS is spoken there, the URL begins with https://");
	if (unsent_advice(result) != NULL)
		cli_say("nothing was sent; %s", unsent_advice(result));
	else if (request->idempotency_key != NULL)
		cli_say("no answer came, so it may or may not have happened; the same command with "
			"--idempotency-key %s tells, and does it at most once",
			request->idempotency_key);
	return result == CLIENT_BAD_URL || result == CLIENT_BAD_CACERT ? CLI_USAGE : CLI_UNREACHABLE;
}

static int key_of(const struct cli *cli, const char *method, char fresh[static CLIENT_KEY_SIZE], const char **ret_key)
{
	int error;

	if (strcmp(method, "POST") != 0)
		return 0;
	*ret_key = args_text(&cli->args, "idempotency-key");
	if (*ret_key != NULL)
		return 0;
	error = client_new_key(fresh);
	if (error < 0)
		return cli_say_error("random bytes", error);
	*ret_key = fresh;
	return 0;
}

void cli_show_raw(struct cli *cli, const struct client_reply *reply)
{
	buf_add(&cli->out, reply->bytes, reply->len);
	if (reply->len > 0 && reply->bytes[reply->len - 1] != '\n')
		buf_putc(&cli->out, '\n');
}

static int problem_exit(long status)
{
	return status == 429 || status >= 502 ? CLI_UNREACHABLE : CLI_REFUSED;
}

/* Makes the call that `request` describes, but for its key. */
static int make_call(
	struct cli *cli, struct client_request *request, const char *expected, struct client_reply *ret_reply)
{
	char fresh[CLIENT_KEY_SIZE];
	const char *code;
	int result = cli->client == NULL ? cli_open_client(cli, &cli->client) : 0;

	if (result == 0)
		result = key_of(cli, request->method, fresh, &request->idempotency_key);
	if (result != 0)
		return result;
	result = client_call(cli->client, request, ret_reply);
	if (result != 0)
		return say_no_answer(cli, cli->client, result, request);
	if (ret_reply->status >= 200 && ret_reply->status < 300)
		return 0;
	code = document_text(ret_reply->json, "code");
	if (cli->json)
		cli_show_raw(cli, ret_reply);
	else if (code == NULL || expected == NULL || strcmp(code, expected) != 0)
		problem_say(ret_reply);
	return problem_exit(ret_reply->status);
}

int cli_call_expecting(struct cli *cli, const char *method, const char *path, struct str body, const char *expected,
	struct client_reply *ret_reply)
{
	struct client_request request = {.method = method, .path = path, .body = body};

	return make_call(cli, &request, expected, ret_reply);
}

int cli_call_if(struct cli *cli, const char *method, const char *path, struct str body, const char *if_match,
	struct client_reply *ret_reply)
{
	struct client_request request = {.method = method, .path = path, .body = body, .if_match = if_match};

	return make_call(cli, &request, NULL, ret_reply);
}

/* ---- jobs */

/* On a terminal each line takes the place of the one before. */
static void tell_progress(void *arg, struct str line)
{
	CLEANUP(json_drop) json_t *json = NULL;
	const json_t *progress;

	(void)arg;
	if (!isatty(STDERR_FILENO) || json_parse(line, &json, NULL) != 0)
		return;
	progress = json_object_get(json, "progress");
	if (progress == NULL)
		(void)fprintf(stderr, "\r\033[K");
	else
		(void)fprintf(stderr, "\r%lld of %lld ",
			(long long)json_integer_value(json_object_get(progress, "done")),
			(long long)json_integer_value(json_object_get(progress, "total")));
}

static struct str last_line(const struct client_reply *reply)
{
	size_t end = reply->len;
	size_t at;

	while (end > 0 && reply->bytes[end - 1] == '\n')
		end--;
	at = end;
	while (at > 0 && reply->bytes[at - 1] != '\n')
		at--;
	return (struct str){reply->bytes + at, end - at};
}

static int take_result(struct cli *cli, const struct client_reply *reply, json_t **ret_result)
{
	CLEANUP(json_drop) json_t *last = NULL;
	json_t *result = NULL;
	json_t *problem = NULL;

	if (json_parse(last_line(reply), &last, NULL) == 0) {
		result = json_object_get(last, "result");
		problem = json_object_get(last, "problem");
	}
	if (problem != NULL) {
		cli_say("%s (%s)", document_text_or_empty(problem, "title"), document_text_or_empty(problem, "code"));
		return problem_exit((long)json_integer_value(json_object_get(problem, "status")));
	}
	if (result == NULL) {
		cli_say("the answer ended before its result; the daemon was stopped, ask again");
		return CLI_UNREACHABLE;
	}
	if (cli->json) {
		struct json_out out;

		json_out_init(&out, &cli->out);
		json_out_canonical(&out, result);
		buf_putc(&cli->out, '\n');
	}
	*ret_result = json_incref(result);
	return 0;
}

int cli_call_job(struct cli *cli, const char *path, struct str body, json_t **ret_result)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	struct client_request request = {.method = body.bytes == NULL ? "GET" : "POST",
		.path = path,
		.body = body,
		.on_line = tell_progress,
		.arg = cli};
	int result = make_call(cli, &request, NULL, &reply);

	return result != 0 ? result : take_result(cli, &reply, ret_result);
}

int cli_call_bytes(
	struct cli *cli, const char *method, const char *path, bool (*on_bytes)(void *arg, struct str bytes), void *arg)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	struct client_request request = {.method = method, .path = path, .on_bytes = on_bytes, .arg = arg};

	return make_call(cli, &request, NULL, &reply);
}

int cli_call(struct cli *cli, const char *method, const char *path, struct str body, struct client_reply *ret_reply)
{
	return cli_call_expecting(cli, method, path, body, NULL, ret_reply);
}

static void client_drop(struct client **client)
{
	client_close(*client);
}

int cli_follow(struct cli *cli, const char *path, const struct client_feed *feed)
{
	CLEANUP(client_drop) struct client *client = NULL;
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const struct client_request request = {.method = "GET", .path = path, .accept = "application/x-ndjson"};
	int result = cli_open_client(cli, &client);

	if (result != 0)
		return result;
	result = client_follow(client, &request, feed, &reply);
	if (result != 0)
		return say_no_answer(cli, client, result, &request);
	if (reply.status == 200)
		return 0;
	problem_say(&reply);
	return problem_exit(reply.status);
}

int cli_catalog(struct cli *cli, struct catalog **ret_catalog)
{
	const char *path = args_text(&cli->args, "catalog");
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct catalog_fault fault = {0};
	int result = 0;

	buf_init(&bytes, DOCUMENT_LIMIT);
	if (path != NULL)
		result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	result = catalog_new(path == NULL ? catalog_default_bytes() : buf_str(&bytes), ret_catalog, &fault);
	if (result == 0)
		return 0;
	if (result < 0)
		return cli_say_error("the catalog", result);
	cli_say("%s: %s: %s", path == NULL ? "the default catalog" : path, fault.pointer, fault.text);
	return CLI_USAGE;
}

int cli_secret_open(struct cli_secret *ret_file, const char *path)
{
	*ret_file = (struct cli_secret){.path = path, .descriptor = -1};
	if (path == NULL)
		return 0;
	ret_file->descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return ret_file->descriptor < 0 ? cli_say_error(path, -errno) : 0;
}

int cli_secret_write(struct cli_secret *file, const char *secret)
{
	int error = 0;

	if (file->path == NULL)
		return 0;
	if (dprintf(file->descriptor, "%s\n", secret) < 0 || fsync(file->descriptor) != 0)
		error = -errno;
	if (close(file->descriptor) != 0 && error == 0)
		error = -errno;
	file->descriptor = -1;
	return error == 0 ? 0 : cli_say_error(file->path, error);
}

void cli_secret_close(struct cli_secret *file)
{
	if (file->descriptor < 0)
		return;
	close(file->descriptor);
	unlink(file->path);
	file->descriptor = -1;
}
