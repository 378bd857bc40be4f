/*
 * no_ptrace.c - runs a program that may look into no other process, as Yama and containers can
 * have it: no_ptrace PROGRAM ARGUMENT...
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int calls[] = {SCMP_SYS(pidfd_getfd), SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev), SCMP_SYS(ptrace)};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || !filter)
		return 2;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0) != 0)
			return 2;
	if (seccomp_load(filter) != 0)
		return 2;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}
