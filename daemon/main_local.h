/* main_local.h - the socket for programs of this machine (chapter 4.1 "Unix socket").
 *
 * Opened before the sandbox, which has no right to its folder. Who connects is known by the kernel's word of his uid; what a uid may without a
 * token is what [peers] says, and nothing otherwise.
 */
#ifndef ADMITD_DAEMON_MAIN_LOCAL_H
#define ADMITD_DAEMON_MAIN_LOCAL_H

#include "daemon/config.h"
#include "daemon/http/auth.h"

/* What [peers] gives to each of config->peer_count uids, into `ret`. EXIT_FAILURE, told in the log, where one has no roles. */
int main_local_peers(const struct config *config, struct auth_peer ret[static CONFIG_PEERS_MAX]) MUST_USE;

/* Opens [server] socket, in place of one that nobody listens to any more: *ret_fd, or 0 where the file names none. EXIT_FAILURE, told in
 * the log.
 */
int main_local_open(const struct config *config, int *ret_fd) MUST_USE;

#endif
