/* listener.h - the listening socket and the thread that accepts from it (chapters 3.2 and 4.1).
 *
 * The HTTP library can listen by itself, but ending that while its workers run is a race inside it that aborts the
 * process (docs/adr/0018-own-listener.md). Here one thread accepts and gives each connection away; closing the socket
 * then needs nobody's consent. It knows neither the library nor requests.
 *
 * While there is no room (the limit of connections, or of the process's descriptors) clients wait in the kernel's
 * backlog and nobody is refused.
 */
#ifndef ADMITD_DAEMON_HTTP_LISTENER_H
#define ADMITD_DAEMON_HTTP_LISTENER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "policy/check.h"

/* Takes the descriptor, also when it fails. Called on the listener's thread, as is the question whether there is room. */
typedef void listener_give_fn(void *cls, int fd, const struct sockaddr *peer, socklen_t peer_len);
typedef bool listener_has_room_fn(void *cls);

struct listener {
	int listen_fd; /* -1: never opened, or closed */
	int wake_fd;
	uint16_t port;
	bool is_running;
	atomic_bool is_full; /* its thread waits for room */
	atomic_bool ends;
	pthread_t thread;
	listener_give_fn *give;
	listener_has_room_fn *has_room;
	void *cls;
};

/* Owns nothing yet; listener_release() is allowed from here on. */
void listener_init(struct listener *listener, listener_give_fn *give, listener_has_room_fn *has_room, void *cls);

/* Binds and listens at a numeric address, port 0 for any free one: fills `port`. Clients may connect from now on, and
 * wait. -errno; -EINVAL for no address.
 */
int listener_open(struct listener *listener, const char *address_text, uint16_t port) MUST_USE;

/* The same with a socket that listens already, of any kind; the listener owns it. */
void listener_take(struct listener *listener, int listen_fd);

/* Begins to accept. -errno. */
int listener_start(struct listener *listener) MUST_USE;

/* A connection ended: whoever waits for room may have it. From any thread, cheap while nobody waits. */
void listener_tell_room(struct listener *listener);

/* Ends the thread and closes the socket: who connects from now on is refused, and nothing is given away any more when
 * this returns. Idempotent; not from two threads at once.
 */
void listener_close(struct listener *listener);

/* Closes what is open. */
void listener_release(struct listener *listener);

#endif
