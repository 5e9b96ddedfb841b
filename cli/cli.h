/* cli.h - what every command of admitctl shares: its description, its context, and how it ends (chapter 4.3).
 *
 * main.c finds the command, reads its options, and calls it with a context. A command writes what it has to show to
 * `out`, which main prints at the end, and says on standard error what went wrong. With --json what is shown is the
 * daemon's own answer. One thread.
 */
#ifndef ADMITD_CLI_CLI_H
#define ADMITD_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/args.h"
#include "cli/client.h"
#include "cli/table.h"
#include "policy/arena.h"
#include "policy/buf.h"
#include "policy/catalog.h"

/* Exit codes, which scripts rely on. */
enum cli_exit {
	CLI_DONE = 0,
	CLI_REFUSED = 1,     /* refused or blocked */
	CLI_USAGE = 2,       /* the command line, or a file that it names */
	CLI_UNREACHABLE = 3, /* no daemon, no answer, or one that asks to come again later */
};

struct cli {
	const struct cli_command *command;
	struct args args;
	struct arena arena; /* for the run */
	struct table_style style;
	struct buf out;
	bool json;
	long extra_timeout_s;  /* what the daemon was asked to wait, beyond --timeout; set before the first call */
	struct client *client; /* NULL before the first call */
};

struct cli_command {
	const char *name; /* one or two words: "task submit" */
	const char *synopsis;
	const char *summary;               /* one line for the list of commands */
	const char *text;                  /* paragraphs */
	const char *examples;              /* lines that can be copied */
	const struct args_option *options; /* NULL: none of its own */
	size_t min_words;
	size_t max_words;
	bool is_local;               /* never talks to a daemon */
	int (*run)(struct cli *cli); /* an exit code */
};

/* Says one line on standard error, harmless whatever its arguments hold. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what a -errno is about and gives the exit code: usage for files, refused for the rest. */
int cli_say_error(const char *what, int error);

/* A path segment, percent-encoded, in the run's arena; NULL when memory is out. */
const char *cli_segment(struct cli *cli, const char *text);

/* printf into the run's arena; stops the program when memory is out: a command line has nothing to save. */
const char *cli_printf(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3), returns_nonnull));

/* Opens a client of the daemon that the options name. 0 and *ret_client, which the caller closes, or an exit code after saying why. */
int cli_open_client(struct cli *cli, struct client **ret_client) MUST_USE;

/* Calls the daemon. 0 with an answer below 400; else an exit code after the problem was said (or, with --json, shown as it
 * came). *ret_reply is to be released in both cases; its status is 0 without an answer. A POST carries a key: the one of
 * --idempotency-key, or a fresh one.
 */
int cli_call(struct cli *cli, const char *method, const char *path, struct str body,
	struct client_reply *ret_reply) MUST_USE;

/* The same, and an answer whose `code` is `expected` is the caller's to show: CLI_REFUSED, and nothing was said. */
int cli_call_expecting(struct cli *cli, const char *method, const char *path, struct str body, const char *expected,
	struct client_reply *ret_reply) MUST_USE;

/* The same, only where the entity tag is still this one; NULL: whatever it is. */
int cli_call_if(struct cli *cli, const char *method, const char *path, struct str body, const char *if_match,
	struct client_reply *ret_reply) MUST_USE;
/* A call whose answer is a file: its bytes go to `on_bytes`, which may end the call. 0 or an exit code after saying why. */
int cli_call_bytes(struct cli *cli, const char *method, const char *path, bool (*on_bytes)(void *arg, struct str bytes),
	void *arg) MUST_USE;
/* A call (a GET without a body) whose answer is a job's lines: progress is told on a terminal's standard error while it waits. 0 and *ret_result, owned by
 * the caller, which with --json was shown already; or an exit code after saying why. */
int cli_call_job(struct cli *cli, const char *path, struct str body, json_t **ret_result) MUST_USE;
/* Follows an answer of JSON lines that doesn't end, with a client of its own: 0 when it ended or was enough; else an exit code after
 * the problem was said. */
int cli_follow(struct cli *cli, const char *path, const struct client_feed *feed) MUST_USE;

/* For CLEANUP(). */
void cli_reply_drop(struct client_reply *reply);
void cli_buf_drop(struct buf *buf);

/* Shows the answer as it came. */
void cli_show_raw(struct cli *cli, const struct client_reply *reply);

/* Prints what `out` holds and empties it. 0, or an exit code after saying why. main does it at the end. */
int cli_flush(struct cli *cli) MUST_USE;

/* Says that the command line is not what the command takes, and how it is. Gives CLI_USAGE. */
int cli_say_usage(const struct cli *cli, const char *what);

/* The number of an option; *ret_number stays when it was not given. 0, or CLI_USAGE after saying the range. */
int cli_number(const struct cli *cli, const char *option, long least, long most, long *ret_number) MUST_USE;

/* Loads --catalog, or the one that is compiled in. 0 and *ret_catalog, owned by the caller, or an exit code after saying
 * why. */
int cli_catalog(struct cli *cli, struct catalog **ret_catalog) MUST_USE;

/* A secret's new file, mode 0600, made before the secret is asked for: what the daemon says once must not be lost to a path that
 * can't be written. NULL as `path`: no file, and the others do nothing. 0 or an exit code after saying why.
 */
struct cli_secret {
	const char *path;
	int descriptor;
};
int cli_secret_open(struct cli_secret *ret_file, const char *path) MUST_USE;
/* Writes secret and line feed. 0 or an exit code after saying why. */
int cli_secret_write(struct cli_secret *file, const char *secret) MUST_USE;
/* Closes it, and takes it away again when nothing was written; for CLEANUP(). */
void cli_secret_close(struct cli_secret *file);

/* The list, ended by NULL, in the order of the help. */
extern const struct cli_command *const cli_commands[];
/* Options that every command takes. */
extern const struct args_option cli_options[];
/* Options of commands that talk to a daemon. */
extern const struct args_option cli_daemon_options[];

/* Appends the help of the program, or of one command. */
void cli_help(struct buf *out);
void cli_help_of(struct buf *out, const struct cli_command *command);

#endif
