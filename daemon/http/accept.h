/* accept.h - which of several kinds of answer a client wants (RFC 9110, 12.5.1). Pure, any thread.
 */
#ifndef ADMITD_DAEMON_HTTP_ACCEPT_H
#define ADMITD_DAEMON_HTTP_ACCEPT_H

#include <stddef.h>

#include "policy/arena.h"

/* The index of the offer that the value of an Accept header prefers: the highest weight, of equal ones the first; an absent header takes the
 * first. -1: none will do (406).
 */
int accept_choose(struct str header, const char *const *offers, size_t count);

#endif
