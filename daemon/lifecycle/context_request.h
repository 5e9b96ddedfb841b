/* context_request.h - a document's `contextRequest`: {patterns, paths} (chapters 1.2, 5.2); not for other rooms.
 *
 * Kept with the document and never judged, so any JSON may stand there. What can't be understood asks for nothing; it never widens: paths that
 * are given but empty or malformed are no paths, and not "everything".
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CONTEXT_REQUEST_H
#define ADMITD_DAEMON_LIFECYCLE_CONTEXT_REQUEST_H

#include <stdbool.h>

#include "policy/arena.h"
#include "reader/packet.h"

/* Fills patterns and paths of a request whose lists, searches and reads are set, and takes back what has nothing to do: searching without
 * patterns, reading without any path that was asked for. `document` is JSON. 0, or -errno. */
int context_request_read(
	struct arena *arena, struct str document, struct packet_request *request, bool *ret_is_cut) MUST_USE;

#endif
