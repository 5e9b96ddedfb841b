/* call.h - how an operation gets to the store and its answer back; not for other rooms.
 *
 * `run` answers 0, a lifecycle_result, a CALL_… below, or -errno. It starts from the request alone (L4). A refusal is taken back
 * unless `run` called call_keep().
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CALL_H
#define ADMITD_DAEMON_LIFECYCLE_CALL_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Answers of `run` that end nothing: ask for health, then again. */
enum call_again {
	CALL_ASK_HEALTH = 200, /* it is too old */
	CALL_INPUTS_CHANGED,   /* it no longer fits; not for ever */
	CALL_DUE_FIRST,        /* it met a project in which time has come, or one that it can't work in (met.h) */
};

typedef int call_run_fn(struct store_tx *tx, struct lifecycle_call *call);

/* Starts the worker thread. 0 or -errno. */
int call_worker_start(struct lifecycle *lifecycle) MUST_USE;
/* Waits for every accepted call, then ends the thread. */
void call_worker_stop(struct lifecycle *lifecycle);

/* A writing operation. What is due in its projects is written before `run` (2.1), in the same transaction. */
int call_write(struct lifecycle *lifecycle, struct lifecycle_call *call, call_run_fn *run) MUST_USE;
/* The same after `prepare`, which may wait for files; what it answers but 0 ends the call. */
int call_prepare_write(struct lifecycle *lifecycle, struct lifecycle_call *call,
	int (*prepare)(struct lifecycle_call *call), call_run_fn *run) MUST_USE;
/* A reading operation, on a snapshot. `finish` runs after it and answers the result to give. */
int call_read(struct lifecycle *lifecycle, struct lifecycle_call *call, call_run_fn *run,
	int (*finish)(struct lifecycle_call *call, int result)) MUST_USE;

/* What the refusal leaves is kept (S3). */
void call_keep(struct lifecycle_call *call);

/* What the store answered, as a result of ours: its ends of an operation, or -errno. A refusal that its caller left
 * unhandled is a fault of ours (-EUCLEAN).
 */
int call_store_result(int store_result) MUST_USE;

#endif
