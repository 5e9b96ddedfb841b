#include "daemon/health/prober_client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "daemon/monotonic.h"
#include "policy/cleanup.h"

enum {
	BACKOFF_FIRST_MS = 100,
	BACKOFF_LONGEST_MS = 30 * 1000,
	HELLO_BYTES = 1024 * 1024,
	ANSWER_BYTES = 1024 * 1024,
	READ_BYTES = 16 * 1024,
};

enum stage {
	STAGE_DOWN = 0, /* the last worker died; the next one comes later */
	STAGE_STARTING, /* it hasn't said that it is ready */
	STAGE_READY,
};

/* A question that was sent and isn't answered. */
struct waiter {
	int64_t id;
	struct prober_question *question;
	struct prober_delivery *delivery; /* where there is no question */
	bool is_over;
	struct waiter *next;
};

struct prober_client {
	int control;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_mutex_t writing; /* taken before the lock, never while it is held */
	enum stage stage;
	int fd; /* of the worker; -1: none */
	struct probe_ready ready;
	struct waiter *waiters;
	int64_t last_id;
	int64_t backoff_ms;
	bool is_ending;
	struct buf hello; /* its frame */
	void (*on_change)(void *arg, enum prober_change change);
	void *arg;
};

/* ---- answers */

static void answer(struct prober_question *question, enum health_install_state install_state, enum health_status status,
	struct str error)
{
	question->install_state = install_state;
	question->status = status;
	(void)snprintf(question->error, sizeof(question->error), "%.*s", (int)error.len,
		error.bytes != NULL ? error.bytes : "");
}

static void answer_unknown(struct prober_question *question, struct str error)
{
	answer(question, HEALTH_INSTALLED, HEALTH_UNKNOWN, error);
}

static void answer_delivery(struct prober_delivery *delivery, int64_t status, struct str error)
{
	delivery->status = (int)status;
	(void)snprintf(delivery->error, sizeof(delivery->error), "%.*s", (int)error.len,
		error.bytes != NULL ? error.bytes : "");
}

/* Locked. */
static void settle_delivery(struct prober_client *client, const struct probe_delivered *delivered)
{
	for (struct waiter *waiter = client->waiters; waiter != NULL; waiter = waiter->next) {
		if (waiter->id != delivered->id || waiter->is_over || waiter->delivery == NULL)
			continue;
		answer_delivery(waiter->delivery, delivered->status, delivered->error);
		waiter->is_over = true;
		pthread_cond_broadcast(&client->changed);
	}
}

/* Locked. */
static void settle(struct prober_client *client, const struct probe_checked *checked)
{
	for (struct waiter *waiter = client->waiters; waiter != NULL; waiter = waiter->next) {
		if (waiter->id != checked->id || waiter->is_over || waiter->question == NULL)
			continue;
		answer(waiter->question, checked->install_state, checked->status, checked->error);
		waiter->is_over = true;
		pthread_cond_broadcast(&client->changed);
	}
}

/* Locked. */
static void give_all_up(struct prober_client *client)
{
	for (struct waiter *waiter = client->waiters; waiter != NULL; waiter = waiter->next)
		if (!waiter->is_over) {
			if (waiter->question != NULL)
				answer_unknown(waiter->question, STR("the prober ended while it was asked"));
			else
				answer_delivery(waiter->delivery, 0, STR("the prober ended while it was asked"));
			waiter->is_over = true;
		}
}

/* ---- a worker */

/* Hands one end of a new socket pair to the launcher. */
static int send_descriptor(int control, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control_data = {0};
	char byte = 0;
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = control_data.bytes,
		.msg_controllen = sizeof(control_data)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	ssize_t sent = 0;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	do
		sent = sendmsg(control, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static int send_all(int fd, const struct buf *buf)
{
	size_t sent = 0;

	while (sent < buf->len) {
		ssize_t wrote = send(fd, buf->bytes + sent, buf->len - sent, MSG_NOSIGNAL);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		sent += wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

static int start_worker(struct prober_client *client)
{
	const struct timeval patience = {.tv_sec = PROBER_TIMEOUT_MS / 1000};
	int pair[2] = {-1, -1};
	int r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 ? 0 : -errno;

	if (r != 0)
		return r;
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	r = send_descriptor(client->control, pair[1]);
	(void)close(pair[1]);
	if (r == 0)
		r = send_all(pair[0], &client->hello);
	if (r != 0) {
		(void)close(pair[0]);
		return r;
	}
	pthread_mutex_lock(&client->lock);
	client->fd = pair[0];
	client->stage = STAGE_STARTING;
	if (client->is_ending)
		(void)shutdown(pair[0], SHUT_RDWR);
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->lock);
	return 0;
}

static int take_message(struct prober_client *client, const struct probe_message *message)
{
	bool is_up = false;

	if (message->type != PROBE_READY && message->type != PROBE_CHECKED && message->type != PROBE_DELIVERED)
		return -EPROTO;
	pthread_mutex_lock(&client->lock);
	if (message->type == PROBE_READY) {
		client->ready = message->ready;
		client->stage = STAGE_READY;
		is_up = true;
	} else {
		/* A worker that answers is well: the next one that dies is followed at once. */
		client->backoff_ms = BACKOFF_FIRST_MS;
		if (message->type == PROBE_CHECKED)
			settle(client, &message->checked);
		else
			settle_delivery(client, &message->delivered);
	}
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->lock);
	if (is_up && client->on_change != NULL)
		client->on_change(client->arg, PROBER_READY);
	return 0;
}

static int take_frames(struct prober_client *client, struct buf *from)
{
	struct arena arena;
	struct probe_message message;
	struct str body = {0};
	size_t used = 0;
	int r = 0;

	arena_init(&arena, 4 * ANSWER_BYTES);
	while (r == 0 && (r = probe_frame_find(from->bytes, from->len, &body, &used)) == 0) {
		r = probe_message_read(&arena, body, &message);
		if (r == 0)
			r = take_message(client, &message);
		memmove(from->bytes, from->bytes + used, from->len - used);
		from->len -= used;
		arena_reset(&arena);
	}
	arena_release(&arena);
	return r == PROBE_MORE ? 0 : r;
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* Until the worker is gone, or sends what can't be understood. */
static void hear_worker(struct prober_client *client)
{
	CLEANUP(buf_drop) struct buf from = {0};
	char bytes[READ_BYTES];
	int r = 0;

	buf_init(&from, ANSWER_BYTES);
	while (r == 0) {
		ssize_t got = recv(client->fd, bytes, sizeof(bytes), 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		buf_add(&from, bytes, (size_t)got);
		r = buf_error(&from);
		if (r == 0)
			r = take_frames(client, &from);
	}
}

/* Nobody may write to the descriptor's number once another file has it. */
static void close_worker(struct prober_client *client)
{
	pthread_mutex_lock(&client->writing);
	pthread_mutex_lock(&client->lock);
	(void)close(client->fd);
	client->fd = -1;
	client->stage = STAGE_DOWN;
	give_all_up(client);
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->lock);
	pthread_mutex_unlock(&client->writing);
}

/* True when it is time to end. */
static bool wait_backoff(struct prober_client *client)
{
	struct timespec deadline;
	bool is_ending = false;
	int r = 0;

	pthread_mutex_lock(&client->lock);
	client->stage = STAGE_DOWN;
	deadline = monotonic_in(client->backoff_ms);
	client->backoff_ms = client->backoff_ms * 2 < BACKOFF_LONGEST_MS ? client->backoff_ms * 2 : BACKOFF_LONGEST_MS;
	pthread_cond_broadcast(&client->changed);
	while (!client->is_ending && r == 0)
		r = pthread_cond_timedwait(&client->changed, &client->lock, &deadline);
	is_ending = client->is_ending;
	pthread_mutex_unlock(&client->lock);
	return is_ending;
}

static bool is_ending(struct prober_client *client)
{
	bool ending = false;

	pthread_mutex_lock(&client->lock);
	ending = client->is_ending;
	pthread_mutex_unlock(&client->lock);
	return ending;
}

/* The other end of the control socket is closed: of launcher and deputy none is left. */
static bool is_lost(int result)
{
	return result == -EPIPE || result == -ECONNRESET || result == -ENOTCONN || result == -ECONNREFUSED;
}

static void *client_main(void *arg)
{
	struct prober_client *client = arg;
	int r = 0;

	do {
		r = start_worker(client);
		if (r == 0) {
			hear_worker(client);
			close_worker(client);
		}
		if (client->on_change != NULL && !is_ending(client))
			client->on_change(client->arg, is_lost(r) ? PROBER_LOST : PROBER_ENDED);
	} while (!wait_backoff(client) && !is_lost(r));
	return NULL;
}

/* ---- making and ending */

static void release(struct prober_client *client)
{
	(void)close(client->control);
	buf_release(&client->hello);
	pthread_cond_destroy(&client->changed);
	pthread_mutex_destroy(&client->writing);
	pthread_mutex_destroy(&client->lock);
	free(client);
}

static struct prober_client *make(const struct prober_config *config)
{
	struct probe_message hello = {.type = PROBE_HELLO, .hello = config->hello};
	struct prober_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->control = config->control;
	client->on_change = config->on_change;
	client->arg = config->arg;
	client->fd = -1;
	client->stage = STAGE_STARTING;
	client->backoff_ms = BACKOFF_FIRST_MS;
	pthread_mutex_init(&client->lock, NULL);
	pthread_mutex_init(&client->writing, NULL);
	monotonic_cond_init(&client->changed);
	buf_init(&client->hello, HELLO_BYTES);
	probe_message_write(&hello, &client->hello);
	return client;
}

int prober_client_new(const struct prober_config *config, struct prober_client **ret)
{
	struct prober_client *client = make(config);
	int r = client != NULL ? buf_error(&client->hello) : -ENOMEM;

	if (client == NULL) {
		(void)close(config->control);
		return r;
	}
	if (r == 0)
		r = -pthread_create(&client->thread, NULL, client_main, client);
	if (r != 0) {
		release(client);
		return r;
	}
	*ret = client;
	return 0;
}

void prober_client_interrupt(struct prober_client *client)
{
	if (client == NULL)
		return;
	pthread_mutex_lock(&client->lock);
	client->is_ending = true;
	if (client->fd >= 0)
		(void)shutdown(client->fd, SHUT_RDWR);
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->lock);
}

void prober_client_free(struct prober_client *client)
{
	if (client == NULL)
		return;
	prober_client_interrupt(client);
	pthread_join(client->thread, NULL);
	release(client);
}

void prober_client_state(struct prober_client *client, struct prober_state *ret)
{
	*ret = (struct prober_state){0};
	if (client == NULL)
		return;
	pthread_mutex_lock(&client->lock);
	ret->is_running = client->stage == STAGE_READY;
	ret->has_landlock = ret->is_running && client->ready.has_landlock;
	ret->has_seccomp = ret->is_running && client->ready.has_seccomp;
	pthread_mutex_unlock(&client->lock);
}

/* ---- asking */

/* Locked. A worker that is only starting is waited for; false: there is none. */
static bool wait_ready(struct prober_client *client, const struct timespec *deadline)
{
	while (client->stage == STAGE_STARTING && !client->is_ending)
		if (pthread_cond_timedwait(&client->changed, &client->lock, deadline) != 0)
			break;
	return client->stage == STAGE_READY;
}

static void write_question(const struct waiter *waiter, struct buf *buf)
{
	struct probe_message message = {.type = waiter->question != NULL ? PROBE_CHECK : PROBE_DELIVER};

	if (waiter->question != NULL)
		message.check = (struct probe_check){
			.id = waiter->id, .timeout_ms = PROBER_TIMEOUT_MS, .spec = *waiter->question->spec};
	else
		message.deliver = (struct probe_deliver){.id = waiter->id,
			.timeout_ms = PROBER_DELIVERY_MS,
			.url = waiter->delivery->url,
			.headers = waiter->delivery->headers,
			.header_count = waiter->delivery->header_count,
			.body = waiter->delivery->body};
	probe_message_write(&message, buf);
}

/* The frame is written before the question is listed, and sent after. */
static void send_question(struct prober_client *client, struct waiter *waiter)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	int fd = -1;

	buf_init(&buf, PROBE_FRAME_LIMIT);
	write_question(waiter, &buf);
	pthread_mutex_lock(&client->writing);
	pthread_mutex_lock(&client->lock);
	fd = waiter->is_over ? -1 : client->fd;
	pthread_mutex_unlock(&client->lock);
	/* A frame that was sent in part makes the stream useless: the worker is given up. */
	if (fd >= 0 && (buf_error(&buf) != 0 || send_all(fd, &buf) != 0))
		(void)shutdown(fd, SHUT_RDWR);
	pthread_mutex_unlock(&client->writing);
	if (buf.bytes != NULL)
		explicit_bzero(buf.bytes, buf.len);
}

/* Locked. */
static void list_waiters(
	struct prober_client *client, struct waiter *waiters, struct prober_question *questions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		waiters[i] =
			(struct waiter){.id = ++client->last_id, .question = &questions[i], .next = client->waiters};
		client->waiters = &waiters[i];
	}
}

/* Locked. */
static void forget_waiters(struct prober_client *client, const struct waiter *waiters, size_t count)
{
	struct waiter **link = &client->waiters;

	while (*link != NULL) {
		if (*link >= waiters && *link < waiters + count)
			*link = (*link)->next;
		else
			link = &(*link)->next;
	}
}

static bool are_over(const struct waiter *waiters, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!waiters[i].is_over)
			return false;
	return true;
}

static void ask_all(struct prober_client *client, struct waiter *waiters, size_t count, int64_t wait_ms)
{
	struct timespec deadline;

	for (size_t i = 0; i < count; i++)
		send_question(client, &waiters[i]);
	deadline = monotonic_in(wait_ms + PROBER_SLACK_MS);
	pthread_mutex_lock(&client->lock);
	while (!are_over(waiters, count))
		if (pthread_cond_timedwait(&client->changed, &client->lock, &deadline) != 0)
			break;
	forget_waiters(client, waiters, count);
	pthread_mutex_unlock(&client->lock);
}

void prober_client_ask(struct prober_client *client, struct prober_question *questions, size_t count)
{
	struct timespec deadline = monotonic_in(PROBER_TIMEOUT_MS);
	CLEANUP(free_drop) struct waiter *waiters = calloc(count + 1, sizeof(*waiters));
	bool is_ready = false;

	for (size_t i = 0; i < count; i++)
		answer_unknown(
			&questions[i], client != NULL ? STR("the prober isn't running") : STR("there is no prober"));
	if (client == NULL || waiters == NULL || count == 0)
		return;
	pthread_mutex_lock(&client->lock);
	is_ready = wait_ready(client, &deadline);
	if (is_ready) {
		for (size_t i = 0; i < count; i++)
			answer_unknown(&questions[i], STR("the prober doesn't answer"));
		list_waiters(client, waiters, questions, count);
	}
	pthread_mutex_unlock(&client->lock);
	if (is_ready)
		ask_all(client, waiters, count, PROBER_TIMEOUT_MS);
}

void prober_client_deliver(struct prober_client *client, struct prober_delivery *delivery)
{
	struct timespec deadline = monotonic_in(PROBER_DELIVERY_MS);
	struct waiter waiter = {.delivery = delivery};
	bool is_ready = false;

	answer_delivery(delivery, 0, client != NULL ? STR("the prober isn't running") : STR("there is no prober"));
	if (client == NULL)
		return;
	pthread_mutex_lock(&client->lock);
	is_ready = wait_ready(client, &deadline);
	if (is_ready) {
		answer_delivery(delivery, 0, STR("the prober doesn't answer"));
		waiter.id = ++client->last_id;
		waiter.next = client->waiters;
		client->waiters = &waiter;
	}
	pthread_mutex_unlock(&client->lock);
	if (is_ready)
		ask_all(client, &waiter, 1, PROBER_DELIVERY_MS);
}
