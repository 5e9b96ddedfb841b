#include "daemon/http/conn.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

uint64_t conn_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void conn_list_init(struct conn_list *list, unsigned max, uint64_t header_ms, uint64_t idle_ms)
{
	*list = (struct conn_list){.max = max, .header_ms = header_ms, .idle_ms = idle_ms};
	(void)pthread_mutex_init(&list->lock, NULL);
}

void conn_list_release(struct conn_list *list)
{
	CHECK(!list->head);
	(void)pthread_mutex_destroy(&list->lock);
}

static void shut_down(struct conn *conn)
{
	(void)shutdown(conn->fd, SHUT_RDWR);
	conn_mark(conn, CONN_CUT, CONN_NEVER);
}

/* Makes room for one that comes: nobody waits for an answer on the one that goes. */
static void shut_oldest_idle(struct conn_list *list)
{
	struct conn *oldest = NULL;

	for (struct conn *at = list->head; at; at = at->next) {
		if (atomic_load(&at->state) == CONN_IDLE && (!oldest || at->idle_since_ms < oldest->idle_since_ms))
			oldest = at;
	}
	if (oldest)
		shut_down(oldest);
}

static void format_remote(const struct sockaddr *address, char text[INET6_ADDRSTRLEN])
{
	const void *raw = NULL;

	text[0] = '\0';
	if (address && address->sa_family == AF_INET)
		raw = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	else if (address && address->sa_family == AF_INET6)
		raw = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	if (!raw || !inet_ntop(address->sa_family, raw, text, INET6_ADDRSTRLEN))
		(void)snprintf(text, INET6_ADDRSTRLEN, "local");
}

/* Who made the connection, by the kernel's word. A socket that can't say is no local one, and asks for a token. */
static void note_peer(struct conn *conn)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0 || len != sizeof(who))
		return;
	conn->is_local = true;
	conn->uid = who.uid;
	(void)snprintf(conn->remote, sizeof(conn->remote), "uid %u", conn->uid);
}

struct conn *conn_add(struct conn_list *list, int fd, const struct sockaddr *peer)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->fd = fd;
	conn->list = list;
	format_remote(peer, conn->remote);
	if (peer && peer->sa_family == AF_UNIX)
		note_peer(conn);
	conn->idle_since_ms = conn_now_ms();
	atomic_store(&conn->deadline_ms, conn->idle_since_ms + list->idle_ms);
	(void)pthread_mutex_lock(&list->lock);
	if (list->count + 1 > list->max - list->max / 10)
		shut_oldest_idle(list);
	conn->next = list->head;
	if (list->head)
		list->head->prev = conn;
	list->head = conn;
	list->count++;
	(void)pthread_mutex_unlock(&list->lock);
	return conn;
}

void conn_remove(struct conn_list *list, struct conn *conn)
{
	(void)pthread_mutex_lock(&list->lock);
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		list->head = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	list->count--;
	(void)pthread_mutex_unlock(&list->lock);
	free(conn);
}

void conn_mark(struct conn *conn, enum conn_state state, uint64_t deadline_ms)
{
	atomic_store(&conn->deadline_ms, deadline_ms);
	atomic_store(&conn->state, state);
}

void conn_mark_headers(struct conn_list *list, struct conn *conn)
{
	if (atomic_load(&conn->state) != CONN_HEADERS)
		conn_mark(conn, CONN_HEADERS, conn_now_ms() + list->header_ms);
}

/* Bytes received since the connection began; 0 where the kernel doesn't tell (not TCP). */
static uint64_t bytes_received(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return 0;
	return info.tcpi_bytes_received;
}

void conn_mark_ready(struct conn *conn)
{
	atomic_store(&conn->bytes_mark, bytes_received(conn->fd));
	conn_mark(conn, CONN_IDLE, conn_now_ms() + conn->list->idle_ms);
}

void conn_mark_answering(struct conn *conn, uint64_t deadline_ms)
{
	atomic_store(&conn->bytes_mark, bytes_received(conn->fd));
	conn_mark(conn, CONN_ANSWERING, deadline_ms);
}

void conn_mark_idle(struct conn_list *list, struct conn *conn)
{
	uint64_t now_ms = conn_now_ms();

	(void)pthread_mutex_lock(&list->lock);
	conn->idle_since_ms = now_ms;
	(void)pthread_mutex_unlock(&list->lock);
	conn_mark(conn, CONN_IDLE, now_ms + list->idle_ms);
}

/* An idle connection on which bytes arrive is reading headers, though the library has told nothing yet. */
static void notice_first_byte(struct conn_list *list, struct conn *conn, uint64_t now_ms)
{
	uint64_t bytes = bytes_received(conn->fd);
	uint64_t mark = atomic_load(&conn->bytes_mark);
	uint64_t deadline_ms = atomic_load(&conn->deadline_ms);
	enum conn_state idle = CONN_IDLE;

	if (bytes > mark && atomic_compare_exchange_strong(&conn->state, &idle, CONN_HEADERS))
		/* not if the connection's own thread has set another one meanwhile */
		(void)atomic_compare_exchange_strong(&conn->deadline_ms, &deadline_ms, now_ms + list->header_ms);
}

void conn_sweep(struct conn_list *list, uint64_t now_ms)
{
	(void)pthread_mutex_lock(&list->lock);
	for (struct conn *conn = list->head; conn; conn = conn->next) {
		if (atomic_load(&conn->deadline_ms) <= now_ms)
			shut_down(conn);
		else if (atomic_load(&conn->state) == CONN_IDLE)
			notice_first_byte(list, conn, now_ms);
	}
	(void)pthread_mutex_unlock(&list->lock);
}

unsigned conn_count(struct conn_list *list)
{
	unsigned count;

	(void)pthread_mutex_lock(&list->lock);
	count = list->count;
	(void)pthread_mutex_unlock(&list->lock);
	return count;
}
