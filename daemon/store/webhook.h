/* webhook.h - up to which event webhooks were delivered (chapter 3.2 "Processes"). Work in hand, no record.
 *
 * See store.h for results, values and ownership. Writing functions need a writer's transaction.
 */
#ifndef ADMITD_DAEMON_STORE_WEBHOOK_H
#define ADMITD_DAEMON_STORE_WEBHOOK_H

#include "daemon/store/store.h"

/* STORE_ABSENT: nothing was ever to be delivered. */
int store_webhook_position_find(struct store_tx *tx, int64_t *ret_sequence) MUST_USE;
int store_webhook_position_put(struct store_tx *tx, int64_t sequence) MUST_USE;

#endif
