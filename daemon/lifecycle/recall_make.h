/* recall_make.h - what the files of recall.h share; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECALL_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_RECALL_MAKE_H

#include "daemon/lifecycle/recall.h"

/* A decision made again, with the JSON it borrows from. */
struct recall_parts {
	json_t *document;
	json_t *record;
	struct replay replay;
	bool is_begun; /* the replay is to be released */
};

/* Decides again by `catalog`, which outlives the parts. 0 or -errno; -EUCLEAN for what the store should not hold. Released in any
 * case.
 */
int recall_decide(
	const struct catalog *catalog, struct str document, struct str inputs, struct recall_parts *ret) MUST_USE;
void recall_parts_release(struct recall_parts *parts);

/* A stored catalog. 0 or -errno. */
int recall_catalog(struct str bytes, struct catalog **ret) MUST_USE;

#endif
