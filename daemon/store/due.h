/* due.h - what will end and when, for the entities that have an end (daemon/store only; the readers' side is grant.h). */
#ifndef ADMITD_DAEMON_STORE_DUE_H
#define ADMITD_DAEMON_STORE_DUE_H

#include "daemon/store/grant.h"

/* The end of this subject is now row->due_at; with 0 it has none any more. */
int due_set_pending(struct store_tx *tx, const struct store_due *row) MUST_USE;

#endif
