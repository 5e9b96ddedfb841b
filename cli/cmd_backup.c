/* admitctl backup and restore: the whole store in a file, and back (chapters 2.8 and 4.3). */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/admitd_exec.h"
#include "cli/commands.h"
#include "policy/cleanup.h"

enum { HEADER_BYTES = 100, PAGE_SIZE_AT = 16, PAGE_COUNT_AT = 28 };

/* Written aside, and only under its name when it is whole. */
struct saving {
	const char *aside;
	int descriptor;
	int error;
	unsigned char header[HEADER_BYTES];
	unsigned long long bytes;
};

static bool save(void *arg, struct str bytes)
{
	struct saving *saving = arg;

	for (size_t i = 0; i < bytes.len && saving->bytes + i < HEADER_BYTES; i++)
		saving->header[saving->bytes + i] = (unsigned char)bytes.bytes[i];
	saving->bytes += bytes.len;
	while (bytes.len > 0) {
		ssize_t wrote = write(saving->descriptor, bytes.bytes, bytes.len);

		if (wrote < 0) {
			saving->error = -errno;
			return false;
		}
		bytes.bytes += wrote;
		bytes.len -= (size_t)wrote;
	}
	return true;
}

static unsigned long long big_endian(const unsigned char *bytes, unsigned count)
{
	unsigned long long number = 0;

	for (unsigned i = 0; i < count; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* The first page says how many there are: a body that was cut short is no backup. */
static bool is_whole(const struct saving *saving)
{
	unsigned long long page = big_endian(saving->header + PAGE_SIZE_AT, 2);

	if (saving->bytes < HEADER_BYTES || memcmp(saving->header, "SQLite format 3", 16) != 0)
		return false;
	return saving->bytes == (page == 1 ? 65536 : page) * big_endian(saving->header + PAGE_COUNT_AT, 4);
}

static int sync_folder_of(const char *path)
{
	CLEANUP(free_drop) char *copy = strdup(path);
	int folder = copy != NULL ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = folder < 0 || fsync(folder) != 0 ? -errno : 0;

	if (folder >= 0)
		(void)close(folder);
	return error;
}

static int put_in_place(struct cli *cli, const struct saving *saving, const char *path)
{
	if (fsync(saving->descriptor) != 0 || rename(saving->aside, path) != 0)
		return cli_say_error(path, -errno);
	if (sync_folder_of(path) != 0)
		return cli_say_error(path, -errno);
	if (!cli->json)
		buf_printf(&cli->out, "%s: %llu bytes; check it with admitctl audit verify --store\n", path,
			saving->bytes);
	return CLI_DONE;
}

static int fetch(struct cli *cli, struct saving *saving, const char *path)
{
	int result = cli_call_bytes(cli, "POST", "/v1/backup", save, saving);

	if (saving->error != 0)
		return cli_say_error(path, saving->error);
	if (result != 0)
		return result;
	if (is_whole(saving))
		return put_in_place(cli, saving, path);
	cli_say("what came is not a whole backup; the daemon was stopped, or the connection cut: ask again");
	return CLI_UNREACHABLE;
}

static int run_backup(struct cli *cli)
{
	const char *path = args_word(&cli->args, 0);
	struct saving saving = {.aside = cli_printf(cli, "%s.part", path), .descriptor = -1};
	int result = 0;

	if (access(path, F_OK) == 0 && !args_has(&cli->args, "force")) {
		cli_say("%s is there already; --force replaces it", path);
		return CLI_USAGE;
	}
	(void)unlink(saving.aside);
	saving.descriptor = open(saving.aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (saving.descriptor < 0)
		return cli_say_error(saving.aside, -errno);
	result = fetch(cli, &saving, path);
	(void)close(saving.descriptor);
	if (result != 0)
		(void)unlink(saving.aside);
	return result;
}

static int run_restore(struct cli *cli)
{
	struct admitd_exec exec = {0};

	if (!args_has(&cli->args, "state") && !args_has(&cli->args, "config"))
		return cli_say_usage(cli, "--state or --config says where the backup is to go");
	admitd_exec_add(&exec, "restore");
	admitd_exec_option(&exec, "--config", args_text(&cli->args, "config"));
	admitd_exec_option(&exec, "--state", args_text(&cli->args, "state"));
	admitd_exec_add(&exec, "--");
	admitd_exec_add(&exec, args_word(&cli->args, 0));
	return admitd_exec_run(cli, &exec);
}

static const struct args_option backup_options[] = {
	{"force", 0, ARGS_FLAG, NULL, "replace a file that is there"},
	{0},
};

const struct cli_command cmd_backup = {
	.name = "backup",
	.synopsis = "FILE",
	.summary = "Copy the whole store into a file while the daemon serves",
	.text = "The copy is the store at one moment. FILE (mode 0600) is there only when it is whole and on the disk. "
		"It holds everything\n"
		"but the keys: keep it as you keep the state folder. For a token with the role admin.",
	.examples =
		"admitctl backup /srv/backup/admitd.db\n"
		"admitctl backup --force nightly.db && admitctl audit verify --store nightly.db --key audit.key.pub",
	.options = backup_options,
	.min_words = 1,
	.max_words = 1,
	.run = run_backup,
};

static const struct args_option restore_options[] = {
	{"state", 0, ARGS_TEXT, "DIR", "the state folder; its store is kept beside the new one"},
	{"config", 0, ARGS_TEXT, "FILE", "admitd's configuration: its state folder, audit key and export folder"},
	{0},
};

const struct cli_command cmd_restore = {
	.name = "restore",
	.synopsis = "FILE --state DIR",
	.summary = "Put a backup in place of the store; no daemon may be running",
	.text = "The backup's database and log are checked first, and nothing is changed unless all of it is sound. "
		"Then a new epoch begins:\n"
		"every token is dead but a new admin token, live runs end as cancelled without an attempt, one-time "
		"grants that no run has\n"
		"used are taken back, and a row of the log names the heads of both stores.",
	.examples = "admitctl restore nightly.db --config /etc/admitd.conf\n"
		    "admitctl restore nightly.db --state /var/lib/admitd",
	.options = restore_options,
	.min_words = 1,
	.max_words = 1,
	.is_local = true,
	.run = run_restore,
};
