#include "daemon/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"

enum { PORT_USUAL = 7333 };

void config_init(struct config *config)
{
	*config = (struct config){.address = "127.0.0.1", .port = PORT_USUAL};
}

static void release_list(struct config_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

void config_release(struct config *config)
{
	free(config->state);
	config->state = NULL;
	free(config->key_file);
	config->key_file = NULL;
	free(config->audit.key_file);
	config->audit.key_file = NULL;
	free(config->audit.export_folder);
	config->audit.export_folder = NULL;
	while (config->peer_count > 0)
		free(config->peers[--config->peer_count].words);
	free(config->socket);
	config->socket = NULL;
	free(config->certificate_file);
	config->certificate_file = NULL;
	free(config->certificate_key_file);
	config->certificate_key_file = NULL;
	free(config->webhooks.url);
	config->webhooks.url = NULL;
	free(config->webhooks.key_file);
	config->webhooks.key_file = NULL;
	release_list(&config->webhooks.events);
	release_list(&config->audit.trust);
	release_list(&config->hosts);
	release_list(&config->roots);
	release_list(&config->commands);
}

bool config_listen(const char *text, char ret_address[static INET6_ADDRSTRLEN], uint16_t *ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	unsigned char binary[sizeof(struct in6_addr)];
	bool is_v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
	char *end = NULL;
	unsigned long port = 0;

	if (is_v6) {
		text++;
		len -= 2;
	}
	if (len == 0 || len >= INET6_ADDRSTRLEN || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || port > UINT16_MAX)
		return false;
	memcpy(ret_address, text, len);
	ret_address[len] = '\0';
	*ret_port = (uint16_t)port;
	return inet_pton(is_v6 ? AF_INET6 : AF_INET, ret_address, binary) == 1;
}

/* ---- one setting */

/* What libinih hands through: the first fault stays, as its line is the one that libinih tells. */
struct reading {
	struct config *config;
	struct config_fault *fault;
	bool has_allow_self;
	bool has_durable;
	bool has_allow_private;
	bool has_tls_proxy;
	int error;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reading *reading, const char *format, ...)
{
	va_list args;

	if (reading->fault->text[0] != '\0')
		return 0;
	va_start(args, format);
	(void)vsnprintf(reading->fault->text, sizeof(reading->fault->text), format, args);
	va_end(args);
	return 0;
}

static int set_listen(struct reading *reading, const char *value)
{
	struct config *config = reading->config;

	if (config->has_listen)
		return refuse(reading, "listen is given twice");
	if (!config_listen(value, config->address, &config->port))
		return refuse(reading, "listen is a numeric address and a port, such as 127.0.0.1:7333 or [::1]:7333");
	config->has_listen = true;
	return 1;
}

static int add(struct reading *reading, struct config_list *list, const char *value, size_t len)
{
	if (list->count == CONFIG_LIST_MAX)
		return refuse(reading, "there are more than %d of these", CONFIG_LIST_MAX);
	list->items[list->count] = strndup(value, len);
	if (list->items[list->count] == NULL) {
		reading->error = -ENOMEM;
		return 0;
	}
	list->count++;
	return 1;
}

static int set_words(struct reading *reading, struct config_list *list, const char *value)
{
	int is_done = 1;

	while (is_done && *(value += strspn(value, " \t,")) != '\0') {
		size_t len = strcspn(value, " \t,");

		is_done = add(reading, list, value, len);
		value += len;
	}
	return is_done;
}

static int set_commands(struct reading *reading, const char *value)
{
	struct config_list *commands = &reading->config->commands;
	size_t first = commands->count;
	int is_done = set_words(reading, commands, value);

	for (size_t i = first; is_done && i < commands->count; i++) {
		size_t len = strlen(commands->items[i]);

		if (commands->items[i][0] != '/' || commands->items[i][len - 1] == '/')
			return refuse(reading, "commands are files, each by its path from the root on");
	}
	return is_done;
}

static int set_path(struct reading *reading, char **ret, const char *name, const char *value)
{
	if (*ret != NULL)
		return refuse(reading, "%s is given twice", name);
	if (value[0] != '/')
		return refuse(reading, "%s is a path from the root on", name);
	*ret = strdup(value);
	if (*ret == NULL)
		reading->error = -ENOMEM;
	return *ret != NULL;
}

static int set_root(struct reading *reading, const char *value)
{
	if (value[0] != '/')
		return refuse(reading, "allow is a path from the root on, one a line");
	return add(reading, &reading->config->roots, value, strlen(value));
}

static int set_state(struct reading *reading, const char *value)
{
	if (reading->config->state != NULL)
		return refuse(reading, "state is given twice");
	if (value[0] == '\0')
		return refuse(reading, "state is a folder");
	reading->config->state = strdup(value);
	if (reading->config->state == NULL)
		reading->error = -ENOMEM;
	return reading->config->state != NULL;
}

static int set_bool(struct reading *reading, bool *has, bool *ret, const char *value)
{
	if (*has)
		return refuse(reading, "this is given twice");
	*has = true;
	*ret = strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
	if (!*ret && strcmp(value, "no") != 0 && strcmp(value, "false") != 0)
		return refuse(reading, "the value is yes or no");
	return 1;
}

/* A number from 1 on; 0 as long as the file doesn't say it. */
static int set_number(struct reading *reading, unsigned *ret, unsigned max, const char *name, const char *value)
{
	unsigned number = 0;

	if (*ret != 0)
		return refuse(reading, "%s is given twice", name);
	for (const char *digit = value; *digit >= '0' && *digit <= '9' && number <= max; digit++)
		number = 10 * number + (unsigned)(*digit - '0');
	if (value[strspn(value, "0123456789")] != '\0' || number == 0 || number > max)
		return refuse(reading, "%s is a number from 1 to %u", name, max);
	*ret = number;
	return 1;
}

static int set_audit(struct reading *reading, const char *name, const char *value)
{
	struct config_audit *audit = &reading->config->audit;

	if (strcmp(name, "key_file") == 0)
		return set_path(reading, &audit->key_file, name, value);
	if (strcmp(name, "export_folder") == 0)
		return set_path(reading, &audit->export_folder, name, value);
	if (strcmp(name, "trust") == 0)
		return set_words(reading, &audit->trust, value);
	if (strcmp(name, "every_rows") == 0)
		return set_number(reading, &audit->every_rows, CONFIG_AUDIT_ROWS_MAX, name, value);
	if (strcmp(name, "every_seconds") == 0)
		return set_number(reading, &audit->every_seconds, CONFIG_AUDIT_SECONDS_MAX, name, value);
	if (strcmp(name, "keep_days") == 0)
		return set_number(reading, &audit->keep_days, CONFIG_AUDIT_DAYS_MAX, name, value);
	return refuse(reading, "there is no setting %.60s in [audit]", name);
}

static int set_context(struct reading *reading, const char *name, const char *value)
{
	struct config_context *context = &reading->config->context;
	const struct {
		const char *name;
		unsigned *ret;
		unsigned max;
	} settings[] = {
		{"files", &context->files, CONFIG_CONTEXT_FILES_MAX},
		{"bytes", &context->bytes, CONFIG_CONTEXT_BYTES_MAX},
		{"file_bytes", &context->file_bytes, CONFIG_CONTEXT_FILE_BYTES_MAX},
		{"depth", &context->depth, CONFIG_CONTEXT_DEPTH_MAX},
		{"entries", &context->entries, CONFIG_CONTEXT_ENTRIES_MAX},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(name, settings[i].name) == 0)
			return set_number(reading, settings[i].ret, settings[i].max, name, value);
	return refuse(reading, "there is no setting %.60s in [context]", name);
}

static int set_text(struct reading *reading, char **ret, const char *name, const char *value)
{
	if (*ret != NULL)
		return refuse(reading, "%s is given twice", name);
	*ret = strdup(value);
	if (*ret == NULL)
		reading->error = -ENOMEM;
	return *ret != NULL;
}

static int set_peer(struct reading *reading, const char *name, const char *value)
{
	enum { DIGITS = 9 };
	struct config *config = reading->config;
	struct config_peer peer = {.uid = (unsigned)strtoul(name, NULL, 10)};

	if (name[0] == '\0' || strlen(name) > DIGITS || name[strspn(name, "0123456789")] != '\0')
		return refuse(reading, "a peer is a uid, a number");
	for (size_t i = 0; i < config->peer_count; i++)
		if (config->peers[i].uid == peer.uid)
			return refuse(reading, "uid %u is given twice", peer.uid);
	if (config->peer_count == CONFIG_PEERS_MAX)
		return refuse(reading, "there are more than %d of these", CONFIG_PEERS_MAX);
	peer.words = strdup(value);
	if (peer.words == NULL) {
		reading->error = -ENOMEM;
		return 0;
	}
	config->peers[config->peer_count++] = peer;
	return 1;
}

/* As docs/openapi.json lists them. */
static const char *const event_types[] = {
	"audit.trimmed",
	"catalog.replaced",
	"due.recorded",
	"grant.recorded",
	"health.changed",
	"hold.changed",
	"hold.cleared",
	"hold.opened",
	"package.status",
	"project.changed",
	"run.claimed",
	"run.ended",
	"store.restored",
	"surface.approval",
	"surface.handoff",
	"surface.preview",
	"task.status",
	"token.issued",
	"token.revoked",
};

static bool is_event_type(const char *text)
{
	for (size_t i = 0; i < sizeof(event_types) / sizeof(event_types[0]); i++)
		if (strcmp(text, event_types[i]) == 0)
			return true;
	return false;
}

static int set_webhooks(struct reading *reading, const char *name, const char *value)
{
	struct config_webhooks *webhooks = &reading->config->webhooks;
	size_t first = webhooks->events.count;

	if (strcmp(name, "url") == 0)
		return set_text(reading, &webhooks->url, name, value);
	if (strcmp(name, "key_file") == 0)
		return set_path(reading, &webhooks->key_file, name, value);
	if (strcmp(name, "events") != 0)
		return refuse(reading, "there is no setting %.60s in [webhooks]", name);
	if (!set_words(reading, &webhooks->events, value))
		return 0;
	for (size_t i = first; i < webhooks->events.count; i++)
		if (!is_event_type(webhooks->events.items[i]))
			return refuse(reading, "there is no event of the type %.60s; hold.opened is one",
				webhooks->events.items[i]);
	return 1;
}

/* libinih's handler: 1 is fine, 0 a fault of this line. */
static int set(void *user, const char *section, const char *name, const char *value)
{
	struct reading *reading = user;
	char key[64];

	if (reading->fault->text[0] != '\0' || reading->error != 0)
		return 0;
	(void)snprintf(key, sizeof(key), "%.30s.%.30s", section, name);
	if (strcmp(section, "audit") == 0)
		return set_audit(reading, name, value);
	if (strcmp(section, "context") == 0)
		return set_context(reading, name, value);
	if (strcmp(section, "peers") == 0)
		return set_peer(reading, name, value);
	if (strcmp(section, "webhooks") == 0)
		return set_webhooks(reading, name, value);
	if (strcmp(key, "server.listen") == 0)
		return set_listen(reading, value);
	if (strcmp(key, "server.socket") == 0)
		return set_path(reading, &reading->config->socket, "socket", value);
	if (strcmp(key, "server.certificate_file") == 0)
		return set_path(reading, &reading->config->certificate_file, name, value);
	if (strcmp(key, "server.key_file") == 0)
		return set_path(reading, &reading->config->certificate_key_file, name, value);
	if (strcmp(key, "server.tls_proxy") == 0)
		return set_bool(reading, &reading->has_tls_proxy, &reading->config->is_behind_tls_proxy, value);
	if (strcmp(key, "server.hosts") == 0)
		return set_words(reading, &reading->config->hosts, value);
	if (strcmp(key, "store.state") == 0)
		return set_state(reading, value);
	if (strcmp(key, "roots.allow") == 0)
		return set_root(reading, value);
	if (strcmp(key, "approval.allow_self") == 0)
		return set_bool(reading, &reading->has_allow_self, &reading->config->allow_self_approval, value);
	if (strcmp(key, "preview.durable") == 0)
		return set_bool(reading, &reading->has_durable, &reading->config->durable_previews, value);
	if (strcmp(key, "servers.commands") == 0)
		return set_commands(reading, value);
	if (strcmp(key, "servers.allow_private") == 0)
		return set_bool(reading, &reading->has_allow_private, &reading->config->allow_private_servers, value);
	if (strcmp(key, "secrets.key_file") == 0)
		return set_path(reading, &reading->config->key_file, "key_file", value);
	if (strcmp(key, "runs.lease_seconds") == 0)
		return set_number(reading, &reading->config->lease_seconds, CONFIG_LEASE_MAX, name, value);
	if (strcmp(key, "health.max_age_seconds") == 0)
		return set_number(reading, &reading->config->health_age_seconds, CONFIG_HEALTH_AGE_MAX, name, value);
	if (strcmp(key, "limits.requests_per_minute") == 0)
		return set_number(reading, &reading->config->token_minute, CONFIG_REQUESTS_MAX, name, value);
	if (strcmp(key, "events.beat") == 0)
		return set_number(reading, &reading->config->beat_seconds, CONFIG_BEAT_MAX, name, value);
	if (section[0] == '\0')
		return refuse(reading, "%.60s stands before any [section]", name);
	return refuse(reading, "there is no setting %.60s in [%.60s]", name, section);
}

/* ---- the file */

/* What libinih would read otherwise than it stands there: long lines are cut into two, a NUL ends the text. */
static bool is_plain(const char *text, size_t len, struct config_fault *fault)
{
	size_t start = 0;
	int line = 1;

	for (size_t i = 0; i < len; i++) {
		fault->line = line;
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		} else if (text[i] == '\0') {
			(void)snprintf(fault->text, sizeof(fault->text), "the line has a NUL byte");
			return false;
		} else if (i - start >= CONFIG_LINE_MAX) {
			(void)snprintf(
				fault->text, sizeof(fault->text), "the line is longer than %d bytes", CONFIG_LINE_MAX);
			return false;
		}
	}
	fault->line = 0;
	return true;
}

int config_parse(struct config *config, const char *text, size_t len, struct config_fault *ret_fault)
{
	CLEANUP(free_drop) char *copy = NULL;
	struct reading reading = {.config = config, .fault = ret_fault};
	int r = 0;

	*ret_fault = (struct config_fault){0};
	if (!is_plain(text, len, ret_fault))
		return CONFIG_REFUSED;
	copy = strndup(text, len);
	if (copy == NULL)
		return -ENOMEM;
	r = ini_parse_string(copy, set, &reading);
	if (reading.error != 0 || r < 0)
		return -ENOMEM;
	if (r == 0)
		return 0;
	ret_fault->line = r;
	if (ret_fault->text[0] == '\0')
		(void)snprintf(ret_fault->text, sizeof(ret_fault->text), "neither a [section] nor name = value");
	return CONFIG_REFUSED;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

int config_read(struct config *config, const char *path, struct config_fault *ret_fault)
{
	CLEANUP(free_drop) char *text = malloc(CONFIG_FILE_MAX + 1);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = fd >= 0 ? 1 : -1;

	*ret_fault = (struct config_fault){0};
	if (text == NULL)
		return -ENOMEM;
	while (got > 0 && len <= CONFIG_FILE_MAX) {
		got = read(fd, text + len, CONFIG_FILE_MAX + 1 - len);
		len += got > 0 ? (size_t)got : 0;
	}
	if (got < 0) {
		(void)snprintf(ret_fault->text, sizeof(ret_fault->text), "can't be read: %s", strerrordesc_np(errno));
		return CONFIG_REFUSED;
	}
	if (len > CONFIG_FILE_MAX) {
		(void)snprintf(
			ret_fault->text, sizeof(ret_fault->text), "is larger than %d bytes", (int)CONFIG_FILE_MAX);
		return CONFIG_REFUSED;
	}
	return config_parse(config, text, len, ret_fault);
}
