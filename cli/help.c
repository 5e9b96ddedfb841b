#include <string.h>

#include "cli/cli.h"

const struct args_option cli_options[] = {
	{"json", 0, ARGS_FLAG, NULL, "print the answer as JSON, as the daemon gave it"},
	{"no-color", 0, ARGS_FLAG, NULL, "no colour, also on a terminal (like NO_COLOR=1)"},
	{"help", 'h', ARGS_FLAG, NULL, "print this help"},
	{0},
};

const struct args_option cli_daemon_options[] = {
	{"url", 0, ARGS_TEXT, "URL",
		"where admitd listens, unix:/PATH for its socket; else ADMITD_URL, else http://127.0.0.1:7333"},
	{"cacert", 0, ARGS_TEXT, "FILE",
		"certificates to trust with https, in place of the system's; else ADMITD_CACERT"},
	{"token-file", 0, ARGS_TEXT, "FILE", "the token; else that of --state, else ADMITD_TOKEN, else none"},
	{"state", 0, ARGS_TEXT, "DIR", "admitd's state folder, for the admin token of its first start"},
	{"timeout", 0, ARGS_TEXT, "SECONDS", "how long one attempt may take (30)"},
	{"idempotency-key", 0, ARGS_TEXT, "KEY", "repeat a request of which the answer was lost, at most once done"},
	{0},
};

enum { OPTION_COLUMN = 30, COMMAND_COLUMN = 19 };

static void add_padded(struct buf *out, const char *text, size_t column)
{
	size_t length = strlen(text);

	buf_puts(out, text);
	do
		buf_putc(out, ' ');
	while (++length < column);
}

static void add_option(struct buf *out, const struct args_option *option)
{
	char left[128] = "  ";
	size_t used = strlen(left);

	if (option->letter != '\0') {
		left[used++] = '-';
		left[used++] = option->letter;
		left[used++] = ',';
		left[used++] = ' ';
		left[used] = '\0';
	}
	strncat(left, "--", sizeof(left) - strlen(left) - 1);
	strncat(left, option->name, sizeof(left) - strlen(left) - 1);
	if (option->value != NULL) {
		strncat(left, " ", sizeof(left) - strlen(left) - 1);
		strncat(left, option->value, sizeof(left) - strlen(left) - 1);
	}
	add_padded(out, left, OPTION_COLUMN);
	buf_puts(out, option->help);
	buf_putc(out, '\n');
}

static void add_options(struct buf *out, const char *title, const struct args_option *options)
{
	if (options == NULL || options->name == NULL)
		return;
	buf_printf(out, "\n%s\n", title);
	for (; options->name != NULL; options++)
		add_option(out, options);
}

/* Example lines, indented. */
static void add_examples(struct buf *out, const char *examples)
{
	buf_puts(out, "\nExamples\n");
	while (*examples != '\0') {
		size_t length = strcspn(examples, "\n");

		buf_puts(out, "  ");
		buf_add(out, examples, length);
		buf_putc(out, '\n');
		examples += examples[length] == '\n' ? length + 1 : length;
	}
}

void cli_help_of(struct buf *out, const struct cli_command *command)
{
	buf_printf(out, "usage: admitctl %s %s\n\n%s.\n", command->name, command->synopsis, command->summary);
	if (command->text != NULL)
		buf_printf(out, "\n%s\n", command->text);
	add_options(out, "Options", command->options);
	add_options(out, "Options of every command", cli_options);
	if (!command->is_local)
		add_options(out, "Reaching the daemon", cli_daemon_options);
	add_examples(out, command->examples);
}

void cli_help(struct buf *out)
{
	buf_puts(out,
		"usage: admitctl [OPTION...] COMMAND [ARGUMENT...]\n"
		"\n"
		"Shows what an agent plan asks for, frees what is held, approves it and hands it over. The commands "
		"marked\n"
		"with * decide by themselves, the others ask admitd.\n"
		"\n"
		"Commands\n");
	for (const struct cli_command *const *command = cli_commands; *command != NULL; command++) {
		buf_puts(out, (*command)->is_local ? "* " : "  ");
		add_padded(out, (*command)->name, COMMAND_COLUMN);
		buf_puts(out, (*command)->summary);
		buf_putc(out, '\n');
	}
	add_options(out, "Options", cli_options);
	buf_puts(out, "  -V, --version               print the version\n");
	add_options(out, "Reaching the daemon", cli_daemon_options);
	add_examples(out,
		"admitctl COMMAND --help\n"
		"admitctl task submit plan.json --id tracker-42\n"
		"admitctl preview tracker-42\n"
		"admitctl approve tracker-42 --reason 'sprint 12'\n"
		"admitctl handoff --task tracker-42 --worker runner-3\n"
		"admitctl --url unix:/run/admitd/admitd.sock recovery\n"
		"admitctl --url https://admit.example --cacert /etc/admitd/tls.crt status");
	buf_puts(out,
		"\n"
		"Exit status: 0 done, 1 refused or blocked, 2 usage, 3 unreachable or to be tried again later.\n");
}
