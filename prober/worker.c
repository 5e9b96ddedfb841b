#include "prober/worker.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine/confine.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/redact.h"
#include "prober/check.h"
#include "prober/deadline.h"
#include "prober/deliver.h"

enum {
	CHECKS_AT_ONCE = 128,
	STACK_BYTES = 512 * 1024,
	JOB_BYTES = 32 * 1024 * 1024,
	HELLO_BYTES = 1024 * 1024,
	HIDDEN_LIMIT = 16,
	OPEN_FILES = 2048,
	ANSWER_BYTES = 64 * 1024,
	TIMEOUT_LIMIT_MS = 60 * 1000,
};

struct worker {
	int fd;
	pthread_mutex_t writing;
	atomic_uint running;
	struct arena arena; /* of the hello */
	struct probe_hello allowed;
	struct buf from;
};

/* One check or delivery, on a thread of its own. */
struct job {
	struct worker *worker;
	struct arena arena;
	bool is_delivery;
	union {
		struct probe_check check;
		struct probe_deliver deliver;
	};
};

/* ---- answering */

static void send_message(struct worker *worker, const struct probe_message *message)
{
	struct buf buf;
	size_t sent = 0;

	buf_init(&buf, ANSWER_BYTES);
	probe_message_write(message, &buf);
	pthread_mutex_lock(&worker->writing);
	while (buf_error(&buf) == 0 && sent < buf.len) {
		ssize_t wrote = send(worker->fd, buf.bytes + sent, buf.len - sent, MSG_NOSIGNAL);

		if (wrote < 0 && errno != EINTR)
			break;
		sent += wrote > 0 ? (size_t)wrote : 0;
	}
	pthread_mutex_unlock(&worker->writing);
	buf_release(&buf);
}

static void send_finding(struct worker *worker, int64_t id, const struct finding *finding)
{
	struct probe_message message = {.type = PROBE_CHECKED};

	message.checked = (struct probe_checked){
		.id = id, .install_state = finding->install_state, .status = finding->status, .error = finding->error};
	if (!finding->is_settled)
		message.checked.error = STR("it couldn't be checked");
	send_message(worker, &message);
}

static void send_delivered(struct worker *worker, const struct probe_delivered *delivered)
{
	const struct probe_message message = {.type = PROBE_DELIVERED, .delivered = *delivered};

	send_message(worker, &message);
}

/* ---- one check */

static int64_t end_of(int64_t timeout_ms)
{
	return deadline_now_ms() + (timeout_ms > TIMEOUT_LIMIT_MS ? TIMEOUT_LIMIT_MS : timeout_ms);
}

static void make_delivery(struct job *job)
{
	struct probe_delivered delivered = {.id = job->deliver.id};

	deliver_post(&job->worker->allowed, &job->deliver, end_of(job->deliver.timeout_ms), &delivered);
	send_delivered(job->worker, &delivered);
}

static void make_check(struct job *job)
{
	struct finding finding = {0};
	struct check_child *child = NULL;
	struct check check = {.allowed = &job->worker->allowed, .spec = &job->check.spec, .finding = &finding};

	check.end_ms = end_of(job->check.timeout_ms);
	if (finding_begin(&finding, &job->arena, &job->check.spec) == 0) {
		if (job->check.spec.transport == SPEC_STDIO)
			check_stdio(&check, &child);
		else
			check_http(&check);
	}
	send_finding(job->worker, job->check.id, &finding);
	check_stdio_end(child);
}

static void job_free(struct job *job)
{
	arena_release(&job->arena);
	free(job);
}

static void *job_main(void *arg)
{
	struct job *job = arg;
	struct worker *worker = job->worker;

	if (job->is_delivery)
		make_delivery(job);
	else
		make_check(job);
	job_free(job);
	atomic_fetch_sub(&worker->running, 1);
	return NULL;
}

static int start_thread(struct job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = pthread_create(&thread, &attributes, job_main, job);
	pthread_attr_destroy(&attributes);
	return -r;
}

static void refuse_job(struct worker *worker, const struct job *job)
{
	const struct finding none = {.install_state = HEALTH_INSTALLED};
	struct probe_delivered delivered = {.error = STR("it couldn't be sent")};

	if (!job->is_delivery) {
		send_finding(worker, job->check.id, &none);
		return;
	}
	delivered.id = job->deliver.id;
	send_delivered(worker, &delivered);
}

/* The job goes over to its thread, or is answered here. */
static void start_job(struct worker *worker, struct job *job)
{
	job->worker = worker;
	if (atomic_fetch_add(&worker->running, 1) < CHECKS_AT_ONCE && start_thread(job) == 0)
		return;
	atomic_fetch_sub(&worker->running, 1);
	refuse_job(worker, job);
	job_free(job);
}

static int take_job(struct worker *worker, struct str body)
{
	struct job *job = calloc(1, sizeof(*job));
	struct probe_message message;
	int r = 0;

	if (job == NULL)
		return -ENOMEM;
	arena_init(&job->arena, JOB_BYTES);
	r = probe_message_read(&job->arena, body, &message);
	if (r == 0 && message.type != PROBE_CHECK && message.type != PROBE_DELIVER)
		r = -EPROTO;
	if (r != 0) {
		job_free(job);
		return r;
	}
	job->is_delivery = message.type == PROBE_DELIVER;
	if (job->is_delivery)
		job->deliver = message.deliver;
	else
		job->check = message.check;
	start_job(worker, job);
	return 0;
}

/* ---- giving rights up */

static size_t list_hidden(const struct worker *worker, const char *ret[static HIDDEN_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < worker->allowed.hidden_count && count < HIDDEN_LIMIT; i++)
		ret[count++] = worker->allowed.hidden[i].bytes;
	return count;
}

/* Reading is all but what is hidden; only temporary folders may be written, and not where something hidden lies in them. */
static int allow_paths(const struct worker *worker, struct confine_paths *paths)
{
	static const char *const writable[] = {"/tmp", "/var/tmp", "/dev"};
	const char *hidden[HIDDEN_LIMIT] = {NULL};
	size_t count = list_hidden(worker, hidden);
	unsigned rights = CONFINE_READ | (worker->allowed.command_count > 0 ? (unsigned)CONFINE_EXECUTE : 0u);
	int r = confine_paths_allow_around(paths, hidden, count, rights);

	for (size_t i = 0; r == 0 && i < sizeof(writable) / sizeof(*writable); i++) {
		bool is_above = false;

		for (size_t k = 0; k < count; k++)
			is_above = is_above || strncmp(hidden[k], writable[i], strlen(writable[i])) == 0;
		if (!is_above && confine_paths_allow(paths, writable[i], rights | CONFINE_WRITE) == -ENOMEM)
			r = -ENOMEM;
	}
	return r;
}

static bool confine_files(const struct worker *worker)
{
	struct confine_paths paths;
	int r = confine_paths_open(&paths, true);

	if (r == 0)
		r = allow_paths(worker, &paths);
	if (r == 0)
		r = confine_paths_enforce(&paths);
	confine_paths_close(&paths);
	return r == 0;
}

static void confine_self(const struct worker *worker, struct probe_ready *ret)
{
	const struct rlimit files = {OPEN_FILES, OPEN_FILES};
	const struct rlimit cores = {0, 0};
	enum confine_calls calls = worker->allowed.command_count > 0 ? CONFINE_CALLS_LAUNCHER : CONFINE_CALLS_CLIENT;

	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)setrlimit(RLIMIT_CORE, &cores);
	ret->has_landlock = confine_files(worker);
	ret->has_seccomp = confine_calls(calls) == 0;
}

static int take_hello(struct worker *worker, struct str body)
{
	struct probe_message message;
	struct probe_message ready = {.type = PROBE_READY};
	int r = probe_message_read(&worker->arena, body, &message);

	if (r != 0)
		return r;
	if (message.type != PROBE_HELLO)
		return -EPROTO;
	worker->allowed = message.hello;
	confine_self(worker, &ready.ready);
	send_message(worker, &ready);
	return 0;
}

/* ---- the connection */

static int read_some(struct worker *worker)
{
	char bytes[64 * 1024];
	ssize_t got = 0;

	do
		got = recv(worker->fd, bytes, sizeof(bytes), 0);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : -EPIPE;
	buf_add(&worker->from, bytes, (size_t)got);
	return buf_error(&worker->from);
}

/* The first whole frame is taken out of `from` once it was used. */
static int take_frame(struct worker *worker, bool is_first)
{
	struct str body = {0};
	size_t used = 0;
	int r = probe_frame_find(worker->from.bytes, worker->from.len, &body, &used);

	if (r != 0)
		return r;
	r = is_first ? take_hello(worker, body) : take_job(worker, body);
	memmove(worker->from.bytes, worker->from.bytes + used, worker->from.len - used);
	worker->from.len -= used;
	return r;
}

static int serve(struct worker *worker)
{
	bool is_first = true;
	int r = 0;

	while (r == 0) {
		r = take_frame(worker, is_first);
		is_first = is_first && r != 0;
		if (r == PROBE_MORE)
			r = read_some(worker);
	}
	return r;
}

int worker_run(int fd)
{
	static struct worker worker = {.writing = PTHREAD_MUTEX_INITIALIZER};
	int r = 0;

	worker.fd = fd;
	arena_init(&worker.arena, HELLO_BYTES);
	buf_init(&worker.from, 2 * PROBE_FRAME_LIMIT);
	json_parse_guard();
	if (sodium_init() < 0 || redact_init() != 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return EXIT_FAILURE;
	r = serve(&worker);
	/* Checks that still run end with the process, and their servers with them: their nurses see it. */
	return r == -EPIPE || r == -ECONNRESET ? EXIT_SUCCESS : EXIT_FAILURE;
}
