#include "daemon/http/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { BACKLOG = 512, RETRY_MS = 100, FOREVER_MS = -1 };

void listener_init(struct listener *listener, listener_give_fn *give, listener_has_room_fn *has_room, void *cls)
{
	*listener = (struct listener){.listen_fd = -1, .wake_fd = -1, .give = give, .has_room = has_room, .cls = cls};
}

/* ---- the socket */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_address(const char *text, uint16_t port, union address *ret, socklen_t *ret_len)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		*ret_len = sizeof(ret->v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		*ret_len = sizeof(ret->v6);
		return 0;
	}
	return -EINVAL;
}

int listener_open(struct listener *listener, const char *address_text, uint16_t port)
{
	union address address;
	socklen_t len;
	int one = 1;
	int result = parse_address(address_text, port, &address, &len);

	if (result)
		return result;
	listener->listen_fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->listen_fd < 0)
		return -errno;
	(void)setsockopt(listener->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener->listen_fd, &address.any, len) || listen(listener->listen_fd, BACKLOG) ||
		getsockname(listener->listen_fd, &address.any, &len))
		return -errno;
	listener->port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
	return 0;
}

void listener_take(struct listener *listener, int listen_fd)
{
	listener->listen_fd = listen_fd;
}

/* ---- the thread */

static bool is_out_of_means(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Gives away what is there, as long as there is room; false if there are no means to accept what waits. */
static bool accept_all(struct listener *listener)
{
	while (listener->has_room(listener->cls)) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int fd = accept4(listener->listen_fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			listener->give(listener->cls, fd, (struct sockaddr *)&peer, len);
		else if (errno == EAGAIN || is_out_of_means(errno))
			return errno == EAGAIN;
		/* anything else was the fault of a client that has gone again */
	}
	return true;
}

/* Until somebody connects; without means or room, until a connection ends or it is time to try again. */
static void wait_for_work(struct listener *listener, bool may_accept)
{
	struct pollfd fds[] = {
		{.fd = listener->wake_fd, .events = POLLIN}, {.fd = listener->listen_fd, .events = POLLIN}};
	uint64_t ignored;

	(void)poll(fds, may_accept ? 2 : 1, may_accept ? FOREVER_MS : RETRY_MS);
	if (fds[0].revents)
		(void)!read(listener->wake_fd, &ignored, sizeof(ignored));
}

static void *accept_main(void *cls)
{
	struct listener *listener = cls;

	while (!atomic_load(&listener->ends)) {
		bool has_means = accept_all(listener);
		bool has_room;

		atomic_store(&listener->is_full, true); /* before the question, or its answer could change unheard */
		has_room = listener->has_room(listener->cls);
		if (has_room)
			atomic_store(&listener->is_full, false);
		wait_for_work(listener, has_means && has_room);
		atomic_store(&listener->is_full, false);
	}
	return NULL;
}

static void wake(struct listener *listener)
{
	uint64_t one = 1;

	(void)!write(listener->wake_fd, &one, sizeof(one)); /* only a full counter refuses it, and that wakes as well */
}

int listener_start(struct listener *listener)
{
	int result;

	listener->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (listener->wake_fd < 0)
		return -errno;
	result = -pthread_create(&listener->thread, NULL, accept_main, listener);
	listener->is_running = result == 0;
	return result;
}

void listener_tell_room(struct listener *listener)
{
	if (atomic_load(&listener->is_full))
		wake(listener);
}

void listener_close(struct listener *listener)
{
	if (listener->is_running) {
		atomic_store(&listener->ends, true);
		wake(listener);
		(void)pthread_join(listener->thread, NULL);
		listener->is_running = false;
	}
	if (listener->listen_fd >= 0)
		(void)close(listener->listen_fd);
	listener->listen_fd = -1;
}

void listener_release(struct listener *listener)
{
	listener_close(listener);
	if (listener->wake_fd >= 0)
		(void)close(listener->wake_fd);
	listener->wake_fd = -1;
}
