/* admitd-prober: asks tool servers for the daemon, which itself neither connects nor executes (chapter 3.2 "Processes").
 *
 * The daemon starts it before it gives its rights up and can start nothing any more. So this process stays small and only
 * starts workers: for each descriptor that the daemon sends through the control socket, which is descriptor 3, one.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/confine.h"
#include "prober/worker.h"

enum { CONTROL = 3, EXIT_USAGE = 2 };

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

int main(int argc, char **argv)
{
	int fd = -1;

	(void)argv;
	if (argc > 1 || !is_started_by_daemon()) {
		(void)fputs("admitd-prober: it is started by admitd, and does nothing else\n", stderr);
		return EXIT_USAGE;
	}
	set_signals();
	if (confine_no_new_privileges() != 0)
		return EXIT_FAILURE;
	while ((fd = take_descriptor()) >= 0)
		start_worker(fd);
	return EXIT_SUCCESS;
}
