/* admitd-prober: asks tool servers for the daemon, which itself neither connects nor executes (chapter 3.2 "Processes").
 *
 * The daemon starts it before it gives its rights up and can start nothing any more. So this process stays small and only
 * starts workers: for each descriptor that the daemon sends through the control socket, which is descriptor 3, one. And since
 * nobody could start it again, it has a deputy: another one of itself, that only waits for its end and takes its place.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"
#include "prober/worker.h"

enum { CONTROL = 3, EXIT_USAGE = 2, AGAIN_MS = 1000 };

/* A socket that ends with the other one of launcher and deputy; -1: there is none. */
static int other = -1;

static void forget_other(void)
{
	if (other >= 0)
		(void)close(other);
	other = -1;
}

/* True in the deputy. Where there can't be one now, it is tried again. */
static bool start_deputy(void)
{
	int pair[2];
	pid_t deputy;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	deputy = fork();
	(void)close(pair[deputy == 0]);
	if (deputy < 0)
		(void)close(pair[1]);
	else
		other = pair[deputy != 0];
	return deputy == 0;
}

static void wait_as_deputy(void)
{
	char byte;

	while (read(other, &byte, sizeof(byte)) < 0 && errno == EINTR)
		continue;
	forget_other();
}

/* Looked at before another deputy is made: the end of the daemon is the end of both. */
static bool is_daemon_gone(void)
{
	char byte;

	return recv(CONTROL, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* True: it sends a descriptor, or is gone. False: the deputy is, or it is time to try again to have one. */
static bool wait_for_daemon(void)
{
	struct pollfd fds[] = {{.fd = CONTROL, .events = POLLIN}, {.fd = other, .events = POLLIN}};
	int ready = poll(fds, 2, other >= 0 ? -1 : AGAIN_MS);

	if (ready > 0 && fds[1].revents != 0)
		forget_other();
	return ready > 0 && fds[0].revents != 0;
}

/* The next worker's descriptor; -1: the daemon is gone. */
static int take_descriptor(void)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec vector = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control)};
	const struct cmsghdr *header = NULL;
	ssize_t got = 0;
	int fd = -1;

	do
		got = recvmsg(CONTROL, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
		header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static void start_worker(int fd)
{
	pid_t worker = fork();

	if (worker == 0) {
		(void)signal(SIGCHLD, SIG_DFL);
		(void)close(CONTROL);
		forget_other();
		exit(worker_run(fd));
	}
	/* Without a worker the daemon sees the end of the connection, and asks again later. */
	(void)close(fd);
}

static void set_signals(void)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	/* The daemon ends us by closing its socket; an interrupt of the terminal is for it alone. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	/* Workers leave nothing to wait for. */
	(void)signal(SIGCHLD, SIG_IGN);
}

static bool is_started_by_daemon(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return getsockopt(CONTROL, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

static void launch(void)
{
	int fd = 0;

	while (fd >= 0 && !is_daemon_gone()) {
		if (other < 0 && start_deputy()) {
			wait_as_deputy();
		} else if (wait_for_daemon()) {
			fd = take_descriptor();
			if (fd >= 0)
				start_worker(fd);
		}
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 || !is_started_by_daemon()) {
		(void)fputs("admitd-prober: it is started by admitd, and does nothing else\n", stderr);
		return EXIT_USAGE;
	}
	set_signals();
	if (confine_no_new_privileges() != 0)
		return EXIT_FAILURE;
	launch();
	return EXIT_SUCCESS;
}
