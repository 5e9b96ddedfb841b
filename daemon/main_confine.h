/* main_confine.h - the part of main.c that starts the other process and gives rights up (chapter 3.2 "Processes").
 *
 * In the order of the functions. Like main.c it may use every room of the daemon, and it logs.
 */
#ifndef ADMITD_DAEMON_MAIN_CONFINE_H
#define ADMITD_DAEMON_MAIN_CONFINE_H

#include "agents/seal.h"
#include "daemon/config.h"
#include "daemon/health/prober_client.h"
#include "daemon/sandbox.h"

struct main_confine {
	struct seal_key seal_key;
	bool has_seal_key;
	int control; /* of the prober's launcher; -1: none */
	struct prober_client *prober;
	struct sandbox sandbox;
};

/* The state folder is made, the key of credentials read, the prober's launcher started, the sandbox entered. Before the first thread. 0 or an
 * exit status, after it was logged why. */
int main_confine_enter(
	struct main_confine *confine, const struct config *config, const char *state, const char *port_file) MUST_USE;
/* The thread that talks with the prober. The same. */
int main_confine_start(struct main_confine *confine, const struct config *config, const char *state) MUST_USE;
/* Nobody asks any more. */
void main_confine_end(struct main_confine *confine);

#endif
