/* deliver.h - posts one webhook (chapter 3.2 "Processes"). What the receiver sends back is thrown away but for its status.
 *
 * Blocking; one thread a delivery.
 */
#ifndef ADMITD_PROBER_DELIVER_H
#define ADMITD_PROBER_DELIVER_H

#include "agents/probe_message.h"

/* By `end_ms` of deadline_now_ms(). Fills *ret but for its id; its error is a literal. */
void deliver_post(const struct probe_hello *allowed, const struct probe_deliver *deliver, int64_t end_ms,
	struct probe_delivered *ret);

#endif
