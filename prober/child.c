#include "prober/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prober/deadline.h"

enum {
	CHILDREN_BYTES = 4096,
	OPEN_FILES = 256,
	FILE_BYTES = 64 * 1024 * 1024,
	PROCESSOR_SECONDS = 10,
};

/* Ends of the pipes between the three; -1: closed or not made. */
struct pipes {
	int in[2], out[2], life[2], fault[2];
};

static void close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			(void)close(pair[i]);
}

static void pipes_close(struct pipes *pipes)
{
	close_pair(pipes->in);
	close_pair(pipes->out);
	close_pair(pipes->life);
	close_pair(pipes->fault);
}

static int pipes_open(struct pipes *pipes)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
	if (pipe2(pipes->in, O_CLOEXEC) != 0 || pipe2(pipes->out, O_CLOEXEC) != 0 ||
		pipe2(pipes->life, O_CLOEXEC) != 0 || pipe2(pipes->fault, O_CLOEXEC) != 0)
		return -errno;
	if (fcntl(pipes->in[1], F_SETFL, O_NONBLOCK) != 0 || fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) != 0)
		return -errno;
	return 0;
}

/* ---- from here on in the new processes: only what a signal handler might call */

static void limit(int resource, rlim_t most)
{
	const struct rlimit limits = {most, most};

	(void)setrlimit((__rlimit_resource_t)resource, &limits);
}

static _Noreturn void be_server(
	const struct pipes *pipes, const char *path, char *const *argv, char *const *environment)
{
	static const int ignored[] = {SIGPIPE, SIGINT, SIGHUP, SIGCHLD};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fault = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		(void)signal(ignored[i], SIG_DFL);
	(void)dup2(pipes->in[0], STDIN_FILENO);
	(void)dup2(pipes->out[1], STDOUT_FILENO);
	(void)dup2(nothing, STDERR_FILENO);
	(void)syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, OPEN_FILES);
	limit(RLIMIT_FSIZE, FILE_BYTES);
	limit(RLIMIT_CPU, PROCESSOR_SECONDS);
	if (chdir("/") == 0)
		(void)execve(path, argv, environment);
	fault = errno;
	(void)!write(pipes->fault[1], &fault, sizeof(fault));
	_exit(127);
}

static pid_t read_number(const char *bytes, ssize_t len, ssize_t *at)
{
	pid_t number = 0;

	while (*at < len && (bytes[*at] < '0' || bytes[*at] > '9'))
		(*at)++;
	while (*at < len && bytes[*at] >= '0' && bytes[*at] <= '9')
		number = number * 10 + (bytes[(*at)++] - '0');
	return number;
}

/* The numbers in a file of /proc. Each is a child of ours that nobody else can have reaped, so no other process has its number. */
static void kill_listed(void)
{
	char bytes[CHILDREN_BYTES];
	int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t len = file >= 0 ? read(file, bytes, sizeof(bytes)) : -1;

	/* A number that the buffer cut off is left for the next turn. */
	while (len == (ssize_t)sizeof(bytes) && len > 0 && bytes[len - 1] != ' ')
		len--;
	for (ssize_t at = 0; at < len;) {
		pid_t found = read_number(bytes, len, &at);

		if (found > 1)
			(void)kill(found, SIGKILL);
	}
	if (file >= 0)
		(void)close(file);
}

/* What a killed process leaves becomes the nurse's own, until there is nothing left. */
static void end_all(pid_t server)
{
	(void)kill(-server, SIGKILL);
	(void)kill(server, SIGKILL);
	do
		kill_listed();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static _Noreturn void be_nurse(const struct pipes *pipes, const char *path, char *const *argv, char *const *environment)
{
	char byte = 0;
	pid_t server = 0;

	(void)setsid();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	server = fork();
	if (server == 0)
		be_server(pipes, path, argv, environment);
	(void)dup2(pipes->life[0], STDIN_FILENO);
	(void)syscall(SYS_close_range, 1U, ~0U, 0U);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		continue;
	if (server > 0)
		end_all(server);
	_exit(0);
}

/* ---- and here in the prober again */

static void end_nurse(pid_t nurse)
{
	while (waitpid(nurse, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Nothing comes when exec went well: the pipe is closed by it. */
static int wait_for_exec(const struct pipes *pipes)
{
	int fault = 0;
	ssize_t got = 0;

	do
		got = read(pipes->fault[0], &fault, sizeof(fault));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(fault) ? -fault : 0;
}

static void close_one(int *fd)
{
	(void)close(*fd);
	*fd = -1;
}

int child_start(struct child *child, const char *path, char *const *argv, char *const *environment)
{
	struct pipes pipes;
	int r = pipes_open(&pipes);

	*child = (struct child){.nurse = -1, .to = -1, .from = -1, .life = -1};
	if (r == 0) {
		child->nurse = fork();
		r = child->nurse < 0 ? -errno : 0;
	}
	if (r != 0) {
		pipes_close(&pipes);
		return r;
	}
	if (child->nurse == 0)
		be_nurse(&pipes, path, argv, environment);
	close_one(&pipes.in[0]);
	close_one(&pipes.out[1]);
	close_one(&pipes.life[0]);
	close_one(&pipes.fault[1]);
	r = wait_for_exec(&pipes);
	if (r != 0) {
		pipes_close(&pipes);
		end_nurse(child->nurse);
		return r;
	}
	close_one(&pipes.fault[0]);
	child->to = pipes.in[1];
	child->from = pipes.out[0];
	child->life = pipes.life[1];
	return 0;
}

/* Until its output ends, which is when it ended. */
static void wait_for_end(int from, int grace_ms)
{
	int64_t end_ms = deadline_now_ms() + grace_ms;
	struct pollfd poll_from = {.fd = from, .events = POLLIN};
	char bytes[4096];

	while (poll(&poll_from, 1, deadline_left_ms(end_ms)) > 0)
		if (read(from, bytes, sizeof(bytes)) <= 0 && errno != EAGAIN && errno != EINTR)
			return;
}

void child_end(struct child *child, int grace_ms)
{
	close_one(&child->to);
	errno = 0;
	wait_for_end(child->from, grace_ms);
	close_one(&child->from);
	close_one(&child->life);
	end_nurse(child->nurse);
}
