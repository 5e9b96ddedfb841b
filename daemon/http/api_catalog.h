/* api_catalog.h - what the files of the catalog's routes share; for the table in api_catalog.c.
 */
#ifndef ADMITD_DAEMON_HTTP_API_CATALOG_H
#define ADMITD_DAEMON_HTTP_API_CATALOG_H

#include "daemon/http/api.h"

/* `PUT /v1/catalog`, which sleeps. */
int api_catalog_put(void *ctx, struct http_request *request, struct http_reply *reply);

#endif
