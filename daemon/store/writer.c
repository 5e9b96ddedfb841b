/* The writer: one thread, one connection, one commit for all that waits together (chapter 3.2 "Writes"). */
#include <errno.h>

#include "daemon/store/store_private.h"

/* How far an operation came. */
enum { OP_WAITING, OP_RAN, OP_FAILED };

enum batch_end {
	BATCH_RAN,   /* every operation ran; the transaction is open */
	BATCH_LOST,  /* one failed and took the transaction with it */
	BATCH_BROKEN /* a sync failed before the commit: nothing of it is stored */
};

static void settle(struct store *store, struct store_op *op, int result)
{
	(void)pthread_mutex_lock(&store->lock);
	store->stats.operations++;
	(void)pthread_mutex_unlock(&store->lock);
	op->done(op, result);
}

/* `done` may free its operation, so the next one is read first. */
static void settle_all(struct store *store, struct store_op *op, const int *result_for_all)
{
	while (op) {
		struct store_op *next = op->next;

		settle(store, op, result_for_all ? *result_for_all : op->result);
		op = next;
	}
}

static void settle_all_as(struct store *store, struct store_op *op, int result)
{
	settle_all(store, op, &result);
}

static bool is_transaction_gone(const struct store *store)
{
	return sqlite3_get_autocommit(store->writer.db) != 0;
}

/* Keeps or takes back what an operation wrote. -errno when even that fails; the transaction is given up then. */
static int end_savepoint(struct store *store, bool keep)
{
	int rc = SQLITE_OK;

	if (!keep)
		rc = sql_exec(&store->writer, "ROLLBACK TO operation");
	if (rc == SQLITE_OK)
		rc = sql_exec(&store->writer, "RELEASE operation");
	if (rc != SQLITE_OK)
		sql_roll_back(&store->writer);
	return sql_result(rc);
}

static enum batch_end end_failed(struct store *store, struct store_op *op, int result, bool has_sync_failed)
{
	op->state = OP_FAILED;
	op->result = result < 0 ? result : -EIO;
	sql_roll_back(&store->writer);
	return has_sync_failed ? BATCH_BROKEN : BATCH_LOST;
}

static enum batch_end run_one(struct store *store, struct store_op *op)
{
	struct store_chain before = store->head;
	struct store_tx tx = {.connection = &store->writer,
		.arena = op->arena,
		.head = &store->head,
		.store_id = store->id,
		.can_write = true};
	int r = sql_result(sql_exec(&store->writer, "SAVEPOINT operation"));

	if (r)
		return end_failed(store, op, r, false);
	if (op->arena)
		arena_reset(op->arena);
	r = op->run(&tx, op->arg);
	if (tx.failure)
		r = tx.failure;
	if (is_transaction_gone(store) || tx.has_sync_failed)
		return end_failed(store, op, r, tx.has_sync_failed);
	if (r)
		store->head = before;
	op->result = r;
	op->state = OP_RAN;
	r = end_savepoint(store, r == 0);
	return r ? end_failed(store, op, r, false) : BATCH_RAN;
}

static enum batch_end run_all(struct store *store, struct store_op *first)
{
	for (struct store_op *op = first; op; op = op->next) {
		enum batch_end end = run_one(store, op);

		if (end != BATCH_RAN)
			return end;
	}
	return BATCH_RAN;
}

/* What fails before the log's sync, so that nothing happened. All else may have come after it. */
static bool is_before_sync(int rc)
{
	int primary = rc & 0xff;

	return rc == SQLITE_IOERR_WRITE || primary == SQLITE_FULL || primary == SQLITE_BUSY ||
		primary == SQLITE_READONLY;
}

/* 0, STORE_NOT_STORED or STORE_OUTCOME_UNKNOWN. */
static int commit(struct store *store)
{
	int rc = sql_exec(&store->writer, "COMMIT");

	if (rc == SQLITE_OK) {
		(void)pthread_mutex_lock(&store->lock);
		store->stats.commits++;
		(void)pthread_mutex_unlock(&store->lock);
		return 0;
	}
	sql_roll_back(&store->writer);
	return is_before_sync(rc) ? STORE_NOT_STORED : STORE_OUTCOME_UNKNOWN;
}

static void commit_all(struct store *store, struct store_op *first, const struct store_chain *before)
{
	int r = commit(store);

	if (r) {
		store->head = *before;
		if (r == STORE_OUTCOME_UNKNOWN)
			store_break(store);
		settle_all_as(store, first, r);
		return;
	}
	if (store->head.sequence != before->sequence && store->config.on_events)
		store->config.on_events(store->config.arg, store->head.sequence);
	settle_all(store, first, NULL);
}

/* Runs operations in one transaction. False when it was lost: then nobody was told yet, and one operation is OP_FAILED. */
static bool run_transaction(struct store *store, struct store_op *first)
{
	struct store_chain before = store->head;

	if (store_is_broken(store) || sql_exec(&store->writer, "BEGIN IMMEDIATE") != SQLITE_OK) {
		settle_all_as(store, first, STORE_NOT_STORED);
		return true;
	}
	switch (run_all(store, first)) {
	case BATCH_RAN:
		commit_all(store, first, &before);
		return true;
	case BATCH_BROKEN:
		store->head = before;
		store_break(store);
		settle_all_as(store, first, STORE_NOT_STORED);
		return true;
	case BATCH_LOST:
	default:
		store->head = before;
		return false;
	}
}

/* The others of a lost batch again, each alone, everybody told in order. */
static void run_each(struct store *store, struct store_op *op)
{
	while (op) {
		struct store_op *next = op->next;

		op->next = NULL;
		if (op->state == OP_FAILED) {
			settle(store, op, op->result);
		} else {
			(void)pthread_mutex_lock(&store->lock);
			store->stats.reruns += op->state == OP_RAN;
			(void)pthread_mutex_unlock(&store->lock);
			if (!run_transaction(store, op))
				settle(store, op, op->result);
		}
		op = next;
	}
}

/* Takes what waits, at most a batch; NULL when there is only a backup to work on, or nothing any more. */
static struct store_op *take_batch(struct store *store, bool *ret_is_end)
{
	struct store_op *first;
	struct store_op *last;
	size_t count = 1;

	(void)pthread_mutex_lock(&store->lock);
	while (!store->first && !store->is_closing && !store->backup)
		(void)pthread_cond_wait(&store->wake, &store->lock);
	first = last = store->first;
	if (first) {
		for (; last->next && count < store->config.batch_limit; count++)
			last = last->next;
		store->first = last->next;
		last->next = NULL;
		store->stats.queued -= count;
	}
	*ret_is_end = !first && store->is_closing;
	(void)pthread_mutex_unlock(&store->lock);
	return first;
}

static void *writer_main(void *arg)
{
	struct store *store = arg;
	bool is_end = false;

	while (!is_end) {
		struct store_op *first = take_batch(store, &is_end);

		if (first && !run_transaction(store, first))
			run_each(store, first);
		if (first && !store_is_broken(store))
			checkpoint_after_commit(store);
		if (!is_end)
			backup_step(store);
	}
	backup_stop(store);
	return NULL;
}

static int note_frames(void *arg, sqlite3 *db, const char *name, int frames)
{
	struct store *store = arg;

	(void)db;
	(void)name;
	(void)pthread_mutex_lock(&store->lock);
	store->stats.wal_frames = frames > 0 ? (uint64_t)frames : 0;
	(void)pthread_mutex_unlock(&store->lock);
	return SQLITE_OK;
}

int writer_start(struct store *store)
{
	int r;

	(void)sqlite3_wal_hook(store->writer.db, note_frames, store);
	r = -pthread_create(&store->writer_thread, NULL, writer_main, store);
	store->has_writer_thread = r == 0;
	return r;
}

void writer_stop(struct store *store)
{
	if (!store->has_writer_thread)
		return;
	(void)pthread_mutex_lock(&store->lock);
	(void)pthread_cond_signal(&store->wake);
	(void)pthread_mutex_unlock(&store->lock);
	CHECK(pthread_join(store->writer_thread, NULL) == 0);
}

static int enqueue(struct store *store, struct store_op *op, size_t limit)
{
	if (store->is_closing)
		return STORE_SHUTTING_DOWN;
	if (store->stats.queued >= limit)
		return STORE_QUEUE_FULL;
	if (store->first)
		store->last->next = op;
	else
		store->first = op;
	store->last = op;
	store->stats.queued++;
	(void)pthread_cond_signal(&store->wake);
	return 0;
}

static int submit(struct store *store, struct store_op *op, size_t limit)
{
	int r;

	op->next = NULL;
	op->result = 0;
	op->state = OP_WAITING;
	(void)pthread_mutex_lock(&store->lock);
	r = enqueue(store, op, limit);
	(void)pthread_mutex_unlock(&store->lock);
	return r;
}

int store_submit(struct store *store, struct store_op *op)
{
	return submit(store, op, store->config.queue_limit);
}

struct call {
	struct store_op op; /* first: `done` gets its address */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_done;
	int result;
};

static void end_call(struct store_op *op, int result)
{
	struct call *call = (struct call *)op;

	(void)pthread_mutex_lock(&call->lock);
	call->result = result;
	call->is_done = true;
	(void)pthread_cond_signal(&call->wake);
	(void)pthread_mutex_unlock(&call->lock);
}

int store_call(struct store *store, struct arena *arena, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	struct call call = {.op = {.run = run, .done = end_call, .arg = arg, .arena = arena},
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER};
	/* Who waits has one operation in the queue: there are never more of these than threads. */
	int r = submit(store, &call.op, SIZE_MAX);

	if (r)
		return r;
	(void)pthread_mutex_lock(&call.lock);
	while (!call.is_done)
		(void)pthread_cond_wait(&call.wake, &call.lock);
	(void)pthread_mutex_unlock(&call.lock);
	return call.result;
}
