/* idempotency.h - the same request again gives the recorded answer (chapter 4.1, "Idempotency").
 *
 * A key belongs to a token and a route with its ids. What took effect is written in the transaction it names; what is still
 * running is known in memory only. A key that was used with another body is told so. Recorded answers hold no secret.
 */
#ifndef ADMITD_DAEMON_HTTP_IDEMPOTENCY_H
#define ADMITD_DAEMON_HTTP_IDEMPOTENCY_H

#include <pthread.h>

#include "daemon/http/request.h"
#include "daemon/store/token.h"
#include "policy/decision_id.h"

enum { IDEMPOTENCY_KEY_MAX = 200, IDEMPOTENCY_KEPT_MS = 24 * 3600 * 1000 };

/* One request with a key. The owner keeps it in place until idempotency_end(). */
struct idempotency_key {
	struct str token;
	struct str route;
	struct str key; /* absent: the request has none */
	char digest[DIGEST_TEXT_SIZE];
	struct idempotency_key *next;
};

/* What is running now. Zero-initialised but for the lock: idempotency_init(). */
struct idempotency {
	pthread_mutex_t lock;
	struct idempotency_key *running;
};

enum idempotency_result {
	IDEMPOTENCY_MALFORMED = 1, /* not one header of 1 to 200 visible ASCII characters */
	IDEMPOTENCY_IN_PROGRESS,
	IDEMPOTENCY_MISMATCH,
	IDEMPOTENCY_RECORDED, /* *ret_answer is what was answered */
};

void idempotency_init(struct idempotency *idempotency);
void idempotency_release(struct idempotency *idempotency);

/* Reads the header and, if there is one, takes the key for as long as the request runs. 0: go on (ret_key->key says whether
 * there is one), MALFORMED, IN_PROGRESS or -ENOMEM; with anything but 0 there is nothing to end.
 */
int idempotency_begin(
	struct idempotency *idempotency, struct http_request *request, struct idempotency_key *ret_key) MUST_USE;
/* Gives the key back; fine without one. */
void idempotency_end(struct idempotency *idempotency, struct idempotency_key *key);

/* What is recorded for a key that was begun: 0 nothing, RECORDED, MISMATCH, or -errno. The answer lives in `arena`. */
int idempotency_find(struct store *store, struct arena *arena, const struct idempotency_key *key,
	struct store_answer *ret_answer) MUST_USE;

/* Records an answer in the transaction that it names, and forgets some of those from over a day before. 0 or -errno. */
int idempotency_record(struct store_tx *tx, const struct idempotency_key *key, unsigned status, struct str answer,
	int64_t now) MUST_USE;

#endif
