#include "daemon/main_confine.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/key_file.h"
#include "daemon/log.h"

static int take_seal_key(struct main_confine *confine, const struct config *config, const char *state)
{
	const char *path = config->key_file;
	const char *fault = NULL;
	int r = path != NULL ? key_file_read(path, state, confine->seal_key.bytes, &fault) : KEY_FILE_ABSENT;

	confine->has_seal_key = r == 0;
	if (r == KEY_FILE_ABSENT && path != NULL)
		log_line(LOG_LINE_WARNING, "key", "%s isn't there: tool servers with credentials can't be asked", path);
	if (r == 0 || r == KEY_FILE_ABSENT)
		return 0;
	log_line(LOG_LINE_ERROR, "key", "%s: %s", path, r < 0 ? strerrordesc_np(-r) : fault);
	return EXIT_FAILURE;
}

static void prober_changed(void *arg, enum prober_change change)
{
	(void)arg;
	if (change == PROBER_LOST)
		log_line(LOG_LINE_ERROR, "prober",
			"it is gone for good: tool servers are unknown, and no webhook is sent, until admitd is "
			"started anew");
	else if (change == PROBER_ENDED)
		log_line(LOG_LINE_WARNING, "prober", "it ended; it is started again");
	else
		log_line(LOG_LINE_INFO, "prober", "it is ready");
}

/* Before the sandbox: nothing can be started from inside. */
static void start_launcher(struct main_confine *confine)
{
	int r = sandbox_start_prober(&confine->control);

	if (r != 0)
		log_line(LOG_LINE_WARNING, "prober", "it can't be started, so tool servers can't be asked: %s",
			strerrordesc_np(-r));
}

static void enter_sandbox(
	struct main_confine *confine, const struct config *config, const char *state, const char *port_file)
{
	const struct sandbox *sandbox = &confine->sandbox;

	sandbox_enter(&(struct sandbox_config){.state = state,
			      .port_file = port_file,
			      .export_folder = config->audit.export_folder,
			      .certificate_file = config->certificate_file,
			      .certificate_key_file = config->certificate_key_file,
			      .roots = config->roots.items,
			      .root_count = config->roots.count},
		&confine->sandbox);
	for (size_t i = 0; i < sandbox->missing_count; i++)
		log_line(LOG_LINE_WARNING, "sandbox",
			"%s isn't there: nothing below it can be read until the next start",
			config->roots.items[sandbox->missing_roots[i]]);
	if (!sandbox->has_landlock)
		log_line(LOG_LINE_WARNING, "sandbox", "files are not confined: %s",
			sandbox->landlock_error != 0 ? strerrordesc_np(-sandbox->landlock_error)
						     : "this kernel has no Landlock");
	if (!sandbox->has_seccomp)
		log_line(LOG_LINE_WARNING, "sandbox", "system calls are not confined: %s",
			strerrordesc_np(-sandbox->seccomp_error));
}

static struct str text_of(const char *text)
{
	return text != NULL ? (struct str){text, strlen(text)} : (struct str){0};
}

int main_confine_start(struct main_confine *confine, const struct config *config, const char *state)
{
	const char *const secret[] = {state, config->key_file, config->audit.key_file, config->webhooks.key_file,
		config->certificate_key_file};
	char *paths[sizeof(secret) / sizeof(*secret)] = {NULL};
	struct str hidden[sizeof(secret) / sizeof(*secret)];
	size_t count = 0;
	struct str commands[CONFIG_LIST_MAX];
	struct prober_config prober = {.control = confine->control, .on_change = prober_changed};
	int r = 0;

	for (size_t i = 0; i < sizeof(secret) / sizeof(*secret); i++) {
		paths[i] = secret[i] != NULL ? realpath(secret[i], NULL) : NULL;
		if (paths[i] != NULL)
			hidden[count++] = text_of(paths[i]);
	}
	for (size_t i = 0; i < config->commands.count; i++)
		commands[i] = text_of(config->commands.items[i]);
	prober.hello = (struct probe_hello){.commands = commands,
		.command_count = config->commands.count,
		.allow_private = config->allow_private_servers,
		.hidden = hidden,
		.hidden_count = count};
	r = confine->control >= 0 ? prober_client_new(&prober, &confine->prober) : 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		free(paths[i]);
	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "start", "no thread can be started: %s", strerrordesc_np(-r));
	return EXIT_FAILURE;
}

int main_confine_enter(
	struct main_confine *confine, const struct config *config, const char *state, const char *port_file)
{
	int r = 0;

	if (mkdir(state, 0700) != 0 && errno != EEXIST) {
		log_line(LOG_LINE_ERROR, "store", "the state folder %s: %s", state, strerrordesc_np(errno));
		return EXIT_FAILURE;
	}
	r = take_seal_key(confine, config, state);
	if (r != 0)
		return r;
	start_launcher(confine);
	enter_sandbox(confine, config, state, port_file);
	return 0;
}

void main_confine_end(struct main_confine *confine)
{
	prober_client_free(confine->prober);
	confine->prober = NULL;
	sodium_memzero(&confine->seal_key, sizeof(confine->seal_key));
}
