#include "cli/admitd_exec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/check.h"
#include "policy/cleanup.h"

void admitd_exec_add(struct admitd_exec *exec, const char *word)
{
	if (word == NULL)
		return;
	CHECK(exec->count < ADMITD_EXEC_WORDS);
	exec->words[exec->count++] = word;
}

void admitd_exec_option(struct admitd_exec *exec, const char *name, const char *value)
{
	if (value == NULL)
		return;
	admitd_exec_add(exec, name);
	admitd_exec_add(exec, value);
}

/* execv wants writable words; it doesn't write. */
static void become(const char *path, struct admitd_exec *exec)
{
	CLEANUP(free_drop) char **words = calloc(exec->count + 2, sizeof(*words));

	if (words == NULL)
		return;
	words[0] = strdup(path);
	for (size_t i = 0; words[0] != NULL && i < exec->count; i++)
		words[i + 1] = strdup(exec->words[i]);
	if (strchr(path, '/') != NULL)
		(void)execv(path, words);
	else
		(void)execvp(path, words);
}

int admitd_exec_run(struct cli *cli, struct admitd_exec *exec)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = NULL;

	if (cli->json)
		admitd_exec_add(exec, "--json");
	if (cli_flush(cli) != 0)
		return CLI_REFUSED;
	if (len > 0) {
		self[len] = '\0';
		slash = strrchr(self, '/');
	}
	if (slash != NULL) {
		*slash = '\0';
		become(cli_printf(cli, "%s/admitd", self), exec);
	}
	become(ADMITD_SBINDIR "/admitd", exec);
	become("admitd", exec);
	cli_say("admitd can't be run: %s; it does this command, so it must be installed here", strerrordesc_np(errno));
	return CLI_USAGE;
}
