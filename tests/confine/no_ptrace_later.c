/*
 * no_ptrace_later.c - a preloaded library: while the file NO_PTRACE_WHILE exists, the
 * program may look into no other process, as when kernel.yama.ptrace_scope is raised while
 * it runs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool forbidden(void)
{
	const char *file = getenv("NO_PTRACE_WHILE");

	return file && access(file, F_OK) == 0;
}

int pidfd_getfd(int pidfd, int fd, unsigned flags)
{
	if (!forbidden())
		return (int)syscall(SYS_pidfd_getfd, pidfd, fd, flags);
	errno = EPERM;
	return -1;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
	const struct iovec *there, unsigned long there_count, unsigned long flags)
{
	if (!forbidden())
		return syscall(SYS_process_vm_readv, pid, here, here_count, there,
			there_count, flags);
	errno = EPERM;
	return -1;
}
