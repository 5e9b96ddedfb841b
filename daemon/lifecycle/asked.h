/* asked.h - health that was asked for one call, outside its transaction (chapter 2.3); not for other rooms.
 *
 * Inside a transaction a call notes which roots it must know of (asked_want); between transactions it asks them (asked_ask); inside
 * the next one it finds what was seen, if the root is still the one it was seen for.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_ASKED_H
#define ADMITD_DAEMON_LIFECYCLE_ASKED_H

#include "daemon/lifecycle/lifecycle_inner.h"
#include "daemon/store/health.h"
#include "daemon/store/project.h"
#include "policy/health_row.h"

struct asked_root {
	char *project;
	char *path; /* NULL: no root */
	uint64_t device, inode;
	int64_t root_revision;
	bool is_asked;
	enum health_status status; /* from here on once it is asked */
	const char *error;
	int64_t checked_at;
	struct asked_root *next;
};

struct lifecycle_asked {
	struct asked_root *first;
};

/* Asks for this root before the next try. 0 or -ENOMEM. */
int asked_want(struct lifecycle_call *call, const struct store_project *project) MUST_USE;
/* The first of all that was noted; NULL: nothing. */
const struct asked_root *asked_first(const struct lifecycle_call *call);
/* What was noted for the project, asked or not; NULL: nothing. */
const struct asked_root *asked_find(const struct lifecycle_call *call, struct str project);
/* Asks what is wanted; a `prepare`. 0. */
int asked_ask(struct lifecycle_call *call) MUST_USE;
void asked_free(struct lifecycle_asked *asked);

/* What was seen, as a row of the store; borrows from `root` and `project`. */
struct store_health asked_row(const struct asked_root *root, const struct store_project *project);

#endif
