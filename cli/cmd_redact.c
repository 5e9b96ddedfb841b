/* admitctl redact: a stream on its way to wherever it is kept, without its secrets (chapter 5.7). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/secret_filter.h"
#include "cli/commands.h"
#include "cli/secrets.h"
#include "policy/cleanup.h"

enum { PIECE = 64 * 1024, FILES_MOST = 1000 };

static void filter_drop(struct secret_filter *filter)
{
	secret_filter_release(filter);
}

static void descriptor_drop(int *descriptor)
{
	if (*descriptor > STDERR_FILENO)
		close(*descriptor);
}

/* One piece on: 0 at the end of the stream. */
static ssize_t pass_piece(struct cli *cli, int descriptor, struct secret_filter *filter, const char *what)
{
	static char bytes[PIECE];
	ssize_t len = read(descriptor, bytes, sizeof(bytes));
	int r = 0;

	if (len < 0 && errno == EINTR)
		return 1;
	if (len < 0) {
		cli_say_error(what, -errno);
		return -1;
	}
	r = len == 0 ? secret_filter_end(filter, &cli->out)
		     : secret_filter_feed(filter, (struct str){bytes, (size_t)len}, &cli->out);
	if (r < 0)
		cli_say_error(what, r);
	return r < 0 || cli_flush(cli) != 0 ? -1 : len;
}

static int pass(struct cli *cli, const char *path, const struct secret_mask *mask)
{
	bool is_file = path != NULL && strcmp(path, "-") != 0;
	CLEANUP(descriptor_drop) int descriptor = is_file ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	CLEANUP(filter_drop) struct secret_filter filter = {0};
	ssize_t passed = 1;

	secret_filter_init(&filter, mask);
	if (descriptor < 0)
		return cli_say_error(path, -errno);
	while (passed > 0)
		passed = pass_piece(cli, descriptor, &filter, is_file ? path : "standard input");
	return passed == 0 ? CLI_DONE : CLI_REFUSED;
}

static int add_all(struct cli *cli, struct secrets *secrets)
{
	size_t at = 0;
	const char *given;
	int result = 0;

	while (result == 0 && (given = args_next(&cli->args, "secrets", &at)) != NULL)
		result = secrets_add_file(cli, secrets, given);
	at = 0;
	while (result == 0 && (given = args_next(&cli->args, "env", &at)) != NULL) {
		const char *value = getenv(given);

		/* One that isn't set is nobody's secret. */
		if (value != NULL && *value != '\0')
			result = secrets_add(cli, secrets, (struct str){value, strlen(value)}, given);
	}
	return result;
}

static int run(struct cli *cli)
{
	struct secrets *secrets = ARENA_NEW(&cli->arena, struct secrets);
	struct secret_mask mask;
	int result = secrets != NULL ? add_all(cli, secrets) : cli_say_error("the secrets", -ENOMEM);

	if (result == 0)
		result = secrets_mask(cli, secrets, &mask);
	if (result == 0 && cli->args.word_count == 0)
		result = pass(cli, NULL, &mask);
	for (size_t i = 0; result == 0 && i < cli->args.word_count; i++)
		result = pass(cli, args_word(&cli->args, i), &mask);
	return result;
}

static const struct args_option options[] = {
	{"secrets", 0, ARGS_LIST, "FILE",
		"known secrets, a JSON array of texts; a run's lie in its folder's secrets.json"},
	{"env", 0, ARGS_LIST, "NAME", "the value of this variable is one"},
	{0},
};

const struct cli_command cmd_redact = {
	.name = "redact",
	.synopsis = "[FILE...] [--secrets FILE] [--env NAME]",
	.summary = "Take the secrets out of what a program prints",
	.text = "Reads files or standard input and passes it on, line by line, with a mask for each known secret (as "
		"it is,\n"
		"JSON-escaped, percent-encoded or in base64, also when it is split over two reads) and for whatever "
		"the\n"
		"redactor knows by its shape. Lines without one leave as they came.",
	.examples = "admitctl redact --secrets run-5c1f/secrets.json < agent.log\n"
		    "agent 2>&1 | admitctl redact --env ISSUE_TOKEN > agent.log",
	.options = options,
	.max_words = FILES_MOST,
	.is_local = true,
	.run = run,
};
