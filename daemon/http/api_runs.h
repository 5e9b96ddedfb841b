/* api_runs.h - what the files of the runs' routes share; not for others.
 */
#ifndef ADMITD_DAEMON_HTTP_API_RUNS_H
#define ADMITD_DAEMON_HTTP_API_RUNS_H

#include "daemon/http/api.h"

/* Whether the request may name this run at all: a run's token knows no other run. False: it is answered. */
bool api_runs_names(struct http_request *request, struct str run, struct http_reply *reply);

/* POST …/context. */
int api_context_post(void *ctx, struct http_request *request, struct http_reply *reply);

#endif
