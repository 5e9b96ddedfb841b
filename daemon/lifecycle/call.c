#include "daemon/lifecycle/call.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/due_timer.h"
#include "daemon/lifecycle/lease_timer.h"
#include "daemon/lifecycle/met.h"
#include "daemon/lifecycle/preview_log.h"

/* What `run` of a store operation answers to have it taken back; its refusal is in the call. */
enum { TAKE_BACK = 1000 };

void call_keep(struct lifecycle_call *call)
{
	call->is_kept = true;
}

int call_store_result(int store_result)
{
	switch (store_result) {
	case STORE_QUEUE_FULL:
		return LIFECYCLE_QUEUE_FULL;
	case STORE_SHUTTING_DOWN:
		return LIFECYCLE_SHUTTING_DOWN;
	case STORE_NOT_STORED:
	case -ENOSPC:
	case -EBUSY:
	case -EROFS:
		return LIFECYCLE_NOT_STORED;
	case STORE_OUTCOME_UNKNOWN:
		return LIFECYCLE_OUTCOME_UNKNOWN;
	default:
		return store_result > 0 ? -EUCLEAN : store_result;
	}
}

/* Time first (2.1): a writer writes down what it did, a reader has had it written. */
static int run_after_due(struct store_tx *tx, struct lifecycle_call *call)
{
	int r = call->is_read ? 0 : met_write_due(tx, call);

	return r != 0 ? r : call->run(tx, call);
}

static int run_once(struct store_tx *tx, void *arg)
{
	struct lifecycle_call *call = arg;
	int r = 0;

	if (call->is_read)
		arena_reset(call->arena);
	/* Not when it was handed over: since then something may have ended, and others have written later times. */
	call->now = lifecycle_now(call->lifecycle);
	call->refusal = (struct lifecycle_refusal){.revision = -1};
	call->is_kept = false;
	call->due_at = 0;
	call->lease_run = (struct str){0};
	r = run_after_due(tx, call);
	if (r == 0 && !call->is_dry && !call->is_read && call->record != NULL) {
		r = call->record(tx, call);
		if (r > 0)
			r = -EUCLEAN;
	}
	if (r < 0)
		return r;
	call->result = r;
	return (r == 0 && !call->is_dry) || (r != 0 && call->is_kept) ? 0 : TAKE_BACK;
}

/* The result of a try; CALL_… when there must be another one. */
static int result_of(struct lifecycle_call *call, int store_result)
{
	/* The store got round to something: there may be room for what it refused. */
	preview_log_take_up(call->lifecycle->previews);
	if (store_result != 0 && store_result != TAKE_BACK)
		return call_store_result(store_result);
	if (call->due_at != 0 && store_result == 0)
		due_timer_tell(call->lifecycle, call->due_at);
	if (call->lease_run.bytes != NULL && store_result == 0)
		lease_timer_note(call->lifecycle, call->lease_run, call->lease_renewals);
	if (call->result == CALL_INPUTS_CHANGED) {
		atomic_fetch_add(&call->lifecycle->inputs_changed, 1);
		if (++call->conflicts >= CONFLICT_LIMIT)
			return LIFECYCLE_INPUTS_CHANGED;
	}
	return call->result;
}

static bool is_again(int result)
{
	return result == CALL_ASK_HEALTH || result == CALL_INPUTS_CHANGED || result == CALL_DUE_FIRST;
}

/* What its tries left for each other. */
static void forget(struct lifecycle_call *call)
{
	asked_free(call->asked);
	call->asked = NULL;
	met_free(call);
}

/* After `done` the call may be gone. */
static void end(struct lifecycle_call *call, int result)
{
	struct call_worker *worker = &call->lifecycle->worker;

	if (call->finish != NULL)
		result = call->finish(call, result);
	forget(call);
	call->done(call, result);
	pthread_mutex_lock(&worker->lock);
	worker->in_flight--;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

static void push(struct lifecycle_call *call)
{
	struct call_worker *worker = &call->lifecycle->worker;

	call->next = NULL;
	pthread_mutex_lock(&worker->lock);
	if (worker->last != NULL)
		worker->last->next = call;
	else
		worker->first = call;
	worker->last = call;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

static void settle(struct lifecycle_call *call, int store_result)
{
	int r = result_of(call, store_result);

	if (is_again(r))
		push(call);
	else
		end(call, r);
}

static void op_done(struct store_op *op, int result)
{
	settle(op->arg, result);
}

/* One try of an asynchronous call: 0, or a result of the store that says it was not accepted. */
static int attempt(struct lifecycle_call *call)
{
	if (call->is_read) {
		settle(call, store_read(call->lifecycle->store, call->arena, run_once, call));
		return 0;
	}
	call->op = (struct store_op){.run = run_once, .done = op_done, .arg = call, .arena = call->arena};
	return store_submit(call->lifecycle->store, &call->op);
}

/* What must be done before the next try, outside its transaction. */
static int make_ready(struct lifecycle_call *call)
{
	int r = call->is_read ? met_catch_up(call) : 0;

	return r != 0 ? r : call->prepare(call);
}

static void work(struct lifecycle_call *call)
{
	int r = make_ready(call);

	if (r != 0) {
		end(call, r);
		return;
	}
	r = attempt(call);
	if (r != 0)
		end(call, call_store_result(r));
}

static void *worker_main(void *arg)
{
	struct call_worker *worker = arg;

	pthread_mutex_lock(&worker->lock);
	while (!worker->is_ending || worker->first != NULL) {
		struct lifecycle_call *call = worker->first;

		if (call == NULL) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		worker->first = call->next;
		if (worker->first == NULL)
			worker->last = NULL;
		pthread_mutex_unlock(&worker->lock);
		work(call);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

int call_worker_start(struct lifecycle *lifecycle)
{
	struct call_worker *worker = &lifecycle->worker;
	int r = 0;

	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	while (r == 0 && worker->thread_count < CALL_THREADS) {
		r = pthread_create(&worker->threads[worker->thread_count], NULL, worker_main, worker);
		worker->thread_count += r == 0;
	}
	worker->is_running = worker->thread_count > 0;
	return -r;
}

void call_worker_stop(struct lifecycle *lifecycle)
{
	struct call_worker *worker = &lifecycle->worker;

	if (!worker->is_running)
		return;
	pthread_mutex_lock(&worker->lock);
	while (worker->in_flight > 0)
		pthread_cond_wait(&worker->changed, &worker->lock);
	worker->is_ending = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	while (worker->thread_count > 0)
		pthread_join(worker->threads[--worker->thread_count], NULL);
	worker->is_running = false;
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
}

static int wait_for_it(struct lifecycle_call *call, bool prepares_first)
{
	struct store *store = call->lifecycle->store;
	int r = prepares_first ? make_ready(call) : 0;

	while (r == 0) {
		r = result_of(call,
			call->is_read ? store_read(store, call->arena, run_once, call)
				      : store_call(store, call->arena, run_once, call));
		if (!is_again(r))
			break;
		r = make_ready(call);
	}
	if (call->finish != NULL)
		r = call->finish(call, r);
	forget(call);
	return r;
}

static int start_later(struct lifecycle_call *call, bool prepares_first)
{
	struct call_worker *worker = &call->lifecycle->worker;
	int r = 0;

	pthread_mutex_lock(&worker->lock);
	worker->in_flight++;
	pthread_mutex_unlock(&worker->lock);
	if (prepares_first) {
		push(call);
		return 0;
	}
	r = attempt(call);
	if (r == 0)
		return 0;
	pthread_mutex_lock(&worker->lock);
	worker->in_flight--;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	return call_store_result(r);
}

static int start(struct lifecycle *lifecycle, struct lifecycle_call *call, bool prepares_first)
{
	call->lifecycle = lifecycle;
	call->asked = NULL;
	call->met = NULL;
	call->conflicts = 0;
	call->result = 0;
	return call->done == NULL ? wait_for_it(call, prepares_first) : start_later(call, prepares_first);
}

int call_write(struct lifecycle *lifecycle, struct lifecycle_call *call, call_run_fn *run)
{
	call->run = run;
	call->prepare = asked_ask;
	call->finish = NULL;
	call->is_read = false;
	return start(lifecycle, call, false);
}

int call_prepare_write(struct lifecycle *lifecycle, struct lifecycle_call *call,
	int (*prepare)(struct lifecycle_call *call), call_run_fn *run)
{
	call->run = run;
	call->prepare = prepare;
	call->finish = NULL;
	call->is_read = false;
	return start(lifecycle, call, true);
}

int call_read(struct lifecycle *lifecycle, struct lifecycle_call *call, call_run_fn *run,
	int (*finish)(struct lifecycle_call *call, int result))
{
	call->run = run;
	call->prepare = asked_ask;
	call->finish = finish;
	call->is_read = true;
	call->is_dry = false;
	return start(lifecycle, call, false);
}
