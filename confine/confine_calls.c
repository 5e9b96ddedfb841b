#include <errno.h>
#include <seccomp.h>
#include <stddef.h>

#include "confine/confine.h"
#include "policy/cleanup.h"

/* By name, since not every architecture and every libseccomp has all of them. */
static const char *const never[] = {"process_vm_readv", "process_vm_writev", "process_madvise", "kcmp",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "mount", "umount", "umount2", "pivot_root",
	"move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "setns", "unshare",
	"chroot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "perf_event_open",
	"userfaultfd", "add_key", "request_key", "keyctl", "swapon", "swapoff", "reboot", "acct", "quotactl",
	"quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
	"iopl", "ioperm", "open_by_handle_at", "name_to_handle_at", "fanotify_init", "lookup_dcookie", "nfsservctl",
	"vhangup", "uselib", "ustat", "sysfs", "syslog", NULL};

/* The leak checker of a sanitized build looks at its own process this way. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CONFINE_IS_SANITIZED)
static const char *const tracing[] = {NULL};
#else
static const char *const tracing[] = {"ptrace", NULL};
#endif

static const char *const executing[] = {"execve", "execveat", NULL};
static const char *const connecting[] = {"connect", NULL};

static void filter_drop(scmp_filter_ctx *filter)
{
	if (*filter != NULL)
		seccomp_release(*filter);
}

static int forbid(scmp_filter_ctx filter, const char *const *names)
{
	for (; *names != NULL; names++) {
		int number = seccomp_syscall_resolve_name(*names);
		int r = number != __NR_SCMP_ERROR ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) : 0;

		/* -EDOM: another architecture's call; -EINVAL: a name that this kernel never had. */
		if (r != 0 && r != -EDOM && r != -EINVAL)
			return r;
	}
	return 0;
}

int confine_calls(enum confine_calls calls)
{
	CLEANUP(filter_drop) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r = filter != NULL ? confine_no_new_privileges() : -ENOMEM;

	if (r == 0)
		r = forbid(filter, never);
	if (r == 0)
		r = forbid(filter, tracing);
	if (r == 0 && calls != CONFINE_CALLS_LAUNCHER)
		r = forbid(filter, executing);
	if (r == 0 && calls == CONFINE_CALLS_SERVER)
		r = forbid(filter, connecting);
	return r != 0 ? r : seccomp_load(filter);
}
