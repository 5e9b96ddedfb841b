#include "daemon/http/rate.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, PROBES = 8, SAVED_US = 10 * 1000 * 1000, MINUTE_US = 60 * 1000 * 1000, US = 1000 };

/* The generic cell rate algorithm: each request costs an interval, and `due_us` is when all that were made would have been made evenly. */
struct slot {
	uint64_t token; /* a keyed hash */
	uint64_t due_us;
};

struct rate {
	pthread_mutex_t lock;
	uint64_t interval_us;
	unsigned char key[crypto_shorthash_KEYBYTES];
	struct slot slots[SLOTS];
};

struct rate *rate_new(unsigned per_minute)
{
	struct rate *rate = calloc(1, sizeof(*rate));

	CHECK(per_minute > 0);
	if (rate == NULL)
		return NULL;
	(void)pthread_mutex_init(&rate->lock, NULL);
	rate->interval_us = per_minute < MINUTE_US ? MINUTE_US / per_minute : 1;
	randombytes_buf(rate->key, sizeof(rate->key));
	return rate;
}

void rate_free(struct rate *rate)
{
	if (rate == NULL)
		return;
	(void)pthread_mutex_destroy(&rate->lock);
	free(rate);
}

/* Its own, or one whose token owes nothing any more; where all are busy, the first is shared. */
static struct slot *find_slot(struct rate *rate, uint64_t token, uint64_t now_us)
{
	struct slot *found = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		struct slot *slot = &rate->slots[(token + i) % SLOTS];

		if (slot->token == token && slot->due_us > now_us)
			return slot;
		if (found == NULL && slot->due_us <= now_us)
			found = slot;
	}
	if (found == NULL)
		return &rate->slots[token % SLOTS];
	*found = (struct slot){.token = token, .due_us = now_us};
	return found;
}

bool rate_take(struct rate *rate, struct str token, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	unsigned char hash[crypto_shorthash_BYTES];
	uint64_t now_us = now_ms * US;
	uint64_t number;
	struct slot *slot;
	bool may;

	(void)crypto_shorthash(hash, (const unsigned char *)token.bytes, token.len, rate->key);
	memcpy(&number, hash, sizeof(number));
	(void)pthread_mutex_lock(&rate->lock);
	slot = find_slot(rate, number, now_us);
	may = slot->due_us + rate->interval_us <= now_us + SAVED_US;
	if (may)
		slot->due_us += rate->interval_us;
	*ret_wait_ms = may ? 0 : (slot->due_us + rate->interval_us - now_us - SAVED_US + US - 1) / US;
	(void)pthread_mutex_unlock(&rate->lock);
	return may;
}
