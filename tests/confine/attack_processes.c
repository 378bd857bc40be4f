/* attack_processes.c - processes that it would hit, programs, the machine (attacks.h). */
#include "tests/confine/attacks.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- other processes; SIGURG is ignored by who is hit ---- */

int attack_signal_other(void)
{
	return result(kill(victim, SIGURG));
}
int attack_signal_parent(void)
{
	return result(kill(getppid(), SIGURG));
}
int attack_signal_group(void)
{
	return result(kill(-victim, SIGURG));
}
int attack_signal_thread(void)
{
	return result(syscall(SYS_tgkill, victim, victim, SIGURG));
}
int attack_signal_tkill(void)
{
	return result(syscall(SYS_tkill, victim, SIGURG));
}
int attack_signal_queue(void)
{
	return result(sigqueue(victim, SIGURG, (union sigval){0}));
}
int attack_signal_fd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim, 0), r;

	if (fd < 0)
		return errno;
	r = result(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));
	close(fd);
	return r;
}
int attack_signal_owner(void)
{
	int ends[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return errno;
	r = result(fcntl(ends[0], F_SETOWN, victim));
	close(ends[0]);
	close(ends[1]);
	return r;
}
int attack_limit(void)
{
	struct rlimit l;

	return result(prlimit(victim, RLIMIT_NOFILE, NULL, &l));
}
int attack_affinity(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return result(sched_setaffinity(victim, sizeof(all), &all));
}
int attack_trace(void)
{
	if (ptrace(PTRACE_SEIZE, victim, NULL, NULL) < 0)
		return errno;
	ptrace(PTRACE_DETACH, victim, NULL, NULL);
	return 0;
}
int attack_memory(void)
{
	char c;
	struct iovec here = {&c, 1}, there = {(void *)0x1000, 1};
	ssize_t n = process_vm_readv(victim, &here, 1, &there, 1, 0);

	return n < 0 && errno != EFAULT ? errno : 0;
}

/* ---- programs, namespaces, the machine ---- */

static int wait_for(long child)
{
	if (child < 0)
		return errno;
	if (child == 0)
		_exit(0);
	waitpid((pid_t)child, NULL, 0);
	return 0;
}
int attack_process(void)
{
	return wait_for(syscall(SYS_fork));
}
int attack_process_clone(void)
{
	return wait_for(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}
int attack_program(void)
{
	char name[] = "nowhere", *argv[] = {name, NULL};

	/* Nothing is there to be started where it is allowed. */
	syscall(SYS_execve, "/nowhere", argv, NULL);
	return errno == ENOENT ? 0 : errno;
}
int attack_namespace_clone(void)
{
	return wait_for(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}
int attack_namespace_clone3(void)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};

	return wait_for(syscall(SYS_clone3, &args, sizeof(args)));
}
int attack_namespace_unshare(void)
{
	return result(unshare(CLONE_FILES));
}
int attack_namespace_enter(void)
{
	return result(setns(-1, 0)) == EBADF ? 0 : errno;
}
/* These are called with wrong arguments: any error but EPERM means that the kernel took
 * the call. */
static int reaches(long r)
{
	return r < 0 && errno == EPERM ? EPERM : 0;
}
int attack_mount_any(void)
{
	return reaches(mount(NULL, NULL, NULL, 0, NULL));
}
int attack_bpf(void)
{
	return reaches(syscall(SYS_bpf, 9999, NULL, 0));
}
int attack_uring(void)
{
	return reaches(syscall(SYS_io_uring_setup, 0, NULL));
}
int attack_module(void)
{
	return reaches(syscall(SYS_init_module, NULL, 0, NULL));
}
int attack_perf(void)
{
	return reaches(syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0));
}
int attack_keys(void)
{
	return reaches(syscall(SYS_keyctl, 9999, 0, 0, 0, 0));
}
int attack_faults(void)
{
	return reaches(syscall(SYS_userfaultfd, ~0));
}
