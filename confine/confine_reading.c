#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <unistd.h>

#include "confine/confine.h"
#include "policy/cleanup.h"

/* By name, since not every architecture and every libseccomp has all of them. What the C library calls by itself is among them. */
static const char *const reading[] = {"read", "readv", "pread64", "preadv", "write", "writev", "lseek", "_llseek",
	"close", "openat2", "stat", "fstat", "fstat64", "lstat", "newfstatat", "fstatat64", "statx", "readlink",
	"readlinkat", "getdents", "getdents64", "fcntl", "fcntl64", "dup", "poll", "ppoll", "ppoll_time64", "pselect6",
	"select", "_newselect", NULL};
static const char *const living[] = {"brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "futex",
	"futex_time64", "clock_gettime", "clock_gettime64", "clock_getres", "gettimeofday", "time", "nanosleep",
	"clock_nanosleep", "clock_nanosleep_time64", "restart_syscall", "getrandom", "getpid", "gettid", "getuid",
	"geteuid", "getgid", "getegid", "sched_yield", "sched_getaffinity", "sysinfo", "uname", "rt_sigaction",
	"rt_sigprocmask", "rt_sigreturn", "sigreturn", "sigaltstack", "rseq", "set_robust_list", "exit", "exit_group",
	NULL};
/* A connection that was made before. */
static const char *const talking[] = {
	"sendto", "sendmsg", "recvfrom", "recvmsg", "getsockopt", "getsockname", "getpeername", "shutdown", NULL};

/* The leak checker of a sanitized build looks at its own process with a thread of its own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CONFINE_IS_SANITIZED)
static const char *const sanitizing[] = {"ptrace", "clone", "prctl", "wait4", "kill", "tgkill", "getppid", "open",
	"openat", "getrlimit", "prlimit64", "set_tid_address", "arch_prctl", "sched_getparam", NULL};
#else
static const char *const sanitizing[] = {NULL};
#endif

static void filter_drop(scmp_filter_ctx *filter)
{
	if (*filter != NULL)
		seccomp_release(*filter);
}

static int allow(scmp_filter_ctx filter, const char *const *names)
{
	for (; *names != NULL; names++) {
		int number = seccomp_syscall_resolve_name(*names);
		int r = number != __NR_SCMP_ERROR ? seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) : 0;

		/* -EDOM: another architecture's call; -EINVAL: a name that this kernel never had. */
		if (r != 0 && r != -EDOM && r != -EINVAL)
			return r;
	}
	return 0;
}

/* Opening, where none of the bits is set that write or make something. */
static int allow_opening(scmp_filter_ctx filter)
{
	const scmp_datum_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
	int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));

#ifdef __NR_open
	if (r == 0)
		r = seccomp_rule_add(
			filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, writing, 0));
#endif
	return r;
}

/* abort() of a broken invariant: a signal to itself, and to nobody else. */
static int allow_abort(scmp_filter_ctx filter, pid_t self)
{
	return seccomp_rule_add(
		filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)self, 0));
}

int confine_calls_reading(void)
{
	CLEANUP(filter_drop) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r = filter != NULL ? confine_no_new_privileges() : -ENOMEM;

	if (r == 0)
		r = allow(filter, reading);
	if (r == 0)
		r = allow(filter, living);
	if (r == 0)
		r = allow(filter, talking);
	if (r == 0)
		r = allow(filter, sanitizing);
	if (r == 0)
		r = allow_opening(filter);
	if (r == 0)
		r = allow_abort(filter, getpid());
	return r != 0 ? r : seccomp_load(filter);
}
