/* api_call.h - a request that becomes a call of the lifecycle, and its answer (chapters 3.2 "One request", 4.1).
 *
 * A handler of a route with HTTP_WRITES puts its call and an api_call into one struct of the request's arena, reads the body,
 * and hands over. When the call ends, on whatever thread, the answer is written from the typed outcome and the request is
 * finished. With an Idempotency-Key the answer is recorded in the transaction it names, and a request that was answered before
 * isn't made again.
 *
 *	struct approving {
 *		struct api_call call;	(first)
 *		struct lifecycle_approval approval;
 *	};
 *
 *	r = api_call_begin(&work->call, api, request, &work->approval.call, write_approval, reply);
 *	if (r != 0)
 *		return API_CALL_ENDED(r);
 *	…
 *	return api_call_start(&work->call, lifecycle_approve(api->lifecycle, &work->approval), reply);
 */
#ifndef ADMITD_DAEMON_HTTP_API_CALL_H
#define ADMITD_DAEMON_HTTP_API_CALL_H

#include "daemon/http/api.h"

struct api_call;

/* Writes the answer of a DONE call. May run twice, and on the writer's thread: it starts from the outcome alone. */
typedef void api_call_write_fn(struct api_call *call, struct http_reply *reply);

struct api_call {
	struct api *api;
	struct http_request *request;
	struct lifecycle_call *call;
	struct arena arena; /* of the outcome */
	api_call_write_fn *write;
	api_call_write_fn *blocked; /* ADMISSION_BLOCKED; NULL where that can't be */
	struct idempotency_key key;
	/* Of one that may wait for work: makes the lifecycle's call once more; NULL where there is no waiting. */
	int (*again)(struct api_call *call);
	struct handoff_waiter waiter;
	/* Set before api_call_begin(): where the outcome will have the run's token, which goes behind the rest of the answer and is
	 * never recorded; NULL where there is none. */
	const struct str *run_token;
	bool is_dry; /* set before, too: nothing will take effect, so a key means nothing */
};

enum api_call_result { API_CALL_ANSWERED = 1 };

/* What a handler returns when api_call_begin() didn't answer 0. */
#define API_CALL_ENDED(result) ((result) < 0 ? (result) : 0)

/* Takes up the request. 0; API_CALL_ANSWERED: *reply is the answer, a recorded one or a refusal of the key; or -errno. After
 * 0 it is ended by api_call_start() or api_call_drop(). */
int api_call_begin(struct api_call *call, struct api *api, struct http_request *request,
	struct lifecycle_call *lifecycle_call, api_call_write_fn *write, struct http_reply *reply) MUST_USE;

/* What the handler returns after handing over; `result` is what the lifecycle answered to that. The call may be gone. */
int api_call_start(struct api_call *call, int result, struct http_reply *reply) MUST_USE;

/* Ends a call that was not handed over, after the handler filled *reply or failed. Returns `result`. */
int api_call_drop(struct api_call *call, int result);

/* Ends a call whose request waits, on any thread, as if the lifecycle had ended it with this result. The call may be gone then. For what does
 * work of its own between two calls of the lifecycle. */
void api_call_end(struct api_call *call, int result);

/* A result of the lifecycle that is a refusal, as a problem: with faults, the current record, what is missing. A negative one is
 * 500 and logged. Not for ADMISSION_BLOCKED. */
void api_call_refuse(struct http_reply *reply, const struct http_request *request, int result,
	const struct lifecycle_refusal *refusal);

/* What a view answered, other than 0: 404, 503, or -errno. Returns what the handler returns. */
int api_call_refuse_view(struct http_reply *reply, const struct http_request *request, int result);

#endif
