/* admitd: puts the rooms together, starts them in order, and stops them in the other (chapter 3.2). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/http/api.h"
#include "daemon/http/api_mcp.h"
#include "daemon/http/server.h"
#include "daemon/jobs.h"
#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/restore.h"
#include "daemon/log.h"
#include "daemon/main_audit.h"
#include "daemon/main_confine.h"
#include "daemon/main_doctor.h"
#include "daemon/main_first.h"
#include "daemon/main_local.h"
#include "daemon/main_offline.h"
#include "daemon/main_restore.h"
#include "daemon/main_tls.h"
#include "daemon/main_webhooks.h"
#include "daemon/options.h"
#include "daemon/store/store.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum {
	EXIT_USAGE = 2,
	CATALOG_BYTES = 4 * 1024 * 1024,
	DRAIN_MS = 20 * 1000,
	ROUTES_BYTES = 64 * 1024,
	JOB_THREADS = 2,
	JOBS_WAITING = 8,
};

static const char state_usual[] = "./admitd-state";

struct admitd {
	struct options options;
	struct config config;
	const char *state;
	struct buf catalog; /* bytes of --catalog; empty: none */
	struct store *store;
	struct lifecycle *lifecycle;
	struct main_audit audit;
	struct audit_key webhooks_key;
	struct api api;
	int local_fd;    /* until the server takes it */
	struct tls *tls; /* NULL: plain */
	struct auth_peer peers[CONFIG_PEERS_MAX];
	struct http_server *server;
	unsigned char key[32];
	struct main_confine confine;
};

/* Set by the store when a sync failed: what is true is known after the next start. */
static atomic_bool is_broken;

/* ---- what is set */

static int read_config(struct admitd *admitd)
{
	const struct options *options = &admitd->options;
	struct config *config = &admitd->config;
	struct config_fault fault;
	int r = options->config != NULL ? config_read(config, options->config, &fault) : 0;

	if (r == CONFIG_REFUSED && fault.line > 0)
		log_line(LOG_LINE_ERROR, "config", "%s:%d: %s", options->config, fault.line, fault.text);
	else if (r != 0)
		log_line(LOG_LINE_ERROR, "config", "%s: %s", options->config, r < 0 ? "no memory" : fault.text);
	if (r != 0)
		return EXIT_FAILURE;
	if (options->listen != NULL && !config_listen(options->listen, config->address, &config->port)) {
		log_line(LOG_LINE_ERROR, "config",
			"--listen %s: it is a numeric address and a port, such as 127.0.0.1:7333", options->listen);
		return EXIT_USAGE;
	}
	admitd->state = config->state != NULL ? config->state : state_usual;
	if (options->state != NULL)
		admitd->state = options->state;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int read_catalog(struct admitd *admitd)
{
	const char *path = admitd->options.catalog;
	CLEANUP(close_fd) int fd = -1;
	char piece[16 * 1024];
	ssize_t got = 1;

	buf_init(&admitd->catalog, CATALOG_BYTES);
	if (path == NULL)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && got > 0 && buf_error(&admitd->catalog) == 0) {
		got = read(fd, piece, sizeof(piece));
		if (got > 0)
			buf_add(&admitd->catalog, piece, (size_t)got);
	}
	if (fd < 0 || got < 0) {
		log_line(LOG_LINE_ERROR, "catalog", "%s: can't be read: %s", path, strerrordesc_np(errno));
		return EXIT_FAILURE;
	}
	if (buf_error(&admitd->catalog) != 0) {
		log_line(LOG_LINE_ERROR, "catalog", "%s: is larger than 4 MiB", path);
		return EXIT_FAILURE;
	}
	return 0;
}

static void refuse_catalog(const struct admitd *admitd, const struct catalog_fault *fault)
{
	log_line(LOG_LINE_ERROR, "catalog", "%s: %s: %s",
		admitd->options.catalog != NULL ? admitd->options.catalog : "the stored catalog",
		fault->pointer[0] != '\0' ? fault->pointer : "/", fault->text);
}

static int check_config(struct admitd *admitd)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct catalog_fault fault = {0};

	if (admitd->options.catalog != NULL && catalog_new(buf_str(&admitd->catalog), &catalog, &fault) != 0) {
		refuse_catalog(admitd, &fault);
		return EXIT_FAILURE;
	}
	if (main_tls_load(&admitd->config, &admitd->tls) != 0)
		return EXIT_FAILURE;
	(void)printf("the configuration is fine: listen %s port %u%s, state %s, %zu root prefixes%s\n",
		admitd->config.address, admitd->config.port, admitd->tls != NULL ? " with TLS" : "", admitd->state,
		admitd->config.roots.count, admitd->config.allow_self_approval ? ", self-approval allowed" : "");
	return 0;
}

/* ---- the store */

static void store_broke(void *arg)
{
	(void)arg;
	atomic_store(&is_broken, true);
	(void)kill(getpid(), SIGTERM);
}

static void events_came(void *arg, int64_t last_sequence)
{
	struct admitd *admitd = arg;

	audit_keeper_wake(atomic_load(&admitd->api.audit), last_sequence);
	handoff_wait_wake(&admitd->api.waits);
	events_wake(&admitd->api.events);
	webhooks_wake(&admitd->api.webhooks, last_sequence);
}

static int open_store(struct admitd *admitd)
{
	const struct store_config config = {
		.state_folder = admitd->state, .on_broken = store_broke, .on_events = events_came, .arg = admitd};
	int r = store_open(&config, &admitd->store);

	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "store", "the state folder %s: %s", admitd->state, main_first_fault(r));
	return EXIT_FAILURE;
}

/* ---- serving */

static void tell_upkeep(void *arg, const struct lifecycle_upkeep *upkeep)
{
	const char *why = upkeep->result < 0 ? strerrordesc_np(-upkeep->result) : lifecycle_result_code(upkeep->result);
	bool is_of_project = upkeep->project_count > 0;

	(void)arg;
	if (upkeep->result == 0)
		log_line(LOG_LINE_INFO, "upkeep", "%s works again", upkeep->what);
	else
		log_line(LOG_LINE_ERROR, "upkeep", "%s failed%s%s (%s); it is tried again%s", upkeep->what,
			is_of_project ? " in project " : "", upkeep->project, why,
			is_of_project ? ", other projects are kept up" : "");
}

static int start_lifecycle(struct admitd *admitd)
{
	struct str prefixes[CONFIG_LIST_MAX];
	struct catalog_fault fault = {0};
	struct lifecycle_config config = {
		.store = admitd->store,
		.state_folder = admitd->state,
		.root_prefixes = prefixes,
		.root_prefix_count = admitd->config.roots.count,
		.allow_self_approval = admitd->config.allow_self_approval,
		.durable_previews = admitd->config.durable_previews,
		.lease_ms = admitd->config.lease_seconds * INT64_C(1000),
		.max_age_ms = admitd->config.health_age_seconds * INT64_C(1000),
		.prober = admitd->confine.prober,
		.seal_key = admitd->confine.has_seal_key ? &admitd->confine.seal_key : NULL,
		.keeps_time = admitd->options.command == OPTIONS_SERVE,
		.tell = tell_upkeep,
	};
	int r = 0;

	for (size_t i = 0; i < admitd->config.roots.count; i++)
		prefixes[i] = api_text(admitd->config.roots.items[i]);
	if (admitd->options.catalog != NULL)
		config.catalog = buf_str(&admitd->catalog);
	memcpy(config.run_token_key, admitd->key, sizeof(config.run_token_key));
	r = lifecycle_new(&config, &admitd->lifecycle, &fault);
	sodium_memzero(config.run_token_key, sizeof(config.run_token_key));
	if (r == CATALOG_REFUSED)
		refuse_catalog(admitd, &fault);
	else if (r != 0)
		log_line(LOG_LINE_ERROR, "start", "the lifecycle can't be started: %s", strerrordesc_np(-r));
	return r != 0 ? EXIT_FAILURE : 0;
}

static void set_limit(unsigned set, int64_t usual, int64_t *ret)
{
	*ret = set != 0 ? (int64_t)set : usual;
}

static void set_packet_limits(const struct config_context *set, struct packet_limits *ret)
{
	set_limit(set->files, PACKET_FILES_USUAL, &ret->files);
	set_limit(set->bytes, PACKET_BYTES_USUAL, &ret->bytes);
	set_limit(set->file_bytes, PACKET_FILE_BYTES_USUAL, &ret->file_bytes);
	set_limit(set->depth, PACKET_DEPTH_USUAL, &ret->depth);
	set_limit(set->entries, PACKET_ENTRIES_USUAL, &ret->entries);
}

static int start_server(struct admitd *admitd)
{
	const struct config *set = &admitd->config;
	struct http_config config = {
		.address = set->address,
		.port = set->port,
		.hosts = (const char *const *)set->hosts.items,
		.hosts_count = set->hosts.count,
		.find_token = api_find_token,
		.find_ctx = &admitd->api,
		.ctx = &admitd->api,
		.on_answer = api_note_answer,
		.limits.token_minute = set->token_minute,
		.local_fd = admitd->local_fd,
		.tls = admitd->tls,
		.scheme = admitd->tls != NULL || set->is_behind_tls_proxy ? "https" : NULL,
		.peers = admitd->peers,
		.peers_count = set->peer_count,
	};
	int r = 0;

	idempotency_init(&admitd->api.idempotency);
	admitd->api.lifecycle = admitd->lifecycle;
	set_packet_limits(&admitd->config.context, &admitd->api.packet_limits);
	admitd->api.version = PACKAGE_VERSION;
	admitd->api.prober = admitd->confine.prober;
	admitd->api.sandbox = &admitd->confine.sandbox;
	admitd->api.tls = admitd->tls;
	config.routes = api_tables(&config.routes_count);
	r = api_mcp_start(&admitd->api);
	if (r != 0) {
		log_line(LOG_LINE_ERROR, "start", "the tools of /mcp can't be made: %s", strerrordesc_np(-r));
		return EXIT_FAILURE;
	}
	r = http_server_start(&config, &admitd->server);
	if (r != 0) {
		log_line(LOG_LINE_ERROR, "listen", "%s port %u: %s%s", set->address, set->port, strerrordesc_np(-r),
			r == -EADDRINUSE ? "; give another --listen" : "");
		return EXIT_FAILURE;
	}
	if (admitd->tls == NULL)
		main_tls_warn_plain(set->address);
	return 0;
}

/* In one step, so that whoever waits for it reads all of it. */
static int write_port(const char *path, uint16_t port)
{
	char aside[4096];
	FILE *file = NULL;
	int len = snprintf(aside, sizeof(aside), "%s.new", path);

	if (len < 0 || (size_t)len >= sizeof(aside))
		return -ENAMETOOLONG;
	file = fopen(aside, "we");
	if (file == NULL)
		return -errno;
	(void)fprintf(file, "%u\n", port);
	if (fclose(file) != 0)
		return -errno;
	return rename(aside, path) == 0 ? 0 : -errno;
}

static int tell_port(struct admitd *admitd)
{
	uint16_t port = http_server_port(admitd->server);
	const char *path = admitd->options.port_file;
	int r = path != NULL ? write_port(path, port) : 0;

	if (r != 0) {
		log_line(LOG_LINE_ERROR, "start", "%s can't be written: %s", path, strerrordesc_np(-r));
		return EXIT_FAILURE;
	}
	log_line(LOG_LINE_INFO, "ready", "%s://%s%s%s:%u, state %s, version %s", admitd->tls != NULL ? "https" : "http",
		strchr(admitd->config.address, ':') ? "[" : "", admitd->config.address,
		strchr(admitd->config.address, ':') ? "]" : "", port, admitd->state, PACKAGE_VERSION);
	return 0;
}

static int start_jobs(struct admitd *admitd)
{
	int r = jobs_new(JOB_THREADS, JOBS_WAITING, &admitd->api.jobs);

	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "start", "no thread can be started: %s", strerrordesc_np(-r));
	return EXIT_FAILURE;
}

static int start_events(struct admitd *admitd)
{
	size_t count = 0;
	const struct http_routes *tables = api_tables(&count);
	int r = metrics_init(&admitd->api.metrics, tables, count, main_first_now_ms());

	if (r == 0)
		r = events_start(&admitd->api.events, admitd->lifecycle, &admitd->api.metrics,
			(int64_t)admitd->config.beat_seconds * 1000);
	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "start", "events can't be sent: %s", strerrordesc_np(-r));
	return EXIT_FAILURE;
}

static int start_audit(struct admitd *admitd)
{
	int r = main_audit_start(&admitd->audit, &admitd->config, admitd->store);

	atomic_store(&admitd->api.audit, admitd->audit.keeper);
	return r;
}

static int start(struct admitd *admitd)
{
	int r = main_first_key(admitd->state, admitd->key);

	if (r == 0)
		r = main_first_token(admitd->store, admitd->state, false);
	if (r == 0)
		r = start_lifecycle(admitd);
	if (r == 0)
		r = start_audit(admitd);
	if (r == 0)
		r = start_jobs(admitd);
	if (r == 0)
		r = start_events(admitd);
	if (r == 0)
		r = main_webhooks_start(&admitd->api.webhooks, &admitd->config, &admitd->webhooks_key,
			admitd->lifecycle, admitd->confine.prober);
	if (r == 0)
		r = start_server(admitd);
	return r == 0 ? tell_port(admitd) : r;
}

/* Signals are taken here and nowhere else: every thread is born with them blocked. */
static void block_signals(sigset_t *ret)
{
	(void)sigemptyset(ret);
	(void)sigaddset(ret, SIGTERM);
	(void)sigaddset(ret, SIGINT);
	(void)sigaddset(ret, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, ret, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a full disk: a refusal, not the end */
}

static void wait_for_end(struct admitd *admitd, const sigset_t *signals)
{
	int found = 0;

	while (sigwait(signals, &found) != 0 || found == SIGHUP)
		if (found == SIGHUP)
			main_tls_reload(admitd->tls);
	log_line(LOG_LINE_INFO, "stop", "%s", atomic_load(&is_broken) ? "the store is broken" : "told to stop");
}

/* What was accepted is answered; nothing new is taken. */
static void stop(struct admitd *admitd)
{
	if (admitd->server != NULL) {
		http_server_quiesce(admitd->server);
		jobs_stop(admitd->api.jobs);
		api_mcp_quiesce(&admitd->api);
		handoff_wait_stop(&admitd->api.waits);
		events_stop(&admitd->api.events);
		if (!http_server_drain(admitd->server, DRAIN_MS))
			log_line(LOG_LINE_WARNING, "stop", "some requests took too long and are told to ask again");
		http_server_stop(admitd->server);
	}
	handoff_wait_stop(&admitd->api.waits);
	events_stop(&admitd->api.events);
	jobs_free(admitd->api.jobs);
	api_mcp_stop(&admitd->api);
	prober_client_interrupt(admitd->confine.prober);
	webhooks_stop(&admitd->api.webhooks);
	lifecycle_free(admitd->lifecycle);
	main_confine_end(&admitd->confine);
	atomic_store(&admitd->api.audit, NULL);
	main_audit_stop(&admitd->audit);
	store_close(admitd->store);
	metrics_release(&admitd->api.metrics);
	idempotency_release(&admitd->api.idempotency);
	tls_free(admitd->tls);
	config_release(&admitd->config);
	buf_release(&admitd->catalog);
	sodium_memzero(admitd->key, sizeof(admitd->key));
	audit_key_wipe(&admitd->webhooks_key);
}

static int serve(struct admitd *admitd, const sigset_t *signals)
{
	int r = main_tls_load(&admitd->config, &admitd->tls);

	if (r == 0)
		r = main_local_open(&admitd->config, &admitd->local_fd);
	if (r == 0)
		r = main_confine_enter(&admitd->confine, &admitd->config, admitd->state, admitd->options.port_file);
	if (r != 0)
		return r;
	r = handoff_wait_start(&admitd->api.waits);
	if (r != 0) {
		log_line(LOG_LINE_ERROR, "start", "no thread can be started: %s", strerrordesc_np(-r));
		return EXIT_FAILURE;
	}
	r = open_store(admitd);
	if (r == 0)
		r = main_confine_start(&admitd->confine, &admitd->config, admitd->state);
	if (r == 0)
		r = start(admitd);
	if (r != 0)
		return r;
	wait_for_end(admitd, signals);
	return atomic_load(&is_broken) ? EXIT_FAILURE : 0;
}

static int reset_token(struct admitd *admitd)
{
	int r = open_store(admitd);

	return r == 0 ? main_first_token(admitd->store, admitd->state, true) : r;
}

/* In the folder where it is done, as a daemon would find it; then it is closed and put in place. */
static int begin_epoch(struct admitd *admitd, const struct main_restore *restore)
{
	struct lifecycle_restored restored = {0};
	int r = open_store(admitd);

	randombytes_buf(admitd->key, sizeof(admitd->key));
	if (r == 0)
		r = start_lifecycle(admitd);
	if (r != 0)
		return r;
	r = lifecycle_restore(admitd->lifecycle, &restore->replaced, &restored);
	if (r != 0) {
		log_line(LOG_LINE_ERROR, "restore", "the new epoch can't be written: %s", strerrordesc_np(-r));
		return EXIT_FAILURE;
	}
	r = main_first_token(admitd->store, admitd->state, true);
	if (r == 0)
		r = start_audit(admitd);
	log_line(LOG_LINE_INFO, "restore",
		"epoch %lld goes on behind row %lld: %lld tokens are dead, %lld runs ended, %lld one-time grants taken "
		"back",
		(long long)restored.epoch, (long long)restored.from.sequence, (long long)restored.tokens,
		(long long)restored.runs, (long long)restored.grants);
	return r;
}

static void close_all(struct admitd *admitd)
{
	lifecycle_free(TAKE(admitd->lifecycle));
	atomic_store(&admitd->api.audit, NULL);
	main_audit_stop(&admitd->audit);
	store_close(TAKE(admitd->store));
}

static int restore(struct admitd *admitd)
{
	const char *state = admitd->state;
	struct main_restore restore;
	int r = main_restore_begin(
		&restore, state, admitd->options.file, admitd->config.audit.export_folder, &admitd->audit.trust);

	admitd->state = restore.folder;
	if (r == 0)
		r = begin_epoch(admitd, &restore);
	close_all(admitd);
	admitd->state = state;
	if (r == 0)
		r = main_restore_swap(&restore, MAIN_ADMIN_FILE);
	if (r == 0)
		log_line(LOG_LINE_INFO, "restore", "done: the new admin token is in %s/%s", state, MAIN_ADMIN_FILE);
	main_restore_end(&restore);
	return r;
}

static int print_routes(void)
{
	struct buf text;
	bool is_done = false;

	buf_init(&text, ROUTES_BYTES);
	api_write_routes(&text);
	is_done = buf_error(&text) == 0 && fwrite(text.bytes, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
	buf_release(&text);
	return is_done ? 0 : EXIT_FAILURE;
}

static int run(struct admitd *admitd, const sigset_t *signals)
{
	int r = read_config(admitd);

	if (r == 0)
		r = main_audit_load(&admitd->audit, &admitd->config, admitd->state);
	if (r == 0)
		r = main_webhooks_load(&admitd->webhooks_key, &admitd->config, admitd->state);
	if (r == 0)
		r = main_local_peers(&admitd->config, admitd->peers);
	if (r == 0)
		r = read_catalog(admitd);
	if (r != 0)
		return r;
	switch (admitd->options.command) {
	case OPTIONS_CHECK_CONFIG:
		return check_config(admitd);
	case OPTIONS_TOKEN_RESET:
		return reset_token(admitd);
	case OPTIONS_AUDIT_KEY:
		return main_offline_key(&admitd->options);
	case OPTIONS_AUDIT_VERIFY:
		return main_offline_verify(&admitd->options, &admitd->config, &admitd->audit, admitd->state);
	case OPTIONS_RESTORE:
		return restore(admitd);
	case OPTIONS_DOCTOR:
		return main_doctor(&admitd->options, &admitd->config, &admitd->audit, admitd->state);
	case OPTIONS_ROUTES: /* answered before: it needs no configuration */
	case OPTIONS_SERVE:
		break;
	}
	return serve(admitd, signals);
}

int main(int argc, char **argv)
{
	static struct admitd admitd = {
		.confine.control = -1, .api.waits = HANDOFF_WAIT_INIT, .api.events = EVENTS_INIT};
	sigset_t signals;
	int r = options_read(argc, argv, &admitd.options);

	if (r != 0)
		return r == OPTIONS_ANSWERED ? 0 : EXIT_USAGE;
	if (admitd.options.command == OPTIONS_ROUTES)
		return print_routes();
	json_parse_guard();
	if (sodium_init() < 0) {
		log_line(LOG_LINE_ERROR, "start", "libsodium can't be started");
		return EXIT_FAILURE;
	}
	(void)umask(077);
	block_signals(&signals);
	config_init(&admitd.config);
	r = run(&admitd, &signals);
	stop(&admitd);
	if (r == 0 && admitd.server != NULL)
		log_line(LOG_LINE_INFO, "stop", "stopped");
	return r;
}
