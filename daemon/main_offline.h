/* main_offline.h - what admitd does beside serving: keys, checks of a log, a look at the state folder. Part of main.c.
 */
#ifndef ADMITD_DAEMON_MAIN_OFFLINE_H
#define ADMITD_DAEMON_MAIN_OFFLINE_H

#include "daemon/main_audit.h"
#include "daemon/options.h"

enum { EXIT_UNSOUND = 1 };

/* Makes the key and prints its public part. 0 or EXIT_FAILURE. */
int main_offline_key(const struct options *options) MUST_USE;
/* Checks what the options name, else the store of `state`; prints the verdict. 0, EXIT_UNSOUND, or 2 where it couldn't be checked. */
int main_offline_verify(const struct options *options, const struct config *config, struct main_audit *audit,
	const char *state) MUST_USE;

#endif
