/* tls.h - what the server shows of itself over TLS: a chain of certificates and the key of its first (chapter 3.2 "HTTP").
 *
 * The HTTP library does TLS, by GnuTLS, and asks tls_show() for each connection. So both files can be read again while the server
 * runs (docs/adr/0026-tls.md): who is connected keeps what it was shown, and what was shown stays as long as a connection has it. Beside it
 * two things that the library has no call for: hearing that a handshake is over, and a last record past it. The only file of the daemon with
 * GnuTLS. Prints nothing. A `struct tls` may be used by all threads, a `struct tls_peer` by that of its connection.
 */
#ifndef ADMITD_DAEMON_HTTP_TLS_H
#define ADMITD_DAEMON_HTTP_TLS_H

#include <gnutls/abstract.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/check.h"

/* TLS 1.2 and 1.3, fresh keys for each connection, authenticated ciphers: what GnuTLS calls a priority string. */
extern const char tls_priorities[];

struct tls;

enum tls_result { TLS_REFUSED = 1 };

enum { TLS_SOON_DAYS = 14 };

/* Which file can't be used, why, and the way out. */
struct tls_fault {
	char text[512];
};

/* Reads both files, in PEM: the server's certificate with those that issued it behind it, in order, and its key, which neither
 * others may read nor the group write. 0 and *ret, owned by the caller; TLS_REFUSED and *ret_fault: a file can't be read or means nothing, the key is
 * another certificate's, or the certificate isn't valid now; -ENOMEM. The paths must outlive it.
 */
int tls_new(const char *certificate_file, const char *key_file, struct tls **ret, struct tls_fault *ret_fault) MUST_USE;
/* Reads them again. What was there stays unless it gives 0. The same results. */
int tls_reload(struct tls *tls, struct tls_fault *ret_fault) MUST_USE;
/* When no connection is left. NULL is fine. */
void tls_free(struct tls *tls);

/* Until when the certificate is valid, in milliseconds since 1970. */
int64_t tls_ends_at(struct tls *tls);
/* What to do about it, from TLS_SOON_DAYS before on; `now` as above. NULL: nothing yet. */
const char *tls_warning(struct tls *tls, int64_t now);

/* ---- one connection */

struct tls_peer;

/* Before its handshake. `session` is the library's; `on_ready` is called with `cls` when the handshake is over. NULL when memory is out: then the
 * handshake fails.
 */
struct tls_peer *tls_peer_new(struct tls *tls, void *session, void (*on_ready)(void *cls), void *cls) MUST_USE;
/* For a connection that has no peer: its handshake fails. */
void tls_show_nothing(void *session);
/* When the connection is closed. NULL is fine. */
void tls_peer_free(struct tls_peer *peer);

/* Sends the last bytes of this side and says that they are. 0, or -EIO where the socket doesn't take them at once. */
int tls_peer_send_last(struct tls_peer *peer, const char *bytes, size_t len) MUST_USE;

/* What the library calls in a handshake. */
gnutls_certificate_retrieve_function2 tls_show;

#endif
