#include "daemon/http/webhooks.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/health/prober_client.h"
#include "daemon/http/render.h"
#include "daemon/log.h"
#include "daemon/store/webhook.h"

enum {
	PAGE = 8,
	ARENA_BYTES = 128 * 1024 * 1024,
	TEXT_CEILING = 64 * 1024 * 1024,
	BODY_MOST = 256 * 1024, /* an event that is larger comes without its payload, as in /v1/events */
	SAVE_EVERY = 1024,      /* events that nobody wants */
	BACKOFF_FIRST_MS = 1000,
	BACKOFF_LONGEST_MS = 5 * 60 * 1000,
	JITTER_PERCENT = 20,
	SIGNATURE_SIZE = sodium_base64_ENCODED_LEN(crypto_sign_BYTES, sodium_base64_VARIANT_ORIGINAL),
};

/* ---- waiting */

void webhooks_wake(struct webhooks *webhooks, int64_t last_sequence)
{
	if (!atomic_load(&webhooks->is_running))
		return;
	atomic_store(&webhooks->head, last_sequence);
	/* Once until the thread takes it: the semaphore can't overflow however long the receiver is dead. */
	if (!atomic_exchange(&webhooks->has_news, true))
		(void)sem_post(&webhooks->changed);
}

static void wait_for_news(struct webhooks *webhooks)
{
	while (!atomic_load(&webhooks->is_ending) && !atomic_exchange(&webhooks->has_news, false))
		(void)sem_wait(&webhooks->changed);
}

/* News don't shorten it: they stay for later. */
static void wait_backoff(struct webhooks *webhooks)
{
	unsigned doublings = webhooks->attempt < 10 ? webhooks->attempt : 10;
	int64_t ms = (int64_t)BACKOFF_FIRST_MS << doublings;
	uint32_t percent = 100 - JITTER_PERCENT + randombytes_uniform(2 * JITTER_PERCENT + 1);
	struct timespec until;

	ms = (ms < BACKOFF_LONGEST_MS ? ms : BACKOFF_LONGEST_MS) * percent / 100;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000 * 1000;
	if (until.tv_nsec >= 1000 * 1000 * 1000) {
		until.tv_sec++;
		until.tv_nsec -= 1000 * 1000 * 1000;
	}
	webhooks->attempt++;
	while (!atomic_load(&webhooks->is_ending))
		if (sem_clockwait(&webhooks->changed, CLOCK_MONOTONIC, &until) != 0 && errno == ETIMEDOUT)
			return;
}

/* ---- the log and the position */

struct reading {
	int64_t from;
	int64_t head;
	struct store_event_list list;
};

static int run_page(struct store_tx *tx, void *arg)
{
	const struct store_event_filter all = {0};
	struct reading *reading = arg;

	return store_event_list(tx, &all, reading->from, PAGE, &reading->list);
}

static int run_ends(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;
	int r = store_event_head(tx, &reading->head);

	return r == 0 ? store_webhook_position_find(tx, &reading->from) : r;
}

static int run_save(struct store_tx *tx, void *arg)
{
	const int64_t *position = arg;

	return store_webhook_position_put(tx, *position);
}

static struct store *store_of(struct webhooks *webhooks)
{
	return lifecycle_store(webhooks->config.lifecycle);
}

/* When it can't be saved now, a later one is: until then a restart would deliver again. */
static int save(struct webhooks *webhooks)
{
	int64_t position = atomic_load(&webhooks->position);
	int r = 0;

	if (position == webhooks->saved)
		return 0;
	arena_reset(&webhooks->arena);
	r = store_call(store_of(webhooks), &webhooks->arena, run_save, &position);
	if (r == 0)
		webhooks->saved = position;
	return r;
}

static bool is_wanted(const struct webhooks *webhooks, const struct store_event *event)
{
	for (size_t i = 0; i < webhooks->config.type_count; i++)
		if (str_is(event->type, webhooks->config.types[i]))
			return true;
	return false;
}

/* ---- one event */

static void write_text(struct webhooks *webhooks, const struct store_event *event, int64_t at_s)
{
	struct str store = store_identity(store_of(webhooks));
	char delivery[128];
	struct json_out out;

	(void)snprintf(delivery, sizeof(delivery), "%.32s-%lld", store.bytes, (long long)event->sequence);
	buf_reset(&webhooks->text);
	buf_printf(&webhooks->text, "%lld.", (long long)at_s);
	json_out_init(&out, &webhooks->text);
	json_out_begin_object(&out);
	json_out_key(&out, "event");
	render_event(event, &out);
	json_out_member_str(&out, "storeId", store);
	json_out_member_text(&out, "deliveryId", delivery);
	json_out_end_object(&out);
}

static int make_text(struct webhooks *webhooks, const struct store_event *event, int64_t at_s)
{
	struct store_event copy = *event;

	write_text(webhooks, event, at_s);
	if (buf_error(&webhooks->text) == 0 && webhooks->text.len > BODY_MOST) {
		copy.payload_json = (struct str){0};
		write_text(webhooks, &copy, at_s);
	}
	return buf_error(&webhooks->text);
}

static void post(struct webhooks *webhooks, int64_t at_s, struct prober_delivery *ret)
{
	unsigned char signature[crypto_sign_BYTES];
	char encoded[SIGNATURE_SIZE];
	char signature_line[SIGNATURE_SIZE + 64];
	char time_line[64];
	struct str text = buf_str(&webhooks->text);
	size_t head = strcspn(text.bytes, ".") + 1;
	struct str headers[3] = {STR("Content-Type: application/json")};

	(void)crypto_sign_detached(
		signature, NULL, (const unsigned char *)text.bytes, text.len, webhooks->config.key->secret);
	(void)sodium_bin2base64(encoded, sizeof(encoded), signature, sizeof(signature), sodium_base64_VARIANT_ORIGINAL);
	(void)snprintf(signature_line, sizeof(signature_line), "Admitd-Signature: ed25519=%s", encoded);
	(void)snprintf(time_line, sizeof(time_line), "Admitd-Timestamp: %lld", (long long)at_s);
	headers[1] = (struct str){time_line, strlen(time_line)};
	headers[2] = (struct str){signature_line, strlen(signature_line)};
	*ret = (struct prober_delivery){.url = {webhooks->config.url, strlen(webhooks->config.url)},
		.headers = headers,
		.header_count = sizeof(headers) / sizeof(headers[0]),
		.body = {text.bytes + head, text.len - head}};
	prober_client_deliver(webhooks->config.prober, ret);
}

static void tell(struct webhooks *webhooks, const struct prober_delivery *delivery, bool is_done)
{
	if (is_done && webhooks->attempt > 0)
		log_line(LOG_LINE_INFO, "webhooks", "the receiver takes events again");
	else if (!is_done && webhooks->attempt == 0 && delivery->status != 0)
		log_line(LOG_LINE_WARNING, "webhooks", "the receiver answers with status %d; it is tried again",
			delivery->status);
	else if (!is_done && webhooks->attempt == 0)
		log_line(LOG_LINE_WARNING, "webhooks", "the receiver: %s; it is tried again", delivery->error);
}

/* True: it has it. */
static bool deliver(struct webhooks *webhooks, const struct store_event *event)
{
	int64_t at_s = lifecycle_now(webhooks->config.lifecycle) / 1000;
	struct prober_delivery delivery = {0};
	bool is_done = false;

	if (make_text(webhooks, event, at_s) == 0)
		post(webhooks, at_s, &delivery);
	is_done = delivery.status >= 200 && delivery.status < 300;
	if (!is_done && atomic_load(&webhooks->is_ending))
		return false;
	atomic_fetch_add(is_done ? &webhooks->delivered : &webhooks->failed, 1);
	tell(webhooks, &delivery, is_done);
	return is_done;
}

/* ---- the thread */

enum stepped { STEPPED_ON = 0, STEPPED_AT_END, STEPPED_IN_VAIN };

/* Passes over what nobody wants, and delivers at most one event. */
static enum stepped step(struct webhooks *webhooks)
{
	struct reading reading = {.from = atomic_load(&webhooks->position)};
	bool is_delivered = false;

	arena_reset(&webhooks->arena);
	if (store_read(store_of(webhooks), &webhooks->arena, run_page, &reading) != 0)
		return STEPPED_IN_VAIN;
	for (size_t i = 0; i < reading.list.count && !is_delivered; i++) {
		const struct store_event *event = &reading.list.items[i];

		is_delivered = is_wanted(webhooks, event);
		if (is_delivered && !deliver(webhooks, event))
			return STEPPED_IN_VAIN;
		atomic_store(&webhooks->position, event->sequence);
	}
	webhooks->attempt = 0;
	if (is_delivered || atomic_load(&webhooks->position) - webhooks->saved >= SAVE_EVERY)
		(void)!save(webhooks);
	return is_delivered || reading.list.count == PAGE ? STEPPED_ON : STEPPED_AT_END;
}

static void *webhooks_main(void *arg)
{
	struct webhooks *webhooks = arg;

	while (!atomic_load(&webhooks->is_ending)) {
		enum stepped stepped = step(webhooks);

		if (stepped == STEPPED_IN_VAIN)
			wait_backoff(webhooks);
		else if (stepped == STEPPED_AT_END)
			wait_for_news(webhooks);
	}
	(void)!save(webhooks);
	return NULL;
}

static int find_position(struct webhooks *webhooks)
{
	struct reading reading = {0};
	int r = store_read(store_of(webhooks), &webhooks->arena, run_ends, &reading);

	if (r != 0 && r != STORE_ABSENT)
		return r < 0 ? r : -EBUSY;
	webhooks->saved = r == 0 ? reading.from : -1;
	atomic_store(&webhooks->head, reading.head);
	atomic_store(&webhooks->position, r == 0 && reading.from <= reading.head ? reading.from : reading.head);
	r = save(webhooks);
	return r > 0 ? -EBUSY : r;
}

static void release(struct webhooks *webhooks)
{
	buf_release(&webhooks->text);
	arena_release(&webhooks->arena);
}

int webhooks_start(struct webhooks *webhooks, const struct webhooks_config *config)
{
	int r = 0;

	webhooks->config = *config;
	arena_init(&webhooks->arena, ARENA_BYTES);
	buf_init(&webhooks->text, TEXT_CEILING);
	(void)sem_init(&webhooks->changed, 0, 0);
	r = find_position(webhooks);
	if (r == 0)
		r = -pthread_create(&webhooks->thread, NULL, webhooks_main, webhooks);
	if (r != 0)
		release(webhooks);
	atomic_store(&webhooks->is_running, r == 0);
	/* What came between the look at the log and now. */
	if (r == 0 && !atomic_exchange(&webhooks->has_news, true))
		(void)sem_post(&webhooks->changed);
	return r;
}

void webhooks_stop(struct webhooks *webhooks)
{
	if (!atomic_exchange(&webhooks->is_running, false))
		return;
	atomic_store(&webhooks->is_ending, true);
	(void)sem_post(&webhooks->changed);
	(void)pthread_join(webhooks->thread, NULL);
	/* The semaphore stays: the writer may just be waking us. */
	release(webhooks);
}

void webhooks_read(struct webhooks *webhooks, struct webhooks_stats *ret)
{
	int64_t position = atomic_load(&webhooks->position);
	int64_t head = atomic_load(&webhooks->head);

	*ret = (struct webhooks_stats){
		.is_on = atomic_load(&webhooks->is_running),
		.delivered = atomic_load(&webhooks->delivered),
		.failed = atomic_load(&webhooks->failed),
		.lag = head > position ? (uint64_t)(head - position) : 0,
	};
}
