#include "daemon/lifecycle/preview_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/preview_entry.h"

enum {
	FOLD_SLOTS = 4096,
	FOLD_DECISION_BYTES = 32, /* of the decision's digest */
	FOLD_MS = 60000,
	WAITING_LIMIT_BYTES = 64 * 1024 * 1024,
	BATCH_ARENA_BYTES = 256 * 1024 * 1024,
};

/* The last decision that was recorded for a subject. */
struct fold {
	uint64_t subject;
	char decision[FOLD_DECISION_BYTES];
	int64_t at;
};

/* Entries that are with the store. */
struct batch {
	struct preview_log *log;
	struct store_op op;
	struct arena arena;
	struct preview_entry *first;
};

struct preview_log {
	struct lifecycle *lifecycle;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct preview_entry *first, **last; /* waiting */
	size_t waiting_bytes;
	size_t batches; /* with the store */
	uint64_t written, folded, lost;
	struct fold folds[FOLD_SLOTS];
};

struct preview_log *preview_log_new(struct lifecycle *lifecycle)
{
	struct preview_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return NULL;
	log->lifecycle = lifecycle;
	log->last = &log->first;
	pthread_mutex_init(&log->lock, NULL);
	pthread_cond_init(&log->changed, NULL);
	return log;
}

static void free_entries(struct preview_entry *entry)
{
	while (entry != NULL) {
		struct preview_entry *next = entry->next;

		preview_entry_free(entry);
		entry = next;
	}
}

/* ---- folding */

static uint64_t hash_subject(struct str subject)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < subject.len; i++)
		hash = (hash ^ (unsigned char)subject.bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/* The digest behind "sha256:". */
static const char *decision_part(struct str decision_id)
{
	CHECK(decision_id.len >= 7 + FOLD_DECISION_BYTES);
	return decision_id.bytes + 7;
}

bool preview_log_folds(struct preview_log *log, struct str subject, struct str decision_id, int64_t now)
{
	uint64_t hash = hash_subject(subject);
	const struct fold *fold = &log->folds[hash % FOLD_SLOTS];
	bool folds = false;

	pthread_mutex_lock(&log->lock);
	folds = fold->subject == hash && now >= fold->at && now - fold->at < FOLD_MS &&
		memcmp(fold->decision, decision_part(decision_id), FOLD_DECISION_BYTES) == 0;
	log->folded += folds;
	pthread_mutex_unlock(&log->lock);
	return folds;
}

static void remember(struct preview_log *log, const struct preview_entry *entry)
{
	for (const struct preview_record *record = entry->first; record != NULL; record = record->next) {
		uint64_t hash = hash_subject(record->event.subject_id);
		struct fold *fold = &log->folds[hash % FOLD_SLOTS];

		fold->subject = hash;
		fold->at = entry->now;
		memcpy(fold->decision, decision_part(record->decision.id), FOLD_DECISION_BYTES);
	}
}

/* ---- batches */

static int run_batch(struct store_tx *tx, void *arg)
{
	struct batch *batch = arg;
	int r = 0;

	for (const struct preview_entry *entry = batch->first; r == 0 && entry != NULL; entry = entry->next)
		r = preview_entry_write(tx, batch->log->lifecycle, entry);
	return r;
}

static void batch_done(struct store_op *op, int result);

/* Called with the lock. False: the store doesn't take it now, and nothing was done with the entries. */
static bool submit(struct preview_log *log, struct preview_entry *entries)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (batch == NULL)
		return false;
	batch->log = log;
	batch->first = entries;
	arena_init(&batch->arena, BATCH_ARENA_BYTES);
	batch->op = (struct store_op){.run = run_batch, .done = batch_done, .arg = batch, .arena = &batch->arena};
	log->batches++;
	if (store_submit(log->lifecycle->store, &batch->op) == 0)
		return true;
	log->batches--;
	arena_release(&batch->arena);
	free(batch);
	return false;
}

/* Called with the lock. What the store doesn't take now waits for the next occasion. */
static void submit_waiting(struct preview_log *log)
{
	if (log->first == NULL || !submit(log, log->first))
		return;
	log->first = NULL;
	log->last = &log->first;
	log->waiting_bytes = 0;
}

/* Called with the lock. Before those that came later, however many wait: they were accepted. */
static void put_back(struct preview_log *log, struct preview_entry *entries)
{
	struct preview_entry *last = entries;

	log->waiting_bytes += last->arena.total;
	while (last->next != NULL) {
		last = last->next;
		log->waiting_bytes += last->arena.total;
	}
	if (log->first == NULL)
		log->last = &last->next;
	last->next = log->first;
	log->first = entries;
}

/* Called with the lock. One entry that can't be written must not take the others along: each goes alone. */
static void submit_alone(struct preview_log *log, struct preview_entry *entries)
{
	while (entries != NULL) {
		struct preview_entry *rest = entries->next;

		entries->next = NULL;
		if (!submit(log, entries)) {
			entries->next = rest;
			put_back(log, entries);
			return;
		}
		entries = rest;
	}
}

static uint64_t count_entries(const struct preview_entry *entry)
{
	uint64_t count = 0;

	for (; entry != NULL; entry = entry->next)
		count++;
	return count;
}

static void batch_done(struct store_op *op, int result)
{
	struct batch *batch = op->arg;
	struct preview_log *log = batch->log;
	struct preview_entry *entries = batch->first;
	uint64_t count = count_entries(entries);

	arena_release(&batch->arena);
	free(batch);
	pthread_mutex_lock(&log->lock);
	if (result != 0)
		memset(log->folds, 0, sizeof(log->folds)); /* what isn't on disk must not fold what comes */
	if (result != 0 && count > 1) {
		submit_alone(log, entries);
		entries = NULL;
	} else {
		*(result == 0 ? &log->written : &log->lost) += count;
	}
	log->batches--;
	submit_waiting(log);
	pthread_cond_broadcast(&log->changed);
	pthread_mutex_unlock(&log->lock);
	free_entries(entries);
}

void preview_log_flush(struct preview_log *log)
{
	pthread_mutex_lock(&log->lock);
	submit_waiting(log);
	pthread_mutex_unlock(&log->lock);
}

void preview_log_take_up(struct preview_log *log)
{
	pthread_mutex_lock(&log->lock);
	if (log->batches == 0)
		submit_waiting(log);
	pthread_mutex_unlock(&log->lock);
}

int preview_log_add(struct preview_log *log, struct lifecycle_call *call, struct preview_entry *entry)
{
	int r = preview_entry_close(entry, call);

	if (r != 0)
		return r;
	pthread_mutex_lock(&log->lock);
	if (log->waiting_bytes + entry->arena.total > WAITING_LIMIT_BYTES) {
		pthread_mutex_unlock(&log->lock);
		return LIFECYCLE_QUEUE_FULL;
	}
	*log->last = entry;
	log->last = &entry->next;
	log->waiting_bytes += entry->arena.total;
	remember(log, entry);
	if (log->batches == 0)
		submit_waiting(log);
	pthread_mutex_unlock(&log->lock);
	return 0;
}

void preview_log_free(struct preview_log *log)
{
	if (log == NULL)
		return;
	pthread_mutex_lock(&log->lock);
	while (log->batches > 0)
		pthread_cond_wait(&log->changed, &log->lock);
	submit_waiting(log);
	while (log->batches > 0)
		pthread_cond_wait(&log->changed, &log->lock);
	pthread_mutex_unlock(&log->lock);
	free_entries(log->first);
	pthread_cond_destroy(&log->changed);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

void preview_log_stats_read(struct preview_log *log, struct lifecycle_stats *ret)
{
	pthread_mutex_lock(&log->lock);
	ret->previews_written = log->written;
	ret->previews_folded = log->folded;
	ret->previews_lost = log->lost;
	pthread_mutex_unlock(&log->lock);
}
