/* condition.h - If-Match and If-None-Match of writes that replace, and tags of what is read (chapter 4.1 "Concurrency").
 *
 * A record's tag is its revision in quotes, "7". Reading a tag that is there is not answered 304 where the representation tells of more than
 * the record (a task's packages, a project's health); where the tag is of the bytes, it is.
 */
#ifndef ADMITD_DAEMON_HTTP_CONDITION_H
#define ADMITD_DAEMON_HTTP_CONDITION_H

#include "daemon/http/request.h"
#include "daemon/lifecycle/lifecycle.h"

/* Both fields of a write into *ret. HTTP_BAD_VALUE after a 400: one is neither a revision in quotes nor a star, or If-None-Match no star. */
int condition_read(struct http_request *request, struct http_reply *reply, struct lifecycle_condition *ret) MUST_USE;

/* Gives a whole answer of status 200 the tag of its bytes; the client that knows them gets 304 instead. */
void condition_tag_body(const struct http_request *request, struct http_reply *reply);

#endif
