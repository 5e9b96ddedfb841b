#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"
#include "prober/check.h"
#include "prober/child.h"
#include "prober/deadline.h"
#include "prober/exchange.h"

enum { GRACE_MS = 500, READ_BYTES = 16 * 1024 };

struct check_child {
	struct child child;
};

/* A conversation with the server's pipes. */
struct talk {
	struct check *check;
	struct child *child;
	struct buf from; /* what was read and not used yet */
	size_t used;
};

static void talk_drop(struct talk *talk)
{
	buf_release(&talk->from);
}

/* ---- which file is run */

/* The command as it is configured, or its last part. */
static bool is_command(struct str allowed, struct str command)
{
	const char *slash = memrchr(allowed.bytes, '/', allowed.len);
	struct str last = {slash + 1, allowed.len - (size_t)(slash + 1 - allowed.bytes)};

	return str_equal(allowed, command) || str_equal(last, command);
}

static const char *find_path(const struct check *check)
{
	for (size_t i = 0; i < check->allowed->command_count; i++)
		if (is_command(check->allowed->commands[i], check->spec->command))
			return arena_copy(check->finding->arena, check->allowed->commands[i].bytes,
				check->allowed->commands[i].len);
	return NULL;
}

static char **make_arguments(const struct check *check, const char *path)
{
	const struct spec *spec = check->spec;
	char **argv = ARENA_ARRAY(check->finding->arena, spec->arg_count + 2, char *);

	if (argv == NULL)
		return NULL;
	argv[0] = arena_copy(check->finding->arena, path, strlen(path));
	for (size_t i = 0; i < spec->arg_count; i++)
		argv[i + 1] = arena_copy(check->finding->arena, spec->args[i].bytes, spec->args[i].len);
	return argv;
}

static char **make_environment(const struct check *check)
{
	const struct spec *spec = check->spec;
	char **environment = ARENA_ARRAY(check->finding->arena, spec->value_count + 1, char *);

	if (environment == NULL)
		return NULL;
	for (size_t i = 0; i < spec->value_count; i++) {
		const struct spec_value *value = &spec->values[i];
		struct str line = arena_printf(check->finding->arena, "%.*s=%.*s", (int)value->name.len,
			value->name.bytes, (int)value->value.len, value->value.bytes);

		environment[i] = (char *)(uintptr_t)line.bytes;
	}
	return environment;
}

/* ---- talking */

static int wait_for(struct talk *talk, int fd, short events)
{
	struct pollfd waited = {.fd = fd, .events = events};
	int r = 0;

	do
		r = poll(&waited, 1, deadline_left_ms(talk->check->end_ms));
	while (r < 0 && errno == EINTR);
	if (r == 0)
		finding_set(talk->check->finding, HEALTH_UNHEALTHY, "it doesn't answer in time");
	return r > 0 ? 0 : EXCHANGE_FAILED;
}

static int send_step(struct talk *talk, enum exchange_step step)
{
	struct str line = arena_printf(talk->check->finding->arena, "%s\n", exchange_message(step).bytes);

	if (line.bytes == NULL)
		return EXCHANGE_FAILED;
	while (line.len > 0) {
		ssize_t wrote = write(talk->child->to, line.bytes, line.len);

		if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
			finding_set(talk->check->finding, HEALTH_UNHEALTHY, "it ended before it answered");
			return EXCHANGE_FAILED;
		}
		if (wrote < 0 && wait_for(talk, talk->child->to, POLLOUT) != 0)
			return EXCHANGE_FAILED;
		line.bytes += wrote > 0 ? wrote : 0;
		line.len -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

/* The next whole line; NULL bytes: it isn't there yet. */
static struct str take_line(struct talk *talk)
{
	const char *start = talk->from.bytes + talk->used;
	size_t left = talk->from.len - talk->used;
	const char *end = left > 0 ? memchr(start, '\n', left) : NULL;

	if (end == NULL)
		return (struct str){0};
	talk->used += (size_t)(end - start) + 1;
	return (struct str){start, (size_t)(end - start)};
}

static int read_more(struct talk *talk)
{
	char bytes[READ_BYTES];
	ssize_t got = 0;

	if (wait_for(talk, talk->child->from, POLLIN) != 0)
		return EXCHANGE_FAILED;
	got = read(talk->child->from, bytes, sizeof(bytes));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) {
		finding_set(talk->check->finding, HEALTH_UNHEALTHY, "it ended before it answered");
		return EXCHANGE_FAILED;
	}
	buf_add(&talk->from, bytes, (size_t)got);
	if (buf_error(&talk->from) != 0)
		finding_set(talk->check->finding, HEALTH_UNHEALTHY, "it sends more than 1 MiB");
	return buf_error(&talk->from) != 0 ? EXCHANGE_FAILED : 0;
}

static int hear_step(struct talk *talk, enum exchange_step step)
{
	int r = EXCHANGE_GOES_ON;

	while (r == EXCHANGE_GOES_ON) {
		struct str line = take_line(talk);

		if (line.bytes == NULL) {
			r = read_more(talk) == 0 ? EXCHANGE_GOES_ON : EXCHANGE_FAILED;
			continue;
		}
		r = exchange_read(talk->check->finding, step, line, NULL);
	}
	return r;
}

static void hold_talk(struct check *check, struct child *child)
{
	CLEANUP(talk_drop) struct talk talk = {.check = check, .child = child};
	int r = 0;

	buf_init(&talk.from, EXCHANGE_ANSWER_LIMIT);
	r = send_step(&talk, EXCHANGE_INITIALIZE);
	if (r == 0)
		r = hear_step(&talk, EXCHANGE_INITIALIZE);
	if (r == 0)
		r = send_step(&talk, EXCHANGE_INITIALIZED);
	if (r == 0)
		r = send_step(&talk, EXCHANGE_LIST);
	if (r == 0)
		r = hear_step(&talk, EXCHANGE_LIST);
	if (r == 0)
		finding_healthy(check->finding);
}

/* ---- the check */

static void tell_start(struct finding *finding, int error)
{
	if (error == -ENOENT || error == -ENOTDIR) {
		finding->install_state = HEALTH_MISSING;
		finding_set(finding, HEALTH_CONFIGURATION_REQUIRED, "its command isn't installed");
	} else if (error == -EACCES || error == -ENOEXEC || error == -EPERM) {
		finding_set(finding, HEALTH_CONFIGURATION_REQUIRED, "its command can't be executed");
	} else {
		finding_set(finding, HEALTH_UNKNOWN, "it couldn't be started");
	}
}

void check_stdio(struct check *check, struct check_child **ret_child)
{
	struct finding *finding = check->finding;
	const char *path = find_path(check);
	char **argv = path != NULL ? make_arguments(check, path) : NULL;
	char **environment = make_environment(check);
	struct check_child *child = calloc(1, sizeof(*child));
	int r = 0;

	*ret_child = NULL;
	if (path == NULL)
		finding_set(finding, HEALTH_CONFIGURATION_REQUIRED,
			"its command isn't among those that the daemon may run ([servers] commands)");
	if (path == NULL || finding->arena->failed || child == NULL) {
		free(child);
		return;
	}
	r = child_start(&child->child, path, argv, environment);
	if (r != 0) {
		tell_start(finding, r);
		free(child);
		return;
	}
	*ret_child = child;
	hold_talk(check, &child->child);
}

void check_stdio_end(struct check_child *child)
{
	if (child == NULL)
		return;
	child_end(&child->child, GRACE_MS);
	free(child);
}
