/* main_webhooks.h - admitd's side of webhooks: what the configuration says of them. Part of main.c.
 */
#ifndef ADMITD_DAEMON_MAIN_WEBHOOKS_H
#define ADMITD_DAEMON_MAIN_WEBHOOKS_H

#include "daemon/config.h"
#include "daemon/http/webhooks.h"

/* Looks at the receiver, when there is one, and reads the key. 0, or EXIT_FAILURE after a line that says why. */
int main_webhooks_load(struct audit_key *key, const struct config *config, const char *state) MUST_USE;
/* Starts the sender, when there is a receiver. The same. `key` and `config` outlive it. */
int main_webhooks_start(struct webhooks *webhooks, const struct config *config, const struct audit_key *key,
	struct lifecycle *lifecycle, struct prober_client *prober) MUST_USE;

#endif
