/* server_seal.h - a tool server's spec on its way into the store and out of it (chapter 5.7); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_SERVER_SEAL_H
#define ADMITD_DAEMON_LIFECYCLE_SERVER_SEAL_H

#include "agents/spec.h"
#include "daemon/lifecycle/asked.h"

enum server_seal_result { SERVER_SEAL_CLOSED = 1 /* its credentials can't be had */ };

/* The kept form with its credentials sealed, in the arena; without a key they are left out. 0 or -ENOMEM. */
int server_seal_close(struct lifecycle *lifecycle, struct arena *arena, struct str project, const struct spec *spec,
	struct str *ret_json) MUST_USE;

/* The whole spec. 0; SERVER_SEAL_CLOSED and a literal that says why; or -errno. */
int server_seal_open(struct lifecycle *lifecycle, struct arena *arena, const struct asked_server *server,
	struct spec *ret, const char **ret_fault) MUST_USE;

#endif
