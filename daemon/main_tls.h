/* main_tls.h - the certificate that clients are shown, read at the start and on SIGHUP (chapter 3.2 "HTTP").
 *
 * Like main.c it logs.
 */
#ifndef ADMITD_DAEMON_MAIN_TLS_H
#define ADMITD_DAEMON_MAIN_TLS_H

#include "daemon/config.h"
#include "daemon/http/tls.h"

/* What [server] certificate_file and key_file name, into *ret, to be ended by tls_free(); NULL where it names none. Before the sandbox. 0 or
 * EXIT_FAILURE, told in the log.
 */
int main_tls_load(const struct config *config, struct tls **ret) MUST_USE;

/* Says in the log that others can read tokens on the way, unless `address` is a loopback one. */
void main_tls_warn_plain(const char *address);

/* Reads them again and logs what came of it: where they can't be used, those that were there stay. */
void main_tls_reload(struct tls *tls);

#endif
