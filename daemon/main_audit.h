/* main_audit.h - admitd's side of the audit room: the keys that the configuration names, and the keeper. Part of main.c.
 */
#ifndef ADMITD_DAEMON_MAIN_AUDIT_H
#define ADMITD_DAEMON_MAIN_AUDIT_H

#include "daemon/audit/audit_keeper.h"
#include "daemon/config.h"

struct main_audit {
	struct audit_key key;
	struct audit_trust trust;
	bool has_key;
	struct audit_keeper *keeper;
};

/* Reads a key that may not lie in the state folder. 0, or EXIT_FAILURE after a line of `room` that says why. */
int main_audit_read_key(const char *room, const char *path, const char *state, struct audit_key *ret) MUST_USE;
/* Reads the keys. 0, or EXIT_FAILURE after a line that says why. */
int main_audit_load(struct main_audit *audit, const struct config *config, const char *state) MUST_USE;
/* Starts the keeper. The same. */
int main_audit_start(struct main_audit *audit, const struct config *config, struct store *store) MUST_USE;
/* Stops the keeper and forgets the key. */
void main_audit_stop(struct main_audit *audit);

#endif
