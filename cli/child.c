#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/secret_filter.h"
#include "policy/cleanup.h"

enum { STREAMS = 2, PIECE = 64 * 1024, OUT_CEILING = 64 * 1024 * 1024, CANNOT_RUN = 127 };

/* Standard output and standard error of the child. */
struct stream {
	int target;   /* ours */
	int from;     /* what the child writes to, -1: the target itself, or at its end */
	int to;       /* the child's side */
	bool is_open; /* the filter is */
	struct secret_filter filter;
	struct buf out;
};

struct running {
	const struct child *child;
	struct stream streams[STREAMS];
	sigset_t signals;
	sigset_t before;
	int signal_descriptor;
	pid_t pid;
	int status;
	bool has_ended;
};

static void close_one(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

static void running_drop(struct running *running)
{
	for (size_t i = 0; i < STREAMS; i++) {
		close_one(&running->streams[i].from);
		close_one(&running->streams[i].to);
		if (running->streams[i].is_open)
			secret_filter_release(&running->streams[i].filter);
		buf_release(&running->streams[i].out);
	}
	close_one(&running->signal_descriptor);
	(void)sigprocmask(SIG_SETMASK, &running->before, NULL);
}

/* ---- beginning */

static int open_stream(struct running *running, size_t at, int target)
{
	struct stream *stream = &running->streams[at];
	int ends[2];

	stream->target = target;
	buf_init(&stream->out, OUT_CEILING);
	if (isatty(target))
		return 0;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	stream->from = ends[0];
	stream->to = ends[1];
	secret_filter_init(&stream->filter, running->child->mask);
	stream->is_open = true;
	return 0;
}

static int open_signals(struct running *running)
{
	/* When nobody reads what the child prints, there is still something to take away. */
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&running->signals);
	sigaddset(&running->signals, SIGCHLD);
	sigaddset(&running->signals, SIGINT);
	sigaddset(&running->signals, SIGTERM);
	sigaddset(&running->signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &running->signals, NULL) != 0)
		return -errno;
	running->signal_descriptor = signalfd(-1, &running->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return running->signal_descriptor >= 0 ? 0 : -errno;
}

_Noreturn static void become(struct running *running, pid_t parent)
{
	const struct child *child = running->child;

	(void)sigprocmask(SIG_SETMASK, &running->before, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(CANNOT_RUN);
	for (size_t i = 0; i < STREAMS; i++)
		if (running->streams[i].to >= 0 && dup2(running->streams[i].to, running->streams[i].target) < 0)
			_exit(CANNOT_RUN);
	if (child->environment == NULL || putenv((char *)(uintptr_t)child->environment) == 0)
		execvp(child->arguments[0], child->arguments);
	cli_say("%s: %s", child->arguments[0], strerror(errno));
	_exit(CANNOT_RUN);
}

static int begin(struct running *running)
{
	pid_t parent = getpid();
	int r = open_signals(running);

	if (r == 0)
		r = open_stream(running, 0, STDOUT_FILENO);
	if (r == 0)
		r = open_stream(running, 1, STDERR_FILENO);
	if (r != 0)
		return r;
	running->pid = fork();
	if (running->pid < 0)
		return -errno;
	if (running->pid == 0)
		become(running, parent);
	close_one(&running->streams[0].to);
	close_one(&running->streams[1].to);
	return 0;
}

/* ---- what it prints */

static int write_out(struct stream *stream)
{
	size_t at = 0;

	while (at < stream->out.len) {
		ssize_t written = write(stream->target, stream->out.bytes + at, stream->out.len - at);

		if (written < 0 && errno != EINTR)
			return -errno;
		at += written > 0 ? (size_t)written : 0;
	}
	buf_reset(&stream->out);
	return 0;
}

/* Nobody reads any more, or memory is out: the child is told by its next write. */
static void end_stream(struct stream *stream)
{
	if (secret_filter_end(&stream->filter, &stream->out) == 0)
		(void)!write_out(stream);
	close_one(&stream->from);
}

static void pass_piece(struct stream *stream)
{
	static char bytes[PIECE];
	ssize_t len = read(stream->from, bytes, sizeof(bytes));

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len <= 0)
		end_stream(stream);
	else if (secret_filter_feed(&stream->filter, (struct str){bytes, (size_t)len}, &stream->out) != 0 ||
		write_out(stream) != 0)
		close_one(&stream->from);
}

/* ---- its end */

static void take_signals(struct running *running)
{
	struct signalfd_siginfo info;

	while (read(running->signal_descriptor, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* A terminal sends its signals to the child itself. */
		if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0)
			(void)kill(running->pid, (int)info.ssi_signo);
		if (info.ssi_signo == SIGCHLD && !running->has_ended)
			running->has_ended = waitpid(running->pid, &running->status, WNOHANG) == running->pid;
	}
}

/* What it printed before its end is all there is: others may hold the other side for longer. */
static void drain(struct stream *stream)
{
	if (stream->from >= 0)
		(void)fcntl(stream->from, F_SETFL, O_NONBLOCK);
	while (stream->from >= 0) {
		struct pollfd ready = {.fd = stream->from, .events = POLLIN};

		if (poll(&ready, 1, 0) <= 0)
			end_stream(stream);
		else
			pass_piece(stream);
	}
}

static void follow(struct running *running)
{
	while (!running->has_ended) {
		struct pollfd waits[STREAMS + 1] = {
			{.fd = running->signal_descriptor, .events = POLLIN},
			{.fd = running->streams[0].from, .events = POLLIN},
			{.fd = running->streams[1].from, .events = POLLIN},
		};

		if (poll(waits, STREAMS + 1, -1) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < STREAMS; i++)
			if (waits[i + 1].revents != 0)
				pass_piece(&running->streams[i]);
		take_signals(running);
	}
	drain(&running->streams[0]);
	drain(&running->streams[1]);
}

int child_run(struct cli *cli, const struct child *child)
{
	CLEANUP(running_drop)
	struct running running = {.child = child, .signal_descriptor = -1};
	int r = 0;

	for (size_t i = 0; i < STREAMS; i++)
		running.streams[i].from = running.streams[i].to = -1;
	(void)sigprocmask(SIG_SETMASK, NULL, &running.before);
	r = cli_flush(cli);
	if (r == 0)
		r = begin(&running);
	if (r < 0)
		return cli_say_error(child->arguments[0], r);
	if (r > 0)
		return r;
	follow(&running);
	return WIFSIGNALED(running.status) ? 128 + WTERMSIG(running.status) : WEXITSTATUS(running.status);
}
