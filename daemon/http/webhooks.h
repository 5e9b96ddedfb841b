/* webhooks.h - events of the log, posted to one receiver (chapter 3.2 "Processes").
 *
 * One thread reads the log behind a position that the store keeps, and has the prober post what is wanted, one event at a time and in
 * order. Only an answer of 2xx moves the position over an event; everything else is tried again, after a second that doubles up to
 * 5 min. So an event comes at least once, also over restarts; its deliveryId is the same each time. The thread waits for nobody but the
 * prober, holds one event, and shares no lock with whoever wakes it.
 *
 * The body is {"event": as /v1/events sends it, "storeId", "deliveryId"}. Admitd-Timestamp has the seconds since 1970 of this
 * attempt, Admitd-Signature "ed25519=" and the Base64 of the signature over timestamp, a full stop, body.
 */
#ifndef ADMITD_DAEMON_HTTP_WEBHOOKS_H
#define ADMITD_DAEMON_HTTP_WEBHOOKS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/audit/audit_key.h"
#include "daemon/lifecycle/lifecycle.h"
#include "policy/buf.h"

struct prober_client;

struct webhooks_config {
	struct lifecycle *lifecycle;
	struct prober_client *prober; /* NULL: there is none, and nothing is delivered until there is */
	const char *url;
	const char *const *types;
	size_t type_count;
	const struct audit_key *key; /* all of these outlive the thread */
};

/* Begins zeroed: waking is safe, and useless, before the start and after the stop. */
struct webhooks {
	struct webhooks_config config;
	pthread_t thread;
	sem_t changed;
	atomic_bool is_running;
	atomic_bool is_ending;
	atomic_bool has_news;
	atomic_int_fast64_t head;
	atomic_int_fast64_t position;
	atomic_uint_fast64_t delivered;
	atomic_uint_fast64_t failed;

	/* the thread's alone */
	int64_t saved;    /* the position in the store */
	unsigned attempt; /* of the event behind it, in vain */
	struct arena arena;
	struct buf text; /* timestamp, full stop, body */
};

/* Starts where it ended, or, the first time, at the end of the log. 0 or -errno. */
int webhooks_start(struct webhooks *webhooks, const struct webhooks_config *config) MUST_USE;
/* After the prober's client was interrupted, so that an open delivery ends at once. Fine when it was never started. */
void webhooks_stop(struct webhooks *webhooks);

/* Events were committed, up to this one. Any thread, waits for nothing: the store's writer calls it. */
void webhooks_wake(struct webhooks *webhooks, int64_t last_sequence);

struct webhooks_stats {
	bool is_on;
	uint64_t delivered;
	uint64_t failed; /* attempts */
	uint64_t lag;    /* events that weren't delivered or passed over yet */
};

/* Any thread. */
void webhooks_read(struct webhooks *webhooks, struct webhooks_stats *ret);

#endif
