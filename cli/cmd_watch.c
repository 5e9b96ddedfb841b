/* admitctl watch: the queue as it is on a terminal, the log as it grows anywhere else. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/queue_view.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum {
	TRIES = 60,      /* to be connected again, a second apart */
	DRAW_MS = 250,   /* between two drawings */
	ROWS_SHOWN = 40, /* of the queue */
	DRAW_CEILING = 16 * 1024 * 1024,
};

struct watch {
	struct cli *cli;
	bool draws;
	bool is_stale; /* something happened since it was drawn */
	bool was_told; /* the daemon has said something at least once */
	int result;    /* of what a line led to */
	long left;     /* events to print; -1: no end */
	char after[32];
	long long drawn_ms;
};

static long long now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int draw_queue(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *project = args_text(&cli->args, "project");
	const char *path = cli_printf(cli, "/v1/recovery?limit=%d%s%s", ROWS_SHOWN, project != NULL ? "&project=" : "",
		project != NULL ? cli_segment(cli, project) : "");
	int result = cli_call(cli, "GET", path, (struct str){0}, &reply);

	if (result != 0)
		return result;
	buf_puts(&cli->out, "\033[H\033[2J");
	queue_view_head(cli, reply.json);
	if (json_array_size(json_object_get(reply.json, "items")) > 0) {
		buf_putc(&cli->out, '\n');
		result = queue_view_table(cli, json_object_get(reply.json, "items"), ROWS_SHOWN);
	}
	if (json_is_string(json_object_get(reply.json, "next")))
		buf_puts(&cli->out, "and more: admitctl recovery\n");
	return result != 0 ? result : cli_flush(cli);
}

/* This may go on for days: what a drawing takes from the run's arena is given back after it. */
static int draw(struct watch *watch)
{
	struct cli *cli = watch->cli;
	struct arena kept = cli->arena;
	int result;

	arena_init(&cli->arena, DRAW_CEILING);
	result = draw_queue(cli);
	arena_release(&cli->arena);
	cli->arena = kept;
	watch->is_stale = false;
	watch->drawn_ms = now_ms();
	return result;
}

static bool is_sign(const char *type)
{
	return strcmp(type, "beat") == 0 || strcmp(type, "reset") == 0;
}

/* Printed as it came: it is one line of JSON. */
static bool print(struct watch *watch, struct str line)
{
	buf_add_str(&watch->cli->out, line);
	buf_putc(&watch->cli->out, '\n');
	watch->result = cli_flush(watch->cli);
	if (watch->left > 0)
		watch->left--;
	return watch->result == 0 && watch->left != 0;
}

static bool on_line(void *arg, struct str line)
{
	CLEANUP(json_drop) json_t *json = NULL;
	struct watch *watch = arg;
	const char *type;

	if (json_parse(line, &json, NULL) != 0) {
		cli_say("the daemon sent a line that is no JSON");
		watch->result = CLI_UNREACHABLE;
		return false;
	}
	type = document_text_or_empty(json, "type");
	(void)snprintf(watch->after, sizeof(watch->after), "%s", document_text_or_empty(json, "id"));
	watch->is_stale = watch->is_stale || !watch->was_told || strcmp(type, "beat") != 0;
	watch->was_told = true;
	return watch->draws || is_sign(type) ? true : print(watch, line);
}

static bool on_tick(void *arg)
{
	struct watch *watch = arg;

	if (!watch->draws || !watch->is_stale || now_ms() - watch->drawn_ms < DRAW_MS)
		return true;
	watch->result = draw(watch);
	return watch->result == 0;
}

static void wait_a_second(void)
{
	struct timespec left = {.tv_sec = 1};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

static const char *path_of(struct watch *watch)
{
	struct cli *cli = watch->cli;
	const char *project = args_text(&cli->args, "project");
	const char *path = "/v1/events";

	if (project != NULL)
		path = cli_printf(cli, "%s?project=%s", path, cli_segment(cli, project));
	if (watch->after[0] != '\0')
		path = cli_printf(
			cli, "%s%cafter=%s", path, project != NULL ? '&' : '?', cli_segment(cli, watch->after));
	return path;
}

/* Whoever was connected once is connected again: the daemon may have been restarted. */
static int follow(struct watch *watch)
{
	const struct client_feed feed = {.on_line = on_line, .on_tick = on_tick, .arg = watch};
	bool was_connected = false;
	int result = 0;

	for (int tries = 0; tries < TRIES; tries++) {
		watch->was_told = false;
		result = cli_follow(watch->cli, path_of(watch), &feed);
		if (watch->result != 0 || watch->left == 0)
			return watch->result;
		if (watch->was_told)
			tries = 0;
		was_connected = was_connected || watch->was_told;
		if (!was_connected || (result != 0 && result != CLI_UNREACHABLE))
			break;
		wait_a_second();
	}
	return result != 0 ? result : CLI_UNREACHABLE;
}

static int run(struct cli *cli)
{
	struct watch watch = {.cli = cli, .left = -1, .draws = !cli->json && isatty(STDOUT_FILENO)};
	const char *after = args_text(&cli->args, "after");
	int result = cli_number(cli, "count", 1, 1000000, &watch.left);

	if (result != 0)
		return result;
	if (after != NULL)
		(void)snprintf(watch.after, sizeof(watch.after), "%s", after);
	return follow(&watch);
}

static const struct args_option options[] = {
	{"project", 0, ARGS_TEXT, "ID", "only of this project"},
	{"after", 0, ARGS_TEXT, "EVENT", "begin behind this event instead of now"},
	{"count", 0, ARGS_TEXT, "NUMBER", "end after so many events"},
	{0},
};

const struct cli_command cmd_watch = {
	.name = "watch",
	.synopsis = "[--project ID] [--after EVENT] [--count NUMBER]",
	.summary = "Show the queue live on a terminal, the log as JSON lines elsewhere",
	.text = "On a terminal it draws what waits for a person, again whenever something happens. Otherwise, or\n"
		"with --json, it prints each event as one line. When the daemon goes it waits a minute for it, and\n"
		"goes on behind the last event.",
	.examples = "admitctl watch\n"
		    "admitctl watch --project tracker --json\n"
		    "admitctl watch --after 4711 --count 10 --json",
	.options = options,
	.run = run,
};
