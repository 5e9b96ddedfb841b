/* What a process can't do after confine_calls_reading(), and what it still can. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "confine/confine.h"
#include "policy/check.h"

/* In a child: each is one try. 0: it was done; or -errno. */
static int answer(long result)
{
	return result >= 0 ? 0 : -errno;
}

static int opens_for_reading(void)
{
	return answer(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static int writes_to_what_is_open(void)
{
	return answer(write(STDERR_FILENO, "", 0));
}

static int looks_at_a_file(void)
{
	struct stat found;

	return answer(stat("/", &found));
}

static int takes_memory(void)
{
	volatile char *bytes = malloc(1 << 20);

	if (bytes == NULL)
		return -ENOMEM;
	bytes[0] = 1;
	free((void *)(uintptr_t)bytes);
	return 0;
}

static int opens_for_writing(void)
{
	return answer(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int opens_for_both(void)
{
	return answer(open("/dev/null", O_RDWR | O_CLOEXEC));
}

static int makes_a_file(void)
{
	return answer(open("/tmp/admitd-confined", O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int makes_one_without_a_name(void)
{
	return answer(open("/tmp", O_RDONLY | O_TMPFILE | O_CLOEXEC, 0600));
}

static int empties_a_file(void)
{
	return answer(open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int removes_a_file(void)
{
	return answer(unlink("/tmp/admitd-no-such-file"));
}

static int renames_a_file(void)
{
	return answer(rename("/tmp/admitd-no-such-file", "/tmp/admitd-nor-this"));
}

static int makes_a_folder(void)
{
	return answer(mkdir("/tmp/admitd-confined.d", 0700));
}

static int changes_a_mode(void)
{
	return answer(chmod("/tmp/admitd-no-such-file", 0600));
}

static int changes_a_time(void)
{
	return answer(utimes("/tmp/admitd-no-such-file", NULL));
}

static int opens_a_socket(void)
{
	return answer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int makes_a_pair(void)
{
	int pair[2];

	return answer(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static int executes(void)
{
	char *const words[] = {(char[]){"true"}, NULL};

	return answer(execv("/bin/true", words));
}

static int makes_a_process(void)
{
	return answer(syscall(SYS_clone3, NULL, 0));
}

static int signals_its_parent(void)
{
	return answer(kill(getppid(), 0));
}

static int leaves_the_root(void)
{
	return answer(chroot("/"));
}

struct attempt {
	const char *name;
	int (*run)(void);
	int wanted;
};

#define ATTEMPT(name, wanted)       \
	{                           \
#name, name, wanted \
	}

static const struct attempt attempts[] = {
	ATTEMPT(opens_for_reading, 0),
	ATTEMPT(writes_to_what_is_open, 0),
	ATTEMPT(looks_at_a_file, 0),
	ATTEMPT(takes_memory, 0),
	ATTEMPT(opens_for_writing, -EPERM),
	ATTEMPT(opens_for_both, -EPERM),
	ATTEMPT(makes_a_file, -EPERM),
	ATTEMPT(makes_one_without_a_name, -EPERM),
	ATTEMPT(empties_a_file, -EPERM),
	ATTEMPT(removes_a_file, -EPERM),
	ATTEMPT(renames_a_file, -EPERM),
	ATTEMPT(makes_a_folder, -EPERM),
	ATTEMPT(changes_a_mode, -EPERM),
	ATTEMPT(changes_a_time, -EPERM),
	ATTEMPT(opens_a_socket, -EPERM),
	ATTEMPT(makes_a_pair, -EPERM),
	ATTEMPT(executes, -EPERM),
	ATTEMPT(makes_a_process, -EPERM),
	ATTEMPT(signals_its_parent, -EPERM),
	ATTEMPT(leaves_the_root, -EPERM),
};

/* Sanitized builds keep some calls for their leak checker. */
static bool is_kept_for_sanitizers(const struct attempt *attempt)
{
#if defined(__SANITIZE_ADDRESS__)
	return strncmp(attempt->name, "opens_for", 9) == 0 || strncmp(attempt->name, "makes_a_file", 12) == 0 ||
		strcmp(attempt->name, "makes_one_without_a_name") == 0 ||
		strcmp(attempt->name, "empties_a_file") == 0 || strcmp(attempt->name, "signals_its_parent") == 0;
#else
	(void)attempt;
	return false;
#endif
}

static int in_child(const struct attempt *attempt, bool is_confined)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		int r = is_confined ? confine_calls_reading() : 0;

		_exit(r != 0 ? 255 : -attempt->run());
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -1000 - WTERMSIG(status);
}

static void what_only_reads_is_allowed_and_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int found = in_child(&attempts[i], true);

		if (found != attempts[i].wanted && !is_kept_for_sanitizers(&attempts[i]))
			fail_msg("%s: %d, wanted %d", attempts[i].name, found, attempts[i].wanted);
	}
}

/* Each refusal above is the filter's: without it the same try fails in another way, or not at all. */
static void without_the_filter_none_of_them_is_forbidden(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		bool needs_root = attempts[i].run == leaves_the_root;

		if (!needs_root && attempts[i].run != executes && in_child(&attempts[i], false) == -EPERM)
			fail_msg("%s is forbidden without the filter", attempts[i].name);
	}
	(void)unlink("/tmp/admitd-confined");
	(void)rmdir("/tmp/admitd-confined.d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_reads_is_allowed_and_nothing_else),
		cmocka_unit_test(without_the_filter_none_of_them_is_forbidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
