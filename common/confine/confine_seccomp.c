/*
 * confine_seccomp.c - the filter of system calls (confine.h). Called by confine.c.
 *
 * Whole calls are in confine_calls.def. Here are those of which only some uses are
 * refused: a filter sees the numbers that are passed, not what pointers point at.
 */
#include "common/confine/confine_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Calls that are younger than the oldest libseccomp; the numbers are the same on every
 * architecture of Linux. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __SNR_fchmodat2
#define __SNR_fchmodat2 __NR_fchmodat2
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __SNR_setxattrat
#define __SNR_setxattrat __NR_setxattrat
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __SNR_removexattrat
#define __SNR_removexattrat __NR_removexattrat
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __SNR_open_tree_attr
#define __SNR_open_tree_attr __NR_open_tree_attr
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif
#ifndef __SNR_file_setattr
#define __SNR_file_setattr __NR_file_setattr
#endif

#define ANY_NAMESPACE                                                                    \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |   \
		CLONE_NEWPID | CLONE_NEWNET)
#define TIOCSTI_ 0x5412
#define TIOCLINUX_ 0x541c
#define FIOSETOWN_ 0x8901
#define SIOCSPGRP_ 0x8902
#define F_SETSIG_ 10
#define F_SETOWN_EX_ 15
#define MSG_FASTOPEN_ 0x20000000
#define SOCK_TYPE_MASK 0xf /* the rest are flags */

struct filter {
	scmp_filter_ctx context;
	bool failed;
};

static void refuse_as(
	struct filter *f, int call, int error, const struct scmp_arg_cmp *arg)
{
	int r = arg ? seccomp_rule_add(f->context, SCMP_ACT_ERRNO(error), call, 1, *arg)
		    : seccomp_rule_add(f->context, SCMP_ACT_ERRNO(error), call, 0);

	/* A call that this architecture lacks needs no rule. */
	if (r < 0 && r != -EDOM && r != -EFAULT)
		f->failed = true;
}

static void refuse(struct filter *f, int call)
{
	refuse_as(f, call, EPERM, NULL);
}

/* When all bits of `mask` in argument number `arg` are as in `value`. */
static void refuse_bits(
	struct filter *f, int call, unsigned arg, uint64_t mask, uint64_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, value);

	refuse_as(f, call, EPERM, &cmp);
}

/* An int, of which the kernel ignores the upper half of the register. */
static void refuse_int(struct filter *f, int call, unsigned arg, uint32_t value)
{
	refuse_bits(f, call, arg, UINT32_MAX, value);
}

/* Whatever differs, in the half that the kernel ignores, too. */
static void refuse_other(struct filter *f, int call, unsigned arg, uint64_t value)
{
	const struct scmp_arg_cmp cmp = SCMP_CMP(arg, SCMP_CMP_NE, value, 0);

	refuse_as(f, call, EPERM, &cmp);
}

static void refuse_listed(struct filter *f, const struct confinement *c)
{
	const struct {
		int call;
		bool allowed;
	} listed[] = {
#define NEVER(name) {SCMP_SYS(name), false},
#define UNLESS(field, name) {SCMP_SYS(name), c->field},
#include "common/confine/confine_calls.def"
#undef NEVER
#undef UNLESS
	};

	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
		if (!listed[i].allowed)
			refuse(f, listed[i].call);
}

/* A thread is made with clone, and signals go to this process alone. */
static void refuse_processes(struct filter *f)
{
	pid_t self = getpid();

	/* Its flags are in memory; ENOSYS makes libc use clone. */
	refuse_as(f, SCMP_SYS(clone3), ENOSYS, NULL);
	for (uint64_t bit = 1; bit <= CLONE_NEWNET; bit <<= 1)
		if (bit & ANY_NAMESPACE)
			refuse_bits(f, SCMP_SYS(clone), 0, bit, bit);
	refuse_other(f, SCMP_SYS(prlimit64), 0, 0);
	refuse_other(f, SCMP_SYS(sched_setaffinity), 0, 0);
	refuse_other(f, SCMP_SYS(sched_setattr), 0, 0);
	refuse_other(f, SCMP_SYS(sched_setparam), 0, 0);
	refuse_other(f, SCMP_SYS(sched_setscheduler), 0, 0);
	/* SIGIO and what F_SETSIG names go to any process. */
	refuse_int(f, SCMP_SYS(fcntl), 1, F_SETOWN);
	refuse_int(f, SCMP_SYS(fcntl), 1, F_SETSIG_);
	refuse_int(f, SCMP_SYS(fcntl), 1, F_SETOWN_EX_);
	refuse_int(f, SCMP_SYS(ioctl), 1, FIOSETOWN_);
	refuse_int(f, SCMP_SYS(ioctl), 1, SIOCSPGRP_);
	refuse_int(f, SCMP_SYS(ioctl), 1, TIOCSTI_);
	refuse_int(f, SCMP_SYS(ioctl), 1, TIOCLINUX_);
	refuse_bits(f, SCMP_SYS(clone), 0, CLONE_THREAD, 0);
	refuse_other(f, SCMP_SYS(kill), 0, (uint64_t)self);
	refuse_other(f, SCMP_SYS(tgkill), 0, (uint64_t)self);
}

/* Sockets and pairs of them of this type, whatever flags they are made with. */
static void refuse_unix(struct filter *f, unsigned type)
{
	const int calls[] = {SCMP_SYS(socket), SCMP_SYS(socketpair)};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (seccomp_rule_add(f->context, SCMP_ACT_ERRNO(EPERM), calls[i], 2,
			    SCMP_CMP(0, SCMP_CMP_MASKED_EQ, UINT32_MAX, AF_UNIX),
			    SCMP_CMP(1, SCMP_CMP_MASKED_EQ, SOCK_TYPE_MASK, type)) != 0)
			f->failed = true;
}

/* The bus is all that most workers talk over; listening sockets are handed to them. */
static void refuse_sockets(struct filter *f, const struct confinement *c)
{
	static const int bus_only[] = {AF_UNIX};
	static const int network[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	const int *families = c->uses_network ? network : bus_only;
	size_t count = c->uses_network ? sizeof(network) / sizeof(network[0])
				       : sizeof(bus_only) / sizeof(bus_only[0]);

	for (unsigned family = 0; family < AF_MAX; family++) {
		bool needed = false;

		for (size_t i = 0; i < count; i++)
			needed |= family == (unsigned)families[i];
		if (!needed)
			refuse_int(f, SCMP_SYS(socket), 0, family);
	}
	/* Sent to an address without connect. The kernel takes raw ones for the same. */
	refuse_unix(f, SOCK_DGRAM);
	refuse_unix(f, SOCK_RAW);
	refuse_bits(f, SCMP_SYS(sendto), 3, MSG_FASTOPEN_, MSG_FASTOPEN_);
	refuse_bits(f, SCMP_SYS(sendmsg), 2, MSG_FASTOPEN_, MSG_FASTOPEN_);
	refuse_bits(f, SCMP_SYS(sendmmsg), 3, MSG_FASTOPEN_, MSG_FASTOPEN_);
}

/* What Landlock of an old kernel does not see. */
static void refuse_files(struct filter *f, const struct confinement *c)
{
	/* Empties a file that may only be read. */
	refuse_bits(f, SCMP_SYS(open), 1, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC);
	refuse_bits(f, SCMP_SYS(openat), 2, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC);
	/* Times of a file by its path; without a path they are an open file's. */
	if (c->keeps_files)
		refuse_other(f, SCMP_SYS(utimensat), 1, 0);
	else
		refuse(f, SCMP_SYS(utimensat));
}

bool confine_system_calls(const struct confinement *c, int *connects)
{
	struct filter f = {.context = seccomp_init(SCMP_ACT_ALLOW)};

	if (!f.context)
		return false;
	if (seccomp_attr_set(f.context, SCMP_FLTATR_CTL_TSYNC, 1) != 0)
		f.failed = true;
	refuse_listed(&f, c);
	refuse_processes(&f);
	refuse_sockets(&f, c);
	refuse_files(&f, c);
	if (connects &&
		seccomp_rule_add(f.context, SCMP_ACT_NOTIFY, SCMP_SYS(connect), 0) != 0)
		f.failed = true;
	if (!f.failed && seccomp_load(f.context) != 0)
		f.failed = true;
	if (connects && !f.failed)
		*connects = seccomp_notify_fd(f.context);
	seccomp_release(f.context);
	return !f.failed;
}
