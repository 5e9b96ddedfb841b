/* seen.h - which paths a call has dealt with; for this room. One thread.
 */
#ifndef ADMITD_READER_SEEN_H
#define ADMITD_READER_SEEN_H

#include "policy/arena.h"

/* Begins zeroed. */
struct seen {
	void *tree;
};

/* Whether a path comes up for the first time: 1, 0, or -ENOMEM. It is kept in the arena, which must outlive the struct. */
int seen_add(struct seen *seen, struct arena *arena, struct str path) MUST_USE;
void seen_release(struct seen *seen);

#endif
